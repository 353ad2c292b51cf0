"""Opcodes that hlotool does not know, kept as they were read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hlotool.ir.appearance import Category
from hlotool.ir.op import Op
from hlotool.ir.shape import ProgramShape, Shape


class OpaqueOp(Op):
    """An opcode that this version does not know; nothing about it is checked."""

    infers_shape = False
    category = Category.EXTERNAL

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Accepts any shapes."""


@cache
def opaque_class(opcode: str) -> type[OpaqueOp]:
    """Returns the class of an unknown opcode; the same one each time."""
    return type("OpaqueOp", (OpaqueOp,), {"__doc__": OpaqueOp.__doc__, "opcode": opcode})
