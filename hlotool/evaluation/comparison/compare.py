"""Compares what a module yields with what is expected of it, array by array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from hlotool.errors import EvaluationError
from hlotool.evaluation.comparison.differences import NOTHING_COMPARED, Differences, differences
from hlotool.evaluation.comparison.origins import Origin, origin
from hlotool.evaluation.comparison.tolerance import Tolerance, TupleIndex, chosen, tolerances
from hlotool.evaluation.comparison.unspecified import Unspecified, unspecified_elements
from hlotool.evaluation.following import part_of
from hlotool.evaluation.values import shown
from hlotool.ir.frame import Array, Value
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape


@dataclass(frozen=True, slots=True)
class LeafComparison:
    """What was found of one array: its tuple index, shape, bounds and differences.

    `fault` says why the arrays cannot be compared at all. `unspecified` says why elements were
    left out.
    """

    index: TupleIndex
    shape: str
    tolerance: Tolerance
    origin: Origin
    differences: Differences = NOTHING_COMPARED
    fault: str = ""
    unspecified: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether every element that counts is within its bounds."""
        return not self.fault and not self.differences.mismatches

    @property
    def percent(self) -> float:
        """How many of a hundred compared elements are wrong."""
        count = self.differences.elements
        return 100 * self.differences.mismatches / count if count else 0.0

    def as_json(self) -> dict[str, Any]:
        """Returns what JSON has of it; numbers that are not finite are strings."""
        return {
            "index": list(self.index),
            "shape": self.shape,
            "agrees": self.agrees,
            "percent": self.percent,
            "fault": self.fault,
            "unspecified": list(self.unspecified),
            "tolerance": _plain(asdict(self.tolerance)),
            "origin": _plain(asdict(self.origin)),
            "differences": _plain(asdict(self.differences)),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What was found of all arrays of a module's result."""

    module: str
    shape: str
    leaves: tuple[LeafComparison, ...]

    def __repr__(self) -> str:
        wrong = "agrees" if self.agrees else f"differs in {self.mismatches}"
        return f"<comparison of {self.module}: {wrong}, {self.elements} elements compared>"

    @property
    def agrees(self) -> bool:
        """Whether no array is wrong."""
        return all(leaf.agrees for leaf in self.leaves)

    @property
    def elements(self) -> int:
        """How many elements were compared."""
        return sum(leaf.differences.elements for leaf in self.leaves)

    @property
    def mismatches(self) -> int:
        """How many elements are wrong."""
        return sum(leaf.differences.mismatches for leaf in self.leaves)

    @property
    def unspecified(self) -> int:
        """How many elements were left out."""
        return sum(leaf.differences.unspecified for leaf in self.leaves)

    def as_json(self) -> dict[str, Any]:
        """Returns what JSON has of it."""
        return {
            "module": self.module,
            "shape": self.shape,
            "agrees": self.agrees,
            "elements": self.elements,
            "mismatches": self.mismatches,
            "leaves": [leaf.as_json() for leaf in self.leaves],
        }


def compare(
    module: Module,
    actual: Value,
    expected: Value,
    *,
    absolute: float | None = None,
    relative: float | None = None,
    bounds: Mapping[TupleIndex, Tolerance] | None = None,
) -> Comparison:
    """Returns how the value of a module's root differs from the expected one.

    Bounds are those of `tolerances(module)`, or `bounds`. Where `absolute` or `relative` is
    given these count instead, a missing one as 0, and an element is wrong where it breaks both.
    Raises `EvaluationError` where a value is not of the form of the module's result.
    """
    shape = module.entry.root.shape
    _check_form(actual, shape)
    _check_form(expected, shape)
    known = tolerances(module) if bounds is None else bounds
    left_out = unspecified_elements(module, expected)
    is_chosen = absolute is not None or relative is not None
    leaves = []
    for index, leaf in shape.leaves():
        if not isinstance(leaf, ArrayShape):
            continue
        tolerance = known[index]
        if is_chosen:
            tolerance = chosen(leaf.element_type, absolute, relative)
        sides = np.asarray(part_of(actual, index)), np.asarray(part_of(expected, index))
        # A signalling NaN is compared like any other.
        with np.errstate(all="ignore"):
            leaves.append(_compared(module, index, leaf, tolerance, sides, left_out))
    return Comparison(module.name, shape.plain_text, tuple(leaves))


def _compared(
    module: Module,
    index: TupleIndex,
    shape: ArrayShape,
    tolerance: Tolerance,
    sides: tuple[Array, Array],
    left_out: Mapping[TupleIndex, Unspecified],
) -> LeafComparison:
    actual, expected = sides
    made = LeafComparison(index, shape.plain_text, tolerance, origin(module, index))
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return replace(made, fault=f"{shown(actual)} was computed, {shown(expected)} is expected")
    skipped = left_out.get(index)
    mask, why = (
        (None, ()) if skipped is None else (skipped.mask_of(expected.shape), skipped.reasons)
    )
    if mask is not None:
        # A dynamic dimension has only its live elements.
        mask = mask[tuple(slice(size) for size in actual.shape)]
    found = differences(actual, expected, shape.element_type, tolerance, mask)
    return replace(made, differences=found, unspecified=why)


def _check_form(value: Value, shape: Shape) -> None:
    """Raises `EvaluationError` unless tuples are where the shape has them."""
    if not _has_form(value, shape):
        raise EvaluationError(f"{shown(value)} is compared, {shape.plain_text} is wanted")


def _has_form(value: Value, shape: Shape) -> bool:
    if isinstance(shape, TupleShape):
        return (
            isinstance(value, tuple)
            and len(value) == len(shape.elements)
            and all(map(_has_form, value, shape.elements))
        )
    return not isinstance(value, tuple) and (value is None) != isinstance(shape, ArrayShape)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if name != "ordered"}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value
