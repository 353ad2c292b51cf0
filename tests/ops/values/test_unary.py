"""Values of elementwise ops of one operand."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.float_format import decode, encode
from tests.evaluating import entry, evaluated
from tests.ops.values.arrays import computed, held, of_patterns, patterns, same

INF, NAN = math.inf, math.nan
INTEGERS = [t for t in ELEMENT_TYPES.values() if t.is_integer]
SMALL_FLOATS = [t for t in ELEMENT_TYPES.values() if t.is_float and t.bits <= 16]
quick = settings(derandomize=True, deadline=None, max_examples=40)


@pytest.mark.parametrize(
    ("opcode", "name", "operand", "wanted"),
    [
        ("abs", "s8", [-128, -1, 5], [-128, 1, 5]),
        ("abs", "s64", [-(2**63), -7], [-(2**63), 7]),
        ("abs", "s1", [-1, 0], [-1, 0]),
        ("negate", "s32", [-(2**31), 3], [-(2**31), -3]),
        ("negate", "u8", [0, 1, 255], [0, 255, 1]),
        ("negate", "u64", [1], [2**64 - 1]),
        ("sign", "s16", [-32768, 0, 9], [-1, 0, 1]),
        ("not", "s4", [-8, 0], [7, -1]),
        ("not", "u1", [0, 1], [1, 0]),
        ("not", "u64", [0], [2**64 - 1]),
        ("popcnt", "s32", [-1, 0, 5], [32, 0, 2]),
        ("popcnt", "s4", [-8, 7], [1, 3]),
        ("popcnt", "u64", [2**64 - 1], [64]),
        ("count-leading-zeros", "s8", [0, 1, -1, 127], [8, 7, 0, 1]),
        ("count-leading-zeros", "u64", [0, 1, 2**63, 2**53 - 1], [64, 63, 0, 11]),
        ("count-leading-zeros", "u4", [0, 3, 8], [4, 2, 0]),
    ],
)
def test_integers(opcode: str, name: str, operand: list[int], wanted: list[int]) -> None:
    found = computed(opcode, name, held(operand, name))
    assert found.dtype == ELEMENT_TYPES[name].numpy
    assert [int(value) for value in found] == wanted


@quick
@given(st.sampled_from(INTEGERS), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8))
def test_bits_like_their_text(element_type: ElementType, numbers: list[int]) -> None:
    name, bits = element_type.name, element_type.bits
    texts = [format(number % (1 << bits), f"0{bits}b") for number in numbers]
    unsigned = [int(text, 2) for text in texts]
    operand = held(list(map(signed(element_type), unsigned)), name)

    def wanted(values: list[int]) -> list[int]:
        return [signed(element_type)(value % (1 << bits)) for value in values]

    turned = [int(text.translate({48: "1", 49: "0"}), 2) for text in texts]
    leading = [len(text) - len(text.lstrip("0")) for text in texts]
    for opcode, expected in {
        "popcnt": [text.count("1") for text in texts],
        "count-leading-zeros": leading,
        "not": turned,
        "negate": [-value for value in unsigned],
    }.items():
        found = computed(opcode, name, operand)
        assert [int(value) for value in found] == wanted(expected), opcode


def signed(element_type: ElementType) -> Callable[[int], int]:
    """Returns what turns the bits of an integer into its value."""
    half = 1 << (element_type.bits - 1)
    if not element_type.is_signed:
        return int
    return lambda bits: bits - 2 * half if bits >= half else bits


def test_not_of_pred() -> None:
    assert computed("not", "pred", np.array([True, False])).tolist() == [False, True]


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("opcode", "operand", "wanted"),
    [
        ("abs", [-0.0, -INF, NAN, -2], [0.0, INF, NAN, 2]),
        ("negate", [0.0, -0.0, INF, NAN, 3], [-0.0, 0.0, -INF, NAN, -3]),
        ("sign", [-0.0, 0.0, -INF, 3, NAN, -2], [-0.0, 0.0, -1, 1, NAN, -1]),
        ("ceil", [-0.5, 0.5, -1.5, INF, NAN, -0.0], [-0.0, 1, -1, INF, NAN, -0.0]),
        ("floor", [-0.5, 0.5, -1.5, -INF, NAN, -0.0], [-1, 0, -2, -INF, NAN, -0.0]),
        ("round-nearest-afz", [0.5, -0.5, 1.5, 2.5, -0.25, 128, INF, NAN],
         [1, -1, 2, 3, -0.0, 128, INF, NAN]),
        ("round-nearest-even", [0.5, -0.5, 1.5, 2.5, -0.25, 128, INF, NAN],
         [0, -0.0, 2, 2, -0.0, 128, INF, NAN]),
        ("real", [-0.0, NAN, 2], [-0.0, NAN, 2]),
        ("imag", [-0.0, NAN, 2], [0.0, 0.0, 0.0]),
        ("exponential", [0, -INF, INF, NAN], [1, 0, INF, NAN]),
        ("exponential-minus-one", [-0.0, -INF, INF, NAN], [-0.0, -1, INF, NAN]),
        ("log", [1, 0, -0.0, -1, INF, NAN], [0, -INF, -INF, NAN, INF, NAN]),
        ("log-plus-one", [-0.0, -1, -2, INF], [-0.0, -INF, NAN, INF]),
        ("logistic", [0, -INF, INF, NAN], [0.5, 0, 1, NAN]),
        ("sqrt", [4, -0.0, -1, INF], [2, -0.0, NAN, INF]),
        ("cbrt", [-8, 27, -0.0, -INF], [-2, 3, -0.0, -INF]),
        ("rsqrt", [4, 0, -0.0, -1, INF], [0.5, INF, -INF, NAN, 0]),
        ("erf", [0, -0.0, INF, -INF, NAN], [0, -0.0, 1, -1, NAN]),
        ("sine", [-0.0, INF, NAN], [-0.0, NAN, NAN]),
        ("cosine", [0, -INF], [1, NAN]),
        ("tan", [-0.0, INF], [-0.0, NAN]),
        ("acos", [1, 2], [0, NAN]),
        ("asin", [-0.0, -2], [-0.0, NAN]),
        ("cosh", [0, -INF], [1, INF]),
        ("sinh", [-0.0, -INF], [-0.0, -INF]),
        ("tanh", [-0.0, INF, -INF, NAN], [-0.0, 1, -1, NAN]),
        ("acosh", [1, 0.5, INF], [0, NAN, INF]),
        ("asinh", [-0.0, INF, -INF], [-0.0, INF, -INF]),
        ("atanh", [1, -1, 2, -0.0], [INF, -INF, NAN, -0.0]),
    ],
)  # fmt: skip
def test_floats(name: str, opcode: str, operand: list[float], wanted: list[float]) -> None:
    found = computed(opcode, name, held(operand, name))
    assert found.dtype == ELEMENT_TYPES[name].numpy
    assert same(found, wanted), found


def test_halves_are_found_among_numbers_next_to_them() -> None:
    below = np.nextafter(0.5, 0)
    operand = np.array([below, -below, 2.0**52 + 1, 4503599627370495.5])
    away = computed("round-nearest-afz", "f64", operand)
    even = computed("round-nearest-even", "f64", operand)
    assert same(away, [0.0, -0.0, 2.0**52 + 1, 2.0**52])
    assert same(even, [0.0, -0.0, 2.0**52 + 1, 2.0**52])


def test_sign_of_nan_is_flipped_and_cleared() -> None:
    nans = of_patterns([0x7FC00000, 0xFFC00000], ELEMENT_TYPES["f32"])
    assert patterns(computed("negate", "f32", nans)) == [0xFFC00000, 0x7FC00000]
    assert patterns(computed("abs", "f32", nans)) == [0x7FC00000, 0x7FC00000]


@pytest.mark.parametrize("element_type", SMALL_FLOATS, ids=str)
def test_numbers_that_are_not_finite(element_type: ElementType) -> None:
    form = element_type.float_format
    assert form is not None
    bits = range(0, 1 << element_type.bits, 1 if element_type.bits <= 8 else 97)
    found = computed("is-finite", element_type.name, of_patterns(bits, element_type), result="pred")
    assert found.dtype == np.bool_
    assert found.tolist() == [math.isfinite(decode(b, form)) for b in bits]


def expm1(value: float) -> float:
    return INF if value > 700 else math.expm1(value)


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else math.exp(value)


TWINS: dict[str, Callable[[float], float]] = {
    "exponential": math.exp,
    "exponential-minus-one": expm1,
    "log": math.log,
    "log-plus-one": math.log1p,
    "logistic": logistic,
    "sqrt": math.sqrt,
    "cbrt": lambda x: math.copysign(math.cbrt(abs(x)), x),
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "erf": math.erf,
    "sine": math.sin,
    "cosine": math.cos,
    "tan": math.tan,
    "acos": math.acos,
    "asin": math.asin,
    "cosh": math.cosh,
    "sinh": math.sinh,
    "tanh": math.tanh,
    "acosh": math.acosh,
    "asinh": math.asinh,
    "atanh": math.atanh,
    "negate": lambda x: -x,
    "abs": math.fabs,
    "ceil": lambda x: math.copysign(math.ceil(x), x),
    "floor": lambda x: math.copysign(math.floor(x), x),
    "round-nearest-even": lambda x: math.copysign(round(x), x),
}


def twin(opcode: str, value: float) -> float:
    """Returns what Python's own functions make of a number."""
    try:
        return TWINS[opcode](value)
    except ValueError:
        return NAN if value not in {0.0, 1.0, -1.0} else INF
    except ZeroDivisionError:
        return math.copysign(INF, value)
    except OverflowError:
        return -INF if opcode == "sinh" and value < 0 else INF


