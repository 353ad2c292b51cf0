"""Factors of positive definite matrices, found column by column."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import ClassVar

from hlotool.ir.element_type import PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.decomposition import Cholesky
from hlotool.ops.unary import Sqrt
from hlotool.passes.expanders.expander import Expander, computing_type
from hlotool.passes.expanders.matrices import (
    as_declared,
    column,
    element,
    one_batch,
    row,
    row_numbers,
    spread,
    swapped,
    with_column,
)
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.loops import State, counted_loop
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class CholeskyExpander(Expander):
    """Writes cholesky as a loop that finds one column of the factors a step.

    Floats narrower than f32 are computed in f32.
    """

    name: ClassVar[str] = "cholesky_expander"

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a cholesky."""
        return isinstance(instruction.op, Cholesky)

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """cholesky(a) -> while(l[:, j] = (a[:, j] - l * l[j]) / sqrt(pivot))"""
        op = instruction.op
        assert isinstance(op, Cholesky)
        result = array_shape(instruction)
        if result.element_count == 0:
            return build.full(0, result)
        (operand,) = instruction.operands
        a = one_batch(build, operand, computing_type(array_shape(operand).element_type))
        # a = uᴴ·u says the same as aᵀ = uᵀ·(uᵀ)ᴴ.
        factor = _lower_factor(a if op.lower else swapped(a))
        return as_declared(factor if op.lower else swapped(factor), result)


def _lower_factor(a: Term) -> Term:
    """Returns l with l·lᴴ = a, and NaN for what is not positive definite."""
    batch, size, _ = a.shape.dimensions
    is_definite = a.build.full(value=True, shape=ArrayShape(PRED, [batch, 1, 1]))
    state = [a.instruction, a.full(0).instruction, is_definite]
    _, factor, definite = counted_loop(a.build, size, state, _step, name="cholesky")
    return spread(a.of(definite), a).chosen(a.of(factor), nan)


def _step(inside: Builder, number: Instruction, state: State) -> State:
    a, factor, is_definite = (Term(inside, one) for one in state)
    place = Term(inside, number)
    done = spread(row(factor, place).conjugate, factor)
    rest = column(a, place) - (factor * done).summed([2])
    # The diagonal is real by definition: what else may stand there is not read.
    pivot = element(rest, place, None).real
    root = pivot.changed(Sqrt()).converted(a.element_type)
    rows = row_numbers(rest)
    below = rows.compared("GT", place).chosen(rest / spread(root, rest), 0)
    new = rows.compared("EQ", place).chosen(spread(root, rest), below)
    still = is_definite & pivot.compared("GT", 0)
    return [a.instruction, with_column(factor, place, new).instruction, still.instruction]
