"""When memory is needed: ranges over the order in which a whole module runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlotool.analysis.dataflow import Dataflow, Place, bindings
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart


@dataclass(frozen=True, slots=True)
class LiveRange:
    """The steps from the one that writes to the last one that reads, both included."""

    start: int
    end: int

    def meets(self, other: LiveRange) -> bool:
        """Whether both are needed at one step."""
        return self.start <= other.end and other.start <= self.end


class Liveness:
    """The steps of a module: what a caller calls comes right before the caller itself."""

    def __init__(self, dataflow: Dataflow) -> None:
        self._dataflow = dataflow
        self._entry = dataflow.module.entry
        self.sequence = list(_flattened(self._entry))
        """Every instruction of the computations that run one at a time, in the order of steps."""
        self.step = {instruction: step for step, instruction in enumerate(self.sequence)}
        self.end = len(self.sequence)
        """The step behind the last one, at which the results are read."""
        self._until = self._ends_of_async()

    def range_of(self, places: Iterable[Place]) -> LiveRange:
        """Returns when memory is needed that holds the values of all these places."""
        start, end = self.end, 0
        for place in dict.fromkeys(self._dataflow.origin(place) for place in places):
            found = self._range_of_value(place)
            start, end = min(start, found.start), max(end, found.end)
        return LiveRange(start, end)

    def range_of_tables(self, places: Iterable[Place]) -> LiveRange:
        """Returns when the tables of addresses are needed that stand for tuples."""
        start, end = self.end, 0
        for instruction, _ in places:
            start = min(start, self._start(instruction))
            steps = [self.step[user] for user in instruction.users]
            if instruction.is_root:
                steps.append(self._end_of(instruction))
            end = max(end, self.step[instruction], *steps)
        return LiveRange(start, end)

    def _range_of_value(self, origin: Place) -> LiveRange:
        maker = origin[0]
        is_given = maker.op.parameter_number is not None and maker.parent is self._entry
        end = self.end if is_given else self.step[maker]
        for use in self._dataflow.uses.get(origin, ()):
            step = self._end_of(maker) if use.user is None else self.step[use.user]
            end = max(end, step)
        assert maker.parent is not None
        return LiveRange(self._start(maker), max(end, self._until.get(maker.parent, 0)))

    def _start(self, maker: Instruction) -> int:
        is_given = maker.op.parameter_number is not None and maker.parent is self._entry
        return 0 if is_given else self.step[maker]

    def _end_of(self, instruction: Instruction) -> int:
        """Returns the step that takes what the computation of an instruction yields."""
        assert instruction.parent is not None
        caller = self._dataflow.callers.get(instruction.parent)
        return self.end if caller is None else self.step[caller]

    def _ends_of_async(self) -> dict[Computation, int]:
        found: dict[Computation, int] = {}
        for computation in reversed(self._dataflow.computations):
            caller = self._dataflow.callers.get(computation)
            if caller is None or caller.parent is None:
                continue
            until = found.get(caller.parent, 0)
            if isinstance(caller.op, AsyncStart):
                until = max(until, self._step_of_done(caller))
            if until:
                found[computation] = until
        return found

    def _step_of_done(self, start: Instruction) -> int:
        last = start
        while True:
            following = [u for u in last.users if isinstance(u.op, AsyncContinuation)]
            if not following:
                return self.step[last]
            last = following[0]


def _flattened(entry: Computation) -> Iterator[Instruction]:
    # Calls nest deeper than Python's stack. The last walk of a caller yields the caller, too.
    open_walks: list[tuple[Iterator[Instruction], Instruction | None]] = [
        (iter(entry.instructions), None)
    ]
    while open_walks:
        instructions, caller = open_walks[-1]
        for instruction in instructions:
            bound = bindings(instruction)
            if bound:
                open_walks += [
                    (iter(binding.computation.instructions), None if number else instruction)
                    for number, binding in enumerate(reversed(bound))
                ]
                break
            yield instruction
        else:
            open_walks.pop()
            if caller is not None:
                yield caller