small = st.floats(-80, 80, width=32).filter(lambda x: x not in {0.0, 1.0, -1.0})


@quick
@given(st.sampled_from(sorted(TWINS)), st.lists(small, min_size=1, max_size=12))
def test_wide_floats_like_python(opcode: str, values: list[float]) -> None:
    wanted = [twin(opcode, value) for value in values]
    single = computed(opcode, "f32", held(values, "f32"))
    double = computed(opcode, "f64", held(values, "f64"))
    # Rounded once: a single may differ only where the double lies next to a tie.
    np.testing.assert_allclose(single, wanted, rtol=2.0**-24 * 1.001, atol=1e-45)
    np.testing.assert_allclose(double, wanted, rtol=1e-15, atol=5e-324)


@quick
@given(st.sampled_from(sorted(TWINS)), st.sampled_from(SMALL_FLOATS), st.data())
def test_narrow_floats_are_rounded_once(
    opcode: str, element_type: ElementType, data: st.DataObject
) -> None:
    form = element_type.float_format
    assert form is not None
    bits = st.integers(0, (1 << element_type.bits) - 1)
    moderate = bits.filter(lambda b: 0 < abs(decode(b, form)) < 80 and abs(decode(b, form)) != 1)
    chosen = data.draw(st.lists(moderate, min_size=1, max_size=12))
    found = computed(opcode, element_type.name, of_patterns(chosen, element_type))
    for number, pattern in zip(chosen, patterns(found), strict=True):
        value = twin(opcode, decode(number, form))
        if math.isnan(value):
            assert math.isnan(decode(pattern, form)) or pattern == encode(NAN, form)
        else:
            assert pattern == encode(value, form), decode(number, form)


