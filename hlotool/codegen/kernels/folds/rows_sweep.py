"""One sweep through the elements of rows: loops with accumulators, and stores on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.codegen.indexing.index import Counter, index_of
from hlotool.codegen.indexing.index_values import lane_values
from hlotool.codegen.kernels.folds.folds import State
from hlotool.codegen.kernels.folds.reductions_plan import Plan
from hlotool.codegen.kernels.folds.rows import Block, Point, Rows
from hlotool.codegen.llvm.value import Value, constant
from hlotool.ir.instruction import Instruction

_ACCUMULATORS = 4
"""How many vectors are summed at once, so that no sum waits for the one before."""


@dataclass(frozen=True)
class Part:
    """A part of the slowest loop of a sweep: all of it, or a piece that a kernel is cut into."""

    begin: Value
    end: Value
    count: int | None
    """How many rounds these are, where it is known before."""


class SweepWriter:
    """Writes one sweep for a block of rows."""

    def __init__(self, rows: Rows, number: int, block: Block) -> None:
        self._rows = rows
        self._function = rows.function
        self._sweep = rows.plan.sweeps[number]
        self._number = number
        self._block = block
        sizes = rows.plan.sizes
        self._extents = rows.counters.nest(number, runs(rows.plan, number)).extents
        is_free = not self._sweep.is_in_order
        self._lanes = rows.lanes if rows.along and is_free else 1
        self._unroll = self._unrolled() if is_free else 1
        self._is_empty = any(sizes[label] == 0 for label in self._sweep.labels)

    @property
    def _state_lanes(self) -> int:
        return self._lanes if self._rows.along else self._block.lanes

    def _unrolled(self) -> int:
        """Returns for how many rounds of the innermost loop code is written at once."""
        rows, plan = self._rows, self._rows.plan
        if not rows.along and plan.order[-1:] and plan.order[-1] not in plan.rows:
            # Every lane is loaded alone: that is code enough.
            return 1
        values = sum(len(rows.start(fold, 1)) for fold in self._sweep.folds)
        values = max(1, values * len(self._block.points))
        return max(1, min(_ACCUMULATORS, rows.kernel.target.registers // 2 // values))

    def write(self, part: Part | None = None) -> list[dict[Instruction, list[State]]]:
        """Writes the sweep, or a part of it; returns the states of each fold for each point."""
        rows = self._rows
        rows.kept.begin(self._number)
        starts = [rows.start(fold, self._state_lanes) for fold in self._sweep.folds]
        first = [value for state in starts for value in state]
        count = len(self._block.points) * self._unroll
        states = first * count
        if not self._is_empty:
            part = part or self._whole(0)
            states = self._nested([], part, states)
        rows.kept.end()
        return self._by_point(states, [len(state) for state in starts])

    def _by_point(
        self, states: Sequence[Value], widths: Sequence[int]
    ) -> list[dict[Instruction, list[State]]]:
        found = []
        values = iter(states)
        for _ in self._block.points:
            ours: dict[Instruction, list[State]] = {fold: [] for fold in self._sweep.folds}
            for _ in range(self._unroll):
                for fold, width in zip(self._sweep.folds, widths, strict=True):
                    ours[fold].append(tuple(next(values) for _ in range(width)))
            found.append(ours)
        return found

    def _whole(self, position: int) -> Part:
        extent = self._extents[position]
        return Part(constant("i64", 0), constant("i64", extent), extent)

    def _nested(self, outer: list[Counter], part: Part, states: list[Value]) -> list[Value]:
        position = len(outer)
        if position == len(self._extents) - 1:
            return self._innermost(outer, part, states)
        rows = self._rows
        with self._function.loop(part.begin, part.end, 1, states) as loop, rows.emitter.region():
            counter = rows.counters.counter(self._number, position, loop.index)
            inner = self._whole(position + 1)
            loop.next = tuple(self._nested([*outer, counter], inner, list(loop.carried)))
        return list(loop.results)

    def _innermost(self, outer: list[Counter], part: Part, states: list[Value]) -> list[Value]:
        """Writes the innermost loop: several vectors at once, then one by one, then the rest."""
        lanes, many = self._lanes, self._lanes * self._unroll
        begin = part.begin
        for each in dict.fromkeys((many, lanes)):
            end = self._multiple(part, each)
            states = self._span(outer, begin, end, part, states, each // lanes, lanes)
            begin = end
        if lanes == 1 or (part.count is not None and part.count % lanes == 0):
            return states
        if self._rows.kept.overwrites_in(self._number) or self._extents[-1] < lanes:
            return self._rest(outer, begin, part, states)
        return self._tail(outer, begin, part, states)

    def _rest(
        self, outer: list[Counter], begin: Value, part: Part, states: list[Value]
    ) -> list[Value]:
        """Writes what does not fill a vector: in narrower ones, if nothing is folded, and alone."""
        if part.count is not None and not self._sweep.folds:
            left = part.count % self._lanes
            each = narrower(left, self._lanes)
            end = self._sum(begin, constant("i64", left // each * each))
            states = self._span(outer, begin, end, part, states, 1, each) if each > 1 else states
            begin = end if each > 1 else begin
        return self._span(outer, begin, part.end, part, states, 1, 1)

    def _multiple(self, part: Part, each: int) -> Value:
        """Writes the end of what is a multiple of `each`, counted from the first round."""
        function = self._function
        if part.count is not None:
            whole = constant("i64", part.count // each * each)
            return part.end if part.count % each == 0 else self._sum(part.begin, whole)
        length = function.binary("sub nsw", part.end, part.begin)
        return self._sum(part.begin, function.binary("and", length, constant("i64", -each)))

    def _sum(self, one: Value, other: Value) -> Value:
        if one.integer is not None and other.integer is not None:
            return constant("i64", one.integer + other.integer)
        if other.integer == 0:
            return one
        return self._function.binary("add nsw", one, other)

    def _span(
        self,
        outer: list[Counter],
        begin: Value,
        end: Value,
        part: Part,
        states: list[Value],
        unroll: int,
        lanes: int,
    ) -> list[Value]:
        def write() -> list[Value]:
            return self._loop(outer, begin, end, states, unroll, lanes)

        if part.count is not None:
            return states if begin == end or part.count < lanes else write()
        more = self._function.compare("slt", begin, end)
        with self._rows.emitter.region():
            return list(self._function.branch(more, write, lambda: states))

    def _loop(
        self,
        outer: list[Counter],
        begin: Value,
        end: Value,
        states: list[Value],
        unroll: int,
        lanes: int,
    ) -> list[Value]:
        rows, function = self._rows, self._function
        with function.loop(begin, end, unroll * lanes, states) as loop, rows.emitter.region():
            now = list(loop.carried)
            for copy in range(unroll):
                value = self._sum(loop.index, constant("i64", copy * lanes)) if copy else loop.index
                now = self._step(outer, value, now, copy, lanes)
            loop.next = tuple(now)
        return list(loop.results)

    def _tail(
        self, outer: list[Counter], begin: Value, part: Part, states: list[Value]
    ) -> list[Value]:
        """Writes a last vector that ends where the part does; what it has again is left out."""
        function = self._function
        value = self._sum(part.end, constant("i64", -self._lanes))

        def write() -> list[Value]:
            place = index_of(Counter(self._extents[-1], value, self._lanes, splits=False))
            fresh = function.compare("sge", lane_values(function, place, self._lanes), begin)
            return self._step(outer, value, states, 0, self._lanes, fresh)

        if part.count is not None:
            return write()
        with self._rows.emitter.region():
            more = function.compare("slt", begin, part.end)
            return list(function.branch(more, write, lambda: states))

    def _step(
        self,
        outer: list[Counter],
        value: Value,
        states: list[Value],
        copy: int,
        lanes: int,
        mask: Value | None = None,
    ) -> list[Value]:
        """Writes what is done with the elements at one index, for each row of the block."""
        rows = self._rows
        counter = rows.counters.counter(
            self._number, len(self._extents) - 1, value, lanes if rows.along else 1
        )
        labels = self._sweep.labels
        inner = rows.point([*outer, counter], self._extents, labels) if labels else {}
        width = len(states) // (len(self._block.points) * self._unroll)
        found = list(states)
        with rows.emitter.with_lanes(lanes if rows.along else self._block.lanes):
            for number, point in enumerate(self._block.points):
                at = (number * self._unroll + copy) * width
                with rows.at(self._block, number, {**point, **inner}):
                    here = {**point, **inner}
                    found[at : at + width] = self._taken_in(here, found[at : at + width], mask)
                    self._store(here)
        return found

    def _taken_in(self, point: Point, values: list[Value], mask: Value | None) -> list[Value]:
        """Writes the states of all folds after the elements at a point."""
        rows, function = self._rows, self._function
        lanes = rows.emitter.lanes
        found: list[Value] = []
        for fold in self._sweep.folds:
            start = rows.start(fold, lanes)
            state = tuple(values[len(found) : len(found) + len(start)])
            how = rows.folds[fold]
            lifted = how.lifted(function, rows.elements(fold, point))
            lifted = tuple(function.splat(value, lanes) for value in lifted)
            if mask is not None:
                pairs = zip(lifted, start, strict=True)
                lifted = tuple(function.select(mask, one, other) for one, other in pairs)
                found += how.merged(rows.emitter, state, lifted)
            elif state[0].lanes > lanes:
                found += self._in_first_lane(fold, state, lifted)
            else:
                found += how.combined(rows.emitter, state, lifted)
        return found

    def _in_first_lane(self, fold: Instruction, state: State, lifted: State) -> list[Value]:
        function, how = self._function, self._rows.folds[fold]
        one = tuple(function.extract(value, 0) for value in state)
        combined = how.combined(self._rows.emitter, one, lifted)
        return [function.insert(v, new, 0) for v, new in zip(state, combined, strict=True)]

    def _store(self, point: Point) -> None:
        rows = self._rows
        kept = [(one, rows.kept.element(one)) for one in rows.kept.written()]
        found = [(n, rows.output_element(n, point)) for n in self._sweep.stores]
        for one, element in kept:
            rows.kept.store(one, element)
        for output, element in found:
            rows.store(output, element, point)


def narrower(count: int, lanes: int) -> int:
    """Returns of how many lanes vectors are that handle so few elements in the fewest steps.

    What they leave is handled one by one.
    """
    widths = [1]
    while 2 * widths[-1] < min(lanes, count + 1):
        widths.append(2 * widths[-1])
    return min(reversed(widths), key=lambda width: count // width + count % width)


def runs(plan: Plan, number: int) -> list[int]:
    """Returns the loops of a sweep: labels side by side in memory are one."""
    labels = plan.sweeps[number].labels
    if not set(labels) <= set(plan.order):
        return [plan.count(labels)]
    found: list[int] = []
    before = None
    for label in labels:
        place = plan.order.index(label)
        if found and before is not None and place == before + 1:
            found[-1] *= plan.sizes[label]
        else:
            found.append(plan.sizes[label])
        before = place
    return found
