"""Plain loops: every element of the outputs is computed at its index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.indexing.index import Counter, Index, SplitNeeded, delinear, index_of, linear
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.kernel import Kernel, Launch
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.numbers.element import register_type
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.cost import byte_count
from hlotool.ir.shape import ArrayShape

_PIECE_NANOSECONDS = 10_000
"""About how long one piece of work should take: longer than handing it to a thread."""


class Nest:
    """Loops over the elements of an array, in the order in which they lie in memory.

    It begins as one loop; `split` makes two of one where an index needs both counters.
    """

    def __init__(self, count: int) -> None:
        self.extents = [count]

    def split(self, position: int, stride: int) -> bool:
        """Cuts a loop, so that the new inner one has `stride` rounds; says whether it can be."""
        extent = self.extents[position]
        if extent % stride:
            return False
        self.extents[position : position + 1] = [extent // stride, stride]
        return True


def lanes_for(body: Body, target: Target) -> int:
    """Returns how many elements a kernel handles at once: the widest type fills a register."""
    widths = [8]
    for one in (*body.members, *(loaded for loaded, _, _ in body.inputs)):
        if isinstance(one.shape, ArrayShape):
            widths.append(_width(one.shape))
    return target.lanes(max(widths))


def _width(shape: ArrayShape) -> int:
    lane = register_type(shape.element_type)
    return {"float": 32, "double": 64, "i1": 8}.get(lane) or max(8, int(lane[1:]))


def emit_loops(make: Callable[[], Kernel]) -> tuple[Kernel, Launch]:
    """Writes a kernel of plain loops; it is begun anew when a loop must be split."""
    nest: Nest | None = None
    unsplit: set[tuple[int, int]] = set()
    while True:
        kernel = make()
        if nest is None:
            nest = Nest(kernel.output_shape(0).element_count)
        loops = _Loops(kernel, nest, unsplit)
        try:
            return kernel, loops.write()
        except SplitNeeded as split:
            position = loops.counters.index(split.counter)
            too_small = position == len(nest.extents) - 1 and split.stride < loops.lanes
            if too_small or not nest.split(position, split.stride):
                unsplit.add((position, nest.extents[position]))


class _Loops:
    def __init__(self, kernel: Kernel, nest: Nest, unsplit: set[tuple[int, int]]) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._outputs = [kernel.destination(n) for n in range(len(kernel.body.outputs))]
        self._extents = nest.extents
        self.lanes = lanes_for(kernel.body, kernel.target)
        self.counters = [
            Counter(extent, splits=(position, extent) not in unsplit)
            for position, extent in enumerate(nest.extents)
        ]
        self._emitter = ElementEmitter(self._function, kernel.target, kernel.sources())
        self._check_outputs()

    def _check_outputs(self) -> None:
        first = self._outputs[0].shape
        for output in self._outputs[1:]:
            if output.shape.element_count != first.element_count:
                raise NotCompiled("outputs of different sizes in one loop")

    def write(self) -> Launch:
        """Writes loops around the elements, and says how they are run."""
        *outer, inner = self.counters
        if outer:
            return self._rows(outer, inner)
        return self._flat(inner)

    def _flat(self, counter: Counter) -> Launch:
        # Pieces are multiples of the lanes, so that only the last one has a remainder.
        self._inner(counter, self._kernel.begin, self._kernel.end, counter.extent)
        each = self._nanoseconds() / counter.extent
        grain = int(_PIECE_NANOSECONDS / each) // 64 * 64
        return Launch(counter.extent, max(grain, 64), each)

    def _rows(self, outer: list[Counter], inner: Counter) -> Launch:
        shared = _shared_count([counter.extent for counter in outer])
        rows = prod(counter.extent for counter in outer[:shared])
        function = self._function
        with function.loop(self._kernel.begin, self._kernel.end) as loop, self._emitter.region():
            row = loop.index
            for counter in reversed(outer[1:shared]):
                size = self._kernel.integer(counter.extent)
                counter.value = function.pure(f"urem {row.text}, {size.name}", (row,), "i64", 1)
                row = function.pure(f"udiv {row.text}, {size.name}", (row,), "i64", 1)
            outer[0].value = row
            with self._nested(outer[shared:]):
                zero = self._kernel.integer(0)
                self._inner(inner, zero, self._kernel.integer(inner.extent), inner.extent)
        each = self._nanoseconds() / rows
        return Launch(rows, max(1, int(_PIECE_NANOSECONDS / each)), each)

    @contextmanager
    def _nested(self, counters: list[Counter]) -> Iterator[None]:
        if not counters:
            yield
            return
        zero, end = self._kernel.integer(0), self._kernel.integer(counters[0].extent)
        with self._function.loop(zero, end) as loop, self._emitter.region():
            counters[0].value = loop.index
            with self._nested(counters[1:]):
                yield

    def _inner(self, counter: Counter, begin: Value, end: Value, extent: int) -> None:
        """Writes the innermost loop: whole vectors, then the rest one by one."""
        lanes = self.lanes
        if extent < lanes:
            self._step(counter, begin, end, 1)
            return
        if extent % lanes == 0:
            self._step(counter, begin, end, lanes)
            return
        function = self._function
        length = function.binary("sub", end, begin)
        whole = function.binary("and", length, self._kernel.integer(-lanes))
        middle = function.binary("add", begin, whole)
        if _is_number(begin, 0) and _is_number(end, extent):
            middle = self._kernel.integer(extent // lanes * lanes)
            self._step(counter, begin, middle, lanes)
            self._step(counter, middle, end, 1)
            return
        self._guarded(counter, begin, middle, lanes)
        self._guarded(counter, middle, end, 1)

    def _guarded(self, counter: Counter, begin: Value, end: Value, lanes: int) -> None:
        def write() -> tuple[Value, ...]:
            with self._emitter.region():
                self._step(counter, begin, end, lanes)
            return ()

        self._function.branch(self._function.compare("slt", begin, end), write)

    def _step(self, counter: Counter, begin: Value, end: Value, lanes: int) -> None:
        with (
            self._function.loop(begin, end, lanes) as loop,
            self._emitter.region(),
            self._emitter.with_lanes(lanes),
        ):
            counter.value, counter.lanes = loop.index, lanes
            self._store_all()

    def _store_all(self) -> None:
        # All values are there before the first is stored: an output may lie over an input.
        place = linear([index_of(one) for one in self.counters], self._extents)
        found = []
        for (instruction, _), output in zip(self._kernel.body.outputs, self._outputs, strict=True):
            index = _index_in_memory(place, output.order, output.shape)
            found.append(self._emitter.element(instruction, index))
        for output, element in zip(self._outputs, found, strict=True):
            parts = tuple(self._function.splat(p, self._emitter.lanes) for p in element.parts)
            address = output.address(self._function, place)
            output.memory.store(self._function, type(element)(element.type, parts), address)

    def _nanoseconds(self) -> float:
        return estimated_nanoseconds(self._kernel.body)


def estimated_nanoseconds(body: Body) -> float:
    """Returns about how long one thread takes for a body of plain loops."""
    total = 0.0
    for member in body.members:
        cost = member.op.cost([operand.shape for operand in member.operands], member.shape)
        total += 0.1 * cost.flops + 2.0 * cost.transcendentals
    traffic = sum(byte_count(one.shape) for one, _, _ in body.inputs)
    traffic += byte_count(body.instruction.shape)
    return max(total, traffic / 10, 1.0)


def _index_in_memory(place: Index, order: tuple[int, ...], shape: ArrayShape) -> list[Index]:
    found = delinear(place, tuple(shape.dimensions[d] for d in order))
    return [found[order.index(d)] for d in range(shape.rank)]


def _shared_count(extents: list[int]) -> int:
    """Returns how many outer loops become items of work: enough for several threads."""
    total = 1
    for count, extent in enumerate(extents, 1):
        total *= extent
        if total >= 64:
            return count
    return len(extents)


def _is_number(value: Value, number: int) -> bool:
    return value.integer == number