@pytest.mark.parametrize("name", ["c64", "c128"])
@pytest.mark.parametrize(
    ("opcode", "function"),
    [
        ("negate", lambda z: -z),
        ("sign", lambda z: z / abs(z)),
        ("exponential", cmath.exp),
        ("exponential-minus-one", lambda z: cmath.exp(z) - 1),
        ("log", cmath.log),
        ("log-plus-one", lambda z: cmath.log(complex(1 + z.real, z.imag))),
        ("logistic", lambda z: 1 / (1 + cmath.exp(-z))),
        ("sqrt", cmath.sqrt),
        ("rsqrt", lambda z: 1 / cmath.sqrt(z)),
        ("sine", cmath.sin),
        ("cosine", cmath.cos),
        ("tan", cmath.tan),
        ("acos", cmath.acos),
        ("asin", cmath.asin),
        ("cosh", cmath.cosh),
        ("sinh", cmath.sinh),
        ("tanh", cmath.tanh),
        ("acosh", cmath.acosh),
        ("asinh", cmath.asinh),
        ("atanh", cmath.atanh),
    ],
)
def test_complex_numbers(name: str, opcode: str, function: Callable[[complex], complex]) -> None:
    values = [1 + 2j, -3 + 0.5j, -0.25 - 2j, 4 - 1j, complex(-2, 0.0), 0.5j, complex(-2, -0.0)]
    found = computed(opcode, name, held(values, name))
    wanted = [function(complex(value)) for value in values]
    assert found.dtype == ELEMENT_TYPES[name].numpy
    np.testing.assert_allclose(found, wanted, rtol=2e-7 if name == "c64" else 1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("opcode", "operand", "wanted"),
    [
        ("exponential", complex(-INF, INF), 0),
        ("exponential", complex(800, 0), complex(INF, 0)),
        ("exponential-minus-one", complex(800, 0), complex(INF, 0)),
        ("exponential-minus-one", 1e-12 + 1e-13j, 1.0000000000005e-12 + 1.000000000001e-13j),
        ("log-plus-one", 1e-12 + 1e-13j, 9.99999999999505e-13 + 9.99999999999e-14j),
        ("log", 0, complex(-INF, 0)),
        ("logistic", complex(-INF, 0), 0),
        ("logistic", complex(INF, 0), 1),
        ("logistic", complex(-800, 1), 0),
        ("sqrt", complex(-INF, 1), complex(0, INF)),
        ("rsqrt", 0, complex(INF, NAN)),
        ("rsqrt", complex(INF, 0), 0),
        ("sign", 0, 0),
        ("sign", complex(3, INF), complex(0, NAN)),
    ],
)
def test_complex_edges(opcode: str, operand: complex, wanted: complex) -> None:
    (found,) = computed(opcode, "c128", held([operand], "c128"))
    for ours, theirs in zip((found.real, found.imag), (wanted.real, wanted.imag), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-14, abs=0, nan_ok=True)


