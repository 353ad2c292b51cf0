"""Floats with Python's operators: exact sums, bounds, branches."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.math.functions import FUNCTIONS
from hlotool.codegen.math.number import (
    Number,
    branch,
    fast_two_sum,
    polynomial,
    two_product,
    two_sum,
)
from tests.codegen.compiling import Array, Compiled, applied, elementwise, module_text

Formula = Callable[..., Number | Sequence[Number]]


def run(formula: Formula, *operands: Array, outputs: int = 1, lanes: int = 4) -> list[Array]:
    def emit(writer: FunctionWriter, *values: Value) -> list[Value]:
        found = formula(*(Number(writer, value) for value in values))
        return [one.value for one in ([found] if isinstance(found, Number) else found)]

    writer = elementwise("function", emit, ["double"] * len(operands), ["double"] * outputs, lanes)
    compiled = Compiled(module_text(writer))
    return applied(compiled, "function", list(operands), ["double"] * outputs, lanes)


def pairs() -> list[Array]:
    random = np.random.default_rng(2)
    sizes = np.exp(random.uniform(-30, 30, (2, 200)))
    return [*(random.normal(size=(2, 200)) * sizes)]


@pytest.mark.parametrize("lanes", [1, 4])
def test_sums_and_products_lose_nothing(lanes: int) -> None:
    one, other = pairs()
    for formula, operation in ((two_sum, Fraction.__add__), (two_product, Fraction.__mul__)):
        total, low = run(formula, one, other, outputs=2, lanes=lanes)
        for a, b, t, lost in zip(one, other, total, low, strict=True):
            assert operation(Fraction(a), Fraction(b)) == Fraction(t) + Fraction(lost)
            assert lost == 0 or abs(lost) <= np.spacing(abs(t)) / 2


def test_fast_sums_lose_nothing_where_the_first_is_larger() -> None:
    one, other = pairs()
    larger = np.where(np.abs(one) > np.abs(other), one, other)
    smaller = np.where(np.abs(one) > np.abs(other), other, one)
    total, low = run(fast_two_sum, larger, smaller, outputs=2)
    for a, b, t, lost in zip(larger, smaller, total, low, strict=True):
        assert Fraction(a) + Fraction(b) == Fraction(t) + Fraction(lost)


def test_bounds_leave_nan() -> None:
    operand = np.array([-5.0, 0.5, 5.0, np.nan, np.inf, -np.inf])
    (found,) = run(lambda x: x.at_least(-1.0).at_most(2.0), operand)
    np.testing.assert_array_equal(found, [-1.0, 0.5, 2.0, np.nan, 2.0, -1.0])


def test_polynomials_begin_with_the_lowest_power() -> None:
    (found,) = run(lambda x: polynomial(x, (1.0, 2.0, 3.0)), np.array([0.0, 1.0, 2.0, -1.0]))
    np.testing.assert_array_equal(found, [1.0, 6.0, 17.0, 2.0])


def test_constants_stand_on_both_sides() -> None:
    (found,) = run(lambda x: 8.0 / (1.0 - x) + 2.0 * x - (3.0 + x), np.array([-1.0, 0.5]))
    np.testing.assert_array_equal(found, [4.0 - 2.0 - 2.0, 16.0 + 1.0 - 3.5])


@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_a_branch_is_taken_for_any_lane(lanes: int) -> None:
    def formula(x: Number) -> tuple[Number, ...]:
        taken = branch("minus", x > 10.0, lambda inputs: [inputs[0] * -1.0], [x], [x])
        return (*taken, x)

    operand = np.array([1.0] * 8 + [1.0, 2.0, 11.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    found, _ = run(formula, operand, outputs=2, lanes=lanes)
    chunks = operand.reshape(-1, lanes)
    is_taken = np.repeat((chunks > 10).any(axis=1), lanes)
    np.testing.assert_array_equal(found, np.where(is_taken, -operand, operand))


def test_what_is_in_a_branch_stays_there() -> None:
    writer = FunctionWriter("function", [Argument("float", "x")], "float")
    found = FUNCTIONS["sine"](writer, writer.argument(0))
    blocks = writer.text(found.text).split("\nthen")
    assert len(blocks) == 2
    assert "mul i64" not in blocks[0]
    assert blocks[1].partition("\nelse")[0].count("mul i64") == 2


def test_branches_are_written_once() -> None:
    writer = FunctionWriter("function", [Argument("float", "x")], "float")
    sine = FUNCTIONS["sine"](writer, writer.argument(0))
    cosine = FUNCTIONS["cosine"](writer, writer.argument(0))
    text = writer.text(writer.binary("fadd", sine, cosine).text)
    assert text.count("\nthen") == 1


def test_branches_stand_in_front_of_loops_that_do_not_change_them() -> None:
    arguments = [Argument("float", "x"), Argument("ptr", "out"), Argument("i64", "count")]
    writer = FunctionWriter("function", arguments, linkage="")
    with writer.loop(writer.integer(0), writer.argument(2)) as loop:
        found = FUNCTIONS["sine"](writer, writer.argument(0))
        writer.store(found, writer.offset(writer.argument(1), loop.index, "float"))
    text = writer.text()
    assert text.index("\nthen") < text.index("\nloop")
    Compiled(text.replace("define", "\n".join([*writer.declarations, "define"]), 1))


def test_flags_of_a_function_are_not_for_formulas() -> None:
    writer = FunctionWriter("function", [Argument("float", "x")], "float", flags="fast")
    found = FUNCTIONS["log-plus-one"](writer, writer.argument(0))
    assert "fast" not in writer.text(found.text)
