"""Dots without batch dimensions of size 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.products import Dimensions, Side, add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import renumbered, without
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("batch-dot-simplification")


@patterns.rewrites(Dot)
def drop_batch_of_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x[1,m,k], y[1,k,n]) -> reshape(dot(reshape(x)[m,k], reshape(y)[k,n]))"""
    dot = dense_dot(instruction)
    if dot is None:
        return None
    sizes = dot.lhs.sizes(dot.lhs.batch)
    single = [number for number, size in enumerate(sizes) if size == 1]
    if not single:
        return None
    lhs, lhs_batch, lhs_contracting = _reduced(build, dot.lhs, single)
    rhs, rhs_batch, rhs_contracting = _reduced(build, dot.rhs, single)
    op = dot.op.replace(
        lhs_batch_dims=lhs_batch,
        rhs_batch_dims=rhs_batch,
        lhs_contracting_dims=lhs_contracting,
        rhs_contracting_dims=rhs_contracting,
    )
    product = add_product(build, op, lhs, rhs, dot.element_type)
    return build.reshape(product, array_shape(instruction).dimensions)


def _reduced(
    build: Builder, side: Side, single: list[int]
) -> tuple[Instruction, Dimensions, Dimensions]:
    """Returns an operand without some batch dimensions, then its batch and contracting ones."""
    dropped = [side.batch[number] for number in single]
    kept = [dimension for dimension in side.batch if dimension not in dropped]
    operand = build.reshape(side.operand, without(array_shape(side.operand).dimensions, dropped))
    return operand, renumbered(kept, dropped), renumbered(side.contracting, dropped)


@dataclass(frozen=True)
class BatchDotSimplification(PatternPass):
    """Removes batch dimensions of size 1 from dots."""

    name: ClassVar[str] = "batch-dot-simplification"
    identities: ClassVar[PatternSet] = patterns
