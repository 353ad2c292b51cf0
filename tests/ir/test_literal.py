"""Literals as values: bytes, equality, numpy arrays, Python numbers."""

from __future__ import annotations

import copy
import math
import pickle
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from hlotool.ir.element_type import (
    BF16,
    C64,
    ELEMENT_TYPES,
    F4E2M1FN,
    F8E4M3FN,
    F32,
    PRED,
    S1,
    S4,
    S8,
    S32,
    S64,
    U4,
    ElementType,
)
from hlotool.ir.literal import LITERAL, LITERAL_WITH_SHAPE, Literal
from hlotool.ir.shape import ArrayShape, Layout, TupleShape

PAIR = ArrayShape(S32, [2])


def test_equal_when_shape_and_bytes_are() -> None:
    one = Literal(PAIR, struct.pack("<2i", 1, 2))
    assert one == Literal(ArrayShape(S32, [2]), struct.pack("<2i", 1, 2))
    assert hash(one) == hash(Literal.from_array([1, 2], PAIR))
    assert one != Literal(PAIR, struct.pack("<2i", 2, 1))
    assert one != Literal(ArrayShape(F32, [2]), one.data)
    assert one != Literal.elision(PAIR)
    assert one != (1, 2)


def test_zeros_of_either_sign_differ_and_a_nan_equals_itself() -> None:
    assert Literal.from_array(0.0, F32) != Literal.from_array(-0.0, F32)
    assert Literal.from_array(math.nan, F32) == Literal.from_array(math.nan, F32)


def test_layout_is_part_of_the_shape_and_leaves_the_data() -> None:
    rows = Literal.from_array([[1, 2], [3, 4]], S32)
    columns = rows.with_shape(ArrayShape(S32, [2, 2], Layout([0, 1])))
    assert columns.data == rows.data
    assert columns != rows
    np.testing.assert_array_equal(columns.array(), [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"s32\[2,2\]\{1,0\} given, s32\[4\]\{0\} expected"):
        rows.with_shape(ArrayShape(S32, [4]))


def test_layouts_of_tuples_and_elisions_change_too() -> None:
    rows, columns = ArrayShape(S32, [2, 2]), ArrayShape(S32, [2, 2], Layout([0, 1]))
    pack = Literal.of_elements([Literal.from_array([[1, 2], [3, 4]], rows)])
    assert pack.with_shape(TupleShape([columns])).shape == TupleShape([columns])
    assert Literal.elision(rows).with_shape(columns) == Literal.elision(columns)


def test_the_data_must_fill_a_static_shape() -> None:
    with pytest.raises(ValueError, match=r"s32\[2\]\{0\} takes 8 bytes, 4 given"):
        Literal(PAIR, bytes(4))
    with pytest.raises(ValueError, match=r"static shape, not s32\[<=2\]"):
        Literal(ArrayShape(S32, [2], dynamic=[True]), bytes(8))


def test_unused_bits_do_not_count() -> None:
    assert Literal(ArrayShape(S4, [2]), b"\xff\x01") == Literal(ArrayShape(S4, [2]), b"\x0f\x01")
    assert Literal(ArrayShape(PRED, [2]), b"\x07\x00").data == b"\x01\x00"


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=repr)
def test_arrays_come_back(element_type: ElementType) -> None:
    numbers = [[0, 1, 1], [1, 0, 1]]
    if element_type.is_signed:
        numbers = [[0, -1, -1], [-1, 0, -1]]
    if element_type.name == "f8e8m0fnu":
        numbers = [[1, 2, 4], [8, 16, 32]]
    array = np.array(numbers).astype(element_type.numpy)
    made = Literal.from_array(array, element_type)
    assert made.shape == ArrayShape(element_type, [2, 3])
    assert len(made.data) == 6 * element_type.storage_bytes
    assert made.array().dtype == element_type.numpy
    assert made.array().tolist() == array.tolist()
    assert [complex(value) for value in made] == [complex(n) for row in numbers for n in row]


@pytest.mark.parametrize(
    "element_type", [t for t in ELEMENT_TYPES.values() if t.bits == 8], ids=repr
)
def test_elements_are_what_numpy_says(element_type: ElementType) -> None:
    made = Literal(ArrayShape(element_type, [256]), bytes(range(256)))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.array(list(made)), made.array().astype(np.float64))


