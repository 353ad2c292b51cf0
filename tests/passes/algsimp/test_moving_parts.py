"""Identities of slices, dynamic slices and updates, gathers, pads, reverses and concatenates."""

from __future__ import annotations

import pytest

from hlotool.passes.algsimp import concatenating, dynamic_slicing, padding, slicing
from hlotool.passes.algsimp.moving import patterns as all_patterns
from hlotool.rewriting.patterns import PatternSet
from hlotool.text.parser import parse
from tests.passes.algsimp.movements import (
    MOVED,
    Moving,
    Row,
    check_pass,
    check_row,
    check_together,
    missing_rows,
    names,
)
from tests.passes.checking import changed_by, opcodes

PATTERNS = PatternSet(
    "here", slicing.patterns, dynamic_slicing.patterns, padding.patterns, concatenating.patterns
)

ROWS = [
    Row("slice_of_all", MOVED, "", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,3] slice(x), slice={[0:2], [0:3]}"""),
    Row("slice_of_all", "f32", "", """
        x = f32[] parameter(0)
        ROOT r = f32[] slice(x), slice={}"""),
    Row("slice_beyond_last", MOVED, "slice", """
        x = {T}[9,4] parameter(0)
        ROOT r = {T}[3,1] slice(x), slice={[1:9:3], [2:4:5]}"""),
    Row("slice_beyond_last", "f32", "slice", """
        x = f32[9] parameter(0)
        ROOT r = f32[0] slice(x), slice={[3:3]}"""),
    Row("slice_of_slice", MOVED, "slice", """
        x = {T}[20,3] parameter(0)
        y = {T}[6,2] slice(x), slice={[2:19:3], [1:3]}
        ROOT r = {T}[2,1] slice(y), slice={[1:5:2], [1:2]}"""),
    Row("slice_of_broadcast", MOVED, "slice broadcast", """
        x = {T}[5] parameter(0)
        y = {T}[4,5] broadcast(x), dimensions={1}
        ROOT r = {T}[2,3] slice(y), slice={[1:3], [0:5:2]}"""),
    Row("slice_of_broadcast", MOVED, "broadcast", """
        x = {T}[] parameter(0)
        y = {T}[4,5] broadcast(x), dimensions={}
        ROOT r = {T}[2,0] slice(y), slice={[1:3], [0:0]}"""),
    Row("slice_of_concatenate", MOVED, "slice", """
        x = {T}[2,3] parameter(0)
        y = {T}[2,4] parameter(1)
        z = {T}[2,7] concatenate(x, y), dimensions={1}
        ROOT r = {T}[1,2] slice(z), slice={[1:2], [3:7:2]}"""),
    Row("slice_of_concatenate", MOVED, "concatenate", """
        x = {T}[2] parameter(0)
        y = {T}[3] parameter(1)
        z = {T}[4] parameter(2)
        c = {T}[9] concatenate(x, y, z), dimensions={0}
        ROOT r = {T}[7] slice(c), slice={[2:9]}"""),
    Row("slice_of_concatenate", MOVED, None, """
        x = {T}[2] parameter(0)
        y = {T}[3] parameter(1)
        c = {T}[5] concatenate(x, y), dimensions={0}
        ROOT r = {T}[3] slice(c), slice={[1:4]}"""),
    Row("slice_of_pad", MOVED, "slice", """
        x = {T}[4] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[9] pad(x, v), padding=2_3
        ROOT r = {T}[2] slice(y), slice={[3:6:2]}"""),
    Row("slice_of_pad", MOVED, "broadcast", """
        x = {T}[4,2] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[9,2] pad(x, v), padding=2_3x0_0
        ROOT r = {T}[2,2] slice(y), slice={[6:8], [0:2]}"""),
    Row("slice_of_pad", MOVED, "pad", """
        x = {T}[4] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[9] pad(x, v), padding=2_3
        ROOT r = {T}[7] slice(y), slice={[1:8]}"""),
    Row("slice_of_pad", MOVED, "slice", """
        x = {T}[6] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[5] pad(x, v), padding=-2_1
        ROOT r = {T}[3] slice(y), slice={[1:4]}"""),
    Row("slice_of_pad", MOVED, None, """
        x = {T}[4] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[9] pad(x, v), padding=2_3
        ROOT r = {T}[3] slice(y), slice={[1:4]}"""),
    Row("slice_of_pad", MOVED, None, """
        x = {T}[4] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[8] pad(x, v), padding=0_1_1
        ROOT r = {T}[2] slice(y), slice={[0:2]}"""),
    Row("slice_of_iota", "f32 s32 bf16 c64", "iota", """
        x = {T}[6,5] iota(), iota_dimension=0
        ROOT r = {T}[4,2] slice(x), slice={[0:4], [1:5:2]}"""),
    Row("slice_of_iota", "f32", None, """
        x = {T}[6,5] iota(), iota_dimension=0
        ROOT r = {T}[5,5] slice(x), slice={[1:6], [0:5]}"""),
    Row("slice_of_reverse", MOVED, "slice reverse", """
        x = {T}[9,5] parameter(0)
        y = {T}[9,5] reverse(x), dimensions={0}
        ROOT r = {T}[3,3] slice(y), slice={[1:8:3], [0:5:2]}"""),
    Row("slice_of_transpose", MOVED, "slice transpose", """
        x = {T}[2,3,4] parameter(0)
        y = {T}[4,2,3] transpose(x), dimensions={2,0,1}
        ROOT r = {T}[2,2,1] slice(y), slice={[0:4:2], [0:2], [2:3]}"""),
    Row("slice_of_transpose", MOVED, None, """
        x = {T}[2,3] parameter(0)
        y = {T}[3,2] transpose(x), dimensions={1,0}
        a = {T}[2,2] slice(y), slice={[1:3], [0:2]}
        ROOT r = ({T}[2,2], {T}[3,2]) tuple(a, y)"""),
    Row("slice_of_reshape", MOVED, "slice reshape", """
        x = {T}[5,2,3] parameter(0)
        y = {T}[1,5,6] reshape(x)
        ROOT r = {T}[1,2,6] slice(y), slice={[0:1], [1:4:2], [0:6]}"""),
    Row("slice_of_reshape", MOVED, None, """
        x = {T}[5,6] parameter(0)
        y = {T}[5,2,3] reshape(x)
        ROOT r = {T}[5,2,2] slice(y), slice={[0:5], [0:2], [0:2]}"""),
    Row("slice_of_update", MOVED, "slice", """
        x = {T}[8] parameter(0)
        u = {T}[3] parameter(1)
        i = s32[] constant(100)
        y = {T}[8] dynamic-update-slice(x, u, i)
        ROOT r = {T}[2] slice(y), slice={[6:8]}"""),
    Row("slice_of_update", MOVED, "slice", """
        x = {T}[8] parameter(0)
        u = {T}[3] parameter(1)
        i = s32[] constant(-4)
        y = {T}[8] dynamic-update-slice(x, u, i)
        ROOT r = {T}[3] slice(y), slice={[3:8:2]}"""),
    Row("slice_of_update", MOVED, None, """
        x = {T}[8] parameter(0)
        u = {T}[3] parameter(1)
        i = s32[] constant(1)
        y = {T}[8] dynamic-update-slice(x, u, i)
        ROOT r = {T}[3] slice(y), slice={[0:3]}"""),
    Row("dynamic_slice_of_all", MOVED, "", """
        x = {T}[2,3] parameter(0)
        i = s32[] parameter(1)
        ROOT r = {T}[2,3] dynamic-slice(x, i, i), dynamic_slice_sizes={2,3}"""),
    Row("dynamic_slice_at_constant", MOVED, "slice", """
        x = {T}[5,6] parameter(0)
        i = s32[] constant(4)
        j = s32[] constant(-7)
        ROOT r = {T}[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}"""),
    Row("dynamic_slice_at_constant", MOVED, "slice", """
        x = {T}[5,6] parameter(0)
        i = u64[2] constant({1, 18446744073709551615})
        ROOT r = {T}[2,3] dynamic-slice(x, i), dynamic_slice_sizes={2,3}"""),
    Row("dynamic_slice_at_constant", MOVED, None, """
        x = {T}[5,6] parameter(0)
        i = s32[] constant(4)
        j = s32[] parameter(1)
        ROOT r = {T}[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}"""),
    Row("dynamic_slice_of_broadcast", MOVED, "dynamic-slice broadcast", """
        x = {T}[5,3] parameter(0)
        i = s32[] parameter(1)
        j = s32[] parameter(2)
        k = s32[] parameter(3)
        y = {T}[3,4,5] broadcast(x), dimensions={2,0}
        ROOT r = {T}[2,2,4] dynamic-slice(y, i, j, k), dynamic_slice_sizes={2,2,4}"""),
    Row("dynamic_slice_of_broadcast", MOVED, "broadcast", """
        x = {T}[5] parameter(0)
        i = s32[] parameter(1)
        y = {T}[3,5] broadcast(x), dimensions={1}
        ROOT r = {T}[2,5] dynamic-slice(y, i, i), dynamic_slice_sizes={2,5}"""),
    Row("dynamic_slice_of_update", MOVED, "", """
        x = {T}[6] parameter(0)
        u = {T}[2] parameter(1)
        i = s32[] parameter(2)
        y = {T}[6] dynamic-update-slice(x, u, i)
        ROOT r = {T}[2] dynamic-slice(y, i), dynamic_slice_sizes={2}"""),
    Row("dynamic_slice_of_update", MOVED, None, """
        x = {T}[6] parameter(0)
        u = {T}[2] parameter(1)
        i = s32[] parameter(2)
        y = {T}[6] dynamic-update-slice(x, u, i)
        ROOT r = {T}[1] dynamic-slice(y, i), dynamic_slice_sizes={1}"""),
    Row("start_without_choice", MOVED, "constant dynamic-slice", """
        x = {T}[6,3] parameter(0)
        i = s32[] parameter(1)
        j = s32[] parameter(2)
        ROOT r = {T}[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}"""),
    Row("start_without_choice", MOVED, "constant dynamic-update-slice", """
        x = {T}[6,3] parameter(0)
        u = {T}[2,3] parameter(1)
        i = s64[] parameter(2)
        j = s64[] parameter(3)
        ROOT r = {T}[6,3] dynamic-update-slice(x, u, i, j)"""),
    Row("update_of_all", MOVED, "", """
        x = {T}[2,3] parameter(0)
        u = {T}[2,3] parameter(1)
        i = s32[] parameter(2)
        ROOT r = {T}[2,3] dynamic-update-slice(x, u, i, i)"""),
    Row("update_with_nothing", MOVED, "", """
        x = {T}[2,3] parameter(0)
        u = {T}[2,0] parameter(1)
        i = s32[] parameter(2)
        ROOT r = {T}[2,3] dynamic-update-slice(x, u, i, i)"""),
    Row("update_with_own_slice", MOVED, "", """
        x = {T}[6] parameter(0)
        i = s32[] parameter(1)
        u = {T}[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
        ROOT r = {T}[6] dynamic-update-slice(x, u, i)"""),
    Row("update_with_own_slice", MOVED, None, """
        x = {T}[6] parameter(0)
        i = s32[] parameter(1)
        j = s32[] parameter(2)
        u = {T}[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
        ROOT r = {T}[6] dynamic-update-slice(x, u, j)"""),
    Row("update_of_update", MOVED, "dynamic-update-slice", """
        x = {T}[6] parameter(0)
        u = {T}[2] parameter(1)
        v = {T}[2] parameter(2)
        i = s32[] parameter(3)
        y = {T}[6] dynamic-update-slice(x, u, i)
        ROOT r = {T}[6] dynamic-update-slice(y, v, i)"""),
    Row("update_of_one_value", MOVED, "pad", """
        c = {T}[] parameter(0)
        x = {T}[6,3] broadcast(c), dimensions={}
        u = {T}[2,3] parameter(1)
        i = s32[] constant(9)
        j = s32[] constant(0)
        ROOT r = {T}[6,3] dynamic-update-slice(x, u, i, j)"""),
    Row("gather_of_one_value", MOVED, "broadcast", """
        c = {T}[] parameter(0)
        x = {T}[6,3] broadcast(c), dimensions={}
        i = s32[4,1] parameter(1)
        ROOT r = {T}[4,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}"""),
    Row("gather_of_one_window", MOVED, "slice slice reshape reshape dynamic-slice reshape", """
        x = {T}[6,3] parameter(0)
        i = s32[2] parameter(1)
        ROOT r = {T}[2] gather(x, i), offset_dims={0}, collapsed_slice_dims={0},
          start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,2}"""),
    Row("gather_of_one_window", MOVED, "reshape reshape constant dynamic-slice reshape", """
        x = {T}[6,3] parameter(0)
        i = s32[1,1] parameter(1)
        ROOT r = {T}[2,1] gather(x, i), offset_dims={0}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}"""),
    Row("gather_of_one_window", MOVED, None, """
        x = {T}[6,3] parameter(0)
        i = s32[2,1] parameter(1)
        ROOT r = {T}[2,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}"""),
    Row("scatter_of_nothing", "f32 s32 bf16", "", """
        x = {T}[6,3] parameter(0)
        i = s32[0,1] parameter(1)
        u = {T}[0,3] parameter(2)
        ROOT r = {T}[6,3] scatter(x, i, u), to_apply=add, update_window_dims={1},
          inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"""),
    Row("pad_with_nothing", MOVED, "", """
        x = {T}[2,1] parameter(0)
        v = {T}[] parameter(1)
        ROOT r = {T}[2,1] pad(x, v), padding=0_0_0x0_0_3"""),
    Row("pad_with_nothing", MOVED, None, """
        x = {T}[2] parameter(0)
        v = {T}[] parameter(1)
        ROOT r = {T}[2] pad(x, v), padding=-1_1"""),
    Row("pad_between_nothing", MOVED, "pad", """
        x = {T}[1,2] parameter(0)
        v = {T}[] parameter(1)
        ROOT r = {T}[3,3] pad(x, v), padding=1_1_4x0_0_1"""),
    Row("pad_of_no_elements", MOVED, "broadcast", """
        x = {T}[0,2] parameter(0)
        v = {T}[] parameter(1)
        ROOT r = {T}[3,2] pad(x, v), padding=1_2x0_0"""),
    Row("pad_that_cuts", MOVED, "slice", """
        x = {T}[5,4] parameter(0)
        v = {T}[] parameter(1)
        ROOT r = {T}[2,4] pad(x, v), padding=-1_-2x0_0"""),
    Row("pad_that_cuts", MOVED, "pad slice", """
        x = {T}[5,4] parameter(0)
        v = {T}[] parameter(1)
        ROOT r = {T}[9,4] pad(x, v), padding=-2_2_1x1_-1"""),
    Row("pad_of_pad", MOVED, "pad", """
        x = {T}[2,3] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[4,3] pad(x, v), padding=1_1x0_0
        ROOT r = {T}[6,6] pad(y, v), padding=2_0x1_2"""),
    Row("pad_of_pad", "f32", None, """
        x = {T}[2] parameter(0)
        v = {T}[] constant(0)
        w = {T}[] constant(-0.0)
        y = {T}[4] pad(x, v), padding=1_1
        ROOT r = {T}[6] pad(y, w), padding=2_0"""),
    Row("pad_of_pad", MOVED, None, """
        x = {T}[2] parameter(0)
        v = {T}[] parameter(1)
        y = {T}[4] pad(x, v), padding=1_1
        ROOT r = {T}[7] pad(y, v), padding=0_0_1"""),
    Row("pad_of_own_value", MOVED, "broadcast", """
        v = {T}[] parameter(0)
        x = {T}[2,3] broadcast(v), dimensions={}
        ROOT r = {T}[5,5] pad(x, v), padding=1_2x2_0"""),
    Row("reverse_of_reverse", MOVED, "reverse", """
        x = {T}[2,3,4] parameter(0)
        y = {T}[2,3,4] reverse(x), dimensions={0,1}
        ROOT r = {T}[2,3,4] reverse(y), dimensions={1,2}"""),
    Row("reverse_of_reverse", MOVED, "", """
        x = {T}[2,3] parameter(0)
        y = {T}[2,3] reverse(x), dimensions={0,1}
        ROOT r = {T}[2,3] reverse(y), dimensions={1,0}"""),
    Row("reverse_of_ones", MOVED, "reverse", """
        x = {T}[1,3,1] parameter(0)
        ROOT r = {T}[1,3,1] reverse(x), dimensions={0,1}"""),
    Row("reverse_of_ones", MOVED, "", """
        x = {T}[1,3,1] parameter(0)
        ROOT r = {T}[1,3,1] reverse(x), dimensions={0,2}"""),
    Row("reverse_of_broadcast", MOVED, "reverse broadcast", """
        x = {T}[3,2] parameter(0)
        y = {T}[2,4,3] broadcast(x), dimensions={2,0}
        ROOT r = {T}[2,4,3] reverse(y), dimensions={1,2}"""),
    Row("reverse_of_broadcast", MOVED, "broadcast", """
        x = {T}[3] parameter(0)
        y = {T}[4,3] broadcast(x), dimensions={1}
        ROOT r = {T}[4,3] reverse(y), dimensions={0}"""),
    Row("concatenate_of_one", MOVED, "", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,3] concatenate(x), dimensions={1}"""),
    Row("concatenate_with_nothing", MOVED, "concatenate", """
        x = {T}[2,3] parameter(0)
        y = {T}[2,0] parameter(1)
        z = {T}[2,1] parameter(2)
        ROOT r = {T}[2,4] concatenate(x, y, z), dimensions={1}"""),
    Row("concatenate_with_nothing", MOVED, "", """
        x = {T}[0,3] parameter(0)
        y = {T}[0,3] parameter(1)
        ROOT r = {T}[0,3] concatenate(x, y), dimensions={0}"""),
    Row("concatenate_of_concatenate", MOVED, "concatenate", """
        x = {T}[2] parameter(0)
        y = {T}[3] parameter(1)
        a = {T}[5] concatenate(x, y), dimensions={0}
        ROOT r = {T}[10] concatenate(x, a, y), dimensions={0}"""),
    Row("concatenate_of_concatenate", MOVED, None, """
        x = {T}[2,2] parameter(0)
        y = {T}[4,2] parameter(1)
        a = {T}[2,4] concatenate(x, x), dimensions={1}
        ROOT r = {T}[4,4] concatenate(a, a), dimensions={0}"""),
    Row("concatenate_of_neighbours", MOVED, "slice", """
        x = {T}[6,3] parameter(0)
        a = {T}[2,2] slice(x), slice={[1:3], [1:3]}
        b = {T}[1,2] slice(x), slice={[3:4], [1:3]}
        c = {T}[2,2] slice(x), slice={[4:6], [1:3]}
        ROOT r = {T}[5,2] concatenate(a, b, c), dimensions={0}"""),
    Row("concatenate_of_neighbours", MOVED, "slice slice concatenate", """
        x = {T}[6] parameter(0)
        a = {T}[2] slice(x), slice={[1:3]}
        b = {T}[1] slice(x), slice={[3:4]}
        c = {T}[1] slice(x), slice={[5:6]}
        ROOT r = {T}[4] concatenate(c, a, b), dimensions={0}"""),
    Row("concatenate_of_neighbours", MOVED, None, """
        x = {T}[6,3] parameter(0)
        a = {T}[2,2] slice(x), slice={[1:3], [1:3]}
        b = {T}[1,2] slice(x), slice={[3:4], [0:2]}
        ROOT r = {T}[3,2] concatenate(a, b), dimensions={0}"""),
    Row("concatenate_of_broadcasts", MOVED, "broadcast", """
        x = {T}[3] parameter(0)
        a = {T}[2,3] broadcast(x), dimensions={1}
        b = {T}[4,3] broadcast(x), dimensions={1}
        ROOT r = {T}[6,3] concatenate(a, b), dimensions={0}"""),
    Row("concatenate_of_broadcasts", "f32 s32 bf16", "constant broadcast", """
        v = {T}[] constant(3)
        w = {T}[] constant(3)
        a = {T}[2,3] broadcast(v), dimensions={}
        b = {T}[2,5] broadcast(w), dimensions={}
        ROOT r = {T}[2,8] concatenate(a, b), dimensions={1}"""),
    Row("concatenate_of_broadcasts", MOVED, None, """
        x = {T}[3] parameter(0)
        a = {T}[2,3] broadcast(x), dimensions={1}
        ROOT r = {T}[2,6] concatenate(a, a), dimensions={1}"""),
    Row("concatenate_of_repeated", MOVED, "reshape broadcast", """
        x = {T}[3,1,2] parameter(0)
        ROOT r = {T}[3,4,2] concatenate(x, x, x, x), dimensions={1}"""),
    Row("concatenate_with_edges", MOVED, "pad", """
        v = {T}[] parameter(0)
        x = {T}[2,3] parameter(1)
        a = {T}[2,1] broadcast(v), dimensions={}
        b = {T}[2,4] broadcast(v), dimensions={}
        ROOT r = {T}[2,8] concatenate(a, x, b), dimensions={1}"""),
    Row("concatenate_with_edges", "f32 s32 bf16", "constant pad", """
        x = {T}[3] parameter(0)
        a = {T}[1] constant({4})
        ROOT r = {T}[4] concatenate(x, a), dimensions={0}"""),
    Row("concatenate_with_edges", "f32", None, """
        x = {T}[3] parameter(0)
        a = {T}[1] constant({0})
        b = {T}[1] constant({-0.0})
        ROOT r = {T}[5] concatenate(a, x, b), dimensions={0}"""),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_a_pattern_matches_where_it_holds_and_keeps_every_bit(row: Row) -> None:
    check_row(row, PATTERNS)


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_all_patterns_together_come_to_an_end(row: Row) -> None:
    check_together(row, all_patterns)


def test_every_pattern_has_a_row() -> None:
    assert missing_rows(ROWS, PATTERNS) == []


def test_a_long_chain_of_concatenates_is_flattened_in_parts() -> None:
    lines = ["  x = s32[1] parameter(0)", "  y = s32[1] parameter(1)"]
    last = "x"
    for number in range(150):
        size = 2 * number + 3
        lines.append(f"  v{number} = s32[{size}] concatenate({last}, y, x), dimensions={{0}}")
        last = f"v{number}"
    lines.append(f"  ROOT r = s32[301] negate({last})")
    text = "HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}\n"
    module = parse(text)
    assert changed_by(module, Moving(PATTERNS))
    assert 2 < opcodes(module).count("concatenate") < 10
    check_pass(text, Moving(PATTERNS))
