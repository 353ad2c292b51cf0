"""Values of elementwise ops of two and three operands."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.float_format import decode, encode
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated
from tests.ops.values.arrays import computed, held, of_patterns, patterns, same

INF, NAN = math.inf, math.nan
INTEGERS = [t for t in ELEMENT_TYPES.values() if t.is_integer]
SMALL_FLOATS = [t for t in ELEMENT_TYPES.values() if t.is_float and t.bits <= 16]
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt,
    "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
}  # fmt: skip
quick = settings(derandomize=True, deadline=None, max_examples=40)


@pytest.mark.parametrize(
    ("opcode", "name", "one", "other", "wanted"),
    [
        ("add", "s8", [127, -128], [1, -1], [-128, 127]),
        ("add", "u4", [15, 8], [1, 9], [0, 1]),
        ("add", "s1", [-1, -1], [-1, 0], [0, -1]),
        ("add", "u1", [1, 1], [1, 0], [0, 1]),
        ("subtract", "u64", [0], [1], [2**64 - 1]),
        ("multiply", "s64", [2**62, -(2**63)], [2, -1], [-(2**63), -(2**63)]),
        ("multiply", "s2", [-2, 1], [-2, -2], [0, -2]),
        ("mulhi", "s64", [-(2**63), -1, 2**62], [-(2**63), 1, 6], [2**62, -1, 1]),
        ("mulhi", "u64", [2**64 - 1, 2**63], [2**64 - 1, 2], [2**64 - 2, 1]),
        ("mulhi", "u8", [255, 16], [255, 16], [254, 1]),
        ("mulhi", "s8", [-128, -1], [-128, 1], [64, -1]),
        ("divide", "s32", [7, -7, 5, -(2**31)], [-2, 2, 0, -1], [-3, -3, -1, -(2**31)]),
        ("divide", "s64", [-(2**63), -(2**63)], [-1, 0], [-(2**63), -1]),
        ("divide", "u64", [2**64 - 1, 7], [2, 0], [2**63 - 1, 2**64 - 1]),
        ("divide", "s4", [-8, 7], [-1, 0], [-8, -1]),
        ("divide", "u8", [200, 9], [0, 0], [255, 255]),
        ("remainder", "s32", [-7, 7, 5, -(2**31)], [3, -3, 0, -1], [-1, 1, 5, 0]),
        ("remainder", "u64", [2**64 - 1, 3], [10, 0], [5, 3]),
        ("power", "s32", [2, -1, -1, 1, 2, 0, 0], [31, -3, -2, -5, -1, 0, -1],
         [-(2**31), -1, 1, 1, 0, 1, 0]),
        ("power", "u64", [3, 0], [2**64 - 1, 2**63], [pow(3, 2**64 - 1, 2**64), 0]),
        ("power", "s8", [-128, -7], [64, 127], [0, 73]),
        ("maximum", "u64", [2**64 - 1], [1], [2**64 - 1]),
        ("minimum", "s64", [-(2**63)], [1], [-(2**63)]),
        ("and", "s4", [-8, 7], [-1, 5], [-8, 5]),
        ("or", "u2", [1, 0], [2, 0], [3, 0]),
        ("xor", "s16", [-1, 0], [1, -32768], [-2, -32768]),
        ("shift-left", "s32", [1, 1, -1, 5], [31, 32, -1, 0], [-(2**31), 0, 0, 5]),
        ("shift-left", "u64", [1, 1, 3], [63, 64, 2**64 - 1], [2**63, 0, 0]),
        ("shift-right-logical", "s8", [-1, -128, -1], [1, 7, 8], [127, 1, 0]),
        ("shift-right-logical", "s64", [-1, -1], [63, 64], [1, 0]),
        ("shift-right-arithmetic", "s64", [-4, -4, 4], [1, 64, -1], [-2, -1, 0]),
        ("shift-right-arithmetic", "u8", [128, 128, 64], [1, 9, 9], [192, 255, 0]),
        ("shift-right-arithmetic", "u64", [2**63], [63], [2**64 - 1]),
    ],
)  # fmt: skip
def test_integers(
    opcode: str, name: str, one: list[int], other: list[int], wanted: list[int]
) -> None:
    found = computed(opcode, name, held(one, name), held(other, name))
    assert found.dtype == ELEMENT_TYPES[name].numpy
    assert [int(value) for value in found] == wanted


def wrapped(value: int, element_type: ElementType) -> int:
    low = value & ((1 << element_type.bits) - 1)
    is_negative = element_type.is_signed and low >> (element_type.bits - 1)
    return low - (1 << element_type.bits) if is_negative else low


def cut_quotient(one: int, other: int) -> int:
    whole = abs(one) // abs(other)
    return whole if (one < 0) == (other < 0) else -whole


def integer_twin(opcode: str, one: int, other: int, element_type: ElementType) -> int:
    """Returns the result of one pair, with Python's unbounded integers."""
    bits = element_type.bits
    amount, below = other % (1 << bits), one % (1 << bits)
    signed = below - (1 << bits) if below >> (bits - 1) else below
    by_zero = {"divide": -1, "remainder": one}
    if other == 0 and opcode in by_zero:
        return by_zero[opcode]
    if opcode == "power":
        if other >= 0:
            return pow(one, other, 1 << bits)
        return one ** (other % 2) if abs(one) == 1 else 0
    twins: dict[str, Callable[[], int]] = {
        "add": lambda: one + other,
        "subtract": lambda: one - other,
        "multiply": lambda: one * other,
        "mulhi": lambda: one * other >> bits,
        "divide": lambda: cut_quotient(one, other),
        "remainder": lambda: one - other * cut_quotient(one, other),
        "maximum": lambda: max(one, other),
        "minimum": lambda: min(one, other),
        "and": lambda: one & other,
        "or": lambda: one | other,
        "xor": lambda: one ^ other,
        "shift-left": lambda: below << amount if amount < bits else 0,
        "shift-right-logical": lambda: below >> amount,
        "shift-right-arithmetic": lambda: signed >> min(amount, bits),
    }
    return twins[opcode]()


