"""Arrays of any element type for tests of values, and how to compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from tests.evaluating import entry, evaluated


def held(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Returns numbers as an array of an element type; integers may be of any size."""
    element_type = ELEMENT_TYPES[name]
    if element_type.is_integer:
        wide: Any = np.int64 if element_type.is_signed else np.uint64
        return np.array(values, wide).astype(element_type.numpy)
    with np.errstate(all="ignore"):
        return np.array(values).astype(element_type.numpy)


def of_patterns(patterns: Any, element_type: ElementType) -> np.ndarray[Any, Any]:
    """Returns the floats with these bits."""
    unsigned = np.array(patterns, f"u{element_type.storage_bytes}")
    return unsigned.view(element_type.numpy)


def patterns(array: Any) -> list[int]:
    """Returns the bytes of each element as one number."""
    return [int(bits) for bits in np.asarray(array).view(f"u{array.dtype.itemsize}").ravel()]


def computed(
    opcode: str,
    name: str,
    *operands: Any,
    result: str = "",
    attributes: str = "",
    shape: str = "",
    types: Sequence[str] = (),
) -> Any:
    """Returns what an op makes of arrays of one element type, or of `types`.

    `shape` is that of the result where it has not the first operand's dimensions.
    """
    arrays = [np.asarray(operand) for operand in operands]
    sizes = [f"[{','.join(map(str, array.shape))}]" for array in arrays]
    named = zip(types or [name] * len(arrays), sizes, strict=True)
    lines = [
        f"p{n} = {element_type}{size} parameter({n})"
        for n, (element_type, size) in enumerate(named)
    ]
    names = ", ".join(f"p{n}" for n in range(len(arrays)))
    lines.append(f"ROOT r = {shape or (result or name) + sizes[0]} {opcode}({names}){attributes}")
    return evaluated(entry("\n".join(lines)), *arrays)


def same(found: Any, wanted: Any) -> bool:
    """Tells whether floats are equal, signs of zeros included, or NaN both."""
    ours, theirs = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    equal = (ours == theirs) & (np.signbit(ours) == np.signbit(theirs))
    return bool(np.all(equal | (np.isnan(ours) & np.isnan(theirs))))
