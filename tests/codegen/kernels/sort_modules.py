"""Modules that sort, with comparators as frontends write them, and arrays to sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlotool.ir.shape import ArrayShape
from hlotool.text.parser import parse

Array = NDArray[Any]

PLAIN = "ROOT r = pred[] compare(a, b), direction={direction}"
TOTAL = "ROOT r = pred[] compare(a, b), direction={direction}, type=TOTALORDER"
CANONICAL = """
  zero = {type}[] constant(0)
  nan = {type}[] constant(nan)
  a_is_nan = pred[] compare(a, a), direction=NE
  a_is_zero = pred[] compare(a, zero), direction=EQ
  a_or_zero = {type}[] select(a_is_zero, zero, a)
  a_or_nan = {type}[] select(a_is_nan, nan, a_or_zero)
  b_is_nan = pred[] compare(b, b), direction=NE
  b_is_zero = pred[] compare(b, zero), direction=EQ
  b_or_zero = {type}[] select(b_is_zero, zero, b)
  b_or_nan = {type}[] select(b_is_nan, nan, b_or_zero)
  ROOT r = pred[] compare(a_or_nan, b_or_nan), direction={direction}, type=TOTALORDER
"""
TWO_KEYS = """
  is_less = pred[] compare(a, b), direction={direction}
  is_equal = pred[] compare(a, b), direction=EQ
  is_greater = pred[] compare(c, d), direction=GT
  both = pred[] and(is_equal, is_greater)
  ROOT r = pred[] or(is_less, both)
"""
UNKNOWN = """
  swapped = pred[] compare(b, a), direction={direction}
  ROOT r = pred[] and(swapped, swapped)
"""


def comparator(body: str, types: Sequence[str], direction: str = "LT") -> str:
    """Returns the text of a comparator; of each type there are two parameters: a, b, c, ..."""
    lines = [
        f"  {chr(ord('a') + 2 * n + side)} = {one}[] parameter({2 * n + side})"
        for n, one in enumerate(types)
        for side in range(2)
    ]
    filled = body.format(type=types[0], direction=direction)
    return "compare {\n" + "\n".join(lines) + f"\n  {filled.strip()}\n}}\n"


def sort_module(shapes: Sequence[str], body: str, dimension: int = 0, direction: str = "LT") -> str:
    """Returns a module that sorts parameters of shapes, all by one comparator."""
    types = [shape.partition("[")[0] for shape in shapes]
    result = shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"
    parameters = [f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(shapes)]
    listed = ", ".join(f"p{n}" for n in range(len(shapes)))
    sort = f"sort({listed}), dimensions={{{dimension}}}, is_stable=true, to_apply=compare"
    head = ["HloModule sorting", comparator(body, types, direction), "ENTRY main {"]
    return "\n".join([*head, *parameters, f"  ROOT s = {result} {sort}", "}"])


def keys_of_all_kinds(module: str, seed: int = 0, *, nan: bool = True) -> list[Array]:
    """Returns an array for each parameter: few different numbers, zeros of both signs, NaN."""
    random = np.random.default_rng(seed)
    found = []
    for parameter in parse(module).entry.parameters:
        shape = parameter.shape
        assert isinstance(shape, ArrayShape)
        found.append(_array(shape, random, nan=nan))
    return found


def _array(shape: ArrayShape, random: np.random.Generator, *, nan: bool) -> Array:
    kind = shape.element_type
    if kind.is_integer or kind.name == "pred":
        low = -3 if kind.name != "pred" and kind.is_signed else 0
        few = random.integers(low, 4, shape.dimensions).astype(kind.numpy)
        if kind.name == "pred" or random.random() < 0.5:
            return few
        data = random.integers(0, 256, shape.element_count * kind.storage_bytes).astype(np.uint8)
        return data.view(kind.numpy).reshape(shape.dimensions)
    numbers = np.round(random.standard_normal(shape.dimensions) * 4) / 4
    numbers = np.where(random.random(shape.dimensions) < 0.3, -numbers, numbers).astype(kind.numpy)
    if nan and not kind.is_complex:
        special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]).astype(kind.numpy)
        chosen = special[random.integers(0, len(special), shape.dimensions)]
        numbers = np.where(random.random(shape.dimensions) < 0.2, chosen, numbers)
    return np.asarray(numbers, kind.numpy)
