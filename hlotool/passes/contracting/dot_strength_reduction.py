"""Dots that are no work for a matrix product, as multiplications and sums."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.element_type import C64, C128, F32, F64, PRED, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.contraction import Dot
from hlotool.ops.elementwise import Add, And, Multiply, Or
from hlotool.ops.numerics.matrix_products import PACKED
from hlotool.ops.reduction import Reduce
from hlotool.passes.contracting.products import DenseDot, Side, dense_dot
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite


@dataclass(frozen=True)
class DotStrengthReduction(Pass):
    """Makes dots with a vector, or with very short sums, multiplications and reductions."""

    name: ClassVar[str] = "dot-strength-reduction"

    longest_sum: int = option(1, "matrices are multiplied so where sums have at most so many terms")

    def run(self, module: Module, journal: Journal) -> bool:
        """Replaces the dots for which the products are no more than operands or results."""
        patterns = PatternSet(self.name)
        patterns.rewrites(Dot)(self.multiply_and_add)
        return rewrite(module, patterns, journal)

    def multiply_and_add(self, instruction: Instruction, build: Builder) -> Instruction | None:
        """dot(x[m,k], y[k]) -> reduce(multiply(x, broadcast(y)), 0)"""
        dot = dense_dot(instruction)
        if dot is None or PACKED in dot.op.operand_precision:
            return None
        wide = _summing_type(dot)
        if wide is None:
            return None
        terms = prod(dot.lhs.sizes(dot.lhs.contracting))
        has_vector = not dot.lhs.free or not dot.rhs.free
        if not has_vector and terms > self.longest_sum:
            return None
        products = _products(build, dot, wide)
        sums = _summed(build, products, len(dot.lhs.contracting), wide)
        stored = build.convert(sums, dot.element_type)
        return build.reshape(stored, array_shape(instruction).dimensions)


def _summing_type(dot: DenseDot) -> ElementType | None:
    """Returns the type that products are made and summed in; `None` for types that do not fit."""
    given = [array_shape(side.operand).element_type for side in (dot.lhs, dot.rhs)]
    types = [*given, dot.element_type]
    if dot.element_type is PRED:
        return PRED if all(one is PRED for one in given) else None
    if dot.element_type.is_integer:
        # Whatever is lost above the bits of the result does not come back.
        return dot.element_type if all(one.is_integer or one is PRED for one in given) else None
    if not all(one.is_float or one.is_complex for one in given):
        return None
    is_double = any(one.component is F64 for one in types)
    if any(one.is_complex for one in types):
        return C128 if is_double else C64
    return F64 if is_double else F32


def _products(build: Builder, dot: DenseDot, wide: ElementType) -> Instruction:
    """Returns the products as [batch..., lhs free..., rhs free..., contracting...]."""
    lhs, rhs = dot.lhs, dot.rhs
    batch, contracting = lhs.sizes(lhs.batch), lhs.sizes(lhs.contracting)
    lhs_free, rhs_free = lhs.sizes(lhs.free), rhs.sizes(rhs.free)
    shape = ArrayShape(wide, [*batch, *lhs_free, *rhs_free, *contracting])
    first_rhs = len(batch) + len(lhs_free)
    one = _spread(build, lhs, len(batch), wide, shape)
    other = _spread(build, rhs, first_rhs, wide, shape)
    op = And() if wide is PRED else Multiply()
    return build.add(op, one, other, shape=shape)


def _spread(
    build: Builder, side: Side, first_free: int, wide: ElementType, shape: ArrayShape
) -> Instruction:
    """Returns an operand in the shape of the products, its free dimensions from one on."""
    operand = build.convert(side.operand, wide)
    order = side.batch + side.free + side.contracting
    transposed = build.transpose(operand, order)
    free = range(first_free, first_free + len(side.free))
    contracting = range(shape.rank - len(side.contracting), shape.rank)
    places = [*range(len(side.batch)), *free, *contracting]
    return build.broadcast(transposed, places, shape)


def _summed(build: Builder, products: Instruction, count: int, wide: ElementType) -> Instruction:
    """Returns the sums over the last dimensions."""
    sizes = array_shape(products).dimensions
    kept = sizes[: len(sizes) - count]
    if prod(sizes[len(kept) :]) == 1:
        return build.reshape(products, kept)
    dimensions = tuple(range(len(kept), len(sizes)))
    reducer = build.scalar_function(Or() if wide is PRED else Add(), wide)
    return build.add(Reduce(dimensions), products, build.constant(0, wide), calls=[reducer])
