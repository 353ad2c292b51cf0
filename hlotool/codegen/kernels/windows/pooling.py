"""Windows that slide over an array: loops whose edges are peeled, so that the inside has none.

Where a window lies inside the array, the indices of its elements are known to be in range, and
no code asks. Windows at an edge ask for each of their places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.shapes import array_shape, first_array_shape
from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.indexing.places import decoded
from hlotool.codegen.kernels.kernel import KERNELS, Kernel, Launch, kernel
from hlotool.codegen.kernels.loops.loops import loops_into
from hlotool.codegen.kernels.loops.work import estimated_nanoseconds, lanes_for
from hlotool.codegen.kernels.strips import widths_of
from hlotool.codegen.kernels.windows.running_windows import emit_running, is_running
from hlotool.codegen.kernels.windows.strided_source import StridedSource
from hlotool.codegen.kernels.windows.window_elements import window_elements
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.window import WindowDimension
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.ops.tuples import GetTupleElement, Tuple

_ENOUGH_ITEMS = 64


@kernel(ReduceWindow)
def emit_reduce_window(kernel: Kernel) -> Launch:
    """Writes the kernel of a body that folds windows, and folds nothing else."""
    members = kernel.body.members
    if any(isinstance(one.op, Reduce) for one in members):
        # Its loops run over what is folded; windows are elements in them.
        return KERNELS[Reduce](kernel)
    windows = [one for one in members if isinstance(one.op, ReduceWindow)]
    if any(map(is_running, windows)):
        return emit_running(kernel)
    shapes = [kernel.output_shape(number) for number in range(len(kernel.body.outputs))]
    layouts = {(s.dimensions, s.layout.minor_to_major) for s in shapes}
    if len(layouts) > 1 or any(
        first_array_shape(one).dimensions != shapes[0].dimensions for one in windows
    ):
        return loops_into(kernel)
    return _Peeled(kernel, windows).write()


class _Parts(ElementEmitter):
    """Writes parts of what windows of several operands yield."""

    _last: tuple[tuple[Instruction, Indices, int], tuple[Element, ...]] | None = None
    """The windows that were folded last; all parts of them are asked for one after the other."""

    def part(self, instruction: Instruction, number: int, index: Indices) -> Element:
        """Returns the element of one part."""
        if isinstance(instruction.op, Tuple):
            return self.element(instruction.operands[number], index)
        if not isinstance(instruction.op, ReduceWindow):
            raise NotCompiled(f"a part of what {instruction.opcode} yields")
        key = (instruction, index, self.lanes)
        if self._last is None or self._last[0] != key:
            self._last = key, window_elements(self, instruction, index)
        return self._last[1][number]

    @contextmanager
    def region(self) -> Iterator[None]:
        """Holds while a loop or a branch is open: what is written in it is not known behind it."""
        self._last = None
        with super().region():
            yield
        self._last = None

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        if isinstance(instruction.op, GetTupleElement):
            return self.part(instruction.operands[0], instruction.op.index, index)
        return super()._made(instruction, index)


@dataclass(frozen=True)
class _Stretch:
    """Positions along a dimension, from `start` on."""

    start: int
    count: int


class _Peeled:
    """Loops over the outputs, in the order of memory."""

    def __init__(self, kernel: Kernel, windows: Sequence[Instruction]) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._windows = windows
        self._outputs = [kernel.destination(n) for n in range(len(kernel.body.outputs))]
        self._sizes = self._outputs[0].shape.dimensions
        self._order = self._outputs[0].order
        sources = {
            one: StridedSource(source.memory, source.shape)
            for one, source in kernel.sources().items()
        }
        self._emitter = _Parts(kernel.function, kernel.target, sources)
        self._inner = [self._inside(d) for d in range(len(self._sizes))]

    def write(self) -> Launch:
        """Writes the loops, and says how they are run."""
        order = self._order
        if not order:
            self._store(())
            return Launch(1)
        shared = 0
        while shared < len(order) - 1 and self._count(order[:shared]) < _ENOUGH_ITEMS:
            shared += 1
        count = self._count(order[:shared])
        with (
            self._function.loop(self._kernel.begin, self._kernel.end) as loop,
            self._emitter.region(),
        ):
            self._items(loop.index, order[:shared])
        each = max(1.0, estimated_nanoseconds(self._kernel.body) / count)
        return Launch.in_pieces(count, each)

    def _count(self, dimensions: Sequence[int]) -> int:
        return prod(self._sizes[d] for d in dimensions)

    def _inside(self, dimension: int) -> _Stretch:
        """Returns the positions at which all windows lie inside their arrays."""
        low, high = 0, self._sizes[dimension]
        for one in self._windows:
            op, shape = one.op, array_shape(one.operands[0])
            assert isinstance(op, ReduceWindow)
            first, after = _inside(op.window[dimension], shape.dimensions[dimension])
            low, high = max(low, first), min(high, after)
        return _Stretch(low, max(0, high - low))

    def _items(self, item: Value, dimensions: Sequence[int]) -> None:
        """Writes the position of an item, and the rest for it."""
        sizes = [self._sizes[dimension] for dimension in dimensions]
        values = dict(zip(dimensions, decoded(self._function, item, sizes), strict=True))
        edged = [d for d in dimensions if self._inner[d].count < self._sizes[d]]
        rest = self._order[len(dimensions) :]

        def inside() -> None:
            self._nested(rest, self._positions(values, edged))

        def edge() -> None:
            self._nested(rest, self._positions(values, ()))

        conditions = [self._is_inside(d, values[d]) for d in edged]
        if not conditions:
            inside()
            return
        condition = conditions[0]
        for other in conditions[1:]:
            condition = self._function.binary("and", condition, other)
        self._emitter.branch(condition, inside, edge)

    def _is_inside(self, dimension: int, value: Value) -> Value:
        stretch = self._inner[dimension]
        moved = self._function.binary("sub", value, constant("i64", stretch.start))
        return self._function.compare("ult", moved, constant("i64", stretch.count))

    def _positions(self, values: dict[int, Value], inside: Sequence[int]) -> dict[int, Index]:
        found = {}
        for dimension, value in values.items():
            stretch = _Stretch(0, self._sizes[dimension])
            if dimension in inside:
                stretch = self._inner[dimension]
            start = constant("i64", stretch.start)
            moved = self._function.binary("sub", value, start) if stretch.start else value
            counter = Counter(max(1, stretch.count), moved, splits=False)
            found[dimension] = index_of(counter) + stretch.start
        return found

    def _nested(self, dimensions: Sequence[int], positions: dict[int, Index]) -> None:
        if len(dimensions) == 1:
            self._innermost(dimensions[0], positions)
            return
        dimension, *others = dimensions
        for stretch in self._stretches(dimension):
            if stretch.count == 1:
                self._nested(others, {**positions, dimension: Index((), stretch.start)})
                continue
            zero, end = constant("i64", 0), constant("i64", stretch.count)
            with self._function.loop(zero, end) as loop, self._emitter.region():
                place = index_of(Counter(stretch.count, loop.index, splits=False)) + stretch.start
                self._nested(others, {**positions, dimension: place})

    def _stretches(self, dimension: int) -> Iterator[_Stretch]:
        """Yields the edges of a dimension and what lies between them."""
        inner, size = self._inner[dimension], self._sizes[dimension]
        if not inner.count:
            yield _Stretch(0, size)
            return
        if inner.start:
            yield _Stretch(0, inner.start)
        yield inner
        after = inner.start + inner.count
        if after < size:
            yield _Stretch(after, size - after)

    def _innermost(self, dimension: int, positions: dict[int, Index]) -> None:
        lanes = lanes_for(self._kernel.body, self._kernel.target)
        is_inner = self._inner[dimension]
        for stretch in self._stretches(dimension):
            widest = lanes if stretch == is_inner else 1
            whole = stretch.count // widest * widest
            if whole:
                self._strip(dimension, positions, stretch.start, whole, widest)
            begin = stretch.start + whole
            for width in widths_of(stretch.count - whole, widest):
                self._strip(dimension, positions, begin, width, width)
                begin += width

    def _strip(
        self, dimension: int, positions: dict[int, Index], start: int, count: int, width: int
    ) -> None:
        zero, end = constant("i64", 0), constant("i64", count)
        with (
            self._function.loop(zero, end, width) as loop,
            self._emitter.region(),
            self._emitter.with_lanes(width),
        ):
            counter = Counter(count, loop.index, width, splits=False)
            found = {**positions, dimension: index_of(counter) + start}
            self._store(tuple(found[d] for d in range(len(self._sizes))))

    def _store(self, index: Indices) -> None:
        emitter = self._emitter
        found = [
            emitter.part(one, part[0], index) if one.shape.is_tuple else emitter.element(one, index)
            for one, part in self._kernel.body.outputs
        ]
        for output, element in zip(self._outputs, found, strict=True):
            output.store(self._function, index, element, emitter.lanes)


def _inside(dimension: WindowDimension, size: int) -> tuple[int, int]:
    """Returns the first window that lies inside an array, and the one behind the last."""
    count = dimension.output_size(size)
    if dimension.base_dilation > 1:
        return 0, 0
    extent = (dimension.size - 1) * dimension.window_dilation + 1
    low = max(0, -(-dimension.padding_low // dimension.stride))
    high = (size + dimension.padding_low - extent) // dimension.stride + 1
    return min(low, count), max(0, min(high, count))
