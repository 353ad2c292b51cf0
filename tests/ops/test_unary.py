"""Elementwise ops of one operand: shapes and element types."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.op import OPCODES
from hlotool.ir.shape import TOKEN, ArrayShape, Layout
from hlotool.ops.unary import Accurate, Copy, Unary
from tests.ops.shapes import F32, F32_2, S32, array, pack

PLAIN = [
    "abs", "ceil", "floor", "negate", "sign", "not", "round-nearest-afz", "round-nearest-even",
    "is-finite", "real", "imag", "popcnt", "count-leading-zeros",
]  # fmt: skip
ACCURATE = [
    "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "sqrt", "cbrt",
    "rsqrt", "tanh", "erf", "sine", "cosine", "tan", "acos", "acosh", "asin", "asinh", "atanh",
    "cosh", "sinh",
]  # fmt: skip


@pytest.mark.parametrize("opcode", [*PLAIN, *ACCURATE])
def test_every_opcode_is_there(opcode: str) -> None:
    op_class = OPCODES[opcode]
    assert issubclass(op_class, Unary)
    assert op_class.takes_result_accuracy == (opcode in ACCURATE)
    assert issubclass(op_class, Accurate) == (opcode in ACCURATE)


@pytest.mark.parametrize(
    ("opcode", "element_type", "result"),
    [
        ("abs", "s32", "s32"),
        ("abs", "c64", "f32"),
        ("negate", "u8", "u8"),
        ("sign", "c128", "c128"),
        ("floor", "f8e4m3fn", "f8e4m3fn"),
        ("is-finite", "bf16", "pred"),
        ("not", "pred", "pred"),
        ("popcnt", "u4", "u4"),
        ("real", "f32", "f32"),
        ("imag", "c128", "f64"),
        ("tanh", "c64", "c64"),
        ("erf", "f16", "f16"),
    ],
)
def test_element_type_of_the_result(opcode: str, element_type: str, result: str) -> None:
    layout = Layout([0, 1], memory_space=1)
    operand = ArrayShape(ELEMENT_TYPES[element_type], [2, 3], layout)
    inferred = OPCODES[opcode]().infer_shape([operand], [])
    assert inferred.text == f"{result}[2,3]{{0,1:S(1)}}"


@pytest.mark.parametrize(
    ("opcode", "element_type", "words"),
    [
        ("abs", "u8", "elements wanted: signed, float, complex"),
        ("negate", "pred", "elements wanted: signed, unsigned, float, complex"),
        ("sign", "u32", "elements wanted: signed, float, complex"),
        ("ceil", "s32", "elements wanted: float"),
        ("is-finite", "c64", "elements wanted: float"),
        ("not", "f32", "elements wanted: pred, signed, unsigned"),
        ("popcnt", "pred", "elements wanted: signed, unsigned"),
        ("real", "s32", "elements wanted: float, complex"),
        ("sqrt", "s32", "elements wanted: float, complex"),
        ("cbrt", "c64", "elements wanted: float"),
    ],
)
def test_element_types_that_do_not_fit(opcode: str, element_type: str, words: str) -> None:
    with pytest.raises(ShapeError, match=rf"^{opcode}: operand is {element_type}\[\], {words}$"):
        OPCODES[opcode]().infer_shape([array(element_type)], [])


def test_only_arrays_are_elementwise() -> None:
    with pytest.raises(ShapeError, match=r"^negate: operand 0 is token\[\], an array is wanted$"):
        OPCODES["negate"]().infer_shape([TOKEN], [])


def test_copy_takes_anything_in_any_layout() -> None:
    operand = pack(F32, array("f32", 2, 3))
    assert Copy().infer_shape([operand], []) is operand
    columns = ArrayShape(ELEMENT_TYPES["f32"], [2, 3], Layout([0, 1]))
    Copy().check_shape([operand], [], pack(F32, columns))
    with pytest.raises(ShapeError, match=r"copy: shape s32\[\] is declared, f32\[2\] is inferred"):
        Copy().check_shape([F32_2], [], S32)
