"""Quotients, remainders, powers and high halves of products of integers."""

from __future__ import annotations

from hlotool.codegen.elements.elementwise import INTEGERS, Operands, formula
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.conversion import resized
from hlotool.codegen.numbers.lanes import greatest_lane
from hlotool.ops.elementwise import Divide, Mulhi, Power, Remainder


@formula(Divide, kinds=INTEGERS)
def _quotient(given: Operands) -> Value:
    """Writes the quotient cut towards zero; all bits are set where the divisor is 0."""
    function, (one, other) = given.function, _wide(given)
    found = _safe_quotient(given, one, other)
    is_nothing = function.compare("eq", other, constant(other.type, 0))
    found = function.select(is_nothing, constant(other.type, -1), found)
    return _narrow(given, found)


@formula(Remainder, kinds=INTEGERS)
def _remainder(given: Operands) -> Value:
    """Writes what division leaves, with the sign of the dividend, which is left of 0."""
    function, (one, other) = given.function, _wide(given)
    # A quotient by 0 is some number, but its product with 0 is 0.
    whole = function.binary("mul", _safe_quotient(given, one, other), other)
    return _narrow(given, function.binary("sub", one, whole))


def _wide(given: Operands) -> tuple[Value, Value]:
    """Writes both operands in at least 32 bits."""
    signed, lane = given.type.is_signed, f"i{max(32, given.type.bits)}"
    one, other = (
        resized(given.function, value, lane, signed=signed)
        if value.integer is None or value.type == "i1"
        else constant(lane, value.integer)
        for value in given.values
    )
    return one, other


def _narrow(given: Operands, value: Value) -> Value:
    return given.function.cast("trunc", value, given.values[0].type)


def _safe_quotient(given: Operands, one: Value, other: Value) -> Value:
    """Writes a quotient; some number where the divisor is 0, MIN where -1 divides that."""
    function, signed = given.function, given.type.is_signed
    opcode = "sdiv" if signed else "udiv"
    if other.integer is not None and other.integer > 0:
        # LLVM makes a product of it.
        return _division(function, opcode, one, other)
    is_unsafe = function.compare("eq", other, constant(other.type, 0))
    if signed:
        is_minus_one = function.compare("eq", other, constant(other.type, -1))
        is_least = function.compare("eq", one, constant(one.type, -(1 << (_bits(one) - 1))))
        is_unsafe = function.binary("or", is_unsafe, function.binary("and", is_minus_one, is_least))
    safe = function.select(is_unsafe, constant(other.type, 1), other)
    lanes = max(one.lanes, safe.lanes)
    if lanes == 1 or given.type.bits > 32:
        return _division(function, opcode, one, safe)
    return _through_floats(given, one, safe)


def _through_floats(given: Operands, one: Value, other: Value) -> Value:
    """Writes a quotient of lanes, which processors divide only as floats.

    Of integers of up to 16 bits the nearest `float` to a quotient is never beyond the next
    whole number, of 32 bits the nearest `double`.
    """
    function, signed = given.function, given.type.is_signed
    is_short = given.type.bits <= 16
    lane = "float" if is_short else "double"
    opcode = "sitofp" if signed or is_short else "uitofp"
    dividend, divisor = (function.cast(opcode, value, lane) for value in (one, other))
    found = function.binary("fdiv", dividend, divisor, flags="")
    return function.cast("fptosi" if signed or is_short else "fptoui", found, one.type)


def _division(function: FunctionWriter, opcode: str, one: Value, other: Value) -> Value:
    # The divisor cannot make it fault, so it need not stay inside the branch it stands in.
    one, other = function.together(one, other)
    text = f"{opcode} {one.text}, {other.name}"
    return function.pure(text, (one, other), one.type, one.lanes)


def _bits(value: Value) -> int:
    return int(value.type[1:])


