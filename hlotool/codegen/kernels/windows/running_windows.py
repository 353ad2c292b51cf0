"""Windows as long as a dimension that end, or begin, at each place: sums so far, and the like.

They are what `cumsum` and its kin become. Each result is the one beside it with one element
more, so a line takes as many steps as it has elements. Lines that lie side by side are walked
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.indexing.places import decoded
from hlotool.codegen.kernels.kernel import Kernel, Launch, Phase
from hlotool.codegen.kernels.loops.loops import loops_into
from hlotool.codegen.kernels.loops.work import ElementWork, Work
from hlotool.codegen.kernels.strips import widths_of
from hlotool.codegen.kernels.windows.window_elements import WindowFold
from hlotool.codegen.kernels.workspace import workspace_array
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ir.window import WindowDimension
from hlotool.ops.callees.reducers import Combination, recognized
from hlotool.ops.reduction import ReduceWindow

_SHORTEST = 8
"""Shorter windows are folded anew for each place."""


def is_running(instruction: Instruction) -> bool:
    """Whether each of the windows has what the one beside it has, and one element more."""
    return _running_dimension(instruction) is not None


def _running_dimension(instruction: Instruction) -> int | None:
    op, shape = instruction.op, array_shape(instruction.operands[0])
    assert isinstance(op, ReduceWindow)
    still = WindowDimension(1)
    moving = [number for number, one in enumerate(op.window) if one != still]
    if len(moving) != 1:
        return None
    (dimension,) = moving
    size, window = shape.dimensions[dimension], op.window[dimension]
    if size < _SHORTEST:
        return None
    if window == WindowDimension(size, padding_low=size - 1):
        return dimension
    is_backward = window == WindowDimension(size, padding_high=size - 1)
    return dimension if is_backward and _may_turn(instruction) else None


def _may_turn(instruction: Instruction) -> bool:
    """Whether elements may be folded from the last to the first."""
    found = recognized(instruction.calls[0])
    return found is not None and all(isinstance(one, Combination) for one in found)


def emit_running(kernel: Kernel) -> Launch:
    """Writes the kernel of a body with running windows.

    They are computed first, to where they are results; what else there is follows as plain
    loops.
    """
    body = kernel.body
    running = [one for one in body.members if isinstance(one.op, ReduceWindow) and is_running(one)]
    places: dict[Instruction, list[Source]] = {}
    for number, (one, _) in enumerate(body.outputs):
        if one in running:
            places.setdefault(one, []).append(kernel.destination(number))
    rest = [number for number, (one, _) in enumerate(body.outputs) if one not in running]
    held: dict[Instruction, Source] = {}
    for one in running:
        if not places.get(one):
            places[one] = [_workspace(kernel, one)]
        is_last = one is running[-1] and not rest
        function = kernel.function if is_last else kernel.phase()
        launch = _Lines(kernel, function, one, places[one], held).write()
        if is_last:
            return launch
        kernel.phases.append(Phase(function, launch))
        if not one.shape.is_tuple:
            held[one] = places[one][0]
    return loops_into(kernel, lambda made: _works(made, rest, held))


def _workspace(kernel: Kernel, instruction: Instruction) -> Source:
    shape = instruction.shape
    if not isinstance(shape, ArrayShape):
        raise NotCompiled("running windows of several operands beside other instructions")
    return workspace_array(kernel, shape).source(kernel, is_written=True)


def _works(
    kernel: Kernel, outputs: Sequence[int], held: Mapping[Instruction, Source]
) -> list[Work]:
    sizes = {number: kernel.output_shape(number).element_count for number in outputs}
    groups = [[n for n in outputs if sizes[n] == size] for size in dict.fromkeys(sizes.values())]
    return [_AfterRunning(kernel, numbers, held) for numbers in groups]


class _AfterRunning(ElementWork):
    """Elements that use results of running windows, which lie in memory already."""

    def __init__(
        self, kernel: Kernel, numbers: Sequence[int], held: Mapping[Instruction, Source]
    ) -> None:
        super().__init__(kernel, numbers)
        self._held = held

    def sources(self) -> dict[Instruction, Source]:
        """Returns the inputs and the results."""
        return {**super().sources(), **self._held}


class _Lines:
    """Loops over lines, each walked from one end to the other."""

    def __init__(
        self,
        kernel: Kernel,
        function: FunctionWriter,
        instruction: Instruction,
        targets: Sequence[Source],
        held: Mapping[Instruction, Source],
    ) -> None:
        self._kernel = kernel
        self._function = function
        self._targets = targets
        self._sizes = targets[0].shape.dimensions
        sources = kernel.sources()
        sources.update(held)
        self._emitter = ElementEmitter(function, kernel.target, sources)
        self._fold = WindowFold(self._emitter, instruction)
        dimension = _running_dimension(instruction)
        assert dimension is not None
        self._along = dimension
        op = instruction.op
        assert isinstance(op, ReduceWindow)
        self._is_backward = op.window[dimension].padding_low == 0
        others = [d for d in targets[0].order if d != dimension]
        self._outer, self._beside = others[:-1], others[-1] if others else None

    def write(self) -> Launch:
        """Writes the loops, and says how they are run; an item is some lines side by side."""
        widths = self._strips()
        outer = prod(self._sizes[d] for d in self._outer)
        function = self._function
        with (
            function.loop(self._kernel.begin, self._kernel.end) as loop,
            self._emitter.region(),
        ):
            self._item(loop.index, widths)
        each = 2.0 * len(self._targets) * self._sizes[self._along] * sum(widths)
        return Launch.in_pieces(outer, each)

    def _strips(self) -> tuple[int, ...]:
        if self._beside is None:
            return (1,)
        bits = max(8 * one.storage_bytes for one in self._fold.types)
        return widths_of(self._sizes[self._beside], self._kernel.target.lanes(max(32, bits)))

    def _item(self, item: Value, widths: Sequence[int]) -> None:
        sizes = [self._sizes[dimension] for dimension in self._outer]
        places = decoded(self._function, item, sizes)
        positions = {
            dimension: index_of(Counter(size, place, splits=False))
            for dimension, size, place in zip(self._outer, sizes, places, strict=True)
        }
        whole = [width for width in widths if width == widths[0]]
        self._strip(positions, 0, len(whole), widths[0])
        begin = sum(whole)
        for width in widths[len(whole) :]:
            self._strip(positions, begin, 1, width)
            begin += width

    def _strip(self, positions: dict[int, Index], start: int, count: int, width: int) -> None:
        if self._beside is None:
            self._walk(positions)
            return
        zero, end = constant("i64", 0), constant("i64", count * width)
        with (
            self._function.loop(zero, end, width) as loop,
            self._emitter.region(),
            self._emitter.with_lanes(width),
        ):
            counter = Counter(count * width, loop.index, width, splits=False)
            self._walk({**positions, self._beside: index_of(counter) + start})

    def _walk(self, positions: dict[int, Index]) -> None:
        size = self._sizes[self._along]
        zero, end = constant("i64", 0), constant("i64", size)
        initial = self._fold.initial()
        with self._function.loop(zero, end, 1, initial) as loop, self._emitter.region():
            place = index_of(Counter(size, loop.index, splits=False))
            if self._is_backward:
                place = place * -1 + (size - 1)
            found = {**positions, self._along: place}
            index = tuple(found[d] for d in range(len(self._sizes)))
            values = self._fold.step(loop.carried, index)
            loop.next = values
            elements = self._fold.elements(values)
            for target, element in zip(self._targets, elements, strict=True):
                target.store(self._function, index, element, self._emitter.lanes)
