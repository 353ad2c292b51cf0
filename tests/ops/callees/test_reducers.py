"""What reducers do, as their computations are read."""

import numpy as np
import pytest

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import BF16, C64, F32, F64, PRED, S8, S32, U1, ElementType
from hlotool.ops.callees.reducers import Combination, Component, Taken, chooses, recognized
from hlotool.ops.elementwise import Add, And, Maximum, Minimum, Multiply, Or, Xor
from hlotool.text.parser import parse


def _computation(*lines: str) -> Computation:
    module = parse("HloModule m\nENTRY f {\n" + "\n".join(lines) + "\n}\n")
    return module.entry


def _binary(element_type: str, root: str) -> Computation:
    return _computation(
        f"a = {element_type}[] parameter(0)",
        f"b = {element_type}[] parameter(1)",
        f"ROOT r = {element_type}[] {root}",
    )


@pytest.mark.parametrize(
    ("opcode", "op"),
    [
        ("add", Add),
        ("multiply", Multiply),
        ("maximum", Maximum),
        ("minimum", Minimum),
        ("and", And),
        ("or", Or),
        ("xor", Xor),
    ],
)
@pytest.mark.parametrize("operands", ["a, b", "b, a"])
def test_ops_that_fold(opcode: str, op: type, operands: str) -> None:
    wanted = (Combination(op, S32),)
    assert recognized(_binary("s32", f"{opcode}({operands})")) == wanted


@pytest.mark.parametrize(
    "root", ["subtract(a, b)", "divide(a, b)", "add(a, a)", "add(b, b)", "negate(b)", "power(a, b)"]
)
def test_other_ops(root: str) -> None:
    assert recognized(_binary("f32", root)) is None


@pytest.mark.parametrize(("parameter", "taken"), [(0, Taken.ACCUMULATOR), (1, Taken.ELEMENT)])
def test_parameters_that_are_yielded(parameter: int, taken: Taken) -> None:
    lines = ["a = f32[] parameter(0)", "b = f32[] parameter(1)"]
    assert recognized(_computation(*lines, f"ROOT r = f32[] copy({'ab'[parameter]})")) == (taken,)
    lines[parameter] = f"ROOT {lines[parameter]}"
    assert recognized(_computation(*lines)) == (taken,)


def _through(narrow: str, wide: str, opcode: str = "add") -> Computation:
    return _computation(
        f"a = {narrow}[] parameter(0)",
        f"b = {narrow}[] parameter(1)",
        f"c = {wide}[] convert(a)",
        f"d = {wide}[] convert(b)",
        f"s = {wide}[] {opcode}(c, d)",
        f"ROOT r = {narrow}[] convert(s)",
    )


@pytest.mark.parametrize(
    ("narrow", "wide", "element_type"),
    [("bf16", "f32", BF16), ("f32", "f64", F32), ("s8", "s32", S8), ("c64", "c128", C64)],
)
def test_wider_arithmetic_is_looked_through(
    narrow: str, wide: str, element_type: ElementType
) -> None:
    assert recognized(_through(narrow, wide)) == (Combination(Add, element_type),)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("f32", "bf16"), ("f16", "bf16"), ("s8", "u32"), ("s8", "f32"), ("s32", "s8"), ("f32", "s32")],
)
def test_arithmetic_that_loses_something_is_not(narrow: str, wide: str) -> None:
    assert recognized(_through(narrow, wide)) is None


def test_element_narrower_than_the_accumulator() -> None:
    computation = _computation(
        "a = f32[] parameter(0)",
        "b = bf16[] parameter(1)",
        "c = f32[] convert(b)",
        "ROOT r = f32[] maximum(c, a)",
    )
    assert recognized(computation) == (Combination(Maximum, F32),)


def test_element_that_is_rounded_first() -> None:
    computation = _computation(
        "a = f32[] parameter(0)",
        "b = f32[] parameter(1)",
        "c = bf16[] convert(b)",
        "d = f32[] convert(c)",
        "ROOT r = f32[] add(a, d)",
    )
    assert recognized(computation) is None


