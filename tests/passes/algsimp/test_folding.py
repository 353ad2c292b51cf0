"""Identities of sorts, maps, reductions, windows, dots and convolutions."""

from __future__ import annotations

import pytest

from hlotool.passes.algsimp import contracting, convolving, ordering, reducing, windowing
from hlotool.passes.algsimp.moving import patterns as all_patterns
from hlotool.rewriting.patterns import PatternSet
from tests.passes.algsimp.movements import (
    Row,
    check_row,
    check_together,
    missing_rows,
    names,
)

PATTERNS = PatternSet(
    "here",
    ordering.patterns,
    reducing.patterns,
    windowing.patterns,
    contracting.patterns,
    convolving.patterns,
)
LESS = """less {
  a = {T}[] parameter(0)
  b = {T}[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
LESS_OF_TWO = """less {
  a = {T}[] parameter(0)
  b = {T}[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
GREATER_OR_EQUAL = """ge {
  a = {T}[] parameter(0)
  b = {T}[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}
"""
SECOND = """second {
  a = {T}[] parameter(0)
  ROOT b = {T}[] parameter(1)
}
"""
SEVEN = """seven {
  a = {T}[] parameter(0)
  ROOT b = {T}[] constant(7)
}
"""

ROWS = [
    Row("sort_of_one", "f32 s32 bf16", "", """
        x = {T}[3,1] parameter(0)
        ROOT r = {T}[3,1] sort(x), dimensions={1}, to_apply=less""", LESS),
    Row("sort_of_one", "f32 s32 bf16", "tuple", """
        x = {T}[0,2] parameter(0)
        y = s32[0,2] parameter(1)
        ROOT r = ({T}[0,2], s32[0,2]) sort(x, y), dimensions={0}, to_apply=less""", LESS_OF_TWO),
    Row("sort_of_one", "f32", None, """
        x = {T}[3,1] parameter(0)
        ROOT r = {T}[3,1] sort(x), dimensions={0}, to_apply=less""", LESS),
    Row("sort_of_equals", "f32 s32 bf16", "broadcast", """
        x = {T}[3] parameter(0)
        y = {T}[3,4] broadcast(x), dimensions={0}
        ROOT r = {T}[3,4] sort(y), dimensions={1}, to_apply=less""", LESS),
    Row("sort_of_equals", "f32", None, """
        x = {T}[3] parameter(0)
        y = {T}[3,4] broadcast(x), dimensions={0}
        ROOT r = {T}[3,4] sort(y), dimensions={0}, to_apply=less""", LESS),
    Row("map_to_own_parameter", "f32 s32 pred c64", "", """
        x = {T}[3] parameter(0)
        y = {T}[3] parameter(1)
        ROOT r = {T}[3] map(x, y), dimensions={0}, to_apply=second""", SECOND),
    Row("map_to_constant", "f32 s32 bf16", "constant broadcast", """
        x = {T}[3] parameter(0)
        ROOT r = {T}[3] map(x), dimensions={0}, to_apply=seven""", SEVEN),
    Row("reduce_of_ones", "f32 s32 pred bf16 c64", "reshape broadcast add", """
        x = {T}[1,3,1] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3] reduce(x, i), dimensions={0,2}, to_apply=add"""),
    Row("reduce_of_ones", "f32 s32 bf16", "broadcast maximum", """
        x = {T}[3] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3] reduce(x, i), dimensions={}, to_apply=max"""),
    Row("reduce_of_ones", "f32 f64 bf16", "reshape", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(-0.0)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=add"""),
    Row("reduce_of_ones", "f32 bf16", "reshape", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(-inf)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=max"""),
    Row("reduce_of_ones", "s32", "reshape", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(2147483647)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=min"""),
    Row("reduce_of_ones", "s32", "reshape", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(-1)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=and"""),
    Row("reduce_of_ones", "u8", "reshape", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(0)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=max"""),
    Row("reduce_of_ones", "pred", "reshape", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(true)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=min"""),
    Row("reduce_of_ones", "f32", "constant reshape broadcast add", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(0)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=add"""),
    Row("reduce_of_ones", "f32", None, """
        x = {T}[3,2] parameter(0)
        i = {T}[] constant(0)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=add"""),
    Row("reduce_of_ones", "f32", None, """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(0)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=sub"""),
    Row("reduce_of_ones", "f32 bf16", "constant reduce reshape reshape", """
        x = {T}[3,2] parameter(0)
        i = {T}[] constant(0)
        y = {T}[3] reduce(x, i), dimensions={1}, to_apply=add
        z = {T}[1,3] reshape(y)
        ROOT r = {T}[3] reduce(z, i), dimensions={0}, to_apply=add"""),
    Row("sum_of_ones", "f32 bf16", "reshape", """
        x = {T}[3,1] parameter(0)
        i = {T}[] constant(0)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=add"""),
    Row("reduce_of_no_elements", "f32 s32 pred bf16 c64", "broadcast", """
        x = {T}[3,0] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=add"""),
    Row("reduce_of_no_elements", "f32 s32", "broadcast", """
        x = {T}[3,0] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3] reduce(x, i), dimensions={1}, to_apply=sub"""),
    Row("reduce_of_reduce", "f32 s32 bf16", "reduce", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[2,4] reduce(x, i), dimensions={1}, to_apply=max
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=max"""),
    Row("reduce_of_reduce", "s32 u8", "reduce", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        z = {T}[] constant(0)
        y = {T}[2,4] reduce(x, z), dimensions={1}, to_apply=add
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_of_reduce", "s32", None, """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[2,4] reduce(x, i), dimensions={1}, to_apply=add
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_of_reduce", "f32 c64", None, """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[2,4] reduce(x, i), dimensions={1}, to_apply=add
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("sum_of_sums", "f32 bf16", "constant reduce", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] constant(0)
        y = {T}[2,4] reduce(x, i), dimensions={1}, to_apply=add
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_of_broadcast", "f32 s32 bf16", "reduce", """
        x = {T}[2,3] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[3,4,2] broadcast(x), dimensions={2,0}
        ROOT r = {T}[3] reduce(y, i), dimensions={1,2}, to_apply=min"""),
    Row("reduce_of_broadcast", "pred", "reduce broadcast", """
        x = {T}[] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[3,4,2] broadcast(x), dimensions={}
        ROOT r = {T}[3] reduce(y, i), dimensions={1,2}, to_apply=or"""),
    Row("reduce_of_broadcast", "s32", None, """
        x = {T}[2] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[4,2] broadcast(x), dimensions={1}
        ROOT r = {T}[2] reduce(y, i), dimensions={0}, to_apply=mul"""),
    Row("sum_of_broadcast", "s32 u8 s64",
        "constant broadcast multiply broadcast add broadcast", """
        x = {T}[2] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[40,2,3,5] broadcast(x), dimensions={1}
        ROOT r = {T}[2,5] reduce(y, i), dimensions={0,2}, to_apply=add"""),
    Row("sum_of_broadcast", "f32", None, """
        x = {T}[2] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[4,2] broadcast(x), dimensions={1}
        ROOT r = {T}[2] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_of_transpose", "f32 s32 pred bf16", "reduce", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[3,2,4] transpose(x), dimensions={1,0,2}
        ROOT r = {T}[2,4] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_of_transpose", "f32 s32 bf16", "reduce transpose", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[4,3,2] transpose(x), dimensions={2,1,0}
        ROOT r = {T}[4,2] reduce(y, i), dimensions={1}, to_apply=max"""),
    Row("reduce_of_transpose", "f32 s32 bf16", "reduce", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[4,3,2] transpose(x), dimensions={2,1,0}
        ROOT r = {T}[2] reduce(y, i), dimensions={0,1}, to_apply=max"""),
    Row("reduce_of_transpose", "f32", None, """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[4,3,2] transpose(x), dimensions={2,1,0}
        ROOT r = {T}[2] reduce(y, i), dimensions={0,1}, to_apply=add"""),
    Row("sum_of_transpose", "f32 bf16", "reduce", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[4,3,2] transpose(x), dimensions={2,1,0}
        ROOT r = {T}[2] reduce(y, i), dimensions={0,1}, to_apply=add"""),
    Row("reduce_of_reshape", "f32 s32 bf16", "reduce", """
        x = {T}[2,3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[2,12,1] reshape(x)
        ROOT r = {T}[2] reduce(y, i), dimensions={1,2}, to_apply=max"""),
    Row("reduce_of_reshape", "f32 s32 bf16", "reduce reshape", """
        x = {T}[6,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[1,2,3,4] reshape(x)
        ROOT r = {T}[1,2,3] reduce(y, i), dimensions={3}, to_apply=add"""),
    Row("reduce_of_reshape", "f32", None, """
        x = {T}[6,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[2,3,4] reshape(x)
        ROOT r = {T}[2,4] reduce(y, i), dimensions={1}, to_apply=add"""),
    Row("reduce_of_reshape", "f32", None, """
        x = {T}[6] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[6,1] reshape(x)
        ROOT r = {T}[6] reduce(y, i), dimensions={1}, to_apply=add"""),
    Row("reduce_of_pad", "f32 s32 bf16", "constant reduce", """
        x = {T}[3,4] parameter(0)
        i = {T}[] constant(0)
        y = {T}[9,4] pad(x, i), padding=1_3_1x0_0
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_of_pad", "f32 s32 bf16", "reduce", """
        x = {T}[3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[7,4] pad(x, i), padding=1_3x0_0
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=max"""),
    Row("reduce_of_pad", "f32 s32", None, """
        x = {T}[3,4] parameter(0)
        i = {T}[] constant(0)
        y = {T}[3,5] pad(x, i), padding=0_0x1_0
        ROOT r = {T}[5] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_of_pad", "f32", None, """
        x = {T}[3,4] parameter(0)
        z = {T}[] constant(0)
        i = {T}[] constant(-0.0)
        y = {T}[4,4] pad(x, z), padding=1_0x0_0
        ROOT r = {T}[4] reduce(y, i), dimensions={0}, to_apply=add"""),
    Row("reduce_window_of_one", "f32 s32 bf16 pred", "broadcast add", """
        x = {T}[3,4] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3,4] reduce-window(x, i), window={size=1x1}, to_apply=add"""),
    Row("reduce_window_of_one", "f32 bf16", "", """
        x = {T}[3,4] parameter(0)
        i = {T}[] constant(-inf)
        ROOT r = {T}[3,4] reduce-window(x, i), window={size=1x1 rhs_dilate=2x1}, to_apply=max"""),
    Row("reduce_window_of_one", "f32", None, """
        x = {T}[3,4] parameter(0)
        i = {T}[] constant(-inf)
        ROOT r = {T}[2,4] reduce-window(x, i), window={size=1x1 stride=2x1}, to_apply=max"""),
    Row("reduce_window_of_all", "f32 s32 bf16", "reduce reshape", """
        x = {T}[3,4,2] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3,1,1] reduce-window(x, i), window={size=1x4x2 stride=1x2x1}, to_apply=max"""),
    Row("reduce_window_of_all", "f32 s32", "reduce reshape", """
        x = {T}[3,4] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3,1] reduce-window(x, i), window={size=1x4}, to_apply=add"""),
    Row("reduce_window_of_all", "f32", None, """
        x = {T}[3,4] parameter(0)
        i = {T}[] parameter(1)
        ROOT r = {T}[3,3] reduce-window(x, i), window={size=1x4 pad=0_0x1_1}, to_apply=max"""),
    Row("reduce_window_of_pad", "f32 s32 bf16", "reduce-window", """
        x = {T}[3,4] parameter(0)
        i = {T}[] parameter(1)
        y = {T}[8,4] pad(x, i), padding=1_2_1x0_0
        ROOT r = {T}[4,5] reduce-window(y, i), window={size=2x2 stride=2x1 pad=0_0x1_1},
          to_apply=max"""),
    Row("reduce_window_of_pad", "f32 s32 bf16", "constant reduce-window", """
        x = {T}[3] parameter(0)
        i = {T}[] constant(0)
        y = {T}[5] pad(x, i), padding=1_1
        ROOT r = {T}[8] reduce-window(y, i), window={size=2 lhs_dilate=2}, to_apply=add"""),
    Row("reduce_window_of_pad", "f32", None, """
        x = {T}[3] parameter(0)
        i = {T}[] constant(0)
        v = {T}[] constant(1)
        y = {T}[5] pad(x, v), padding=1_1
        ROOT r = {T}[4] reduce-window(y, i), window={size=2}, to_apply=add"""),
    Row("select_and_scatter_of_nothing", "f32 s32 bf16", "broadcast", """
        x = {T}[3] parameter(0)
        s = {T}[0] parameter(1)
        i = {T}[] parameter(2)
        ROOT r = {T}[3] select-and-scatter(x, s, i), window={size=4}, select=ge, scatter=add""",
        GREATER_OR_EQUAL),
    Row("dot_over_nothing", "f32 s32 bf16 c64", "constant broadcast", """
        x = {T}[3,0] parameter(0)
        y = {T}[0,4] parameter(1)
        ROOT r = {T}[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    Row("dot_with_zeros", "s32 u8", "constant broadcast", """
        x = {T}[3,2] parameter(0)
        z = {T}[] constant(0)
        y = {T}[2,4] broadcast(z), dimensions={}
        ROOT r = {T}[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    Row("dot_with_zeros", "f32", None, """
        x = {T}[3,2] parameter(0)
        z = {T}[] constant(0)
        y = {T}[2,4] broadcast(z), dimensions={}
        ROOT r = {T}[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    Row("dot_of_transposed_lhs", "s32 pred", "dot", """
        x = {T}[2,3] parameter(0)
        y = {T}[2,4] parameter(1)
        t = {T}[3,2] transpose(x), dimensions={1,0}
        ROOT r = {T}[3,4] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    Row("dot_of_transposed_lhs", "s32", "dot", """
        x = {T}[3,5,2] parameter(0)
        y = {T}[5,2,4] parameter(1)
        t = {T}[2,5,3] transpose(x), dimensions={2,1,0}
        ROOT r = {T}[5,3,4] dot(t, y), lhs_batch_dims={1}, rhs_batch_dims={0},
          lhs_contracting_dims={0}, rhs_contracting_dims={1}"""),
    Row("dot_of_transposed_lhs", "s32", None, """
        x = {T}[3,5,2] parameter(0)
        y = {T}[5,2,4] parameter(1)
        t = {T}[5,3,2] transpose(x), dimensions={1,0,2}
        ROOT r = {T}[5,3,4] dot(t, y), lhs_batch_dims={0}, rhs_batch_dims={0},
          lhs_contracting_dims={2}, rhs_contracting_dims={1}"""),
    Row("dot_of_transposed_lhs", "s32", None, """
        x = {T}[3,5,2] parameter(0)
        y = {T}[2,4] parameter(1)
        t = {T}[5,3,2] transpose(x), dimensions={1,0,2}
        ROOT r = {T}[5,3,4] dot(t, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}"""),
    Row("dot_of_transposed_rhs", "s32 pred", "dot", """
        x = {T}[3,2] parameter(0)
        y = {T}[4,2] parameter(1)
        t = {T}[2,4] transpose(y), dimensions={1,0}
        ROOT r = {T}[3,4] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    Row("dot_of_transposed_rhs", "s32", None, """
        x = {T}[3,2] parameter(0)
        y = {T}[4,5,2] parameter(1)
        t = {T}[2,5,4] transpose(y), dimensions={2,1,0}
        ROOT r = {T}[3,5,4] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    Row("transpose_of_dot", "s32", "dot", """
        x = {T}[5,3,2] parameter(0)
        y = {T}[5,2,4] parameter(1)
        d = {T}[5,3,4] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
          lhs_contracting_dims={2}, rhs_contracting_dims={1}
        ROOT r = {T}[5,4,3] transpose(d), dimensions={0,2,1}"""),
    Row("transpose_of_dot", "s32", "dot", """
        x = {T}[3,2,6] parameter(0)
        y = {T}[2,4] parameter(1)
        d = {T}[3,6,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        ROOT r = {T}[4,3,6] transpose(d), dimensions={2,0,1}"""),
    Row("transpose_of_dot", "s32", None, """
        x = {T}[3,2,6] parameter(0)
        y = {T}[2,4] parameter(1)
        d = {T}[3,6,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        ROOT r = {T}[4,6,3] transpose(d), dimensions={2,1,0}"""),
    Row("dot_of_single_products", "s32 u8", "broadcast broadcast multiply", """
        x = {T}[3] parameter(0)
        y = {T}[4] parameter(1)
        ROOT r = {T}[3,4] dot(x, y), lhs_contracting_dims={}, rhs_contracting_dims={}"""),
    Row("dot_of_single_products", "s32", "reshape broadcast reshape broadcast multiply", """
        x = {T}[3,1,5] parameter(0)
        y = {T}[5,4,1] parameter(1)
        ROOT r = {T}[5,3,4] dot(x, y), lhs_batch_dims={2}, rhs_batch_dims={0},
          lhs_contracting_dims={1}, rhs_contracting_dims={2}"""),
    Row("dot_of_single_products", "s32", "multiply", """
        x = {T}[3] parameter(0)
        y = {T}[3] parameter(1)
        ROOT r = {T}[3] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
          lhs_contracting_dims={}, rhs_contracting_dims={}"""),
    Row("dot_of_single_products", "s8", None, """
        x = {T}[3] parameter(0)
        y = {T}[4] parameter(1)
        ROOT r = s32[3,4] dot(x, y), lhs_contracting_dims={}, rhs_contracting_dims={}"""),
    Row("dot_of_single_float_products", "f32 bf16",
        "reshape broadcast reshape broadcast multiply", """
        x = {T}[3,1] parameter(0)
        y = {T}[1,4] parameter(1)
        ROOT r = {T}[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    Row("convolution_over_nothing", "f32 s32 bf16", "constant broadcast", """
        x = {T}[2,5,0] parameter(0)
        k = {T}[3,0,4] parameter(1)
        ROOT r = {T}[2,3,4] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f"""),
    Row("convolution_of_padded_integers", "s32 s8", "convolution", """
        x = {T}[2,5,3] parameter(0)
        z = {T}[] constant(0)
        k = {T}[3,3,4] parameter(1)
        p = {T}[2,8,3] pad(x, z), padding=0_0x1_2x0_0
        ROOT r = {T}[2,4,4] convolution(p, k), window={size=3 stride=2 pad=1_0},
          dim_labels=b0f_0io->b0f"""),
    Row("convolution_of_padded_integers", "s32", "convolution", """
        x = {T}[2,3,3] parameter(0)
        z = {T}[] constant(0)
        k = {T}[3,3,4] parameter(1)
        p = {T}[2,7,3] pad(x, z), padding=0_0x1_1_1x0_0
        ROOT r = {T}[2,5,4] convolution(p, k), window={size=3}, dim_labels=b0f_0io->b0f"""),
    Row("convolution_of_padded_integers", "s32", None, """
        x = {T}[2,5,2] parameter(0)
        z = {T}[] constant(0)
        k = {T}[3,3,4] parameter(1)
        p = {T}[2,5,3] pad(x, z), padding=0_0x0_0x1_0
        ROOT r = {T}[2,3,4] convolution(p, k), window={size=3}, dim_labels=b0f_0io->b0f"""),
    Row("convolution_of_padded_floats", "f32 bf16", "convolution", """
        x = {T}[2,5,3] parameter(0)
        z = {T}[] constant(0)
        k = {T}[3,3,4] parameter(1)
        p = {T}[2,8,3] pad(x, z), padding=0_0x1_2x0_0
        ROOT r = {T}[2,6,4] convolution(p, k), window={size=3}, dim_labels=b0f_0io->b0f"""),
    Row("convolution_with_padded_integers", "s32", "convolution", """
        x = {T}[2,9,3] parameter(0)
        z = {T}[] constant(0)
        k = {T}[3,3,4] parameter(1)
        p = {T}[5,3,4] pad(k, z), padding=0_0_1x0_0x0_0
        ROOT r = {T}[2,5,4] convolution(x, p), window={size=5}, dim_labels=b0f_0io->b0f"""),
    Row("convolution_with_padded_integers", "s32", None, """
        x = {T}[2,9,3] parameter(0)
        z = {T}[] constant(0)
        k = {T}[3,3,4] parameter(1)
        p = {T}[4,3,4] pad(k, z), padding=0_1x0_0x0_0
        ROOT r = {T}[2,6,4] convolution(x, p), window={size=4}, dim_labels=b0f_0io->b0f"""),
    Row("convolution_with_padded_floats", "f32 bf16", "convolution", """
        x = {T}[2,9,3] parameter(0)
        z = {T}[] constant(0)
        k = {T}[3,3,4] parameter(1)
        p = {T}[5,3,4] pad(k, z), padding=0_0_1x0_0x0_0
        ROOT r = {T}[2,5,4] convolution(x, p), window={size=5}, dim_labels=b0f_0io->b0f"""),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_a_pattern_matches_where_it_holds_and_keeps_every_bit(row: Row) -> None:
    check_row(row, PATTERNS)


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_all_patterns_together_come_to_an_end(row: Row) -> None:
    check_together(row, all_patterns)


def test_every_pattern_has_a_row() -> None:
    assert missing_rows(ROWS, PATTERNS) == []
