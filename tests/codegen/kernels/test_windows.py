"""Kernels of reduce-window and select-and-scatter against the evaluator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hlotool.codegen.target import Target
from hlotool.ir.window import WindowDimension
from hlotool.runtime.llvm import host_target
from tests.codegen.kernels.module_texts import listed, reducer
from tests.codegen.kernels.one_kernel import OneKernel, check_near, random_arguments
from tests.codegen.kernels.window_modules import (
    picking_module,
    random_reduction,
    random_scattering,
    reduction_module,
    running,
)

_STILL = WindowDimension(1)


def _check(text: str | None, seed: int = 0, target: Target | None = None) -> None:
    if text is not None:
        check_near(text, random_arguments(text, seed, any_bits=False), target=target)


@pytest.mark.parametrize("seed", range(20))
def test_any_reduction(seed: int) -> None:
    _check(random_reduction(seed), seed)


@pytest.mark.parametrize("seed", range(10))
def test_any_scattering(seed: int) -> None:
    _check(random_scattering(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 300))
def test_any_window_at_length(seed: int) -> None:
    _check(random_reduction(seed), seed)
    _check(random_scattering(seed), seed)


@pytest.mark.parametrize("opcode", ["add", "maximum"])
@pytest.mark.parametrize("sizes", ["2,9,13,40", "2,40,9,13"], ids=["nhwc", "nchw"])
@pytest.mark.parametrize("stride", [1, 2])
def test_pooling(opcode: str, sizes: str, stride: int) -> None:
    one = WindowDimension(3, stride, 1, 1)
    is_last = sizes.endswith("40")
    window = (_STILL, one, one, _STILL) if is_last else (_STILL, _STILL, one, one)
    given = [int(size) for size in sizes.split(",")]
    results = [w.output_size(size) for w, size in zip(window, given, strict=True)]
    result = f"f32[{listed(results)}]"
    for fused in (False, True):
        _check(reduction_module(f"f32[{sizes}]", result, window, opcode, "0", fused=fused))


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("along", [0, 1, 2])
def test_running_sums(along: int, *, backward: bool) -> None:
    sizes = [11, 12, 37]
    one = running(sizes[along], backward=backward)
    window = tuple(one if d == along else _STILL for d in range(3))
    for fused in (False, True):
        _check(reduction_module("f32[11,12,37]", "f32[11,12,37]", window, "add", "0", fused=fused))


def test_running_sums_beside_each_other() -> None:
    text = f"""HloModule m
{reducer("add", "f32", "fold")}fused {{
  a = f32[9,21] parameter(0)
  i = f32[] constant(0)
  x = f32[9,21] reduce-window(a, i), window={{size=1x21 pad=0_0x20_0}}, to_apply=fold
  y = f32[9,21] reduce-window(a, i), window={{size=9x1 pad=8_0x0_0}}, to_apply=fold
  z = f32[9,21] reduce-window(x, i), window={{size=9x1 pad=0_8x0_0}}, to_apply=fold
  w = f32[9,21] multiply(z, y)
  ROOT all = (f32[9,21], f32[9,21], f32[9,21]) tuple(x, w, y)
}}
ENTRY e {{
  a = f32[9,21] parameter(0)
  ROOT f = (f32[9,21], f32[9,21], f32[9,21]) fusion(a), kind=kInput, calls=fused
}}
"""
    _check(text)


def test_running_sums_take_one_step_an_element() -> None:
    size = 1 << 16
    window = (running(size, backward=False),)
    text = reduction_module(f"s64[{size}]", f"s64[{size}]", window, "add", "0", fused=False)
    numbers = np.arange(size)
    np.testing.assert_array_equal(OneKernel(text).run([numbers])[0], np.cumsum(numbers))


def test_running_picks() -> None:
    _check(picking_module("f32[9,20]", "f32[9,20]", (_STILL, running(20, backward=False))))
    _check(picking_module("f32[9,20]", "f32[9,20]", (_STILL, running(20, backward=True))))


def test_a_window_wider_than_the_array() -> None:
    window = (WindowDimension(9, 1, 4, 4),)
    _check(reduction_module("f32[3]", "f32[3]", window, "add", "0", fused=False))


@pytest.mark.parametrize(("vector_bytes", "registers"), [(4, 8), (16, 16), (64, 32)])
def test_vectors_of_any_width(vector_bytes: int, registers: int) -> None:
    target = replace(host_target(), vector_bytes=vector_bytes, registers=registers)
    for seed in (1, 2, 3):
        _check(random_reduction(seed), seed, target)
        _check(random_scattering(seed), seed, target)


def test_the_first_of_equal_elements_is_picked() -> None:
    text = pairs_of_elements()
    found = OneKernel(text).run([np.ones((1, 4), "f4"), np.array([[5, 7]], "f4")])[0]
    np.testing.assert_array_equal(found, [[5, 0, 7, 0]])


def pairs_of_elements() -> str:
    """Returns a module with windows of two elements side by side."""
    return (
        "HloModule m\nfold {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
        "  ROOT r = f32[] add(x, y)\n}\nkeep {\n  x = f32[] parameter(0)\n"
        "  y = f32[] parameter(1)\n  ROOT r = pred[] compare(x, y), direction=GE\n}\n"
        "ENTRY e {\n  a = f32[1,4] parameter(0)\n  b = f32[1,2] parameter(1)\n"
        "  i = f32[] constant(0)\n  ROOT c = f32[1,4] select-and-scatter(a, b, i),"
        " window={size=1x2 stride=1x2}, select=keep, scatter=fold\n}\n"
    )
