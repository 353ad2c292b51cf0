"""Reducers in text, and what they do in Python."""

from collections.abc import Callable
from math import isnan

NAN, INF = float("nan"), float("inf")

ARGMAX = """
argmax {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  unordered = pred[] compare(v, v), direction=NE
  first = pred[] or(gt, unordered)
  value = f32[] select(first, v, w)
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  keep = pred[] or(first, tie)
  index = s32[] select(keep, i, j)
  ROOT r = (f32[], s32[]) tuple(value, index)
}
"""

# 2 * accumulator + element: not associative, so the order shows.
HORNER = """
horner {
  a = f32[] parameter(0)
  x = f32[] parameter(1)
  twice = f32[] add(a, a)
  ROOT r = f32[] add(twice, x)
}
"""

# The same through a computation of arrays, which cannot run on whole arrays at once.
HORNER_SLOW = """
horner {
  a = f32[] parameter(0)
  x = f32[] parameter(1)
  aa = f32[1] reshape(a)
  twice = f32[1] add(aa, aa)
  t = f32[] reshape(twice)
  ROOT r = f32[] add(t, x)
}
"""


def binary_reducer(opcode: str, element_type: str) -> str:
    """Returns the text of a reducer `f` that is one op."""
    return (
        f"f {{ a = {element_type}[] parameter(0)\n b = {element_type}[] parameter(1)\n"
        f" ROOT r = {element_type}[] {opcode}(a, b) }}"
    )


def listed(sizes: tuple[int, ...]) -> str:
    """Returns sizes as they stand in a shape."""
    return ",".join(map(str, sizes))


OPCODES: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "maximum": lambda a, b: NAN if isnan(a) or isnan(b) else max(a, b),
    "minimum": lambda a, b: NAN if isnan(a) or isnan(b) else min(a, b),
    "subtract": lambda a, b: a - b,
}