INTEGER_OPCODES = [
    "add", "subtract", "multiply", "mulhi", "divide", "remainder", "power", "maximum", "minimum",
    "and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic",
]  # fmt: skip


@quick
@given(st.data(), st.sampled_from(INTEGERS))
def test_integers_like_unbounded_ones(data: st.DataObject, element_type: ElementType) -> None:
    limits = wrapped(-1, element_type), 1 << (element_type.bits - 1), 0, 1, element_type.bits
    edges = st.sampled_from([wrapped(value, element_type) for value in limits])
    numbers = edges | st.integers(0, (1 << 64) - 1).map(lambda v: wrapped(v, element_type))
    pairs = data.draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
    one, other = (held(column, element_type.name) for column in zip(*pairs, strict=True))
    for opcode in INTEGER_OPCODES:
        found = computed(opcode, element_type.name, one, other)
        wanted = [
            wrapped(integer_twin(opcode, *pair, element_type), element_type) for pair in pairs
        ]
        assert [int(value) for value in found] == wanted, (opcode, pairs)


@pytest.mark.parametrize(
    ("opcode", "wanted"),
    [
        ("add", [False, True, True, True]),
        ("multiply", [False, False, False, True]),
        ("maximum", [False, True, True, True]),
        ("minimum", [False, False, False, True]),
        ("and", [False, False, False, True]),
        ("or", [False, True, True, True]),
        ("xor", [False, True, True, False]),
    ],
)
def test_pred(opcode: str, wanted: list[bool]) -> None:
    one, other = np.array([False, False, True, True]), np.array([False, True, False, True])
    assert computed(opcode, "pred", one, other).tolist() == wanted


