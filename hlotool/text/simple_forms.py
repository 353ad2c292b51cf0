"""The commonest forms, read by regular expression: plain arrays and lists of integers.

They are what most distinct texts of a module are. Each is also a coarse terminal of the
grammar; anything else is left to the grammar's rules.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.shape import ArrayShape, Layout

_ARRAY = re.compile(r"([a-z][a-z0-9]*+)\[([0-9,]*+)\](?:\{([0-9,]++)\})?+")
_LONGEST = 200
"""No array text is longer unless it holds numbers that do not fit 64 bits."""


@lru_cache(maxsize=1 << 16)
def plain_array(text: str) -> ArrayShape | None:
    """Returns the array of `f32[2,3]{1,0}`; `None` where the text is no such form.

    Also `None` where it is one and wrong, so that the grammar says what is wrong and where.
    """
    match = _ARRAY.fullmatch(text) if len(text) < _LONGEST else None
    element_type = None if match is None else ELEMENT_TYPES.get(match[1])
    if match is None or element_type is None:
        return None
    dimensions = plain_integers(match[2])
    order = None if match[3] is None else plain_integers(match[3])
    if dimensions is None or any(size >= 1 << 63 for size in dimensions):
        return None
    if match[3] is None:
        return ArrayShape(element_type, dimensions)
    if order is None or len(order) != len(dimensions):
        return None
    return ArrayShape(element_type, dimensions, _layout(order))


@lru_cache(maxsize=1 << 12)
def _layout(order: tuple[int, ...]) -> Layout:
    return Layout(order)


def plain_integers(text: str) -> tuple[int, ...] | None:
    """Returns the numbers of `0,1,2`, or `None` where a comma is out of place."""
    if not text:
        return ()
    parts = text.split(",")
    return tuple(map(int, parts)) if all(parts) else None