@formula(Mulhi, kinds=INTEGERS)
def _high_half(given: Operands) -> Value:
    """Writes the upper half of the product in twice the width."""
    function, (one, other) = given.function, given.values
    bits, signed = given.type.bits, given.type.is_signed
    if bits < 64:
        lane = f"i{max(32, 2 * bits)}"
        one, other = (resized(function, value, lane, signed=signed) for value in (one, other))
        total = function.binary("mul", one, other)
        high = function.binary("lshr", total, constant(lane, bits))
        return function.cast("trunc", high, given.values[0].type)
    high = _high_word(function, one, other)
    if signed:
        # A negative number counts 2^64 too much as an unsigned factor of the other.
        for factor, sign in ((one, other), (other, one)):
            mask = function.binary("ashr", sign, constant("i64", 63))
            high = function.binary("sub", high, function.binary("and", mask, factor))
    return high


def _high_word(function: FunctionWriter, one: Value, other: Value) -> Value:
    half, low = constant("i64", 32), constant("i64", 0xFFFFFFFF)
    one_low, other_low = (function.binary("and", value, low) for value in (one, other))
    one_high, other_high = (function.binary("lshr", value, half) for value in (one, other))
    lowest = function.binary("lshr", function.binary("mul", one_low, other_low), half)
    first = function.binary("add", function.binary("mul", one_high, other_low), lowest)
    second = function.binary("mul", one_low, other_high)
    second = function.binary("add", second, function.binary("and", first, low))
    high = function.binary("mul", one_high, other_high)
    for part in (first, second):
        high = function.binary("add", high, function.binary("lshr", part, half))
    return high


@formula(Power, kinds=INTEGERS)
def _power(given: Operands) -> Value:
    """Writes the low bits of powers; 1 / base cut towards zero decides negative exponents."""
    function, (base, exponent) = given.function, _alike(given)
    if exponent.integer is not None and exponent.integer >= 0:
        return _narrow(given, _constant_power(function, base, exponent.integer))
    if not given.type.is_signed:
        return _narrow(given, _computed_power(function, base, exponent))
    zero, one = constant(base.type, 0), constant(base.type, 1)
    is_negative = function.compare("slt", exponent, zero)
    rest = function.select(is_negative, zero, exponent)
    found = _computed_power(function, base, rest)
    odd = function.binary("and", exponent, one)
    # Of -1 the powers are 1 and -1 in turn, of numbers further from 0 nothing is left.
    of_minus_one = function.binary("sub", one, function.binary("shl", odd, one))
    is_minus_one = function.compare("eq", base, constant(base.type, -1))
    inverse = function.select(is_minus_one, of_minus_one, zero)
    inverse = function.select(function.compare("eq", base, one), one, inverse)
    return _narrow(given, function.select(is_negative, inverse, found))


def _alike(given: Operands) -> tuple[Value, Value]:
    """Writes both operands with as many lanes, in at least 32 bits."""
    one, other = _wide(given)
    if other.integer is None:
        one, other = given.function.together(one, other)
    return one, other


def _constant_power(function: FunctionWriter, base: Value, exponent: int) -> Value:
    found, square = constant(base.type, 1, base.lanes), base
    while exponent:
        if exponent & 1:
            found = function.binary("mul", found, square)
        square = function.binary("mul", square, square)
        exponent >>= 1
    return found


def _computed_power(function: FunctionWriter, base: Value, exponent: Value) -> Value:
    """Writes a power by squares, in as many rounds as the largest exponent has bits."""
    one, zero = constant(base.type, 1), constant(base.type, 0)
    most = greatest_lane(function, exponent, signed=False)
    most = function.binary("or", most, one)
    zeros = function.bit_count("ctlz", most)
    count = function.binary("sub", constant(base.type, _bits(base)), zeros)
    rounds = resized(function, count, "i64", signed=False)
    first = function.splat(one, base.lanes)
    exponent = function.splat(exponent, base.lanes)
    with function.loop(constant("i64", 0), rounds, carried=[first, base, exponent]) as loop:
        found, square, rest = loop.carried
        is_odd = function.compare("ne", function.binary("and", rest, one), zero)
        more = function.select(is_odd, function.binary("mul", found, square), found)
        squared = function.binary("mul", square, square)
        loop.next = (more, squared, function.binary("lshr", rest, one))
    return loop.results[0]
