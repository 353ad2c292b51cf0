"""Finds what a module wants of its parameters: from each use back to where numbers come from.

Each computation is walked once for each set of constraints on its root, users before operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from hlotool.evaluation.constraints.kinds import Constraint, Fixed, Full
from hlotool.evaluation.constraints.loops import loop_wants
from hlotool.evaluation.constraints.moves import ELEMENTWISE
from hlotool.evaluation.constraints.sources import wants
from hlotool.evaluation.constraints.steps import steps
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.asynchronous import AsyncDone, AsyncStart, AsyncUpdate
from hlotool.ops.control_flow import Call, Conditional, Domain, Fusion, OptBarrier, While
from hlotool.ops.host import CopyDone, CopyStart
from hlotool.ops.indexing import SetDimensionSize
from hlotool.ops.ordering import Sort
from hlotool.ops.reduction import Map
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy

Index: TypeAlias = tuple[int, ...]
Wanted: TypeAlias = dict[tuple[Index, Constraint], None]
"""Constraints on a value, each with the index of the part it is on, in the order found."""
_Asked = Iterator[tuple[int, Index, Constraint]]
"""Numbers of operands, each with a constraint on the part at an index."""

_UNCHANGED: tuple[type[Op], ...] = (AsyncUpdate, Copy, Domain, OptBarrier)
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
    instruction, rest = body.root, index
    while instruction.op.parameter_number != 0:
        if isinstance(instruction.op, Tuple) and rest:
            instruction, rest = instruction.operands[rest[0]], rest[1:]
        elif isinstance(instruction.op, GetTupleElement):
            rest = (instruction.op.index, *rest)
            instruction = instruction.operands[0]
        elif isinstance(instruction.op, _UNCHANGED):
            instruction = instruction.operands[0]
        else:
            return False
    return rest == index


def _passed(instruction: Instruction, index: Index, constraint: Constraint) -> _Asked:
    route = _ROUTES.get(type(instruction.op))
    if route is not None:
        for number, passed in route(instruction, index):
            yield number, passed, constraint
    elif isinstance(instruction.op, Sort) and index:
        if isinstance(constraint, ELEMENTWISE):
            yield index[0], (), constraint
    elif isinstance(instruction.op, _UNCHANGED) and index:
        yield 0, index, constraint
    elif not index and isinstance(instruction.shape, ArrayShape):
        yield from _stepped(instruction, constraint)


_Route: TypeAlias = Iterator[tuple[int, Index]]
"""The operand that has a part of the result, if one has it, and where."""


def _tuple(_: Instruction, index: Index) -> _Route:
    if index:
        yield index[0], index[1:]


def _element(instruction: Instruction, index: Index) -> _Route:
    assert isinstance(instruction.op, GetTupleElement)
    yield 0, (instruction.op.index, *index)


def _started(_: Instruction, index: Index) -> _Route:
    if len(index) > 1 and index[0] == 0:
        yield index[1], index[2:]


def _done(_: Instruction, index: Index) -> _Route:
    yield 0, (1, *index)


def _copy_started(_: Instruction, index: Index) -> _Route:
    if index in ((0,), (1,)):
        yield 0, ()


def _copy_done(_: Instruction, index: Index) -> _Route:
    yield 0, (0, *index)


_ROUTES: dict[type[Op], Callable[[Instruction, Index], _Route]] = {
    AsyncDone: _done,
    AsyncStart: _started,
    CopyDone: _copy_done,
    CopyStart: _copy_started,
    GetTupleElement: _element,
    Tuple: _tuple,
}


def _stepped(instruction: Instruction, constraint: Constraint) -> _Asked:
    op = instruction.op
    if isinstance(op, SetDimensionSize) and isinstance(constraint, Full):
        assert isinstance(instruction.shape, ArrayShape)
        bound = instruction.shape.dimensions[op.dimensions]
        yield 1, (), Fixed(bound, source=constraint.source)
    for number, passed in steps(instruction, constraint):
        yield number, (), passed
