"""Gathers as loops of slices."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.indexing import Gather
from hlotool.passes.expanders.expander import Expander
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import interleaved
from hlotool.rewriting.index_vectors import IndexRows, leading_starts
from hlotool.rewriting.loops import State, counted_loop


@dataclass(frozen=True)
class GatherExpander(Expander):
    """Writes gathers as loops that copy one window a step.

    `mode` is `all`, or `simple` for gathers of one window alone, which need no loop.
    """

    name: ClassVar[str] = "gather_expander"
    is_exact: ClassVar[bool] = True

    mode: str = option(
        "all",
        "which gathers to write out, simple being those of one window",
        choices=("all", "simple"),
    )
    unrolled: int = option(1, "up to how many windows are copied without a loop")

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a gather that the mode names."""
        if not isinstance(instruction.op, Gather):
            return False
        return self.mode != "simple" or window_count(instruction) == 1

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """gather(x, indices) -> while(dynamic-slice(x, indices[i]))"""
        gather = instruction.op
        assert isinstance(gather, Gather)
        result = array_shape(instruction)
        if result.element_count == 0:
            return build.full(0, result)
        operand, indices = instruction.operands
        rank = array_shape(operand).rank
        dimension_map = gather.dimension_map()
        rows = IndexRows(indices, gather.index_vector_dim, dimension_map, build)
        kept = dimension_map.window_dimensions(array_shape(operand))
        window = [gather.slice_sizes[d] for d in kept]

        def step(inside: Builder, number: Instruction, state: State) -> State:
            source, all_rows, target = state
            starts = rows.starts(inside, all_rows, number, rank)
            part = inside.dynamic_slice(source, starts, gather.slice_sizes)
            row = inside.reshape(part, [1, *window])
            places = leading_starts(inside, number, 1 + len(window))
            return [source, all_rows, inside.dynamic_update_slice(target, row, places)]

        empty = build.full(0, ArrayShape(result.element_type, [rows.count, *window]))
        state = [operand, rows.rows, empty]
        *_, windows = counted_loop(
            build, rows.count, state, step, name="gather", unrolled=self.unrolled
        )
        return _in_place(gather, build.reshape(windows, [*rows.batch, *window]), build)


def window_count(instruction: Instruction) -> int:
    """Returns how many windows a gather takes."""
    gather = instruction.op
    assert isinstance(gather, Gather)
    sizes = array_shape(instruction).dimensions
    return prod(size for d, size in enumerate(sizes) if d not in gather.offset_dims)


def _in_place(gather: Gather, windows: Instruction, build: Builder) -> Instruction:
    """Returns windows, whose dimensions stand last, with dimensions as the gather orders them."""
    rank = array_shape(windows).rank
    first = rank - len(gather.offset_dims)
    return build.transpose(windows, interleaved(rank, gather.offset_dims, first))
