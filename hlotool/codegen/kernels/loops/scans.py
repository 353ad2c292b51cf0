"""The kernel of scans whose step works element by element: lines along the scanned dimension.

Carries stay in registers from step to step; lines that lie side by side are walked together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Counter, Index, delinear, index_of
from hlotool.codegen.kernels.kernel import Kernel, Launch, kernel
from hlotool.codegen.kernels.loops.work import lanes_for
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element, elements_of
from hlotool.codegen.numbers.lanes import in_lanes
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.reduction import Scan
from hlotool.ops.shape_changing import Broadcast
from hlotool.ops.source import Constant, Iota
from hlotool.ops.tuples import Tuple
from hlotool.ops.unary import Copy


@kernel(Scan)
def emit_scan(kernel: Kernel) -> Launch:
    """Writes the kernel of a scan."""
    instruction = kernel.body.instruction
    if not isinstance(instruction.op, Scan):
        raise NotCompiled("a scan inside a fusion")
    return _ScanKernel(kernel, instruction, instruction.op).write()


@dataclass(frozen=True)
class _Lines:
    """The elements of a step, in the order of memory; `lanes` lines are walked together."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    lanes: int
    outer: Counter
    inner: Counter

    def index(self) -> list[Index]:
        """Returns the index of the element at hand in slices and carries."""
        sizes = [self.sizes[d] for d in self.order]
        if self.lanes > 1:
            sizes[-1] //= self.lanes
        found = list(delinear(index_of(self.outer), tuple(sizes)))
        if self.lanes > 1:
            found[-1] = found[-1] * self.lanes + index_of(self.inner)
        return [found[self.order.index(d)] for d in range(len(found))]


