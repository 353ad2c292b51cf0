"""Calls compiled modules for tests, with values as the evaluator has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hlotool.ir.frame import Value
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.runtime.executable import Executable
from tests.passes.checking import leaves


def called(executable: Executable, arguments: Sequence[Value]) -> Value:
    """Returns what a compiled module yields, in tuples as it says."""
    arrays = iter(executable.run(leaves(list(arguments))))
    return _taken(arrays, executable.module.entry.root.shape)


def _taken(arrays: Iterator[Any], shape: Shape) -> Value:
    if isinstance(shape, TupleShape):
        return tuple(_taken(arrays, element) for element in shape.elements)
    return next(arrays) if isinstance(shape, ArrayShape) else None
