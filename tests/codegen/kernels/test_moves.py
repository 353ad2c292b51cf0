"""Kernels that move elements, against the evaluator: bit for bit, however they are cut."""

import mmap
from collections.abc import Callable
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from hlotool.codegen.kernels.loops import loops
from hlotool.runtime.llvm import host_target
from tests.codegen.kernels import random_moves
from tests.codegen.kernels.one_kernel import (
    Array,
    OneKernel,
    check,
    check_near,
    random_arguments,
)
from tests.codegen.kernels.random_chains import chain
from tests.codegen.kernels.random_moves import Module

Make = Callable[[int], Module]

KINDS: list[Make] = [
    random_moves.transpose,
    random_moves.copy,
    random_moves.reshape,
    random_moves.pad,
    random_moves.concatenate,
    random_moves.part,
    random_moves.dynamic_slice,
    random_moves.gather,
]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    # So that small arrays are cut in several ranges, too.
    monkeypatch.setattr(loops, "PIECE_NANOSECONDS", 40)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", range(12))
def test_a_random_move_yields_what_the_evaluator_does(make: Make, seed: int) -> None:
    module = make(seed)
    check(module.text, random_arguments(module.text, seed))


@pytest.mark.parametrize("vector_bytes", [16, 32])
@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_registers_of_other_widths_hold_other_lanes(make: Make, vector_bytes: int) -> None:
    target = replace(host_target(), vector_bytes=vector_bytes, registers=16)
    for seed in range(20, 23):
        module = make(seed)
        check(module.text, random_arguments(module.text, seed), target=target)


@pytest.mark.slow
@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_random_moves(make: Make, seed: int) -> None:
    module = make(seed)
    check(module.text, random_arguments(module.text, seed))


def check_chain(seed: int) -> None:
    """Checks a random fusion; computed NaN may have other bits than the evaluator's."""
    module = chain(seed)
    target = replace(host_target(), vector_bytes=(16, 32, 64)[seed % 3])
    check(module.text, random_arguments(module.text, seed, any_bits=False), target=target)


@pytest.mark.parametrize("seed", range(60))
def test_a_random_fusion_yields_what_the_evaluator_does(seed: int) -> None:
    check_chain(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 1100))
def test_many_random_fusions(seed: int) -> None:
    check_chain(seed)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_part_is_replaced(seed: int, in_place: bool) -> None:  # noqa: FBT001 - a parameter
    module = random_moves.dynamic_update(seed)
    check(module.text, random_arguments(module.text, seed), [(0, 0)] if in_place else ())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_parts_are_replaced(seed: int) -> None:
    module = random_moves.dynamic_update(seed)
    check(module.text, random_arguments(module.text, seed), [(0, 0)] if seed % 2 else ())


def updated(update: str) -> str:
    """Returns a fusion that replaces a part of `p0` by what `u` is."""
    return f"""
HloModule m

f {{
  p0 = f32[40,20] parameter(0)
  p1 = s32[] parameter(1)
  z = s32[] constant(3)
  s = f32[7,13] dynamic-slice(p0, p1, z), dynamic_slice_sizes={{7,13}}
{update}
  ROOT r = f32[40,20] dynamic-update-slice(p0, u, p1, z)
}}

ENTRY e {{
  p0 = f32[40,20] parameter(0)
  p1 = s32[] parameter(1)
  ROOT r = f32[40,20] fusion(p0, p1), kind=kLoop, calls=f
}}
"""


def test_a_part_may_be_computed_from_itself_in_place() -> None:
    text = updated("  u = f32[7,13] add(s, s)")
    check(text, random_arguments(text), [(0, 0)])


def test_a_part_from_elsewhere_is_not_computed_in_place() -> None:
    text = updated("  u = f32[7,13] reverse(s), dimensions={0}")
    check(text, random_arguments(text))
    with pytest.raises(Exception, match="reads what is updated in place"):
        OneKernel(text, [(0, 0)])


@pytest.mark.parametrize("count", [1, 2, 7, 8, 15, 16, 17, 33, 100, 1000, 1003])
@pytest.mark.parametrize("shared", [(), [(0, 0)]])
def test_sums_of_any_length(count: int, shared: list[tuple[int, int]]) -> None:
    text = Module(f"f32[{count}] add(p0, p1)", [f"f32[{count}]"] * 2).text
    check(text, random_arguments(text), shared)