class _ScanKernel:
    def __init__(self, kernel: Kernel, instruction: Instruction, op: Scan) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._op = op
        self._step = instruction.calls[0]
        loaded = kernel.sources()
        sources = [loaded[operand] for operand in instruction.operands]
        stored = [kernel.destination(number) for number in range(len(kernel.body.outputs))]
        count, carries = len(sources) - op.num_carries, len(stored) - op.num_carries
        self._inputs, self._begin = sources[:count], sources[count:]
        self._outputs, self._last = stored[:carries], stored[carries:]
        self._length = self._inputs[0].shape.dimensions[op.dimensions]
        self._check()
        self._lines = self._made_lines()

    def write(self) -> Launch:
        """Writes a loop over lines, and in it the walk."""
        function, lines = self._function, self._lines
        with function.loop(self._kernel.begin, self._kernel.end) as items:
            lines.outer.value = items.index
            index = lines.index()
            carries = [self._loaded(source, index) for source in self._begin]
            parts = [part for carry in carries for part in carry.parts]
            bounds = (constant("i64", 0), constant("i64", self._length))
            with function.loop(*bounds, carried=parts) as steps:
                yielded = self._one_step(index, self._elements(steps.carried), steps.index)
                steps.next = tuple(part for element in yielded for part in element.parts)
            for place, element in zip(self._last, self._elements(steps.results), strict=True):
                place.store(function, index, element, lines.lanes)
        each = 2.0 * self._length * lines.lanes
        count = prod(lines.sizes) // lines.lanes
        return Launch.in_pieces(count, each)

    def _one_step(
        self, index: list[Index], carries: Sequence[Element], step: Value
    ) -> list[Element]:
        """Writes one step, with the stores of its outputs; returns the carries behind it."""
        place = index_of(Counter(self._length, step, splits=False))
        if self._op.is_reverse:
            place = place * -1 + (self._length - 1)
        whole = [*index[: self._op.dimensions], place, *index[self._op.dimensions :]]
        slices = [self._loaded(source, whole) for source in self._inputs]
        given = dict(zip(self._step.parameters, [*slices, *carries], strict=True))
        lanes = self._lines.lanes
        emitter = _StepEmitter(self._kernel, given, lanes)
        yielded = [emitter.element(one, index) for one in _yielded(self._step)]
        found = [in_lanes(self._function, element, lanes) for element in yielded]
        for output, element in zip(self._outputs, found, strict=False):
            output.store(self._function, whole, element, lanes)
        return found[len(self._outputs) :]

    def _loaded(self, source: Source, index: Sequence[Index]) -> Element:
        lanes = self._lines.lanes
        return in_lanes(self._function, source.load(self._function, index, lanes), lanes)

    def _elements(self, parts: Sequence[Value]) -> list[Element]:
        return elements_of([source.memory.type for source in self._begin], parts)

    def _made_lines(self) -> _Lines:
        slices = [self._without_scanned(one) for one in (*self._inputs, *self._outputs)]
        sizes, order = slices[0]
        # The order of the first input is walked in; the others may lie otherwise.
        alike = [*slices, *((one.shape.dimensions, one.order) for one in self._begin)]
        arrays = (*self._inputs, *self._outputs)
        are_side_by_side = all(
            bool(found) and found[-1] == order[-1] for _, found in alike
        ) and all(one.order[-1] != self._op.dimensions for one in arrays)
        lanes = lanes_for(self._kernel.body, self._kernel.target) if are_side_by_side else 1
        while lanes > 1 and sizes[order[-1]] % lanes:
            lanes //= 2
        zero = constant("i64", 0)
        count = max(1, prod(sizes) // lanes)
        return _Lines(
            sizes,
            order,
            lanes,
            Counter(count, splits=False),
            Counter(lanes, zero, lanes=lanes, splits=False),
        )

    def _without_scanned(self, source: Source) -> tuple[tuple[int, ...], tuple[int, ...]]:
        scanned = self._op.dimensions
        sizes = tuple(n for d, n in enumerate(source.shape.dimensions) if d != scanned)
        order = tuple(d - (d > scanned) for d in source.order if d != scanned)
        return sizes, order

    def _check(self) -> None:
        """Raises `NotCompiled` for steps that are more than elementwise."""
        if not self._length:
            raise NotCompiled("a scan of no steps")
        sizes = {self._without_scanned(one)[0] for one in (*self._inputs, *self._outputs)}
        sizes |= {one.shape.dimensions for one in (*self._begin, *self._last)}
        if len(sizes) > 1 or not _is_elementwise(self._step):
            raise NotCompiled("a scan whose step is not elementwise")
        types = [element_type_of(one) for one in _yielded(self._step)]
        stored = [one.memory.type for one in (*self._outputs, *self._last)]
        begun = [one.memory.type for one in self._begin]
        if types != stored or types[len(self._outputs) :] != begun:
            raise NotCompiled("a scan of mixed precision")
        arrays = [*self._inputs, *self._begin], [*self._outputs, *self._last]
        orders = {(one.shape.dimensions, one.order) for side in arrays for one in side}
        if self._kernel.shared and len(orders) > 2:
            raise NotCompiled("a scan in place, to another layout")


class _StepEmitter(ElementEmitter):
    """Writes elements of a step, all at one index, where its parameters have these elements."""

    def __init__(self, kernel: Kernel, given: dict[Instruction, Element], lanes: int) -> None:
        super().__init__(kernel.function, kernel.target, {}, lanes)
        self._given = given

    def element(self, instruction: Instruction, index: Sequence[Index]) -> Element:
        """Returns the element of an instruction's result."""
        found = self._given.get(instruction)
        return found if found is not None else super().element(instruction, index)


def _yielded(step: Computation) -> Sequence[Instruction]:
    root = step.root
    return root.operands if isinstance(root.op, Tuple) else (root,)


def _is_elementwise(step: Computation) -> bool:
    return all(
        isinstance(one.op, Elementwise | Copy | Iota | Constant)
        or one.op.parameter_number is not None
        or (isinstance(one.op, Tuple) and one is step.root)
        or (isinstance(one.op, Broadcast) and _is_scalar(one.operands[0]))
        for one in step.instructions
    )


def _is_scalar(instruction: Instruction) -> bool:
    return isinstance(instruction.shape, ArrayShape) and instruction.shape.is_scalar
