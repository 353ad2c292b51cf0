"""Checks the table of lossless conversions against the conversions themselves."""

import numpy as np
import pytest

from hlotool.analysis.lossless import holds_all
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ops.numerics.widths import converted
from tests.passes.checking import bits_equal

_NARROW = [one for one in ELEMENT_TYPES.values() if 1 < one.bits <= 16 and one.bits != 6]


def _all_values(element_type: ElementType) -> np.ndarray:
    if element_type.name == "pred":
        return np.array([False, True])
    if element_type.is_integer:
        low = -(1 << (element_type.bits - 1)) if element_type.is_signed else 0
        return np.arange(low, low + (1 << element_type.bits)).astype(element_type.numpy)
    codes = np.arange(1 << element_type.bits)
    return codes.astype(np.uint16 if element_type.bits == 16 else np.uint8).view(element_type.numpy)


@pytest.mark.parametrize("narrow", _NARROW, ids=str)
def test_what_is_held_comes_back(narrow: ElementType) -> None:
    values = _all_values(narrow)
    for wide in ELEMENT_TYPES.values():
        if wide.bits == 1 or wide.name.startswith("f6"):
            continue
        with np.errstate(all="ignore"):
            back = converted(converted(values, narrow, wide), wide, narrow)
            is_same = bits_equal(back, values)
        assert is_same or not holds_all(wide, narrow), f"{wide} does not hold {narrow}"


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("f32", "bf16"), ("f32", "f16"), ("f64", "f32"), ("f64", "s32"), ("f32", "f8e5m2"),
        ("f16", "f8e4m3fn"), ("bf16", "f8e4m3fn"), ("s32", "s8"), ("s16", "u8"), ("bf16", "u8"),
        ("f32", "s16"), ("c64", "f32"), ("c128", "c64"), ("s8", "pred"), ("f16", "pred"),
        ("f32", "f8e8m0fnu"), ("f16", "s8"), ("s8", "s4"), ("c64", "s8"),
    ],
)  # fmt: skip
def test_wide_types_hold_narrow_ones(wide: str, narrow: str) -> None:
    assert holds_all(ELEMENT_TYPES[wide], ELEMENT_TYPES[narrow])


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("bf16", "f32"), ("bf16", "f16"), ("f16", "bf16"), ("f32", "s32"), ("f16", "u16"),
        ("u8", "s8"), ("s8", "u8"), ("u32", "s8"), ("f32", "c64"), ("pred", "u1"), ("s32", "f16"),
        ("f8e4m3fnuz", "f8e4m3fn"), ("f8e5m2", "f8e4m3"), ("c64", "f64"), ("f4e2m1fn", "s4"),
        ("f16", "f8e8m0fnu"),
    ],
)  # fmt: skip
def test_other_types_do_not(wide: str, narrow: str) -> None:
    assert not holds_all(ELEMENT_TYPES[wide], ELEMENT_TYPES[narrow])
