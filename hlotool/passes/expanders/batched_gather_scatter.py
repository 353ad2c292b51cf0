"""Batching dimensions of gathers and scatters, as indices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import S64
from hlotool.ir.instruction import Instruction
from hlotool.ops.index_vectors import DimensionMap
from hlotool.ops.indexing import Gather, Scatter
from hlotool.passes.expanders.expander import Expander
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.index_vectors import (
    holds,
    wide_indices,
    with_batching_columns,
    with_last_vectors,
)


@dataclass(frozen=True)
class BatchedGatherScatterNormalizer(Expander):
    """Puts numbers of batching dimensions of gathers and scatters into their index vectors."""

    name: ClassVar[str] = "batched_gather_scatter_normalizer"
    is_exact: ClassVar[bool] = True

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a gather or scatter with batching dimensions."""
        op = instruction.op
        return isinstance(op, Gather | Scatter) and bool(op.dimension_map().batching)

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """gather(x, indices), operand_batching_dims={0} -> gather(x, concatenate(iota, indices))"""
        op = instruction.op
        assert isinstance(op, Gather | Scatter)
        number = len(instruction.operands) // 2 if isinstance(op, Scatter) else 1
        dimension_map = op.dimension_map()
        operands = list(instruction.operands)
        operands[number] = _with_numbers(
            operands[number], op.index_vector_dim, dimension_map, build
        )
        dropped = tuple(sorted((*dimension_map.dropped, *dimension_map.batching)))
        index_map = (*dimension_map.batching, *dimension_map.index_map)
        last = array_shape(operands[number]).rank - 1
        changed: Gather | Scatter
        if isinstance(op, Gather):
            changed = op.replace(
                collapsed_slice_dims=dropped,
                start_index_map=index_map,
                operand_batching_dims=(),
                start_indices_batching_dims=(),
                index_vector_dim=last,
            )
        else:
            changed = op.replace(
                inserted_window_dims=dropped,
                scatter_dims_to_operand_dims=index_map,
                input_batching_dims=(),
                scatter_indices_batching_dims=(),
                index_vector_dim=last,
            )
        return build.add(changed, *operands, calls=instruction.calls, shape=instruction.shape)


def _with_numbers(
    indices: Instruction, vector_dimension: int, dimension_map: DimensionMap, build: Builder
) -> Instruction:
    shape = array_shape(indices)
    sizes = [shape.dimensions[d] for d in dimension_map.indices_batching]
    if not all(holds(shape.element_type, size) for size in sizes):
        indices = wide_indices(build, indices)
    if not all(holds(array_shape(indices).element_type, size) for size in sizes):
        indices = build.convert(indices, S64)
    vectors = with_last_vectors(build, indices, vector_dimension)
    return with_batching_columns(build, vectors, dimension_map, vector_dimension)
