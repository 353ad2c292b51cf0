"""Expressions put together at random keep every bit, and rewriting comes to an end."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.ir.cloning import cloned_module
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.algsimp.expressions import expression_of, module_text
from tests.passes.algsimp.test_identities import arguments, edges, results
from tests.passes.checking import bits_equal, changed_by

_ARITHMETIC = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum")
_BITS = (
    "and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic",
)  # fmt: skip
_NUMBERS = ("0", "1", "2", "3", "4", "7")
_DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


def _functions_of(element_type: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The functions of one and of two operands, and the constants, of a type."""
    kind = ELEMENT_TYPES[element_type]
    if kind.is_float:
        unary = ("negate", "abs", "sign", "floor", "ceil", "convert.T", "reduce-precision.5.2")
        return unary, _ARITHMETIC, (*_NUMBERS, "-0.0", "-1", "0.5", "-2", "MIN", "MAX", "nan")
    unary = ("negate", "not", "popcnt", *(("abs", "sign", "power2") if kind.is_signed else ()))
    return unary, _ARITHMETIC + _BITS, (*_NUMBERS, *(("-1",) if kind.is_signed else ()), "MAX")


def expressions(element_type: str) -> st.SearchStrategy[str]:
    """Expressions of a type, of some depth."""
    unary, binary, numbers = _functions_of(element_type)
    leaves = st.sampled_from(("x", "y", "x", "y", *numbers))

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        flag = st.one_of(
            st.just("p"),
            st.builds("not({})".format, st.just("p")),
            st.builds("compare.{}({}, {})".format, st.sampled_from(_DIRECTIONS), inner, inner),
            st.builds("not(compare.{}({}, {}))".format, st.sampled_from(_DIRECTIONS), inner, inner),
        )
        return st.one_of(
            st.builds("{}({})".format, st.sampled_from(unary), inner).map(_with_power),
            st.builds("{}({}, {})".format, st.sampled_from(binary), inner, inner),
            st.builds("{}({}, {})".format, st.sampled_from(binary), inner, leaves),
            st.builds("select({}, {}, {})".format, flag, inner, inner),
            st.builds("clamp({}, {}, {})".format, leaves, inner, leaves),
            st.builds("convert.T({})".format, flag),
        )

    return st.recursive(leaves, larger, max_leaves=7)


def _with_power(expression: str) -> str:
    return f"power({expression[7:-1]}, 2)" if expression.startswith("power2") else expression


TYPED = st.sampled_from(("s8", "u8", "s4", "f32", "f16", "f8e5m2")).flatmap(
    lambda element_type: st.tuples(st.just(element_type), expressions(element_type))
)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(TYPED)
def test_any_expression_keeps_every_bit(typed: tuple[str, str]) -> None:
    element_type, expression = typed
    # Each parameter is there, so that all have arguments.
    whole = f"select(p, {expression}, select(q, x, y))"
    given_arrays = arguments(whole, element_type, edges(ELEMENT_TYPES[element_type]))
    module = parse(module_text(whole, element_type, given_arrays[0].size))
    before = cloned_module(module)
    journal = Journal("algsimp")
    changed_by(module, AlgebraicSimplifier(), journal)
    assert journal.notes == []
    expected, actual = results(before, given_arrays), results(module, given_arrays)
    with np.errstate(all="ignore"):
        assert bits_equal(actual, expected), f"{whole}\n{expression_of(module)}\n{journal.hits}"
