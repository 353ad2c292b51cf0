"""Contracting dimensions of dots in the order in which an operand has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.products import add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("dot_dimension_sorter")


@patterns.rewrites(Dot)
def sort_contracting(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, y), contracting={2,1} -> dot(x, y), contracting={1,2}"""
    dot = dense_dot(instruction)
    if dot is None:
        return None
    lhs, rhs = dot.lhs.contracting, dot.rhs.contracting
    if list(lhs) == sorted(lhs) or list(rhs) == sorted(rhs):
        return None
    pairs = sorted(zip(lhs, rhs, strict=True))
    op = dot.op.replace(
        lhs_contracting_dims=tuple(one for one, _ in pairs),
        rhs_contracting_dims=tuple(other for _, other in pairs),
    )
    return add_product(build, op, dot.lhs.operand, dot.rhs.operand, dot.element_type)


@dataclass(frozen=True)
class DotDimensionSorter(PatternPass):
    """Sorts contracting dimensions of dots that are in order on neither side."""

    name: ClassVar[str] = "dot_dimension_sorter"
    identities: ClassVar[PatternSet] = patterns
