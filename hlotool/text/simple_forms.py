"""The commonest values, read without the grammar: plain arrays, tuples of them, integers.

They are what most distinct texts of a module are. Each function returns `None` for whatever is
not exactly the form that printers write, wrong values among them: the grammar's rules then read
it, or say what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.shape import ArrayShape, Layout, ProgramShape, Shape, TupleShape

_ARRAY = re.compile(r"([a-z][a-z0-9]*+)\[([0-9,]*+)\](?:\{([0-9,]++)\})?")
_INTEGERS = re.compile(r"\{(?:[0-9]{1,18}(?:,[0-9]{1,18})*)?\}")
_INDEX_MARK = re.compile(r"/\*index=[0-9]++\*/")
_MOST_DIGITS = 19
"""Numbers of fewer digits fit 64 bits."""
_LONGEST = 200
"""No array text is longer unless it holds numbers that do not fit 64 bits."""


@lru_cache(maxsize=1 << 16)
def plain_array(text: str) -> ArrayShape | None:
    """Returns the array of `f32[2,3]{1,0}`."""
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
    if order is None or len(order) != len(dimensions) or max(order, default=0) >= 1 << 63:
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


def plain_shape(text: str) -> Shape | None:
    """Returns the array, or the tuple of arrays."""
    if not text.startswith("("):
        return plain_array(text)
    elements = _plain_arrays(text[1:-1]) if text.endswith(")") else None
    return None if elements is None else TupleShape(elements)


def plain_program_shape(text: str) -> ProgramShape | None:
    """Returns the program shape of `{(f32[2]{0}, s32[])->f32[]}`."""
    parameters, arrow, result = text.partition(")->")
    if not (arrow and text.startswith("{(") and text.endswith("}")):
        return None
    arrays, shape = _plain_arrays(parameters[2:]), plain_shape(result[:-1])
    return None if arrays is None or shape is None else ProgramShape(arrays, shape)


def _plain_arrays(text: str) -> list[Shape] | None:
    found: list[Shape] = []
    for part in _INDEX_MARK.sub("", text).split(", ") if text else ():
        array = plain_array(part)
        if array is None:
            return None
        found.append(array)
    return found


def plain_integer(text: str) -> int | None:
    """Returns the number, unless it may not fit 64 bits or has a sign."""
    return int(text) if len(text) < _MOST_DIGITS and text.isdecimal() else None


def plain_integer_list(text: str) -> tuple[int, ...] | None:
    """Returns the numbers of `{0,1,2}`."""
    if _INTEGERS.fullmatch(text) is None:
        return None
    return plain_integers(text[1:-1])


def plain_boolean(text: str) -> bool | None:
    """Returns the truth value."""
    return {"true": True, "false": False}.get(text)


PLAIN: dict[str, Callable[[str], Any]] = {
    "shape": plain_shape,
    "program_shape": plain_program_shape,
    "integer": plain_integer,
    "integers": plain_integer_list,
    "boolean": plain_boolean,
}
"""The function for each grammar rule that has one."""
