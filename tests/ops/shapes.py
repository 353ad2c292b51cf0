"""Shapes for the tests of ops, in few words."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape, TupleShape


def array(element_type: str, *dimensions: int) -> ArrayShape:
    """Returns an array shape, row-major."""
    return ArrayShape(ELEMENT_TYPES[element_type], dimensions)


def pack(*elements: Shape) -> TupleShape:
    """Returns a tuple shape."""
    return TupleShape(elements)


def signature(parameters: Sequence[Shape], result: Shape) -> ProgramShape:
    """Returns the signature of a computation."""
    return ProgramShape(parameters, result)


F32 = array("f32")
F32_2 = array("f32", 2)
F32_4 = array("f32", 4)
BF16_2 = array("bf16", 2)
PRED = array("pred")
S32 = array("s32")
U32 = array("u32")
