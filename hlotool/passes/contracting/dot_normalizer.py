"""A contracting dimension for every dot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.products import add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("dot_normalizer")


@patterns.rewrites(Dot)
def contract_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x[m], y[n]) -> dot(reshape(x)[m,1], reshape(y)[n,1])"""
    dot = dense_dot(instruction)
    if dot is None or dot.lhs.contracting:
        return None
    lhs_sizes, rhs_sizes = (array_shape(side.operand).dimensions for side in (dot.lhs, dot.rhs))
    op = dot.op.replace(
        lhs_contracting_dims=(len(lhs_sizes),), rhs_contracting_dims=(len(rhs_sizes),)
    )
    lhs = build.reshape(dot.lhs.operand, (*lhs_sizes, 1))
    rhs = build.reshape(dot.rhs.operand, (*rhs_sizes, 1))
    return add_product(build, op, lhs, rhs, dot.element_type)


@dataclass(frozen=True)
class DotNormalizer(PatternPass):
    """Gives every dot a contracting dimension, of size 1 where it has none."""

    name: ClassVar[str] = "dot_normalizer"
    identities: ClassVar[PatternSet] = patterns
