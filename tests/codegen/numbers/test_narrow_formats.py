"""Bits of narrow floats from `f32` and `f64`, and back, against exact rational arithmetic."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.math.number import Integer, Number
from hlotool.codegen.numbers.narrow_formats import decoded, encoded, single_to_odd
from hlotool.codegen.numbers.rounding import from_bits, rounded, to_bits
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.float_format import decode, encode, is_nan
from tests.codegen.compiling import Array, Compiled, applied, elementwise, module_text

NARROW = [one for one in ELEMENT_TYPES.values() if one.is_float and one.bits < 32]
GENERIC = [one for one in NARROW if one.name != "bf16"]


def _written(element_type: ElementType, lanes: int) -> Compiled:
    form = element_type.float_format
    assert form is not None

    def write_bits(writer: FunctionWriter, value: Value) -> Value:
        return encoded(Number(writer, value), form).value

    def write_number(writer: FunctionWriter, bits: Value) -> Value:
        return decoded(Integer(writer, bits), form).value

    return Compiled(
        module_text(
            elementwise("encode", write_bits, ["float"], ["i32"], lanes),
            elementwise("decode", write_number, ["i32"], ["float"], lanes),
        )
    )


def _points(element_type: ElementType) -> Array:
    """Returns f32 numbers: all of a type of 8 bits, what lies half way, and next to that."""
    form = element_type.float_format
    assert form is not None
    patterns: Sequence[int] = range(1 << element_type.bits)
    if element_type.bits == 16:
        patterns = range(0, 1 << 16, 37)
    numbers = np.unique([number for number in (decode(p, form) for p in patterns) if
                         np.isfinite(number)])  # fmt: skip
    middles = ((numbers[1:] + numbers[:-1]) / 2).astype(np.float32)
    singles = np.concatenate([numbers.astype(np.float32), middles])
    ends = np.array([0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-40, -1e-45], np.float32)
    above, below = (np.nextafter(singles, np.float32(end)) for end in (np.inf, -np.inf))
    with np.errstate(over="ignore"):
        return np.concatenate([singles, above, below, 2 * singles, ends])


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("element_type", GENERIC, ids=str)
def test_rounding_is_to_nearest(element_type: ElementType, lanes: int) -> None:
    form = element_type.float_format
    assert form is not None
    points = _points(element_type)
    (found,) = applied(_written(element_type, lanes), "encode", [points], ["i32"], lanes)
    wanted = [encode(float(number), form) for number in points]
    for number, ours, theirs in zip(points, found, wanted, strict=True):
        same_nan = is_nan(int(ours), form) and is_nan(theirs, form)
        assert ours == theirs or same_nan, float(number)


@pytest.mark.parametrize("element_type", GENERIC, ids=str)
def test_bits_are_the_numbers_that_they_mean(element_type: ElementType) -> None:
    form = element_type.float_format
    assert form is not None
    patterns = np.arange(1 << element_type.bits, dtype=np.int32)
    (found,) = applied(_written(element_type, 8), "decode", [patterns], ["float"], 8)
    wanted = np.array([decode(int(bits), form) for bits in patterns], np.float32)
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


def test_a_double_is_rounded_to_an_odd_single() -> None:
    generator = np.random.default_rng(1)
    numbers = generator.standard_normal(997) * 2.0 ** generator.integers(-170, 170, 997)
    numbers = np.concatenate([numbers, [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, 1e300, 5e-324]])
    compiled = Compiled(
        module_text(
            elementwise(
                "odd", lambda w, v: single_to_odd(Number(w, v)).value, ["double"], ["float"], 8
            )
        )
    )
    (found,) = applied(compiled, "odd", [numbers], ["float"], 8)
    for number, single in zip(numbers, found, strict=True):
        back = float(single)
        if back == number or np.isnan(number):
            assert back == number or np.isnan(back)
            continue
        (bits,) = struct.unpack("<I", struct.pack("<f", back))
        assert bits & 1
        # It is one of the two singles that the number lies between.
        with np.errstate(over="ignore"):
            step = np.nextafter(single, np.float32(np.inf if back < number else -np.inf))
        assert min(back, float(step)) < number < max(back, float(step))


@pytest.mark.parametrize("element_type", NARROW, ids=str)
@pytest.mark.parametrize("native", [frozenset[str](), frozenset({"half"})])
def test_known_bits_are_not_computed_again(
    element_type: ElementType, native: frozenset[str]
) -> None:
    writer = FunctionWriter("f", [], native=native)
    bits = Value("%bits", f"i{8 * element_type.storage_bytes}", 8)
    value = from_bits(writer, element_type, bits)
    before = len(writer.finished())
    assert to_bits(writer, element_type, value) is bits
    assert rounded(writer, element_type, value) is value
    assert len(writer.finished()) == before


@pytest.mark.parametrize("element_type", NARROW, ids=str)
def test_bits_of_what_a_loop_has_left_are_known_behind_it(element_type: ElementType) -> None:
    writer = FunctionWriter("f", [Argument("ptr", "numbers"), Argument("ptr", "bits")])
    begin, end = writer.integer(0), writer.integer(3)
    with writer.loop(begin, end, carried=[constant("float", 1.0)]) as loop:
        number = writer.load_again(writer.argument(0), "float")
        total = writer.binary("fadd", loop.carried[0], number)
        loop.next = (rounded(writer, element_type, total),)
    kind = f"i{element_type.storage_bytes}"
    bits = to_bits(writer, element_type, loop.results[0])
    writer.store(bits, writer.argument(1))
    found = np.zeros(1, kind)
    Compiled(module_text(writer).replace("define internal", "define")).call(
        "f", np.zeros(1, "f4"), found
    )
    assert element_type.float_format is not None
    wanted = encode(1.0, element_type.float_format)
    assert int(found[0]) & (1 << element_type.bits) - 1 == wanted


@pytest.mark.parametrize("element_type", NARROW, ids=str)
def test_a_rounded_value_is_stored_without_rounding(element_type: ElementType) -> None:
    writer = FunctionWriter("f", [])
    number = rounded(writer, element_type, Value("%number", "float", 8))
    before = len(writer.finished())
    to_bits(writer, element_type, number)
    # Of a bf16 they are moved down and cut off.
    assert len(writer.finished()) - before == (2 if element_type.name == "bf16" else 0)
