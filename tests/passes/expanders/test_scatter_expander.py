import numpy as np
import pytest

from hlotool.ops.indexing import Scatter
from hlotool.passes.expanders.batched_gather_scatter import BatchedGatherScatterNormalizer
from hlotool.passes.expanders.scatter import GpuScatterExpander, ScatterExpander
from hlotool.passes.expanders.scatter_determinism import ScatterDeterminismExpander
from tests.passes.checking import opcodes, passed

_SCATTERS = {
    "rows": (
        "f32[10,4]",
        "s32[5]",
        "f32[5,4]",
        (
            "update_window_dims={1}, inserted_window_dims={0},"
            " scatter_dims_to_operand_dims={0}, index_vector_dim=1"
        ),
    ),
    "windows": (
        "s8[10,4]{0,1}",
        "u8[2,3,2]",
        "s8[2,3,3,2]",
        (
            "update_window_dims={2,3}, inserted_window_dims={},"
            " scatter_dims_to_operand_dims={1,0}, index_vector_dim=2"
        ),
    ),
    "elements": (
        "c64[10,4]",
        "s64[2,7]",
        "c64[7]",
        (
            "update_window_dims={}, inserted_window_dims={0,1},"
            " scatter_dims_to_operand_dims={0,1}, index_vector_dim=0"
        ),
    ),
    "batched": (
        "bf16[3,8,5]",
        "u32[2,1,3]",
        "bf16[2,3,5]",
        (
            "update_window_dims={2}, inserted_window_dims={1},"
            " scatter_dims_to_operand_dims={1}, input_batching_dims={0},"
            " scatter_indices_batching_dims={2}, index_vector_dim=1"
        ),
    ),
    "one": (
        "s32[10,4]",
        "s32[]",
        "s32[4]",
        (
            "update_window_dims={0}, inserted_window_dims={0},"
            " scatter_dims_to_operand_dims={0}, index_vector_dim=0"
        ),
    ),
    "scalar": (
        "f32[]",
        "s32[3,0]",
        "f32[3]",
        (
            "update_window_dims={}, inserted_window_dims={},"
            " scatter_dims_to_operand_dims={}, index_vector_dim=1"
        ),
    ),
    "nothing": (
        "f32[10,4]",
        "s32[0]",
        "f32[0,4]",
        (
            "update_window_dims={1}, inserted_window_dims={0},"
            " scatter_dims_to_operand_dims={0}, index_vector_dim=1"
        ),
    ),
}


def _module(name: str) -> str:
    operand, indices, updates, attributes = _SCATTERS[name]
    element = operand.split("[")[0]
    return f"""HloModule m
combine {{
  old = {element}[] parameter(0)
  new = {element}[] parameter(1)
  twice = {element}[] add(old, old)
  ROOT r = {element}[] subtract(twice, new)
}}
ENTRY e {{
  x = {operand} parameter(0)
  i = {indices} parameter(1)
  u = {updates} parameter(2)
  ROOT s = {operand} scatter(x, i, u), {attributes}, to_apply=combine
}}
"""


_SEVERAL = """HloModule m
both {
  f = f32[] parameter(0)
  i = s32[] parameter(1)
  g = f32[] parameter(2)
  j = s32[] parameter(3)
  k = s32[] convert(f)
  sum = f32[] add(f, g)
  most = s32[] maximum(k, j)
  ROOT t = (f32[], s32[]) tuple(sum, most)
}
ENTRY e {
  x = f32[4,3] parameter(0)
  y = s32[4,3] parameter(1)
  i = s32[5,1] parameter(2)
  u = f32[5,3] parameter(3)
  v = s32[5,3] parameter(4)
  ROOT s = (f32[4,3], s32[4,3]) scatter(x, y, i, u, v), ATTRIBUTES, to_apply=both
}
""".replace("ATTRIBUTES", _SCATTERS["rows"][-1])


@pytest.mark.parametrize("name", list(_SCATTERS))
def test_a_scatter_is_a_loop_of_updates(name: str) -> None:
    found = opcodes(passed(_module(name), ScatterExpander()))
    assert "scatter" not in found
    assert ("while" in found) == (name not in {"one", "nothing"})


