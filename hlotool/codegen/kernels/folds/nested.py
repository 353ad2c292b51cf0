"""Folds of what other folds yield, computed where each result is needed: nothing lies between.

That is as quick as a phase of its own where every lane of that would load its elements alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hlotool.codegen.elements.shapes import first_array_shape
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.folds.orientation import orientation
from hlotool.codegen.kernels.folds.reductions_plan import Plan
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.reduction import Reduce
from hlotool.ops.tuples import GetTupleElement


def is_read_once(body: Body, fold: Instruction, others: Collection[Instruction]) -> bool:
    """Whether only one of some other folds needs the results of a fold, each of them once."""
    outputs = {output for output, _ in body.outputs}
    readers: set[Instruction] = set()
    seen = {fold}
    waiting = [fold]
    while waiting:
        one = waiting.pop()
        if one in outputs:
            return False
        for user in body.users.get(one, ()):
            if user in others and _folds(user, one):
                readers.add(user)
            elif not _is_at_the_same_place(user, fold):
                return False
            elif user not in seen:
                seen.add(user)
                waiting.append(user)
    return len(readers) == 1


def _folds(reduction: Instruction, operand: Instruction) -> bool:
    return operand not in reduction.operands[len(reduction.operands) // 2 :]


def _is_at_the_same_place(user: Instruction, fold: Instruction) -> bool:
    is_plain = isinstance(user.op, Elementwise | GetTupleElement)
    return is_plain and first_array_shape(user).dimensions == first_array_shape(fold).dimensions


def goes_one_by_one(plan: Plan, folds: Sequence[Instruction], lanes: int) -> bool:
    """Whether each lane of a phase takes in elements of its own, one after the other.

    Then the order is the same wherever the folds are computed, and so are the results.
    """
    is_along, _ = orientation(plan, lanes)
    return not is_along and plan.order[-1] not in plan.rows and all(map(_is_of_one, folds))


def _is_of_one(fold: Instruction) -> bool:
    """Whether a fold runs along one dimension."""
    op, sizes = fold.op, first_array_shape(fold.operands[0]).dimensions
    assert isinstance(op, Reduce)
    return sum(sizes[dimension] != 1 for dimension in op.dimensions) == 1
