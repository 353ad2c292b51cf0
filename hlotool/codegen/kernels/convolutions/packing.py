"""Operands of a convolution brought into another order before its loops read them many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Counter, index_of
from hlotool.codegen.indexing.places import decoded, divided, scaled
from hlotool.codegen.kernels.convolutions.axes import Problem
from hlotool.codegen.kernels.convolutions.sums import Sums
from hlotool.codegen.kernels.kernel import LONG_PIECE_NANOSECONDS, Kernel, Launch, Phase
from hlotool.codegen.kernels.pointers import Located, Pointer
from hlotool.codegen.kernels.strips import each_strip, widths_of
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape


def workspace_for(kernel: Kernel, size: int, element_type: ElementType) -> Located:
    """Sets memory aside for so many elements."""
    begin = kernel.room(size * element_type.storage_bytes)
    return Located(kernel.workspace, begin, element_type)


@dataclass(frozen=True)
class Panels:
    """The kernel of a convolution in panels: for each block of channels all that it needs.

    A panel has a row of `width` channels for each tap and input feature, in the order in which
    the loops come to them.
    """

    problem: Problem
    lanes: int
    block: int
    """How many vectors of lanes a panel is wide."""

    @property
    def width(self) -> int:
        """The channels of a row, those that only fill it up included."""
        return self.lanes * self.block

    @property
    def blocks(self) -> int:
        """How many panels there are for the channels of one group."""
        return -(-self.problem.channels.count // self.width)

    @property
    def rows(self) -> int:
        """How many rows a panel has."""
        return self.problem.features[0] * prod(axis.taps for axis in self.problem.axes)

    @property
    def size(self) -> int:
        """The elements of all panels."""
        groups = prod(axis.count for axis in self.problem.axes if axis.rhs)
        return groups * self.blocks * self.rows * self.width

    def packed_problem(self) -> Problem:
        """Returns the convolution with strides as the panels have them."""
        count, lhs, _ = self.problem.features
        stride = self.width * count
        axes = []
        groups = self.blocks * self.rows * self.width
        for axis in reversed(self.problem.axes):
            axes.append(replace(axis, rhs_tap=stride, rhs=groups if axis.rhs else 0))
            stride *= axis.taps
            if axis.rhs:
                groups *= axis.count
        return replace(
            self.problem,
            rhs_offset=0,
            rhs_block=self.rows * self.width,
            axes=tuple(reversed(axes)),
            channels=replace(self.problem.channels, rhs=1),
            features=(count, lhs, self.width),
        )


def pack_panels(kernel: Kernel, given: Located, panels: Panels, sums: Sums) -> Located:
    """Writes a phase that packs a convolution's kernel, and returns where it will lie."""
    function = kernel.phase()
    target = workspace_for(kernel, panels.size, sums.held_type)
    _PanelCode(function, given, target, panels, sums).write(kernel.begin, kernel.end)
    rows = panels.size // max(1, panels.width * panels.problem.features[0])
    each = max(1.0, panels.problem.features[0] * panels.block * 4.0)
    kernel.phases.append(Phase(function, Launch.in_pieces(rows, each, LONG_PIECE_NANOSECONDS)))
    return target


class _PanelCode:
    def __init__(
        self,
        function: FunctionWriter,
        given: Located,
        target: Located,
        panels: Panels,
        sums: Sums,
    ) -> None:
        self._function = function
        self._given = given.pointer(function).moved(panels.problem.rhs_offset)
        self._target = target.pointer(function)
        self._panels = panels
        self._sums = sums

    def write(self, begin: Value, end: Value) -> None:
        """Writes a loop over groups, blocks and taps, and one over features inside it."""
        function, panels = self._function, self._panels
        channels = panels.problem.channels
        full, rest = divmod(channels.count, panels.width)
        with function.loop(begin, end) as loop:
            item = loop.index
            pointer = self._given
            for axis in reversed(panels.problem.axes):
                item, tap = divided(self._function, item, axis.taps)
                pointer = pointer.moved(scaled(self._function, tap, axis.rhs_tap))
            item, block = divided(self._function, item, panels.blocks)
            for axis in reversed(panels.problem.axes):
                if axis.rhs:
                    item, group = divided(self._function, item, axis.count)
                    pointer = pointer.moved(scaled(self._function, group, axis.rhs))
            pointer = pointer.moved(scaled(self._function, block, panels.width * channels.rhs))
            count = panels.problem.features[0]
            target = self._target.moved(scaled(self._function, loop.index, count * panels.width))
            some = widths_of(rest, panels.lanes)
            whole = (panels.lanes,) * panels.block
            if not full or not rest:
                self._features(pointer, target, whole if full else some)
                return
            is_full = function.compare("slt", block, constant("i64", full))
            function.branch(
                is_full,
                lambda: self._features(pointer, target, whole),
                lambda: self._features(pointer, target, some),
            )

    def _features(self, given: Pointer, target: Pointer, widths: Sequence[int]) -> None:
        count, _, stride = self._panels.problem.features
        beside = self._panels.problem.channels.rhs
        zero, end = constant("i64", 0), constant("i64", count)
        with self._function.loop(zero, end) as loop:
            one = given.moved(scaled(self._function, loop.index, stride))
            other = target.moved(scaled(self._function, loop.index, self._panels.width))
            start = 0
            for width in widths:
                element = one.moved(start * beside).strided(width, beside)
                taken = Element(target.type, self._sums.taken(self._function, element))
                other.moved(start).store(taken)
                start += width


def copy_operand(kernel: Kernel, operand: Instruction, held: ArrayShape, sums: Sums) -> Located:
    """Writes a phase that computes an operand into memory of a shape, and returns where it is.

    Its elements are brought to the type that sums are made in.
    """
    function = kernel.phase()
    element_type = sums.held_type
    located = workspace_for(kernel, held.element_count, element_type)
    target = Source(Memory(located.pointer(function).address, element_type, is_written=True), held)
    emitter = ElementEmitter(function, kernel.target, kernel.sources())
    *outer, inner = [held.dimensions[d] for d in target.order] or [1]
    rows = held.element_count // max(1, inner)
    with function.loop(kernel.begin, kernel.end) as loop, emitter.region():
        places = [
            index_of(Counter(size, value, splits=False))
            for size, value in zip(outer, decoded(function, loop.index, outer), strict=True)
        ]

        def write(first: Value) -> None:
            place = index_of(Counter(inner, first, emitter.lanes, splits=False))
            found = [*places, place]
            index = [found[target.order.index(d)] for d in range(held.rank)]
            parts = sums.taken(function, emitter.element(operand, index))
            target.store(function, index, Element(element_type, parts), emitter.lanes)

        each_strip(emitter, inner, kernel.target.lanes(sums.bits), write)
    each = max(1.0, 0.5 * inner)
    kernel.phases.append(
        Phase(function, Launch.in_pieces(max(1, rows), each, LONG_PIECE_NANOSECONDS))
    )
    return located