def _variadic(first: str, second: str) -> Computation:
    return _computation(
        "a = f32[] parameter(0)",
        "b = s32[] parameter(1)",
        "c = f32[] parameter(2)",
        "d = s32[] parameter(3)",
        f"x = f32[] {first}",
        f"y = s32[] {second}",
        "ROOT r = (f32[], s32[]) tuple(x, y)",
    )


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("add(a, c)", "minimum(d, b)", (Combination(Add, F32), Combination(Minimum, S32))),
        ("copy(c)", "copy(b)", (Taken.ELEMENT, Taken.ACCUMULATOR)),
        ("add(a, a)", "add(b, d)", None),
    ],
)
def test_accumulators_by_themselves(
    first: str, second: str, wanted: tuple[Component, ...] | None
) -> None:
    assert recognized(_variadic(first, second)) == wanted


def test_accumulators_that_change_places() -> None:
    computation = _computation(
        "a = f32[] parameter(0)",
        "b = f32[] parameter(1)",
        "c = f32[] parameter(2)",
        "d = f32[] parameter(3)",
        "x = f32[] add(a, d)",
        "y = f32[] add(b, c)",
        "ROOT r = (f32[], f32[]) tuple(x, y)",
    )
    assert recognized(computation) is None
    assert not chooses(computation)


def test_greatest_element_and_its_index_are_chosen() -> None:
    computation = _computation(
        "a = f32[] parameter(0)",
        "b = s32[] parameter(1)",
        "c = f32[] parameter(2)",
        "d = s32[] parameter(3)",
        "g = pred[] compare(a, c), direction=GE",
        "x = f32[] select(g, a, c)",
        "y = s32[] select(g, b, d)",
        "ROOT r = (f32[], s32[]) tuple(x, y)",
    )
    assert recognized(computation) is None
    assert chooses(computation)


@pytest.mark.parametrize("root", ["add(a, b)", "subtract(a, b)", "and(a, b)", "negate(a)"])
def test_what_computes_does_not_choose(root: str) -> None:
    assert not chooses(_binary("s32", root))


@pytest.mark.parametrize(
    ("combination", "numbers"),
    [
        (Combination(Add, F32), np.array([-0.0, 0.0, 1.5, np.inf, np.nan], np.float32)),
        (Combination(Multiply, F64), np.array([-0.0, 0.0, 1.5, np.inf, np.nan], np.float64)),
        (
            Combination(Maximum, F32),
            np.array([-np.inf, -1, -0.0, 0.0, 1e-45, np.inf, np.nan], np.float32),
        ),
        (
            Combination(Minimum, F64),
            np.array([-np.inf, -1, -0.0, 0.0, 5e-324, np.inf, np.nan], np.float64),
        ),
        (
            Combination(Maximum, BF16),
            np.array([-np.inf, -1, -0.0, 0.0], np.float32).astype(BF16.numpy),
        ),
        (Combination(Maximum, S8), np.array([-128, 127], np.int8)),
        (Combination(Minimum, S32), np.array([-(2**31), 2**31 - 1], np.int32)),
        (Combination(And, S8), np.array([-128, 127, 0, -1], np.int8)),
        (Combination(Xor, U1), np.array([0, 1], np.uint8)),
        (Combination(Add, C64), np.array([-0.0 - 0.0j, 1 + 2j], np.complex64)),
        (Combination(Maximum, PRED), np.array([0, 1], np.bool_)),
        (Combination(Minimum, PRED), np.array([0, 1], np.bool_)),
        (Combination(Xor, PRED), np.array([0, 1], np.bool_)),
    ],
)
def test_neutral_number_changes_nothing(
    combination: Combination, numbers: "np.ndarray[tuple[int], np.dtype[np.generic]]"
) -> None:
    encoded = combination.encoded(numbers)
    assert encoded.dtype == combination.encoding
    for combined in (
        combination.function(encoded, combination.neutral),
        combination.function(combination.neutral, encoded),
    ):
        found = combination.decoded(combined)
        assert found.dtype == numbers.dtype
        np.testing.assert_array_equal(found, numbers)
        if numbers.dtype.kind == "f":
            signs = np.signbit(found) == np.signbit(numbers)
            assert (signs | np.isnan(numbers)).all()