@pytest.mark.parametrize(
    ("opcode", "name", "one", "other", "wanted"),
    [
        ("add", "f16", [65504, 65504, 1], [15, 16, 2**-11], [65504, INF, 1]),
        ("add", "bf16", [256, 256], [1, 3], [256, 260]),
        ("add", "f8e4m3fn", [448, 448], [16, 32], [448, NAN]),
        ("add", "f4e2m1fn", [6, -6, 1], [6, -6, 0.25], [6, -6, 1]),
        ("subtract", "f32", [INF, 0.0, -0.0], [INF, 0.0, 0.0], [NAN, 0.0, -0.0]),
        ("multiply", "f64", [INF, -0.0, 1e200], [0, 3, 1e200], [NAN, -0.0, INF]),
        ("divide", "f32", [1, -1, 0, 5e-324], [0, 0, 0, 2], [INF, -INF, NAN, 0]),
        ("divide", "f4e2m1fn", [0, 1], [0, 0], [-0.0, 6]),
        ("add", "f8e8m0fnu", [2, 2.0**-127, 2.0**127], [1, 2.0**-127, 2.0**127],
         [4, 2.0**-126, NAN]),
        ("subtract", "f8e8m0fnu", [2, 1], [1, 1], [1, NAN]),
        ("remainder", "f32", [5.5, -5.5, 5, 5, INF, -0.0], [2, 2, INF, 0, 2, 1],
         [1.5, -1.5, 5, NAN, NAN, -0.0]),
        ("remainder", "f16", [65504], [6e-8], [0]),
        ("power", "f32", [1, NAN, 0, -2, -1, -8, 2, 0], [NAN, 0, -1, 0.5, -INF, 3, -149, 0],
         [1, 1, INF, NAN, 1, -512, 2.0**-149, 1]),
        ("power", "f32", [-0.0, -0.0, INF, NAN], [-3, 3, -1, 1], [-INF, -0.0, 0, NAN]),
        ("power", "f8e5m2", [2, 0.4375], [14, 0.078125], [16384, 0.875]),
        ("maximum", "f32", [-0.0, 0.0, NAN, 1, -INF], [0.0, -0.0, 1, NAN, INF],
         [0.0, 0.0, NAN, NAN, INF]),
        ("minimum", "f64", [-0.0, 0.0, NAN, 1, -INF], [0.0, -0.0, 1, NAN, INF],
         [-0.0, -0.0, NAN, NAN, -INF]),
        ("atan2", "f64", [0.0, -0.0, 0.0, 1, -0.0], [-1, -1, -0.0, 0, 1],
         [math.pi, -math.pi, math.pi, math.pi / 2, -0.0]),
        ("atan2", "f32", [INF, -INF], [INF, -INF], held([math.pi / 4, -3 * math.pi / 4], "f32")),
    ],
)  # fmt: skip
def test_floats(opcode: str, name: str, one: Any, other: Any, wanted: Any) -> None:
    found = computed(opcode, name, held(one, name), held(other, name))
    assert found.dtype == ELEMENT_TYPES[name].numpy
    assert same(found, wanted), found


@quick
@given(st.data(), st.sampled_from([t for t in SMALL_FLOATS if t.name != "f8e8m0fnu"]))
def test_float_arithmetic_is_rounded_once(data: st.DataObject, element_type: ElementType) -> None:
    form = element_type.float_format
    assert form is not None
    bits = st.integers(0, (1 << element_type.bits) - 1)
    finite = bits.filter(lambda b: math.isfinite(decode(b, form)) and decode(b, form) != 0)
    pairs = data.draw(st.lists(st.tuples(finite, finite), min_size=1, max_size=8))
    one, other = (of_patterns(column, element_type) for column in zip(*pairs, strict=True))
    arithmetic: dict[str, Callable[[Any, Any], Any]] = {
        "add": operator.add, "subtract": operator.sub,
        "multiply": operator.mul, "divide": operator.truediv,
    }  # fmt: skip
    for opcode, exactly in arithmetic.items():
        wanted = []
        for pair in pairs:
            first, second = (Fraction(decode(b, form)) for b in pair)
            exact = exactly(first, second)
            is_negative = (first < 0) != (second < 0) and opcode in {"multiply", "divide"}
            value = -0.0 if is_negative and not exact else exact or 0.0
            found = encode(value, form)
            # What is too small keeps its sign also where a fraction of it has none.
            sign = encode(-0.0, form) if is_negative and found == 0 else 0
            wanted.append(found | sign if not math.isnan(decode(sign, form)) else found)
        assert patterns(computed(opcode, element_type.name, one, other)) == wanted, opcode


def sorting_key(value: float) -> tuple[float, float]:
    return value, math.copysign(1, value)


@quick
@given(st.lists(st.tuples(*[st.floats(width=32)] * 3), min_size=1, max_size=8))
def test_extremes_and_clamp_in_ieee_order(triples: list[tuple[float, float, float]]) -> None:
    low, values, high = (held(column, "f32") for column in zip(*triples, strict=True))

    def greatest(*numbers: float) -> float:
        return NAN if any(map(math.isnan, numbers)) else max(numbers, key=sorting_key)

    def least(*numbers: float) -> float:
        return NAN if any(map(math.isnan, numbers)) else min(numbers, key=sorting_key)

    kept = computed("clamp", "f32", low, values, high)
    assert same(computed("maximum", "f32", low, values), [greatest(a, b) for a, b, _ in triples])
    assert same(computed("minimum", "f32", low, values), [least(a, b) for a, b, _ in triples])
    assert same(kept, [least(greatest(a, b), c) for a, b, c in triples])


