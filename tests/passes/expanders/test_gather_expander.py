import numpy as np
import pytest

from hlotool.passes.expanders.batched_gather_scatter import BatchedGatherScatterNormalizer
from hlotool.passes.expanders.gather import GatherExpander
from hlotool.text.printer import print_module
from tests.passes.checking import opcodes, passed

_GATHERS = {
    "rows": (
        "f32[10,4]",
        "s32[5]",
        "f32[5,4]",
        (
            "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},"
            " index_vector_dim=1, slice_sizes={1,4}"
        ),
    ),
    "windows": (
        "s8[10,4]",
        "u8[2,3,2]",
        "s8[2,2,3,3]",
        (
            "offset_dims={0,3}, collapsed_slice_dims={}, start_index_map={1,0},"
            " index_vector_dim=2, slice_sizes={2,3}"
        ),
    ),
    "elements": (
        "c64[10,4]{0,1}",
        "s64[2,7]",
        "c64[7]",
        (
            "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},"
            " index_vector_dim=0, slice_sizes={1,1}"
        ),
    ),
    "batched": (
        "bf16[3,8,5]",
        "u32[2,1,3]",
        "bf16[2,3,5]",
        (
            "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1},"
            " operand_batching_dims={0}, start_indices_batching_dims={2},"
            " index_vector_dim=1, slice_sizes={1,1,5}"
        ),
    ),
    "one": (
        "pred[10,4]",
        "s32[]",
        "pred[4]",
        (
            "offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0},"
            " index_vector_dim=0, slice_sizes={1,4}"
        ),
    ),
    "whole": (
        "f32[10,4]",
        "s32[3,0]",
        "f32[3,10,4]",
        (
            "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={},"
            " index_vector_dim=1, slice_sizes={10,4}"
        ),
    ),
    "nothing": (
        "f32[10,4]",
        "s32[0]",
        "f32[0,4]",
        (
            "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},"
            " index_vector_dim=1, slice_sizes={1,4}"
        ),
    ),
    "wide batch": (
        "s32[200,2]",
        "u4[200,1]",
        "s32[200]",
        (
            "offset_dims={}, collapsed_slice_dims={1}, start_index_map={1},"
            " operand_batching_dims={0}, start_indices_batching_dims={0},"
            " index_vector_dim=1, slice_sizes={1,1}"
        ),
    ),
}


def _module(name: str) -> str:
    operand, indices, result, attributes = _GATHERS[name]
    return f"""HloModule m
ENTRY e {{
  x = {operand} parameter(0)
  i = {indices} parameter(1)
  ROOT g = {result} gather(x, i), {attributes}
}}
"""


@pytest.mark.parametrize("name", list(_GATHERS))
def test_a_gather_is_a_loop_of_slices(name: str) -> None:
    found = opcodes(passed(_module(name), GatherExpander()))
    assert "gather" not in found
    assert ("while" in found) == (name not in {"one", "nothing"})


def test_starts_are_moved_inside() -> None:
    table = np.arange(40, dtype=np.float32).reshape(10, 4)
    indices = np.array([-1, 0, 9, 10, np.iinfo(np.int32).min], np.int32)
    passed(_module("rows"), GatherExpander(), table, indices)
    passed(_module("rows"), GatherExpander(unrolled=5), table, indices)
    wide = np.array([[0, 1, -1, 1 << 40, 5, 2, 0], [0, 1, -1, 0, 1 << 40, 2, 0]], np.int64)
    numbers = table.astype(np.complex64)
    passed(_module("elements"), GatherExpander(), numbers, wide)
    large = np.full((2, 1, 3), (1 << 32) - 1, np.uint32)
    table_of_batches = np.arange(120).reshape(3, 8, 5).astype("bfloat16")
    passed(_module("batched"), GatherExpander(), table_of_batches, large)


def test_few_windows_need_no_loop() -> None:
    assert "while" not in opcodes(passed(_module("rows"), GatherExpander(unrolled=5)))
    assert "while" in opcodes(passed(_module("rows"), GatherExpander(unrolled=4)))


def test_simple_gathers_alone() -> None:
    one = GatherExpander(mode="simple")
    assert opcodes(passed(_module("rows"), one)) == ["gather"]
    assert "gather" not in opcodes(passed(_module("one"), one))


@pytest.mark.parametrize("name", ["batched", "wide batch"])
def test_batching_dimensions_become_indices(name: str) -> None:
    module = passed(_module(name), BatchedGatherScatterNormalizer())
    assert module.entry.root.opcode == "gather"
    assert "operand_batching_dims" not in print_module(module)
    assert "iota" in opcodes(module)


def test_gathers_without_batching_dimensions_stay() -> None:
    assert opcodes(passed(_module("rows"), BatchedGatherScatterNormalizer())) == ["gather"]
