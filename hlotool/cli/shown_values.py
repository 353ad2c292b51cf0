"""Arguments and results as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hlotool.ir.element_type import ElementType
from hlotool.ir.literal import Literal
from hlotool.ir.literal_text import typed_literal_text
from hlotool.ir.shape import ArrayShape, Shape, TupleShape

if TYPE_CHECKING:
    from hlotool.ir.frame import Array, Value

MOST_SHOWN = 12
"""The most elements of an array that is shown as it is unless asked for all."""

Leaf = tuple[tuple[int, ...], Shape, "Value"]


def leaves(value: Value, shape: Shape, index: tuple[int, ...] = ()) -> Iterator[Leaf]:
    """Yields tuple index, shape and value of each part that is no tuple, in order."""
    if isinstance(shape, TupleShape):
        for position, (part, element) in enumerate(zip(value, shape.elements, strict=True)):
            yield from leaves(part, element, (*index, position))
    else:
        yield index, shape, value


def value_lines(name: str, value: Value, shape: Shape, *, whole: bool) -> Iterator[str]:
    """Yields a line for each array of a value: the elements, or what they are like.

    Small arrays show their elements, all do if `whole` is set.
    """
    for index, leaf, array in leaves(value, shape):
        at = "".join(f"[{position}]" for position in index)
        if isinstance(leaf, ArrayShape):
            yield f"{name}{at}: {_array_text(array, leaf, whole=whole)}"
        else:
            yield f"{name}{at}: {leaf.plain_text}"


def live_shape(array: Array, shape: ArrayShape) -> ArrayShape:
    """Returns the static shape of an array: of a dynamic dimension the elements that are live."""
    return ArrayShape(shape.element_type, array.shape)


def live_text(value: Value, shape: Shape) -> str:
    """Returns type and dimensions of a value, of dynamic dimensions those that are live."""
    shown = live_shape(value, shape) if isinstance(shape, ArrayShape) else shape
    return shown.plain_text


def _array_text(array: Array, shape: ArrayShape, *, whole: bool) -> str:
    live = live_shape(array, shape)
    if whole or array.size <= MOST_SHOWN:
        text = typed_literal_text(Literal.from_array(array, live))
        return text if whole else " ".join(text.split())
    return f"{live.plain_text} {summary(array, live)}"


def summary(array: Array, shape: ArrayShape) -> str:
    """Returns range and mean of the finite elements, and how many others there are, in words."""
    found = statistics(array, shape)
    parts: list[str] = []
    if "true" in found:
        parts.append(f"{found['true']} true of {array.size}")
    if "low" in found:
        ends = f"from {_number(found['low'])} to {_number(found['high'])}"
        parts.append(f"{ends}, mean {_number(found['mean'])}")
    if "magnitude" in found:
        parts.append(f"largest magnitude {_number(found['magnitude'])}")
    parts += [f"{found['nan']} NaN"] if found.get("nan") else []
    parts += [f"{found['infinite']} infinite"] if found.get("infinite") else []
    return ", ".join(parts)


def statistics(array: Array, shape: ArrayShape) -> dict[str, int | float]:
    """Returns what elements are like: `low`, `high` and `mean` of finite ones, and counts.

    Of pred it is how many are `true`, of complex numbers the largest finite `magnitude`.
    """
    element_type = shape.element_type
    if not (element_type.is_float or element_type.is_integer or element_type.is_complex):
        return {"true": int(np.count_nonzero(array))}
    with np.errstate(all="ignore"):
        return _statistics_of_numbers(array, element_type)


def _statistics_of_numbers(array: Array, element_type: ElementType) -> dict[str, int | float]:
    numbers = np.abs(array) if element_type.is_complex else array
    wide = (
        numbers.astype(np.int64 if element_type.is_signed else np.uint64)
        if element_type.is_integer
        else numbers.astype(np.float64)
    )
    finite = wide if element_type.is_integer else wide[np.isfinite(wide)]
    found: dict[str, int | float] = {}
    if finite.size and element_type.is_complex:
        found["magnitude"] = float(finite.max())
    elif finite.size:
        low, high = finite.min().item(), finite.max().item()
        found |= {"low": low, "high": high, "mean": float(finite.mean(dtype=np.float64))}
    if not element_type.is_integer:
        found |= {"nan": int(np.isnan(wide).sum()), "infinite": int(np.isinf(wide).sum())}
    return found


def _number(value: float) -> str:
    return f"{value:.6g}"