def test_clamp_takes_scalar_bounds_and_the_upper_one_wins() -> None:
    text = entry(
        "low = s32[] parameter(0)\nx = s32[4] parameter(1)\nhigh = s32[] parameter(2)\n"
        "ROOT r = s32[4] clamp(low, x, high)"
    )
    values = held([-9, 0, 3, 9], "s32")
    assert evaluated(text, np.int32(-1), values, np.int32(3)).tolist() == [-1, 0, 3, 3]
    assert evaluated(text, np.int32(5), values, np.int32(2)).tolist() == [2, 2, 2, 2]


def test_clamp_gives_back_the_nan_of_the_first_operand_that_is_one() -> None:
    nans = held([0x7FC00001, 0x7FC00002, 0x7FC00003], "u32").view(np.float32)
    one = np.float32(1)
    for triple in product([False, True], repeat=3):
        operands = [nans[n : n + 1] if flag else one.reshape(1) for n, flag in enumerate(triple)]
        found = patterns(computed("clamp", "f32", *operands))
        wanted = operands[triple.index(True)] if any(triple) else operands[0]
        assert found == patterns(wanted)


@pytest.mark.parametrize("name", ["f32", "f64", "bf16", "f8e5m2", "s8", "u64", "pred"])
def test_compare_like_python(name: str) -> None:
    numbers: dict[str, list[Any]] = {
        "s8": [-128, -1, 0, 127],
        "u64": [0, 1, 2**63, 2**64 - 1],
        "pred": [False, True],
    }
    edges: list[Any] = numbers.get(name, [-INF, -1.0, -0.0, 0.0, 1.5, INF, NAN])
    pairs = list(product(edges, edges))
    one, other = (held(column, name) for column in zip(*pairs, strict=True))
    for direction, holds in COMPARED.items():
        found = computed(
            "compare", name, one, other, result="pred", attributes=f", direction={direction}"
        )
        assert found.tolist() == [holds(*pair) for pair in pairs], direction


