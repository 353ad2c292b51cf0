"""Whether two modules are the same, and if not, where they first differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from hlotool.ir.metadata import NO_METADATA, NO_STATISTICS
from hlotool.ir.order import computation_order, fused_computations, instruction_order
from hlotool.ir.stack_tables import StackTables
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart

if TYPE_CHECKING:
    from hlotool.ir.annotations import Annotations
    from hlotool.ir.computation import Computation
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module
    from hlotool.ir.op import Op


def equal_modules(one: Module, other: Module) -> str | None:
    """Returns the first difference of two modules in words, `None` where there is none.

    Everything counts that a print shows: names, annotations, and the order in which things
    print; of stack frames what they say, not their numbers. Of a computation that only an
    async start calls, names and the annotations of its root do not count, since sugar has no
    place for them; nor do calls that the later steps of the chain repeat.
    """
    return next(_differences(one, other), None)


def _differences(one: Module, other: Module) -> Iterator[str]:
    yield from _unequal("module name", one.name, other.name)
    for name in (field.name for field in one.header.fields):
        ours, theirs = getattr(one.header, name), getattr(other.header, name)
        yield from _unequal(f"header: {name}", ours, theirs)
    yield from _unequal("entry", one.entry.name, other.entry.name)
    sides = _Side(one), _Side(other)
    if sides[0].stacks != sides[1].stacks:
        yield "stack tables differ"
    comparison = _Comparison(*sides)
    for ours, theirs in zip_longest(sides[0].shown, sides[1].shown):
        if ours is None or theirs is None:
            yield f"computation {(ours or theirs).name} stands on one side only"
            return
        yield from _unequal("computation name", ours.name, theirs.name)
        yield from comparison.of_computations(ours, theirs)


class _Side:
    """One of the modules, its stack frames numbered in the order in which they print."""

    def __init__(self, module: Module) -> None:
        self._unscheduled = (
            fused_computations(module) if module.is_scheduled else set(module.computations)
        )
        self.shown = _shown(module)
        tables = module.stack_tables or StackTables()
        self.stacks = tables.used_by(
            instruction.annotations.metadata.stack_frame_id
            for computation in self.shown
            for instruction in self.order(computation)
        )

    def order(self, computation: Computation) -> Sequence[Instruction]:
        """Returns the instructions in print order."""
        if computation in self._unscheduled:
            return instruction_order(computation)
        return computation.instructions

    def annotations(self, instruction: Instruction) -> Annotations:
        """Returns what prints of annotations, with the number a stack frame has on this side."""
        found = instruction.annotations
        metadata = found.metadata
        number = metadata.stack_frame_id
        if number:
            stack_frame_id = self.stacks.numbers_in_text.get(number, 0)
            metadata = metadata.replace(stack_frame_id=stack_frame_id)
        return found.replace(
            metadata=metadata if metadata.is_shown else NO_METADATA,
            statistics=found.statistics if found.statistics.is_shown else NO_STATISTICS,
        )


def _shown(module: Module) -> list[Computation]:
    """Returns the computations in print order, without those of async starts."""
    started: set[Computation] = set()
    called: set[Computation] = set()
    for instruction in module.instructions():
        if isinstance(instruction.op, AsyncStart):
            started.update(instruction.calls)
        elif not isinstance(instruction.op, AsyncContinuation):
            called.update(instruction.calls)
    return [c for c in computation_order(module) if c not in started - called]


class _Comparison:
    """Compares computations of two modules; called ones were compared before their callers."""

    def __init__(self, one: _Side, other: _Side) -> None:
        self._one = one
        self._other = other
        self._computations: dict[Computation, Computation] = {}
        self._instructions: dict[Instruction, Instruction] = {}

    def of_computations(
        self, one: Computation, other: Computation, *, is_wrapped: bool = False
    ) -> Iterator[str]:
        """Yields the differences of two computations, and takes note that they belong together."""
        self._computations[one] = other
        where = f"computation {one.name}"
        if not is_wrapped:
            yield from _unequal(f"{where}: thread", one.execution_thread, other.execution_thread)
            yield from _unequal(f"{where}: unknown attributes", one.unknown, other.unknown)
        ours, theirs = self._one.order(one), self._other.order(other)
        yield from _unequal(f"{where}: number of instructions", len(ours), len(theirs))
        for mine, yours in zip(ours, theirs, strict=True):
            self._instructions[mine] = yours
            yield from self._of_instructions(mine, yours, is_wrapped=is_wrapped)
        if self._instructions[one.root] is not other.root:
            yield f"{where}: root {one.root.name} is not {other.root.name}"

    def _of_instructions(
        self, one: Instruction, other: Instruction, *, is_wrapped: bool
    ) -> Iterator[str]:
        where = f"instruction {one.name}"
        if not is_wrapped:
            yield from _unequal("instruction name", one.name, other.name)
            yield from self._of_annotations(where, one, other)
        yield from _unequal(f"{where}: shape", one.shape, other.shape)
        yield from _unequal(f"{where}: op", _printed(one.op), _printed(other.op))
        yield from self._of_edges(f"{where}: operands", one.operands, other.operands)
        predecessors = one.control_predecessors, other.control_predecessors
        yield from self._of_edges(f"{where}: control-predecessors", *predecessors)
        if isinstance(one.op, AsyncContinuation):
            return
        yield from _unequal(f"{where}: number of calls", len(one.calls), len(other.calls))
        for mine, yours in zip(one.calls, other.calls, strict=True):
            if mine not in self._computations:
                yield from self.of_computations(mine, yours, is_wrapped=True)
            elif self._computations[mine] is not yours:
                yield f"{where}: calls {mine.name} and {yours.name}"

    def _of_annotations(self, where: str, one: Instruction, other: Instruction) -> Iterator[str]:
        ours, theirs = self._one.annotations(one), self._other.annotations(other)
        if ours != theirs:
            for name in (field.name for field in ours.fields):
                yield from _unequal(f"{where}: {name}", getattr(ours, name), getattr(theirs, name))

    def _of_edges(
        self, where: str, ours: Sequence[Instruction], theirs: Sequence[Instruction]
    ) -> Iterator[str]:
        expected = [self._instructions.get(instruction) for instruction in ours]
        if expected != list(theirs):
            names = (", ".join(edge.name for edge in edges) for edges in (ours, theirs))
            yield f"{where}: {' and '.join(names)}"


def _printed(op: Op) -> tuple[Any, ...]:
    values = (getattr(op, field.name) for field in op.fields if not field.read_only)
    return op.opcode, *values


def _unequal(where: str, ours: Any, theirs: Any) -> Iterator[str]:
    if ours != theirs:
        yield f"{where}: {ours} and {theirs}"