@pytest.mark.parametrize("kind", ["u8", "f16", "f32", "f64", "c128"])
@pytest.mark.parametrize("sizes", [(64, 64), (100, 67), (300, 33), (17, 500), (16, 15), (3, 40)])
def test_transposes_of_tiles(kind: str, sizes: tuple[int, int]) -> None:
    rows, columns = sizes
    root = f"{kind}[{columns},{rows}] transpose(p0), dimensions={{1,0}}"
    text = Module(root, [f"{kind}[{rows},{columns}]"]).text
    check(text, random_arguments(text))


FUSED = [
    "t = f32[48,80] transpose(p0), dimensions={1,0}",
    "x = f32[48,80] multiply(t, p1)",
    "y = f32[48,80] transpose(p2), dimensions={1,0}",
]


@pytest.mark.parametrize("shared", [(), [(1, 0)]])
def test_work_is_done_on_the_way_through_tiles(shared: list[tuple[int, int]]) -> None:
    shapes = ["f32[80,48]", "f32[48,80]", "f32[80,48]"]
    text = Module("f32[48,80] add(x, y)", shapes, body=FUSED).text
    check(text, random_arguments(text), shared)


def test_tiles_in_place_are_not_computed_twice() -> None:
    # 67 has no divisor that tiles could have.
    body = ["t = f32[48,67] transpose(p0), dimensions={1,0}"]
    text = Module("f32[48,67] add(t, p1)", ["f32[67,48]", "f32[48,67]"], body=body).text
    check(text, random_arguments(text), [(1, 0)])


def test_outputs_have_layouts_of_their_own() -> None:
    text = """
HloModule m

f {
  p0 = f32[40,30] parameter(0)
  n = f32[40,30]{0,1} negate(p0)
  t = f32[30,40] transpose(n), dimensions={1,0}
  a = f32[40,30] add(p0, p0)
  ROOT r = (f32[40,30], f32[30,40], f32[40,30]{0,1}) tuple(a, t, n)
}

ENTRY e {
  p0 = f32[40,30] parameter(0)
  ROOT r = (f32[40,30], f32[30,40], f32[40,30]{0,1}) fusion(p0), kind=kLoop, calls=f
}
"""
    check(text, random_arguments(text))


def test_outputs_have_sizes_of_their_own() -> None:
    text = """
HloModule m

f {
  p0 = f32[40,30] parameter(0)
  s = f32[20,10] slice(p0), slice={[0:40:2], [0:30:3]}
  n = f32[20,10] negate(s)
  a = f32[40,30] add(p0, p0)
  ROOT r = (f32[40,30], f32[20,10]) tuple(a, n)
}

ENTRY e {
  p0 = f32[40,30] parameter(0)
  ROOT r = (f32[40,30], f32[20,10]) fusion(p0), kind=kLoop, calls=f
}
"""
    check(text, random_arguments(text))


def test_outputs_that_are_in_memory_are_loaded() -> None:
    text = """
HloModule m

f {
  p0 = f32[40,30] parameter(0)
  a = f32[40,30] exponential(p0)
  s = f32[20,10] slice(a), slice={[0:40:2], [0:30:3]}
  n = f32[20,10] negate(s)
  ROOT r = (f32[20,10], f32[40,30]) tuple(n, a)
}

ENTRY e {
  p0 = f32[40,30] parameter(0)
  ROOT r = (f32[20,10], f32[40,30]) fusion(p0), kind=kLoop, calls=f
}
"""
    found = check_near(text, random_arguments(text, any_bits=False), tolerance=1e-6)
    first, last = (one.split("\n}")[0] for one in found.text.split("define ")[1:])
    # What the exponential has to find out is compared; the second output has it from memory.
    assert "fcmp" in first
    assert "fcmp" not in last
    assert "ptr %out1" in last.split("{", 1)[1]


def test_bits_of_narrow_floats_are_kept() -> None:
    # Quiet and signalling NaN of every payload.
    every = np.arange(1 << 16).astype(np.uint16)
    text = Module("bf16[256,256] transpose(p0), dimensions={1,0}", ["bf16[256,256]"]).text
    check(text, [every.view(ml_dtypes.bfloat16).reshape(256, 256)])


def test_loads_stay_inside_of_the_operand() -> None:
    # A pad whose operand ends where memory does: what lies behind must not be read.
    text = Module("f32[1,40] pad(p0, p1), padding=0_0x13_20", ["f32[1,7]", "f32[]"]).text
    arguments: list[Array] = [at_end_of_memory(7), np.array(5, np.float32)]
    check(text, arguments)


def at_end_of_memory(count: int) -> Array:
    """Returns an array behind which there is no memory that may be read."""
    page = mmap.PAGESIZE
    held = mmap.mmap(-1, 2 * page)
    array = np.frombuffer(held, np.float32)[page // 4 - count : page // 4]
    array[:] = np.arange(count)
    return array.reshape(1, count)
