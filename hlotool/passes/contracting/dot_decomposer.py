"""One form for all dots: batch dimensions first, then one of each other role."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.products import DenseDot, Side, add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("dot_decomposer")


@patterns.rewrites(Dot)
def merge_roles(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, y) -> reshape(dot(reshape(transpose(x)), reshape(transpose(y))))"""
    dot = dense_dot(instruction)
    if dot is None or _is_canonical(dot):
        return None
    batch = tuple(range(len(dot.lhs.batch)))
    lhs = _merged(build, dot.lhs, contracting_last=True)
    rhs = _merged(build, dot.rhs, contracting_last=False)
    op = dot.op.replace(
        lhs_batch_dims=batch,
        rhs_batch_dims=batch,
        lhs_contracting_dims=(len(batch) + bool(dot.lhs.free),),
        rhs_contracting_dims=(len(batch),),
    )
    product = add_product(build, op, lhs, rhs, dot.element_type)
    return build.reshape(product, array_shape(instruction).dimensions)


def _is_canonical(dot: DenseDot) -> bool:
    in_order = tuple(range(len(dot.lhs.batch)))
    return len(dot.lhs.contracting) == 1 and all(
        side.batch == in_order and len(side.free) <= 1 for side in (dot.lhs, dot.rhs)
    )


def _merged(build: Builder, side: Side, *, contracting_last: bool) -> Instruction:
    """Returns an operand as [batch..., free, contracting], or with the last two changed about.

    Where there is no free dimension none is made.
    """
    free = [prod(side.sizes(side.free))] if side.free else []
    contracting = [prod(side.sizes(side.contracting))]
    order = side.free + side.contracting if contracting_last else side.contracting + side.free
    sizes = free + contracting if contracting_last else contracting + free
    transposed = build.transpose(side.operand, side.batch + order)
    return build.reshape(transposed, [*side.sizes(side.batch), *sizes])


@dataclass(frozen=True)
class DotDecomposer(PatternPass):
    """Gives dots one contracting and at most one free dimension a side, batch dimensions first."""

    name: ClassVar[str] = "dot_decomposer"
    identities: ClassVar[PatternSet] = patterns