@pytest.mark.parametrize(
    ("element_type", "array", "data"),
    [
        (S1, [0, -1], b"\x00\x01"),
        (S4, [-8, 7, -1], b"\x08\x07\x0f"),
        (U4, [15, 0], b"\x0f\x00"),
        (F4E2M1FN, [-0.5, 6], b"\x09\x07"),
        (BF16, [1, -2], b"\x80\x3f\x00\xc0"),
        (PRED, [True, False], b"\x01\x00"),
        (C64, [1 - 2j], struct.pack("<2f", 1, -2)),
    ],
    ids=str,
)
def test_data_is_little_endian_in_the_low_bits(
    element_type: ElementType, array: list[Any], data: bytes
) -> None:
    made = Literal.from_array(array, element_type)
    assert made.data == data
    assert list(made) == array
    assert made.array().tolist() == array


def test_the_array_cannot_be_written() -> None:
    for element_type in (S1, S8, F32):
        array = Literal.from_array([0, 0], element_type).array()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_type_follows_from_the_array() -> None:
    assert Literal.from_array([1, 2]).element_type is S64
    assert Literal.from_array(np.zeros(2, np.int8)).element_type is S8
    assert Literal.from_array(np.zeros(2, np.bool_)).element_type is PRED
    assert Literal.from_array(np.zeros(2, F8E4M3FN.numpy)).element_type is F8E4M3FN
    assert Literal.from_array(np.array([1, 2], ">i4")).data == struct.pack("<2i", 1, 2)
    with pytest.raises(ValueError, match="is no element type"):
        Literal.from_array(["text"])
    with pytest.raises(ValueError, match=r"s32\[2\]\{0\} expected, an array of \[3\] given"):
        Literal.from_array([1, 2, 3], PAIR)


def test_a_transposed_array_is_read_in_logical_order() -> None:
    made = Literal.from_array(np.array([[1, 2], [3, 4]], np.int32).T)
    assert list(made) == [1, 3, 2, 4]


def test_scalars() -> None:
    assert Literal.from_array(True, PRED).scalar() is True  # noqa: FBT003  # it is the value
    assert Literal.from_array(-3, S4).scalar() == -3
    assert Literal.from_array([[1.5]], BF16).scalar() == 1.5
    assert Literal.from_array(1 + 2j, C64).scalar() == 1 + 2j
    with pytest.raises(ValueError, match=r"one element expected, s32\[2\]\{0\} has 2"):
        Literal.from_array([1, 2], PAIR).scalar()


def test_tuples_have_elements_and_no_array() -> None:
    pack = Literal.of_elements([Literal.from_array(1, S32), Literal.of_elements([])])
    assert pack.shape.text == "(s32[], ())"
    assert pack == Literal.of_elements([Literal.from_array(1, S32), Literal.of_elements([])])
    assert pack != Literal.elision(pack.shape)
    with pytest.raises(ValueError, match="a literal of an array expected"):
        pack.array()


def test_elided_values_are_not_known() -> None:
    elided = Literal.elision(PAIR)
    assert elided.elided
    assert elided.element_type is S32
    assert elided == Literal.elision(PAIR)
    for use in (elided.array, elided.scalar, lambda: list(elided)):
        with pytest.raises(ValueError, match="elided"):
            use()


def test_is_all() -> None:
    assert Literal.from_array([0.0, -0.0], F32).is_all(0)
    assert Literal.from_array([1, 1], C64).is_all(1)
    assert not Literal.from_array([1, 2], S32).is_all(1)
    assert not Literal.elision(PAIR).is_all(0)
    assert not Literal.of_elements([]).is_all(0)


def test_copies_are_equal() -> None:
    pack = Literal.of_elements([Literal.from_array([1, 2], BF16), Literal.elision(PAIR)])
    assert copy.deepcopy(pack) == pack
    assert pickle.loads(pickle.dumps(pack)) == pack  # noqa: S301  # our own bytes


def test_the_kinds_write_in_full() -> None:
    many = Literal.from_array(range(11), S32)
    inner = ", ".join(map(str, range(11)))
    assert LITERAL.write(many) == f"{{{inner}}}"
    assert LITERAL_WITH_SHAPE.write(many) == f"s32[11]{{0}} {{{inner}}}"


def test_the_representation_is_short() -> None:
    assert repr(Literal.from_array(range(11), S32)) == "Literal(s32[11]{0} {...})"


def test_small_literals_need_no_numpy() -> None:
    code = (
        "import sys; from hlotool.ir.literal import *; from hlotool.ir.element_type import *\n"
        "from hlotool.text.literal_reader import read_literal\n"
        "for type in ELEMENT_TYPES.values():\n"
        "    text = '{(1,1)}' if type.is_complex else '{-1}' if type is S1 else '{1}'\n"
        "    made = read_literal(text, 0, len(text), ArrayShape(type, [1]))\n"
        "    assert LITERAL.write(made).strip('{()}')[0] in '1-', made\n"
        "assert not {'numpy', 'ml_dtypes'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
