"""Every identity of arithmetic fires, yields what it says, and keeps values on edge cases."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from hlotool.ir.cloning import cloned_module
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType, Kind
from hlotool.ir.float_format import decode, largest_bits
from hlotool.ir.module import Module
from hlotool.passes.algsimp import (
    arithmetic,
    bitwise,
    comparison,
    conversion,
    divisions,
    extremes,
    functions,
    powers,
    products,
    scalars,
    selection,
)
from hlotool.passes.algsimp.regular import FAST_MATH, NO_NANS, NO_SIGNED_ZEROS
from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.text.parser import parse
from tests.passes.algsimp.expressions import expression_of, module_text, parameters_of
from tests.passes.algsimp.identities import ROWS, Row
from tests.passes.checking import bits_equal, changed_by, values_of

FAMILIES = (
    arithmetic, bitwise, comparison, conversion, divisions, extremes, functions, powers, products,
    scalars, selection,
)  # fmt: skip
PATTERNS = PatternSet("arithmetic half", *(family.patterns for family in FAMILIES))
ASSUMES = {pattern.name: pattern.assumes for pattern in PATTERNS}
PASS_OF = {
    "": AlgebraicSimplifier(),
    NO_SIGNED_ZEROS: AlgebraicSimplifier(no_signed_zeros=True),
    NO_NANS: AlgebraicSimplifier(no_nans=True),
    FAST_MATH: AlgebraicSimplifier(fast_math=True),
}
EXACT = [row for row in ROWS if not ASSUMES[row[0]]]
ASSUMING = [row for row in ROWS if ASSUMES[row[0]]]
PLAIN = [-3.5, -2.0, -1.0, -0.5, 0.25, 0.5, 1.0, 1.5, 3.0]
POSITIVE = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0]


def name_of(row: Row) -> str:
    return f"{row[0]}: {row[2]}"


def edges(element_type: ElementType) -> list[Any]:
    """Values that arithmetic goes wrong at."""
    if element_type.kind is Kind.PRED:
        return [False, True]
    if element_type.is_integer:
        least = -(1 << element_type.bits - 1) if element_type.is_signed else 0
        greatest = least + (1 << element_type.bits) - 1
        small = [-3, -1] if element_type.is_signed else []
        return [*small, 0, 1, 2, 3, 5, least, least + 1, greatest, greatest // 2]
    if element_type.is_complex:
        parts = (0.0, -0.0, 1.5, -2.0, float("inf"), float("nan"))
        return [complex(real, imaginary) for real, imaginary in product(parts, parts)]
    form = element_type.float_format
    assert form is not None
    largest = decode(largest_bits(form), form)
    tiny = decode(1, form)
    sized = [0.0, tiny, 0.5, 1.0, 2.75, 4.0, largest, float("inf")]
    return [float("nan"), *sized, *(-one for one in sized)]


def arguments(expression: str, element_type: str, values: list[Any]) -> list[np.ndarray[Any, Any]]:
    """Every combination of values, as one array for each parameter."""
    names = parameters_of(expression)
    choices = [[False, True] if name in {"p", "q"} else values for name in names]
    columns = zip(*product(*choices), strict=True)
    types = ["pred" if name in {"p", "q"} else element_type for name in names]
    with np.errstate(all="ignore"):
        return [
            np.array(column).astype(ELEMENT_TYPES[kind].numpy)
            for column, kind in zip(columns, types, strict=True)
        ]


def simplified(row: Row, element_type: str, size: int) -> tuple[Module, Module]:
    """The module of a row before and after; the pattern of the row must have been applied."""
    name, _, before, _ = row
    module = parse(module_text(before, element_type, size))
    original = cloned_module(module)
    journal = Journal("algsimp")
    assert changed_by(module, PASS_OF[ASSUMES[name]], journal), f"{element_type}: nothing changed"
    assert journal.hits[name], f"{element_type}: applied were {dict(journal.hits)}"
    return original, module


def results(module: Module, given: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    (value,) = values_of(module, list(given))
    assert isinstance(value, tuple)
    return np.asarray(value[0])


@pytest.mark.parametrize("row", EXACT, ids=name_of)
def test_an_identity_keeps_every_bit(row: Row) -> None:
    for element_type in row[1].split():
        given = arguments(row[2], element_type, edges(ELEMENT_TYPES[element_type]))
        before, after = simplified(row, element_type, given[0].size)
        expected, actual = results(before, given), results(after, given)
        assert bits_equal(actual, expected), f"{element_type}: {expression_of(after)}"


@pytest.mark.parametrize("row", ASSUMING, ids=name_of)
def test_an_identity_that_assumes_holds_where_it_does(row: Row) -> None:
    assumed = ASSUMES[row[0]]
    for element_type in row[1].split():
        kind = ELEMENT_TYPES[element_type]
        values = edges(kind) if assumed == NO_SIGNED_ZEROS else PLAIN
        given = arguments(row[2], element_type, POSITIVE if assumed == FAST_MATH else values)
        before, after = simplified(row, element_type, given[0].size)
        expected, actual = (results(one, given).astype(complex) for one in (before, after))
        tolerance = 4 * 2.0 ** -{"bf16": 8, "f16": 11}.get(kind.name, 23)
        allowed = tolerance if assumed == FAST_MATH else 0
        np.testing.assert_allclose(actual, expected, rtol=allowed, atol=allowed)


@pytest.mark.parametrize("row", ASSUMING, ids=name_of)
def test_an_identity_that_assumes_is_off_by_default(row: Row) -> None:
    module = parse(module_text(row[2], row[1].split()[0], 2))
    journal = Journal("algsimp")
    AlgebraicSimplifier().run(module, journal)
    assert not journal.hits[row[0]]


@pytest.mark.parametrize("row", [row for row in ROWS if row[3]], ids=name_of)
def test_an_identity_yields_what_it_says(row: Row) -> None:
    _, after = simplified(row, row[1].split()[0], 3)
    assert expression_of(after) == row[3]


def test_every_identity_has_an_example() -> None:
    examples = {row[0] for row in ROWS}
    named = {pattern.name for pattern in PATTERNS}
    # Constants that are arrays cannot be written as expressions; they have tests of their own.
    assert named - examples == {"spread_constant", "count_constant"}
    assert examples <= named


def test_there_are_over_a_hundred_identities_each_with_a_name_of_its_own() -> None:
    names = [pattern.name for pattern in PATTERNS]
    assert len(names) == len(set(names)) >= 160