def test_parts_of_complex_numbers() -> None:
    operand = held([3 - 4j, complex(-0.0, INF), complex(NAN, -INF), 3e38 + 3e38j], "c64")
    assert same(computed("real", "c64", operand, result="f32"), operand.real)
    assert same(computed("imag", "c64", operand, result="f32"), operand.imag)
    size = computed("abs", "c64", operand, result="f32")
    assert size.dtype == np.float32
    assert same(size, [5, INF, INF, INF])


def test_negated_complex_number_has_both_signs_flipped() -> None:
    (found,) = computed("negate", "c64", held([complex(0.0, -0.0)], "c64"))
    assert same([found.real, found.imag], [-0.0, 0.0])


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_shapes_of_any_rank(shape: tuple[int, ...]) -> None:
    operand = np.full(shape, 4, np.float32)
    for opcode in ("sqrt", "negate", "round-nearest-afz", "sign", "log-plus-one"):
        assert computed(opcode, "f32", operand).shape == shape


def test_copy_keeps_every_bit() -> None:
    operand: Any = of_patterns([0x7FA00001, 0x80000001], ELEMENT_TYPES["f32"])
    text = entry("p = f32[2] parameter(0)\nROOT r = f32[2] copy(p)")
    assert patterns(evaluated(text, operand)) == patterns(operand)
