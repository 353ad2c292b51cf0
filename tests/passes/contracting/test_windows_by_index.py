"""The passes on gathers and scatters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hlotool.ops.indexing import Gather, Scatter
from hlotool.passes.contracting.gather_simplifier import GatherSimplifier
from hlotool.passes.contracting.scatter_simplifier import ScatterSimplifier
from hlotool.passes.contracting.scatter_slice_simplifier import ScatterSliceSimplifier
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import few
from tests.passes.contracting.windows_by_index import gathers, scatters


@few
@given(case=gathers())
def test_gathers_come_into_one_form(case: tuple[str, list[Any]]) -> None:
    module = passed(case[0], GatherSimplifier(), *case[1], exact=True)
    for one in module.entry.instructions:
        if isinstance(one.op, Gather):
            assert one.op.collapsed_slice_dims == ()
            assert one.op.index_vector_dim == 1
            assert one.op.start_index_map == tuple(range(len(one.op.start_index_map)))


@few
@given(case=scatters())
def test_scatters_come_into_one_form(case: tuple[str, list[Any]]) -> None:
    module = passed(case[0], ScatterSimplifier(), *case[1], exact=True)
    for one in module.entry.instructions:
        if isinstance(one.op, Scatter) and "copy(b)" not in case[0] and "subtr" not in case[0]:
            assert one.op.inserted_window_dims == ()
            assert one.op.index_vector_dim == 1


def test_a_single_window_is_a_slice() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[5,6] parameter(0)
  i = u8[2] parameter(1)
  ROOT g = f32[3] gather(x, i), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={1,0},
      index_vector_dim=0, slice_sizes={1,3}
}
"""
    x = np.arange(30, dtype=np.float32).reshape(5, 6)
    module = passed(text, GatherSimplifier(), x, np.array([255, 2], np.uint8), exact=True)
    assert "dynamic-slice" in opcodes(module)
    assert "gather" not in opcodes(module)


def test_explicit_batches_stay() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,5] parameter(0)
  i = s32[2,3,1] parameter(1)
  ROOT g = f32[2,3] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1},
      operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2,
      slice_sizes={1,1}
}
""",
        GatherSimplifier(),
    )
    assert opcodes(module) == ["gather"]


OVERWRITE = """HloModule m
f {
  a = s32[] parameter(0)
  ROOT b = s32[] parameter(1)
}
ENTRY e {
  x = s32[TOP,4] parameter(0)
  i = s8[1] parameter(1)
  u = s32[4] parameter(2)
  ROOT s = s32[TOP,4] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=f
}
"""


@pytest.mark.parametrize("index", [0, 2, 4, 5, -1, 127, -128])
@pytest.mark.parametrize("size", [5, 1, 300])
def test_an_overwritten_window_is_an_update(index: int, size: int) -> None:
    x = np.arange(4 * size, dtype=np.int32).reshape(size, 4)
    update = np.array([9, 8, 7, 6], np.int32)
    text = OVERWRITE.replace("TOP", str(size))
    module = passed(text, ScatterSimplifier(), x, np.array([index], np.int8), update, exact=True)
    assert "dynamic-update-slice" in opcodes(module)
    assert "scatter" not in opcodes(module)


def test_several_arrays_are_scattered_together() -> None:
    text = """HloModule m
f {
  a = s32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = f32[] parameter(3)
  p = s32[] add(a, c)
  q = f32[] multiply(b, d)
  ROOT t = (s32[], f32[]) tuple(p, q)
}
ENTRY e {
  x = s32[5,4]{0,1} parameter(0)
  y = f32[5,4]{1,0} parameter(1)
  i = s32[3] parameter(2)
  u = s32[5,3] parameter(3)
  v = f32[5,3] parameter(4)
  ROOT s = (s32[5,4]{0,1}, f32[5,4]{1,0}) scatter(x, y, i, u, v), update_window_dims={0},
      inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=f
}
"""
    numbers = np.arange(20).reshape(5, 4)
    updates = np.arange(15).reshape(5, 3)
    module = passed(
        text, ScatterSimplifier(),
        numbers.astype(np.int32), numbers.astype(np.float32), np.array([1, 1, 7], np.int32),
        updates.astype(np.int32), updates.astype(np.float32), exact=True,
    )  # fmt: skip
    assert opcodes(module).count("scatter") == 1
    assert opcodes(module).count("transpose") == 8


def overflow_row(limit: str, update: str = "s32[3,4]", attributes: str = "") -> str:
    dims = attributes or "update_window_dims={1}, inserted_window_dims={0}"
    first, last = map(int, limit.split(":"))
    return f"""HloModule m
f {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}}
ENTRY e {{
  x = s32[6,4] parameter(0)
  i = s32[3,1] parameter(1)
  u = {update} parameter(2)
  s = s32[6,4] scatter(x, i, u), {dims}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1,
      to_apply=f
  ROOT r = s32[{last - first},4] slice(s), slice={{[{limit}], [0:4]}}
}}
"""


ARGUMENTS = (
    np.arange(24, dtype=np.int32).reshape(6, 4),
    np.array([[1], [5], [7]], np.int32),
)


def test_rows_that_are_cut_off_are_not_scattered_into() -> None:
    updates = np.ones((3, 4), np.int32)
    module = passed(overflow_row("0:5"), ScatterSliceSimplifier(), *ARGUMENTS, updates)
    assert opcodes(module) == ["slice", "scatter"]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (overflow_row("1:6"), (3, 4)),
        (overflow_row("0:0"), (3, 4)),
        (overflow_row("0:5", "s32[3,2,4]", "update_window_dims={1,2}, inserted_window_dims={}"),
         (3, 2, 4)),
        (overflow_row("0:5").replace("to_apply=f", "to_apply=f, control-predecessors={i}"),
         (3, 4)),
    ],
    ids=["cut-before", "nothing-left", "windows-across", "control-edge"],
)  # fmt: skip
def test_these_slices_stay(text: str, sizes: tuple[int, ...]) -> None:
    updates = np.ones(sizes, np.int32)
    module = passed(text, ScatterSliceSimplifier(), *ARGUMENTS, updates)
    assert opcodes(module) == ["scatter", "slice"]
