"""Two results side by side: what is wrong, by how much, where it comes from."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from hlotool.evaluation.comparison import differences as pieces
from hlotool.evaluation.comparison.compare import Comparison, compare
from hlotool.evaluation.comparison.differences import Bounds, Differences, differences, rounded_up
from hlotool.evaluation.comparison.tolerance import Tolerance
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.text.parser import parse
from tests.evaluating import entry

EXACT = Tolerance()
MULTIPLY = entry("p = f32[4] parameter(0)\nROOT r = f32[4] multiply(p, p)")


def found(
    actual: Any, expected: Any, name: str = "f32", tolerance: Tolerance = EXACT
) -> Differences:
    element_type = ELEMENT_TYPES[name]
    ours, theirs = (np.asarray(side).astype(element_type.numpy) for side in (actual, expected))
    return differences(ours, theirs, element_type, tolerance)


def compared(text: str, actual: Any, expected: Any, **options: Any) -> Comparison:
    return compare(parse(text, "module.hlo"), actual, expected, **options)


def array(*numbers: float, kind: str = "float32") -> Any:
    return np.array(numbers, kind)


def test_equal_arrays_agree() -> None:
    result = compared(MULTIPLY, array(1, 2, 3, np.nan), array(1, 2, 3, np.nan))
    assert result.agrees
    assert (result.elements, result.mismatches) == (4, 0)
    assert result.leaves[0].differences.worst == ()


def test_one_ulp_is_within_the_bounds_of_a_product_and_three_are_not() -> None:
    expected = array(1, 2, 3, 4)
    near = np.nextafter(expected, np.float32(9))
    far = near
    for _ in range(2):
        far = np.nextafter(far, np.float32(9))
    assert compared(MULTIPLY, near, expected).agrees
    result = compared(MULTIPLY, far, expected)
    assert not result.agrees
    worst = result.leaves[0].differences.worst
    assert [element.ulps for element in worst] == [3] * len(worst)


@pytest.mark.parametrize(
    ("actual", "expected", "is_wrong"),
    [
        (np.nan, np.nan, False),
        (np.nan, 1.0, True),
        (1.0, np.nan, True),
        (inf, inf, False),
        (inf, -inf, True),
        (inf, 1e38, True),
        (1e38, inf, True),
        (np.nan, inf, True),
        (0.0, -0.0, False),
    ],
)
@pytest.mark.parametrize(
    "tolerance", [EXACT, Tolerance(10.0, 10.0, 10.0), Tolerance(9, 0, 9, "", needs_both=True)]
)
def test_special_values(
    actual: float,
    expected: float,
    is_wrong: bool,  # noqa: FBT001  # a parameter of the test
    tolerance: Tolerance,
) -> None:
    result = found([actual], [expected], tolerance=tolerance)
    assert result.mismatches == int(is_wrong)
    assert result.largest_absolute == (inf if is_wrong else 0.0)


def test_nan_and_infinities_are_counted_on_both_sides() -> None:
    result = found([np.nan, inf, 1, np.nan], [np.nan, 1, -inf, inf])
    assert (result.actual.nan, result.actual.infinite) == (2, 1)
    assert (result.expected.nan, result.expected.infinite) == (1, 2)
    assert result.nan_mismatches == 1
    assert result.mismatches == 3


def test_zeros_of_another_sign_are_noted() -> None:
    result = found([0.0, -0.0, 0.0], [-0.0, -0.0, 0.0])
    assert (result.zero_signs, result.mismatches) == (1, 0)


def test_integers_are_exact_at_the_ends_of_their_range() -> None:
    result = found([-(2**63), 5, 2**63 - 1], [2**63 - 1, 5, 2**63 - 2], "s64")
    assert result.mismatches == 2
    assert result.largest_absolute == 2.0**64
    assert result.worst[0].ulps == 2**64 - 1
    assert result.suggestions == ()
    assert found([2**64 - 1], [0], "u64").worst[0].absolute == 2.0**64
    assert found([-8], [7], "s4").worst[0].absolute == 15
    assert found([True], [False], "pred").worst[0].actual.text == "true"


def test_user_bounds_fail_an_element_only_where_both_are_broken() -> None:
    expected, actual = array(1e-6, 1, 100, 100), array(2e-6, 1.05, 100.5, 120)
    result = compared(MULTIPLY, actual, expected, absolute=0.1, relative=0.01)
    assert result.mismatches == 1
    assert result.leaves[0].differences.worst[0].index == (3,)
    assert compared(MULTIPLY, actual, expected, relative=1.0).agrees
    assert compared(MULTIPLY, actual, expected, absolute=1.0).mismatches == 1
    assert not compared(MULTIPLY, actual, expected, absolute=0.0).agrees


def test_scaled_bounds_count_with_the_root_mean_square() -> None:
    tolerance = Tolerance(scaled=0.1)
    expected = [3.0, 4.0, 0.0, 0.0, inf, np.nan]
    result = found([3.0, 4.0, 0.24, 0.26, inf, np.nan], expected, tolerance=tolerance)
    assert result.size == pytest.approx(2.5)
    assert [element.index for element in result.worst] == [(3,)]


def test_elements_above_the_typical_size_have_room_of_their_own() -> None:
    expected = [1000.0, *[1.0] * 99]
    assert found([1001.0, *[1.0] * 99], expected, tolerance=Tolerance(scaled=2e-3)).mismatches == 0
    assert found([1003.0, *[1.0] * 99], expected, tolerance=Tolerance(scaled=2e-3)).mismatches == 1


def test_sizes_near_the_end_of_the_range_do_not_overflow() -> None:
    result = found([1e308, 1e308], [1e308, 1e308], "f64", Tolerance(scaled=0.1))
    assert result.size == pytest.approx(1e308)


def test_complex_numbers_are_compared_by_distance() -> None:
    result = found([3 + 4j, 1 + 1j], [0, 1 + 1j], "c64")
    assert (result.mismatches, result.largest_absolute) == (1, 5.0)
    assert found([complex(np.nan, 1)], [complex(np.nan, 1)], "c128").mismatches == 0
    for part, wrong in ((1.01, 0), (1.3, 1)):
        half = found([complex(inf, part)], [complex(inf, 1)], "c64", Tolerance(relative=0.1))
        assert half.mismatches == wrong
        assert half.largest_relative == pytest.approx(part - 1)
    assert found([complex(np.nan, 1)], [complex(1, 1)], "c128").largest_absolute == inf


@pytest.mark.parametrize(
    ("name", "bits"),
    [("f32", "0x3fc00000"), ("bf16", "0x3fc0"), ("f16", "0x3e00"), ("f8e4m3fn", "0x3c"),
     ("f8e5m2", "0x3e"), ("f4e2m1fn", "0x3"), ("f64", "0x3ff8000000000000"), ("f8e3m4", "0x38")],
)  # fmt: skip
def test_bits_and_distances_of_every_width(name: str, bits: str) -> None:
    (worst,) = found([1.5], [-1.5], name).worst
    assert (worst.actual.text, worst.actual.bits) == ("1.5", (bits,))
    assert worst.ulps == 2 * int(bits, 16)
    assert (worst.absolute, worst.relative) == (3.0, 2.0)


def test_a_type_without_sign_has_distances_too() -> None:
    (worst,) = found([4.0], [1.0], "f8e8m0fnu").worst
    assert worst.ulps == 2


def test_worst_elements_are_those_with_the_largest_relative_error() -> None:
    expected = np.ones((3, 4))
    actual = expected + np.arange(12).reshape(3, 4) / 100
    result = found(actual, expected)
    assert [element.index for element in result.worst] == [(2, 3), (2, 2), (2, 1), (2, 0), (1, 3)]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), max_size=40))
def test_pieces_give_the_same_as_a_loop(pairs: list[tuple[float, float]]) -> None:
    actual, expected = [a for a, _ in pairs], [e for _, e in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE", 7)
        result = found(actual, expected, tolerance=Tolerance(relative=0.25))
    wrong = [not within(a, e) for a, e in pairs]
    assert result.mismatches == sum(wrong)
    assert result.elements == len(pairs)
    assert sum(bucket.count for bucket in result.relative_errors) == len(pairs)
    assert sum(bucket.mismatches for bucket in result.relative_errors) == sum(wrong)
    known = sum(e == e for e in expected)  # noqa: PLR0124  # NaN
    assert sum(bucket.count for bucket in result.magnitudes) == known


def within(actual: float, expected: float) -> bool:
    if actual == expected or (actual != actual and expected != expected):  # noqa: PLR0124  # NaN
        return True
    error = abs(actual - expected)
    return error < inf and error <= 0.25 * abs(expected)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3, width=32), st.floats(-1e3, 1e3, width=32)), min_size=1)
)
def test_suggested_bounds_would_do(pairs: list[tuple[float, float]]) -> None:
    actual, expected = [a for a, _ in pairs], [e for _, e in pairs]
    result = found(actual, expected)
    assert bool(result.suggestions) == bool(result.mismatches)
    for bounds in result.suggestions:
        chosen = Tolerance(bounds.relative, 0.0, bounds.absolute, "", needs_both=True)
        assert found(actual, expected, tolerance=chosen).mismatches == 0


def test_no_suggestion_is_better_than_another_in_both() -> None:
    expected = np.array([1.0, 1e-6, 1e3, 5.0])
    actual = expected * np.array([1.001, 3.0, 1.0001, 1.0])
    offers = found(actual, expected, "f64").suggestions
    assert Bounds(0.2, 0.0) in offers
    assert offers[-1].absolute == 0
    for one in offers:
        assert not any(
            other.absolute <= one.absolute and other.relative <= one.relative
            for other in offers
            if other is not one
        )


def test_infinite_errors_have_no_bounds() -> None:
    assert found([np.nan, 2.0], [1.0, 1.0]).suggestions == ()


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0.0, 0.0), (0.1, 0.1), (0.11, 0.2), (0.95, 1.0), (1e-7, 1e-7), (3.01e-5, 4e-5), (9.1, 10.0)],
)
def test_rounding_up_to_one_digit(value: float, wanted: float) -> None:
    assert rounded_up(value) == pytest.approx(wanted, rel=1e-12)
    assert rounded_up(value) >= value


METADATA = (
    'op_name="jit(f)/tanh" source_file="net.py" source_line=33 source_column=7 stack_frame_id=2'
)
TUPLE = """HloModule m

