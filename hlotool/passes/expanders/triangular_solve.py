"""Equations with triangular matrices, solved row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.decomposition import UNSET_TRANSPOSE, TriangularSolve
from hlotool.ops.shape_changing import Reverse
from hlotool.passes.expanders.expander import Expander, computing_type
from hlotool.passes.expanders.matrices import (
    as_declared,
    element,
    one_batch,
    row,
    row_numbers,
    spread,
    swapped,
    with_row,
)
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.loops import State, counted_loop
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class TriangularSolveExpander(Expander):
    """Writes triangular-solve as a loop that finds one row of the solutions a step.

    Floats narrower than f32 are computed in f32.
    """

    name: ClassVar[str] = "triangular_solve_expander"

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a triangular-solve that says what it transposes."""
        op = instruction.op
        return isinstance(op, TriangularSolve) and op.transpose_a != UNSET_TRANSPOSE

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """triangular-solve(a, b) -> while(x[i] = (b[i] - a[i] * x) / a[i][i])"""
        op = instruction.op
        assert isinstance(op, TriangularSolve)
        result = array_shape(instruction)
        if result.element_count == 0:
            return build.full(0, result)
        element_type = computing_type(array_shape(instruction.operands[0]).element_type)
        a, b = (one_batch(build, operand, element_type) for operand in instruction.operands)
        is_lower = op.lower
        if op.transpose_a != "NO_TRANSPOSE":
            a, is_lower = swapped(a), not is_lower
        if op.transpose_a == "ADJOINT":
            a = a.conjugate
        if not op.left_side:
            # x·a = b says the same as aᵀ·xᵀ = bᵀ.
            a, is_lower, b = swapped(a), not is_lower, swapped(b)
        if not is_lower:
            a, b = _turned(a, (1, 2)), _turned(b, (1,))
        solution = lower_solution(a, b, unit_diagonal=op.unit_diagonal)
        if not is_lower:
            solution = _turned(solution, (1,))
        if not op.left_side:
            solution = swapped(solution)
        return as_declared(solution, result)


def lower_solution(a: Term, b: Term, *, unit_diagonal: bool) -> Term:
    """Returns x with a·x = b for lower triangular a; reads lower triangles only."""

    def step(inside: Builder, number: Instruction, state: State) -> State:
        a, b, x = (Term(inside, one) for one in state)
        place = Term(inside, number)
        factors = spread(swapped(row(a, place)), x)
        is_known = row_numbers(x).compared("LT", place)
        # What stands in the other triangle is not read, NaN included.
        products = is_known.chosen(factors, 0) * x
        rest = row(b, place) - products.summed([1])
        if not unit_diagonal:
            rest = rest / spread(element(a, place, place), rest)
        return [a.instruction, b.instruction, with_row(x, place, rest).instruction]

    build = a.build
    state = [a.instruction, b.instruction, b.full(0).instruction]
    rows = a.shape.dimensions[1]
    return a.of(counted_loop(build, rows, state, step, name="triangular_solve")[2])


def _turned(matrices: Term, dimensions: tuple[int, ...]) -> Term:
    return matrices.changed(Reverse(dimensions))