def test_windows_that_do_not_lie_inside_change_nothing() -> None:
    table = np.arange(40, dtype=np.float32).reshape(10, 4)
    indices = np.array([-1, 0, 0, 9, 10], np.int32)
    updates = np.arange(20, dtype=np.float32).reshape(5, 4) + 0.5
    text = _module("rows")
    passed(text, ScatterExpander(), table, indices, updates, exact=True)
    passed(text, ScatterExpander(unrolled=5), table, indices, updates, exact=True)
    wide = np.array([[0, 1, -1, 1 << 40, 5, 2, 9], [0, 1, -1, 0, 1 << 40, 3, 4]], np.int64)
    numbers = table.astype(np.complex64)
    sources = np.arange(7).astype(np.complex64)
    passed(_module("elements"), ScatterExpander(), numbers, wide, sources, exact=True)
    large = np.array([[[0, 7, 1]], [[8, 1 << 31, (1 << 32) - 1]]], np.uint32)
    batches = np.ones((3, 8, 5), "bfloat16")
    updates = np.arange(30).reshape(2, 3, 5).astype("bfloat16")
    passed(_module("batched"), ScatterExpander(), batches, large, updates, exact=True)
    half_outside = np.array([[[0, 7], [2, 0], [1, 8]], [[3, 0], [255, 0], [0, 1]]], np.uint8)
    bytes_of = np.arange(40, dtype=np.int8).reshape(10, 4)
    passed(
        _module("windows").replace("s8[2,3,3,2]", "s8[2,3,3,2]"),
        ScatterExpander(),
        bytes_of,
        half_outside,
        np.arange(36, dtype=np.int8).reshape(2, 3, 3, 2),
        exact=True,
    )


def test_simple_scatters_alone() -> None:
    one = ScatterExpander(mode="simple")
    assert opcodes(passed(_module("rows"), one)) == ["scatter"]
    assert "scatter" not in opcodes(passed(_module("one"), one))


def test_several_arrays_are_combined_together() -> None:
    indices = np.array([[1], [3], [1], [4], [-1]], np.int32)
    rng = np.random.default_rng(1)
    arrays = [rng.integers(-9, 9, size).astype(dtype) for size, dtype in (
        ((4, 3), np.float32), ((4, 3), np.int32), ((5, 3), np.float32), ((5, 3), np.int32),
    )]  # fmt: skip
    given = [*arrays[:2], indices, *arrays[2:]]
    for one in (ScatterExpander(), GpuScatterExpander()):
        assert "scatter" not in opcodes(passed(_SEVERAL, one, *given, exact=True))


def test_a_gpu_scatters_one_array_at_once() -> None:
    assert opcodes(passed(_module("rows"), GpuScatterExpander())) == ["scatter"]
    wide = _module("elements").replace("c64", "c128")
    assert "scatter" not in opcodes(passed(wide, GpuScatterExpander()))


def test_batching_dimensions_become_indices() -> None:
    module = passed(_module("batched"), BatchedGatherScatterNormalizer())
    assert module.entry.root.opcode == "scatter"
    assert "iota" in opcodes(module)


@pytest.mark.parametrize("name", ["rows", "elements", "batched"])
def test_sums_are_scanned_before_they_are_scattered(name: str) -> None:
    text = (
        _module(name)
        .replace("add(old, old)", "negate(old)")
        .replace("subtract(twice, new)", "add(new, old)")
    )
    module = passed(text, ScatterDeterminismExpander())
    (scatter,) = [one.op for one in module.entry.instructions if isinstance(one.op, Scatter)]
    assert scatter.unique_indices
    assert opcodes(module).count("sort") == 1


def test_scanned_sums_leave_out_what_does_not_lie_inside() -> None:
    text = (
        _module("rows")
        .replace("add(old, old)", "negate(old)")
        .replace("subtract(twice, new)", "multiply(old, new)")
    )
    table = np.arange(40, dtype=np.float32).reshape(10, 4)
    updates = np.arange(20, dtype=np.float32).reshape(5, 4) + 0.5
    for indices in ([0, 0, 0, 0, 0], [-1, 0, 0, 9, 10], [9, 3, 9, 3, 9], [11, 12, -5, 10, -1]):
        places = np.array(indices, np.int32)
        passed(text, ScatterDeterminismExpander(), table, places, updates)


def test_overlapping_windows_are_scanned() -> None:
    text = _module("windows").replace("s8", "f32").replace("add(old, old)", "negate(old)")
    text = text.replace("subtract(twice, new)", "add(old, new)")
    passed(text, ScatterDeterminismExpander())


@pytest.mark.parametrize("name", ["rows", "one"])
def test_scatters_without_an_order_of_sums_stay(name: str) -> None:
    """Neither integers nor other combiners round in an order."""
    assert opcodes(passed(_module(name), ScatterDeterminismExpander())) == ["scatter"]
    assert "scatter" in opcodes(passed(_SEVERAL, ScatterDeterminismExpander()))


def test_a_combiner_of_another_width_stays() -> None:
    text = """HloModule m
most {
  x = bf16[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] maximum(x, y)
}
ENTRY e {
  a = f32[5,2] parameter(0)
  i = s32[3,1] parameter(1)
  u = f32[3,2] parameter(2)
  ROOT s = f32[5,2] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=most
}
"""
    assert opcodes(passed(text, ScatterExpander())) == ["scatter"]
