"""Finds what a module wants of its parameters: from each use back to where numbers come from.

Each computation is walked once for each set of constraints on its root, users before operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from hlotool.evaluation.constraints.kinds import Constraint, Fixed, Full
from hlotool.evaluation.constraints.loops import loop_wants
from hlotool.evaluation.constraints.moves import ELEMENTWISE, moved_parts
from hlotool.evaluation.constraints.sources import wants
from hlotool.evaluation.constraints.steps import steps
from hlotool.evaluation.following import Index, maker, passed
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.asynchronous import AsyncStart
from hlotool.ops.control_flow import Call, Conditional, Fusion, While
from hlotool.ops.indexing import SetDimensionSize
from hlotool.ops.reduction import Map

Wanted: TypeAlias = dict[tuple[Index, Constraint], None]
"""Constraints on a value, each with the index of the part it is on, in the order found."""
_Asked = Iterator[tuple[int, Index, Constraint]]
"""Numbers of operands, each with a constraint on the part at an index."""

_NOTHING: Wanted = {}


def wanted_of_parameters(module: Module) -> list[Wanted]:
    """Returns for each parameter of the entry what the module wants of it."""
    return _Flow(module).back(module.entry, _NOTHING)


class _Flow:
    def __init__(self, module: Module) -> None:
        self._loop_wants = loop_wants(module)
        self._done: dict[tuple[Computation, frozenset[tuple[Index, Constraint]]], list[Wanted]] = {}

    def back(self, computation: Computation, of_root: Wanted) -> list[Wanted]:
        """Returns what a computation wants of its parameters for its root to be as wanted."""
        key = computation, frozenset(of_root)
        found = self._done.get(key)
        if found is not None:
            return found
        wanted: dict[Instruction, Wanted] = {computation.root: dict(of_root)}
        for instruction in reversed(computation.instructions):
            for number, index, constraint in self._asked(instruction, wanted):
                operand = instruction.operands[number]
                wanted.setdefault(operand, {})[index, constraint] = None
        found = [wanted.get(parameter, {}) for parameter in computation.parameters]
        self._done[key] = found
        return found

    def _asked(self, instruction: Instruction, wanted: dict[Instruction, Wanted]) -> _Asked:
        of_result = wanted.get(instruction, _NOTHING)
        for number, constraint in wants(instruction):
            yield number, (), constraint
        for number, constraint in self._loop_wants.get(instruction, ()):
            yield number, (), constraint
        if instruction.calls:
            yield from self._of_calls(instruction, of_result)
        for index, constraint in of_result:
            yield from _passed(instruction, index, constraint)

    def _of_calls(self, instruction: Instruction, of_result: Wanted) -> _Asked:
        op, calls = instruction.op, instruction.calls
        if isinstance(op, Call | Fusion):
            yield from _numbered(self.back(calls[0], of_result))
        elif isinstance(op, AsyncStart):
            of_root = {(index[1:], wish): None for index, wish in of_result if index[:1] == (1,)}
            yield from _numbered(self.back(calls[0], of_root))
        elif isinstance(op, Conditional):
            branches = [self.back(branch, of_result)[0] for branch in calls]
            yield from _numbered([_NOTHING, *branches])
        elif isinstance(op, Map):
            yield from _elements(self.back(calls[0], of_result))
        elif isinstance(op, While):
            condition, body = calls
            for computation in (condition, body):
                yield from _numbered(self.back(computation, _NOTHING))
            # What the loop leaves alone is the same before and after it.
            yield from ((0, index, wish) for index, wish in of_result if _stays(body, index))


def _numbered(of_operands: list[Wanted]) -> _Asked:
    for number, wanted in enumerate(of_operands):
        for index, constraint in wanted:
            yield number, index, constraint


def _elements(of_scalars: list[Wanted]) -> _Asked:
    for number, index, constraint in _numbered(of_scalars):
        if isinstance(constraint, ELEMENTWISE):
            yield number, index, constraint


def _stays(body: Computation, index: Index) -> bool:
    instruction, within = maker(body.root, index)
    return instruction.op.parameter_number == 0 and within == index


def _passed(instruction: Instruction, index: Index, constraint: Constraint) -> _Asked:
    found = passed(instruction, index)
    if found is not None:
        yield (*found, constraint)
    elif index:
        for number, moved in moved_parts(instruction, index, constraint):
            yield number, (), moved
    elif isinstance(instruction.shape, ArrayShape):
        yield from _stepped(instruction, constraint)


def _stepped(instruction: Instruction, constraint: Constraint) -> _Asked:
    op = instruction.op
    if isinstance(op, SetDimensionSize) and isinstance(constraint, Full):
        assert isinstance(instruction.shape, ArrayShape)
        bound = instruction.shape.dimensions[op.dimensions]
        yield 1, (), Fixed(bound, source=constraint.source)
    for number, step in steps(instruction, constraint):
        yield number, (), step
