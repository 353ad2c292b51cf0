"""Scans whose step works element by element, along any dimension, forwards and backwards."""

from __future__ import annotations

import pytest

from hlotool.codegen.unsupported import NotCompiled
from tests.codegen.kernels.one_kernel import OneKernel, check, random_arguments


def _module(
    sizes: str, step_sizes: str, dimension: int, *, backwards: bool, layout: str = ""
) -> str:
    one, whole = f"f32[{step_sizes}]", f"f32[{sizes}]{layout}"
    direction = ", is_reverse=true" if backwards else ""
    return f"""HloModule scanning
step {{
  x = {one} parameter(0)
  count = s32[{step_sizes}] parameter(1)
  sum = {one} parameter(2)
  half = f32[] constant(0.5)
  halves = {one} broadcast(half), dimensions={{}}
  less = {one} multiply(sum, halves)
  more = {one} add(less, x)
  once = s32[] constant(1)
  ones = s32[{step_sizes}] broadcast(once), dimensions={{}}
  next = s32[{step_sizes}] add(count, ones)
  ROOT r = ({one}, s32[{step_sizes}], {one}) tuple(less, next, more)
}}
ENTRY main {{
  x = {whole} parameter(0)
  count = s32[{step_sizes}] parameter(1)
  sum = {one} parameter(2)
  ROOT r = (f32[{sizes}], s32[{step_sizes}], {one}) scan(x, count, sum),
    dimensions={{{dimension}}}, num_carries=2{direction}, to_apply=step
}}
"""


@pytest.mark.parametrize("direction", ["forwards", "backwards"])
@pytest.mark.parametrize(
    ("sizes", "step_sizes", "dimension"),
    [
        ("1", "", 0),
        ("50", "", 0),
        ("5,16", "16", 0),
        ("5,12", "12", 0),
        ("5,7", "7", 0),
        ("7,5", "7", 1),
        ("3,4,8", "3,8", 1),
    ],
)
def test_walks(sizes: str, step_sizes: str, dimension: int, direction: str) -> None:
    module = _module(sizes, step_sizes, dimension, backwards=direction == "backwards")
    check(module, random_arguments(module))


def test_another_layout() -> None:
    module = _module("5,16", "16", 0, backwards=False, layout="{0,1}")
    check(module, random_arguments(module))


def test_in_place() -> None:
    module = _module("6,8", "8", 0, backwards=True)
    check(module, random_arguments(module), [(0, 0), (2, 2)])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("broadcast(half), dimensions={}", "reverse(x), dimensions={0}", "not elementwise"),
        ("f32[6,8]", "f32[0,8]", "no steps"),
    ],
)
def test_steps_without_a_kernel(old: str, new: str, reason: str) -> None:
    module = _module("6,8", "8", 0, backwards=False)
    assert old in module
    with pytest.raises(NotCompiled, match=reason):
        OneKernel(module.replace(old, new))
