"""Element types: the table is complete, and says what numpy says."""

from __future__ import annotations

import copy
import pickle

import pytest

from hlotool.ir.element_type import ELEMENT_TYPES, ElementType, Kind, NanEncoding

NAMES = [
    "pred", "s1", "s2", "s4", "s8", "s16", "s32", "s64", "u1", "u2", "u4", "u8", "u16", "u32",
    "u64", "f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz",
    "f8e3m4", "f8e5m2fnuz", "f8e4m3fnuz", "f8e8m0fnu", "f4e2m1fn", "f6e2m3fn", "f6e3m2fn",
    "c64", "c128",
]  # fmt: skip
HELD_AS_BYTES = {"s1", "u1", "f6e2m3fn", "f6e3m2fn"}
"""The types that numpy lacks."""


def test_every_type_word_is_in_the_table() -> None:
    assert set(ELEMENT_TYPES) == set(NAMES)
    assert all(name == element_type.name for name, element_type in ELEMENT_TYPES.items())


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=repr)
def test_width_is_that_of_numpy(element_type: ElementType) -> None:
    assert element_type.numpy.itemsize == element_type.storage_bytes
    if element_type.name not in HELD_AS_BYTES:
        kinds = {Kind.PRED: "b", Kind.SIGNED: "iV", Kind.UNSIGNED: "uV", Kind.FLOAT: "fV",
                 Kind.COMPLEX: "c"}  # fmt: skip
        assert element_type.numpy.kind in kinds[element_type.kind]


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=repr)
def test_kind_and_bits_agree(element_type: ElementType) -> None:
    flags = [element_type.is_integer, element_type.is_float, element_type.is_complex]
    assert sum(flags) == (element_type.kind is not Kind.PRED)
    digits = "".join(c for c in element_type.name.partition("e")[0] if c.isdigit())
    assert element_type.bits == int(digits or 8) or element_type.name == "pred"


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=repr)
def test_float_formats_have_as_many_bits_as_the_type(element_type: ElementType) -> None:
    number = element_type.float_format
    assert (number is not None) is element_type.is_float
    if number is not None:
        bits = number.exponent_bits + number.mantissa_bits + number.has_sign
        assert bits == element_type.bits
        assert number.has_infinity <= (number.nan is NanEncoding.IEEE)


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=repr)
def test_a_copy_is_the_type_itself(element_type: ElementType) -> None:
    assert copy.deepcopy(element_type) is element_type
    assert pickle.loads(pickle.dumps(element_type)) is element_type  # noqa: S301  # our own bytes
