"""Identities of copies, reshapes, transposes and broadcasts."""

from __future__ import annotations

import pytest

from hlotool.passes.algsimp import broadcasting, copying, reshaping, transposing
from hlotool.passes.algsimp.moving import patterns as all_patterns
from hlotool.rewriting.patterns import PatternSet
from tests.passes.algsimp.movements import (
    MOVED,
    Row,
    check_row,
    check_together,
    missing_rows,
    names,
)

PATTERNS = PatternSet(
    "here", copying.patterns, reshaping.patterns, transposing.patterns, broadcasting.patterns
)

ROWS = [
    Row("copy_of_same_layout", MOVED, "", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,3] copy(x)"""),
    Row("copy_of_same_layout", MOVED, None, """
        x = {T}[2,3]{1,0} parameter(0)
        ROOT r = {T}[2,3]{0,1} copy(x)"""),
    Row("copy_of_copy", MOVED, "copy", """
        x = {T}[2,3]{1,0} parameter(0)
        y = {T}[2,3]{0,1} copy(x)
        ROOT r = {T}[2,3]{1,0} copy(y)"""),
    Row("bitcast_of_nothing", MOVED, "", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,3] bitcast(x)"""),
    Row("bitcast_of_nothing", MOVED, None, """
        x = {T}[2,3]{1,0} parameter(0)
        ROOT r = {T}[2,3]{0,1} bitcast(x)"""),
    Row("bitcast_of_bitcast", MOVED, "bitcast", """
        x = {T}[2,3]{1,0} parameter(0)
        y = {T}[3,2]{0,1} bitcast(x)
        ROOT r = {T}[6]{0} bitcast(y)"""),
    Row("bitcast_of_bitcast", "f32", "bitcast", """
        x = f32[2,3]{1,0} parameter(0)
        y = s32[3,2]{0,1} bitcast(x)
        ROOT r = u32[2,3]{0,1} bitcast(y)"""),
    Row("size_of_static_dimension", "f32 pred", "constant", """
        x = {T}[2,3] parameter(0)
        ROOT r = s32[] get-dimension-size(x), dimensions={1}"""),
    Row("size_of_static_dimension", "f32", None, """
        x = f32[2,3] parameter(0)
        n = s32[] constant(2)
        y = f32[2,<=3] set-dimension-size(x, n), dimensions={1}
        ROOT r = s32[] get-dimension-size(y), dimensions={1}"""),
    Row("reshape_of_nothing", MOVED, "", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,3] reshape(x)"""),
    Row("reshape_of_nothing", "f32", "", """
        x = f32[] parameter(0)
        ROOT r = f32[] reshape(x)"""),
    Row("reshape_of_nothing", MOVED, None, """
        x = {T}[2,2] parameter(0)
        ROOT r = {T}[4] reshape(x)"""),
    Row("reshape_of_reshape", MOVED, "reshape", """
        x = {T}[2,6] parameter(0)
        y = {T}[3,4] reshape(x)
        ROOT r = {T}[12] reshape(y)"""),
    Row("reshape_of_reshape", "f32", "", """
        x = f32[0,6] parameter(0)
        y = f32[3,0,4] reshape(x)
        ROOT r = f32[0,6] reshape(y)"""),
    Row("reshape_of_constant", "f32 s32 bf16", "constant", """
        x = {T}[2,2] constant({{1,2},{3,4}})
        ROOT r = {T}[4] reshape(x)"""),
    Row("reshape_of_constant", "s32", None, """
        x = s32[2,2] constant({{1,2},{3,4}})
        y = s32[4] reshape(x)
        ROOT r = (s32[2,2], s32[4]) tuple(x, y)"""),
    Row("reshape_of_iota", "f32 s32 bf16 c64", "iota", """
        x = {T}[2,3,4] iota(), iota_dimension=1
        ROOT r = {T}[1,2,3,2,2] reshape(x)"""),
    Row("reshape_of_iota", "s32", None, """
        x = s32[6] iota(), iota_dimension=0
        ROOT r = s32[2,3] reshape(x)"""),
    Row("reshape_of_broadcast", MOVED, "broadcast", """
        x = {T}[] parameter(0)
        y = {T}[2,6] broadcast(x), dimensions={}
        ROOT r = {T}[3,4] reshape(y)"""),
    Row("reshape_of_broadcast", MOVED, "broadcast", """
        x = {T}[4] parameter(0)
        y = {T}[2,3,4] broadcast(x), dimensions={2}
        ROOT r = {T}[6,1,4] reshape(y)"""),
    Row("reshape_of_broadcast", MOVED, "reshape broadcast", """
        x = {T}[4,1,6] parameter(0)
        y = {T}[4,5,1,6] broadcast(x), dimensions={0,2,3}
        ROOT r = {T}[2,2,5,3,2] reshape(y)"""),
    Row("reshape_of_broadcast", MOVED, "", """
        x = {T}[3] parameter(0)
        y = {T}[1,3] broadcast(x), dimensions={1}
        ROOT r = {T}[3] reshape(y)"""),
    Row("reshape_of_broadcast", MOVED, None, """
        x = {T}[3] parameter(0)
        y = {T}[2,3] broadcast(x), dimensions={1}
        ROOT r = {T}[6] reshape(y)"""),
    Row("transpose_of_nothing", MOVED, "", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,3] transpose(x), dimensions={0,1}"""),
    Row("transpose_of_nothing", MOVED, None, """
        x = {T}[2,2] parameter(0)
        ROOT r = {T}[2,2] transpose(x), dimensions={1,0}"""),
    Row("transpose_of_transpose", MOVED, "transpose", """
        x = {T}[2,3,4] parameter(0)
        y = {T}[3,4,2] transpose(x), dimensions={1,2,0}
        ROOT r = {T}[4,3,2] transpose(y), dimensions={1,0,2}"""),
    Row("transpose_of_transpose", MOVED, "", """
        x = {T}[2,3,4] parameter(0)
        y = {T}[3,4,2] transpose(x), dimensions={1,2,0}
        ROOT r = {T}[2,3,4] transpose(y), dimensions={2,0,1}"""),
    Row("transpose_of_ones", MOVED, "reshape", """
        x = {T}[1,3,1,4] parameter(0)
        ROOT r = {T}[3,1,4,1] transpose(x), dimensions={1,0,3,2}"""),
    Row("transpose_of_ones", MOVED, None, """
        x = {T}[1,3,4] parameter(0)
        ROOT r = {T}[4,3,1] transpose(x), dimensions={2,1,0}"""),
    Row("transpose_of_broadcast", MOVED, "broadcast", """
        x = {T}[2,3] parameter(0)
        y = {T}[2,4,3] broadcast(x), dimensions={0,2}
        ROOT r = {T}[3,2,4] transpose(y), dimensions={2,0,1}"""),
    Row("transpose_of_iota", "f32 s32 bf16 c64", "iota", """
        x = {T}[2,3,4] iota(), iota_dimension=1
        ROOT r = {T}[3,4,2] transpose(x), dimensions={1,2,0}"""),
    Row("transpose_of_constant", "f32 s32 bf16", "constant", """
        x = {T}[2,2] constant({{1,2},{3,4}})
        ROOT r = {T}[2,2] transpose(x), dimensions={1,0}"""),
    Row("transpose_of_reshape", MOVED, "transpose reshape", """
        x = {T}[2,3] parameter(0)
        y = {T}[1,2,1,3] reshape(x)
        ROOT r = {T}[3,1,2,1] transpose(y), dimensions={3,0,1,2}"""),
    Row("transpose_of_reshape", MOVED, None, """
        x = {T}[6] parameter(0)
        y = {T}[2,3] reshape(x)
        ROOT r = {T}[3,2] transpose(y), dimensions={1,0}"""),
    Row("broadcast_of_nothing", MOVED, "", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,3] broadcast(x), dimensions={0,1}"""),
    Row("broadcast_of_nothing", MOVED, None, """
        x = {T}[2,2] parameter(0)
        ROOT r = {T}[2,2] broadcast(x), dimensions={1,0}"""),
    Row("broadcast_that_transposes", MOVED, "transpose", """
        x = {T}[2,3,4] parameter(0)
        ROOT r = {T}[4,2,3] broadcast(x), dimensions={1,2,0}"""),
    Row("broadcast_of_broadcast", MOVED, "broadcast", """
        x = {T}[2,3] parameter(0)
        y = {T}[3,4,2] broadcast(x), dimensions={2,0}
        ROOT r = {T}[4,5,2,3] broadcast(y), dimensions={3,0,2}"""),
    Row("broadcast_of_ones", MOVED, "reshape", """
        x = {T}[2,3] parameter(0)
        ROOT r = {T}[2,1,3] broadcast(x), dimensions={0,2}"""),
    Row("broadcast_of_ones", MOVED, "reshape", """
        x = {T}[] parameter(0)
        ROOT r = {T}[1,1] broadcast(x), dimensions={}"""),
    Row("broadcast_of_reshape", MOVED, "broadcast", """
        x = {T}[2,3] parameter(0)
        y = {T}[2,1,3] reshape(x)
        ROOT r = {T}[2,1,4,3] broadcast(y), dimensions={0,1,3}"""),
    Row("broadcast_of_reshape", MOVED, None, """
        x = {T}[2,1] parameter(0)
        y = {T}[2] reshape(x)
        ROOT r = {T}[2,3] broadcast(y), dimensions={0}"""),
    Row("broadcast_of_iota", "f32 s32 bf16 c64", "iota", """
        x = {T}[2,3] iota(), iota_dimension=1
        ROOT r = {T}[3,4,2] broadcast(x), dimensions={2,0}"""),
    Row("iota_of_size_one", "f32 s32 bf16 c64 f8e4m3fnuz", "constant broadcast", """
        ROOT r = {T}[2,1,3] iota(), iota_dimension=1"""),
    Row("iota_of_size_one", "f8e8m0fnu", None, """
        ROOT r = {T}[2,1,3] iota(), iota_dimension=1"""),
    Row("elementwise_of_broadcasts", "f32 s32 pred bf16 c64", "add broadcast", """
        x = {T}[] parameter(0)
        y = {T}[] parameter(1)
        a = {T}[2,3] broadcast(x), dimensions={}
        b = {T}[2,3] broadcast(y), dimensions={}
        ROOT r = {T}[2,3] add(a, b)"""),
    Row("elementwise_of_broadcasts", "f32 s32 bf16", "broadcast compare broadcast", """
        x = {T}[3,2] parameter(0)
        y = {T}[] parameter(1)
        a = {T}[2,3,4] broadcast(x), dimensions={1,0}
        b = {T}[2,3,4] broadcast(y), dimensions={}
        ROOT r = pred[2,3,4] compare(b, a), direction=LT"""),
    Row("elementwise_of_broadcasts", "f32", "select broadcast", """
        p = pred[] parameter(0)
        x = {T}[3] parameter(1)
        y = {T}[3] parameter(2)
        a = {T}[2,3] broadcast(x), dimensions={1}
        b = {T}[2,3] broadcast(y), dimensions={1}
        ROOT r = {T}[2,3] select(p, a, b)"""),
    Row("elementwise_of_broadcasts", "f32 s32", "convert broadcast", """
        x = {T}[3] parameter(0)
        a = {T}[2,3] broadcast(x), dimensions={1}
        ROOT r = bf16[2,3] convert(a)"""),
    Row("elementwise_of_broadcasts", "f32", None, """
        x = {T}[3] parameter(0)
        y = {T}[3] parameter(1)
        a = {T}[3,3] broadcast(x), dimensions={1}
        b = {T}[3,3] broadcast(y), dimensions={0}
        ROOT r = {T}[3,3] multiply(a, b)"""),
    Row("elementwise_of_broadcasts", "f32", None, """
        x = {T}[3] parameter(0)
        y = {T}[2,3] parameter(1)
        a = {T}[2,3] broadcast(x), dimensions={1}
        ROOT r = {T}[2,3] multiply(a, y)"""),
    Row("elementwise_of_broadcasts", "f32", None, """
        x = f32[2] parameter(0)
        a = f32[3,2] broadcast(x), dimensions={1}
        ROOT r = f64[3] bitcast-convert(a)"""),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_a_pattern_matches_where_it_holds_and_keeps_every_bit(row: Row) -> None:
    check_row(row, PATTERNS)


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_all_patterns_together_come_to_an_end(row: Row) -> None:
    check_together(row, all_patterns)


def test_every_pattern_has_a_row() -> None:
    assert missing_rows(ROWS, PATTERNS) == []