FileNames
1 "net.py"

FunctionNames
1 "layer"
2 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=33 end_line=33 column=7 end_column=9}
2 {file_name_id=1 function_name_id=2 line=80 end_line=80 column=3 end_column=9}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

ENTRY main {
  p = f32[2] parameter(0)
  t = f32[2] tanh(p), metadata={METADATA}
  a = token[] after-all()
  u = (f32[2], token[]) tuple(t, a)
  g = f32[2] get-tuple-element(u), index=0
  ROOT r = (f32[2], (f32[2], token[])) tuple(p, u)
}
""".replace("METADATA", METADATA)


def test_each_array_says_where_it_comes_from() -> None:
    good, bad = array(1, 2), array(1, 3)
    result = compared(TUPLE, (good, (bad, None)), (good, (good, None)))
    first, second = result.leaves
    assert (first.index, first.agrees) == ((0,), True)
    assert (second.index, second.agrees) == ((1, 0), False)
    assert second.percent == 50.0
    made = second.origin
    assert (made.instruction, made.opcode, made.location) == ("t", "tanh", "module.hlo:20:3")
    assert (made.op_name, made.source) == ("jit(f)/tanh", "net.py:33:7")
    assert made.frames == ("net.py:33:7 in layer", "net.py:80:3 in main")


def test_arrays_of_other_sizes_are_a_fault() -> None:
    text = entry("p = f32[<=4] parameter(0)\nROOT r = f32[<=4] negate(p)")
    result = compared(text, array(1, 2), array(1, 2, 3))
    assert not result.agrees
    assert result.leaves[0].fault == "float32[2] was computed, float32[3] is expected"


@pytest.mark.parametrize("value", [(array(1),), None, (array(1), (array(1), None), array(1))])
def test_values_of_another_form_are_an_error(value: Any) -> None:
    good = (array(1, 2), (array(1, 2), None))
    with pytest.raises(EvaluationError, match="is wanted"):
        compared(TUPLE, value, good)


def test_json_has_all_of_it() -> None:
    result = compared(MULTIPLY, array(1, 2, 3, np.nan), array(1, 2, 3, 4))
    fields = json.loads(json.dumps(result.as_json(), allow_nan=False))
    (leaf,) = fields["leaves"]
    assert (fields["agrees"], fields["mismatches"], leaf["percent"]) == (False, 1, 25.0)
    assert leaf["differences"]["worst"][0]["relative"] == "inf"
    assert leaf["differences"]["worst"][0]["actual"]["bits"] == ["0x7fc00000"]
    assert leaf["origin"]["instruction"] == "r"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "f8e5m2"])
def test_signalling_nan_is_compared_in_silence(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    module = parse(f"HloModule m\nENTRY e {{\n  ROOT p = {name}[2] parameter(0)\n}}")
    form = element_type.float_format
    assert form is not None
    # All ones in the exponent, and the lowest bit of the mantissa.
    bits = (((1 << form.exponent_bits) - 1) << form.mantissa_bits) | 1
    unsigned = np.array([bits, 0], f"u{element_type.storage_bytes}")
    value = unsigned.view(element_type.numpy)
    assert compare(module, value, value).agrees
    assert not compare(module, value, value[::-1]).agrees