@pytest.mark.parametrize("element_type", [*SMALL_FLOATS, ELEMENT_TYPES["s8"], ELEMENT_TYPES["u8"]])
def test_total_order_is_the_order_of_sign_and_magnitude(element_type: ElementType) -> None:
    count = 1 << element_type.bits
    chosen = (
        list(range(count)) if count <= 256 else [*range(0, count, 1013), 0x7FFF, 0x8000, 0xFFFF]
    )
    form = element_type.float_format
    rows = of_patterns(chosen, element_type)

    def key(bits: int) -> int:
        half = 1 << (element_type.bits - 1)
        if form is not None and form.has_sign:
            return bits if bits < half else half - 1 - bits
        return bits - 2 * half if element_type.is_signed and bits >= half else bits

    keys = [key(bits) for bits in chosen]
    if form is not None and decode(count // 2, form) != decode(count // 2, form) and form.has_sign:
        # The only NaN stands where -0 would: it is negative, so before all numbers.
        keys = [-count if bits == count // 2 else k for bits, k in zip(chosen, keys, strict=True)]
    for turn in (0, 1, 7, len(rows) // 2):
        other = np.roll(rows, turn)
        turned = [keys[(n - turn) % len(keys)] for n in range(len(keys))]
        for direction, holds in COMPARED.items():
            attributes = f", direction={direction}, type=TOTALORDER"
            found = computed(
                "compare", element_type.name, rows, other, result="pred", attributes=attributes
            )
            assert found.tolist() == list(map(holds, keys, turned)), (direction, turn)


def test_total_order_knows_the_sign_of_wide_nan() -> None:
    ordered = held([-NAN, -INF, -1, -5e-324, -0.0, 0.0, 5e-324, 1, INF, NAN], "f64")
    ordered[0] = np.copysign(NAN, -1)
    found = computed(
        "compare", "f64", ordered[:-1], ordered[1:],
        result="pred", attributes=", direction=LT, type=TOTALORDER",
    )  # fmt: skip
    assert found.all()


def test_floats_of_two_widths_are_compared_and_added_exactly() -> None:
    text = entry(
        "a = f16[2] parameter(0)\nb = f32[2] parameter(1)\n"
        "s = f32[2] add(a, b)\nc = pred[2] compare(a, b), direction=LT\n"
        "ROOT t = (f32[2], pred[2]) tuple(s, c)"
    )
    total, less = evaluated(text, held([1, 2], "f16"), held([2**-20, 2 + 2**-20], "f32"))
    assert total.tolist() == [1 + 2**-20, 4 + 2**-20]
    assert less.tolist() == [False, True]


@pytest.mark.parametrize("name", ["f32", "s4", "bf16", "f4e2m1fn", "c64", "pred"])
def test_select_takes_elements(name: str) -> None:
    one, other = held([1, 2, 0], name), held([0, 1, 2], name)
    flags = np.array([True, False, True])
    text = entry(
        f"p = pred[3] parameter(0)\na = {name}[3] parameter(1)\nb = {name}[3] parameter(2)\n"
        f"ROOT r = {name}[3] select(p, a, b)"
    )
    found = evaluated(text, flags, one, other)
    assert found.dtype == one.dtype
    assert found.tolist() == [one[0], other[1], one[2]]


def test_select_of_tuples_by_a_scalar() -> None:
    module = parse(
        entry(
            "p = pred[] parameter(0)\na = (f32[], s32[2]) parameter(1)\n"
            "b = (f32[], s32[2]) parameter(2)\nROOT r = (f32[], s32[2]) select(p, a, b)"
        )
    )
    one = (np.array(1, np.float32), held([1, 1], "s32"))
    other = (np.array(2, np.float32), held([2, 2], "s32"))
    for flag, wanted in ((True, one), (False, other)):
        found = evaluate_module(module, [np.array(flag), one, other])
        assert [part.tolist() for part in found] == [part.tolist() for part in wanted]


def test_complex_is_made_of_any_parts() -> None:
    parts = held([[-0.0, INF, NAN, 1], [INF, NAN, -0.0, -2]], "f32")
    found = computed("complex", "f32", *parts, result="c64")
    assert found.dtype == np.complex64
    assert same(found.real, parts[0])
    assert same(found.imag, parts[1])


@pytest.mark.parametrize(
    ("opcode", "one", "other", "wanted"),
    [
        ("add", 1 + 2j, 3 - 1j, 4 + 1j),
        ("subtract", 1 + 2j, 3 - 1j, -2 + 3j),
        ("multiply", 1 + 2j, 3 - 1j, 5 + 5j),
        ("divide", 5 + 5j, 3 - 1j, 1 + 2j),
        ("divide", 1 + 1j, complex(INF, 2), 0),
        ("divide", complex(INF, 1), 2 + 1j, complex(INF, -INF)),
        ("divide", complex(INF, NAN), 2 + 1j, complex(INF, -INF)),
        ("divide", 3 - 2j, 0, complex(INF, -INF)),
        ("divide", 1, complex(NAN, NAN), complex(NAN, NAN)),
        ("power", 1, complex(NAN, NAN), 1),
        ("power", complex(NAN, 1), 0, 1),
        ("power", 0, 2, 0),
        ("power", 0, 0, 1),
        ("power", complex(INF, 0), 2, INF),
        ("power", complex(INF, 0), -2, 0),
        ("power", 2j, 2, -4),
        ("power", -1, 0.5, 1j),
        ("atan2", 1, 1, math.pi / 4),
        ("atan2", 0, -1, math.pi),
        ("atan2", 2j, 1, complex(math.pi / 2, math.log(3) / 2)),
    ],
)
@pytest.mark.parametrize("name", ["c64", "c128"])
def test_complex_numbers(
    name: str, opcode: str, one: complex, other: complex, wanted: complex
) -> None:
    (found,) = computed(opcode, name, held([one], name), held([other], name))
    tolerance = 1e-6 if name == "c64" else 1e-14
    for ours, theirs in zip((found.real, found.imag), (wanted.real, wanted.imag), strict=True):
        assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance, nan_ok=True)


def test_sizes_that_have_come_to_differ_are_refused() -> None:
    text = entry(
        "a = f32[<=4] parameter(0)\nb = f32[<=4] parameter(1)\nROOT r = f32[<=4] add(a, b)"
    )
    assert evaluated(text, held([1, 2], "f32"), held([3, 4], "f32")).tolist() == [4, 6]
    with pytest.raises(EvaluationError, match=r"add: operands have sizes \[1\] and \[2\]"):
        evaluated(text, held([1, 2], "f32"), held([3], "f32"))


def test_operands_are_left_as_they_are() -> None:
    one, other = held([1, -2], "f32"), held([3, 4], "f32")
    for opcode in ("add", "maximum", "power", "atan2"):
        computed(opcode, "f32", one, other)
    assert one.tolist() == [1, -2]
    assert other.tolist() == [3, 4]
