"""Scatters as loops of updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import Scatter
from hlotool.ops.numerics.widths import integer_limits
from hlotool.ops.reduction import Map
from hlotool.passes.expanders.expander import Expander
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.index_vectors import IndexRows, leading_starts
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.loops import State, counted_loop
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class ScatterExpander(Expander):
    """Writes scatters as loops that combine one window a step, in the order of the indices.

    A window that does not lie inside changes nothing. `mode` is `all`, or `simple` for
    scatters of one window alone, which need no loop.
    """

    name: ClassVar[str] = "scatter_expander"

    mode: str = option(
        "all",
        "which scatters to write out, simple being those of one window",
        choices=("all", "simple"),
    )
    unrolled: int = option(1, "up to how many windows are combined without a loop")

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a scatter that the mode names."""
        if not isinstance(instruction.op, Scatter) or not _keeps_types(instruction):
            return False
        return self.mode != "simple" or update_count(instruction) == 1

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """scatter(x, indices, updates) -> while(dynamic-update-slice(x, updates[i]))"""
        return scattered_in_loop(instruction, build, self.unrolled)


@dataclass(frozen=True)
class GpuScatterExpander(Expander):
    """Writes those scatters as loops that no GPU does at once.

    They are scatters of several arrays, and of elements of more than 64 bits.
    """

    name: ClassVar[str] = "gpu_scatter_expander"

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a scatter of tuples or of wide elements."""
        if not isinstance(instruction.op, Scatter) or not _keeps_types(instruction):
            return False
        return instruction.shape.is_tuple or array_shape(instruction).element_type.bits > 64

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """scatter(x, indices, updates) -> while(dynamic-update-slice(x, updates[i]))"""
        return scattered_in_loop(instruction, build, unrolled=1)


def _keeps_types(instruction: Instruction) -> bool:
    """Whether the combiner takes elements of the arrays' own types.

    Where it takes floats of another width it is left open when they are rounded.
    """
    count = len(instruction.operands) // 2
    arrays = instruction.operands[:count]
    pairs = zip(instruction.calls[0].parameters, (*arrays, *arrays), strict=True)
    return all(array_shape(p).element_type is array_shape(a).element_type for p, a in pairs)


def update_count(instruction: Instruction) -> int:
    """Returns how many windows a scatter combines."""
    scatter = instruction.op
    assert isinstance(scatter, Scatter)
    sizes = array_shape(instruction.operands[-1]).dimensions
    return prod(size for d, size in enumerate(sizes) if d not in scatter.update_window_dims)


def scattered_in_loop(instruction: Instruction, build: Builder, unrolled: int) -> Instruction:
    """Returns the arrays of a scatter with the windows combined one by one."""
    loop = _ScatterLoop(instruction, build)
    operands, rows, windows = loop.operands, loop.rows.rows, loop.windows
    results = list(operands)
    if array_shape(operands[0]).element_count and array_shape(windows[0]).element_count:
        state = [rows, *operands, *windows]
        last = counted_loop(
            build, loop.rows.count, state, loop.step, name="scatter", unrolled=unrolled
        )
        results = last[1 : 1 + len(operands)]
    return build.joined(results, instruction.shape)


class ScatterWindows:
    """A scatter with its updates in rows, a window each, as its index vectors are.

    A window has as many dimensions as the arrays; those that an update lacks have size 1.
    """

    def __init__(self, instruction: Instruction, build: Builder) -> None:
        scatter = instruction.op
        assert isinstance(scatter, Scatter)
        count = len(instruction.operands) // 2
        self.operands = instruction.operands[:count]
        shape = array_shape(self.operands[0])
        self.dimensions = shape.dimensions
        dimension_map = scatter.dimension_map()
        indices = instruction.operands[count]
        self.rows = IndexRows(indices, scatter.index_vector_dim, dimension_map, build)
        updates = instruction.operands[count + 1 :]
        sizes = array_shape(updates[0]).dimensions
        self.window = scatter.window_sizes(shape, sizes)
        batch = [d for d in range(len(sizes)) if d not in scatter.update_window_dims]
        order = [*batch, *scatter.update_window_dims]
        self.windows = []
        for update, operand in zip(updates, self.operands, strict=True):
            converted = build.convert(update, array_shape(operand).element_type)
            rows = [self.rows.count, *self.window]
            self.windows.append(build.reshape(build.transpose(converted, order), rows))

    def is_inside(self, starts: Mapping[int, Term]) -> Term | None:
        """Returns whether windows lie inside of the array; `None` where they always do."""
        found: Term | None = None
        for dimension in self.rows.dimensions:
            start = starts[dimension]
            _, largest = integer_limits(start.element_type)
            last = min(largest, self.dimensions[dimension] - self.window[dimension])
            is_low_enough = start.compared("LE", last)
            if start.element_type.is_signed:
                is_low_enough = start.compared("GE", 0) & is_low_enough
            found = is_low_enough if found is None else found & is_low_enough
        return found


class _ScatterLoop(ScatterWindows):
    """A step combines one window."""

    def __init__(self, instruction: Instruction, build: Builder) -> None:
        super().__init__(instruction, build)
        self._combiners = _combiners(instruction, build)

    def step(self, inside: Builder, number: Instruction, state: State) -> State:
        """Returns the state with the window of this number combined, if it lies inside."""
        count = len(self.operands)
        rows, arrays, windows = state[0], state[1 : 1 + count], state[1 + count :]
        rank = len(self.dimensions)
        starts = self.rows.starts(inside, rows, number, rank)
        numbered = {d: Term(inside, start) for d, start in enumerate(starts)}
        is_inside = self.is_inside(numbered)
        there = [inside.dynamic_slice(one, starts, self.window) for one in arrays]
        places = leading_starts(inside, number, 1 + rank)
        given = [
            inside.reshape(inside.dynamic_slice(one, places, [1, *self.window]), self.window)
            for one in windows
        ]
        after = []
        for array, part, combiner in zip(arrays, there, self._combiners, strict=True):
            made = inside.add(Map(tuple(range(rank))), *there, *given, calls=[combiner])
            kept = made
            if is_inside is not None:
                kept = is_inside.chosen(Term(inside, made), Term(inside, part)).instruction
            after.append(inside.dynamic_update_slice(array, kept, starts))
        return [rows, *after, *windows]


def _combiners(instruction: Instruction, build: Builder) -> list[Computation]:
    """Returns for each array the computation that yields its elements alone."""
    (called,) = instruction.calls
    if not called.root.shape.is_tuple:
        return [called]
    count = len(instruction.operands) // 2
    shapes = [parameter.shape for parameter in called.parameters]
    found = []
    for number in range(count):
        inside = build.computation_named(f"{called.name}_{number}", shapes)
        whole = inlined(called, inside.computation.parameters, inside)
        found.append(inside.finish(inside.element(whole, number)))
    return found
