"""Products of a matrix and a vector, as products of two matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.products import Side, add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("gemv-rewriter")


@patterns.rewrites(Dot)
def vector_to_matrix(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x[m,k], y[k]) -> reshape(dot(x, reshape(y)[k,1]))"""
    dot = dense_dot(instruction)
    if dot is None or bool(dot.lhs.free) == bool(dot.rhs.free):
        return None
    lhs, rhs = (_with_free(build, side) for side in (dot.lhs, dot.rhs))
    product = add_product(build, dot.op, lhs, rhs, dot.element_type)
    return build.reshape(product, array_shape(instruction).dimensions)


def _with_free(build: Builder, side: Side) -> Instruction:
    if side.free:
        return side.operand
    return build.reshape(side.operand, (*array_shape(side.operand).dimensions, 1))


@dataclass(frozen=True)
class GemvRewriter(PatternPass):
    """Gives the vector of a matrix-vector product a dimension of size 1."""

    name: ClassVar[str] = "gemv-rewriter"
    identities: ClassVar[PatternSet] = patterns
