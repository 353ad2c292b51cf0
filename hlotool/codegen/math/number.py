"""Floats, integers and conditions of a function that is written, with Python's operators.

They make formulas read as such. Each operation is one instruction without fast-math flags,
whatever flags the function has: these formulas rely on every rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hlotool.codegen.llvm.value import Value, constant, constant_of_text
from hlotool.codegen.llvm.writer import FunctionWriter, type_code


@dataclass(frozen=True, slots=True)
class Format:
    """What formulas need to know of a float type."""

    lane: str
    integer: str
    """The integer type of the same width."""
    bits: int
    mantissa: int
    """Bits of the significand that are stored."""
    bias: int
    magic: float
    """1.5 * 2^mantissa: a small number added to it is rounded to an integer in its low bits."""
    least: float
    """The least normal number."""

    @property
    def sign(self) -> int:
        """The integer with the sign bit alone."""
        return -(1 << (self.bits - 1))

    @property
    def one(self) -> int:
        """The bits of 1."""
        return self.bias << self.mantissa


SINGLE = Format("float", "i32", 32, 23, 127, 1.5 * 2.0**23, 2.0**-126)
DOUBLE = Format("double", "i64", 64, 52, 1023, 1.5 * 2.0**52, 2.0**-1022)
FORMATS = {"float": SINGLE, "double": DOUBLE}


@dataclass(frozen=True, slots=True)
class Condition:
    """A truth value in each lane."""

    writer: FunctionWriter
    value: Value

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.writer, self.writer.binary("and", self.value, other.value))

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.writer, self.writer.binary("or", self.value, other.value))

    def __invert__(self) -> Condition:
        whole = constant("i1", 1, self.value.lanes)
        return Condition(self.writer, self.writer.binary("xor", self.value, whole))

    def choose(self, yes: Number | float, no: Number | float) -> Number:
        """Returns `yes` in the lanes where this holds, else `no`; one must be a `Number`."""
        model = yes if isinstance(yes, Number) else no
        assert isinstance(model, Number), "one side says what the type is"
        found = self.writer.select(self.value, model.alike(yes).value, model.alike(no).value)
        return Number(self.writer, found)

    def choose_integer(self, yes: Integer, no: Integer | int) -> Integer:
        """Returns `yes` in the lanes where this holds, else `no`."""
        return Integer(self.writer, self.writer.select(self.value, yes.value, yes.alike(no).value))

    def any_lane(self) -> Value:
        """Returns whether it holds in at least one lane, as a single `i1`."""
        if self.value.lanes == 1:
            return self.value
        name = f"@llvm.vector.reduce.or.{type_code('i1', self.value.lanes)}"
        self.writer.declarations.add(f"declare i1 {name}({self.value.full_type})")
        return self.writer.pure(f"call i1 {name}({self.value.text})", (self.value,), "i1", 1)


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer in each lane; arithmetic wraps."""

    writer: FunctionWriter
    value: Value

    def alike(self, number: Integer | int) -> Integer:
        """Returns a constant of this type and these lanes; an `Integer` as it is."""
        if isinstance(number, Integer):
            return number
        found = constant_of_text(self.value.type, str(number), self.value.lanes)
        return Integer(self.writer, found)

    def _binary(self, opcode: str, other: Integer | int) -> Integer:
        found = self.writer.binary(opcode, self.value, self.alike(other).value)
        return Integer(self.writer, found)

    def __add__(self, other: Integer | int) -> Integer:
        return self._binary("add", other)

    def __sub__(self, other: Integer | int) -> Integer:
        return self._binary("sub", other)

    def __mul__(self, other: Integer | int) -> Integer:
        return self._binary("mul", other)

    def __neg__(self) -> Integer:
        return self.alike(0) - self

    def __and__(self, other: Integer | int) -> Integer:
        return self._binary("and", other)

    def __or__(self, other: Integer | int) -> Integer:
        return self._binary("or", other)

    def __xor__(self, other: Integer | int) -> Integer:
        return self._binary("xor", other)

    def __lshift__(self, other: Integer | int) -> Integer:
        return self._binary("shl", other)

    def __rshift__(self, other: Integer | int) -> Integer:
        """Shifts zeros in from above."""
        return self._binary("lshr", other)

    def shifted_signed(self, count: int) -> Integer:
        """Returns the bits moved down, filled with copies of the sign."""
        return self._binary("ashr", count)

    def compare(self, predicate: str, other: Integer | int) -> Condition:
        """Returns a comparison: `eq`, `slt`, `ugt`."""
        found = self.writer.compare(predicate, self.value, self.alike(other).value)
        return Condition(self.writer, found)

    def as_float(self) -> Number:
        """Returns the float with these bits."""
        lane = "float" if self.value.type == "i32" else "double"
        return Number(self.writer, self.writer.cast("bitcast", self.value, lane))

    def to_float(self, lane: str, *, signed: bool = True) -> Number:
        """Returns the nearest float to the integer."""
        opcode = "sitofp" if signed else "uitofp"
        return Number(self.writer, self.writer.cast(opcode, self.value, lane))

    def cast(self, opcode: str, lane: str) -> Integer:
        """Returns it in another width, by `trunc`, `zext` or `sext`."""
        return Integer(self.writer, self.writer.cast(opcode, self.value, lane))


@dataclass(frozen=True, slots=True)
class Number:
    """A float in each lane."""

    writer: FunctionWriter
    value: Value

    @property
    def format(self) -> Format:
        """What is known of its type."""
        return FORMATS[self.value.type]

    @property
    def is_single(self) -> bool:
        """Whether the lanes are `float`."""
        return self.value.type == "float"

    def alike(self, number: Number | float) -> Number:
        """Returns a constant of this type and these lanes; a `Number` as it is."""
        if isinstance(number, Number):
            return number
        return Number(self.writer, constant(self.value.type, number, self.value.lanes))

    def _binary(self, opcode: str, other: Number | float) -> Number:
        found = self.writer.binary(opcode, self.value, self.alike(other).value, flags="")
        return Number(self.writer, found)

    def __add__(self, other: Number | float) -> Number:
        return self._binary("fadd", other)

    def __sub__(self, other: Number | float) -> Number:
        return self._binary("fsub", other)

    def __mul__(self, other: Number | float) -> Number:
        return self._binary("fmul", other)

    def __truediv__(self, other: Number | float) -> Number:
        return self._binary("fdiv", other)

    def __radd__(self, other: float) -> Number:
        return self.alike(other) + self

    def __rsub__(self, other: float) -> Number:
        return self.alike(other) - self

    def __rmul__(self, other: float) -> Number:
        return self.alike(other) * self

    def __rtruediv__(self, other: float) -> Number:
        return self.alike(other) / self

    def __neg__(self) -> Number:
        return Number(self.writer, self.writer.negative(self.value))

    def _compare(self, predicate: str, other: Number | float) -> Condition:
        found = self.writer.compare(predicate, self.value, self.alike(other).value)
        return Condition(self.writer, found)

    def __lt__(self, other: Number | float) -> Condition:
        return self._compare("olt", other)

    def __gt__(self, other: Number | float) -> Condition:
        return self._compare("ogt", other)

    def __le__(self, other: Number | float) -> Condition:
        return self._compare("ole", other)

    def __ge__(self, other: Number | float) -> Condition:
        return self._compare("oge", other)

    def equals(self, other: Number | float) -> Condition:
        """Returns whether both are numbers and equal."""
        return self._compare("oeq", other)

    def is_nan(self) -> Condition:
        """Returns whether it is NaN."""
        return self._compare("uno", self)

    def is_negative(self) -> Condition:
        """Returns whether the sign bit is set, of -0 and NaN as well."""
        return self.bits().compare("slt", 0)

    def fma(self, factor: Number | float, addend: Number | float) -> Number:
        """Returns self * factor + addend, rounded once."""
        operands = (self.value, self.alike(factor).value, self.alike(addend).value)
        return Number(self.writer, self.writer.intrinsic("fma", *operands))

    def _of_intrinsic(self, name: str, *others: Number) -> Number:
        values = [other.value for other in others]
        return Number(self.writer, self.writer.intrinsic(name, self.value, *values))

    def size(self) -> Number:
        """Returns the absolute value."""
        return self._of_intrinsic("fabs")

    def root(self) -> Number:
        """Returns the square root, correctly rounded."""
        return self._of_intrinsic("sqrt")

    def with_sign(self, other: Number) -> Number:
        """Returns this size with the sign of another number."""
        return self._of_intrinsic("copysign", other)

    def whole(self) -> Number:
        """Returns the nearest whole number, halves to the even one."""
        return self._of_intrinsic("roundeven")

    def cut(self) -> Number:
        """Returns the whole number next to it towards zero."""
        return self._of_intrinsic("trunc")

    def floor(self) -> Number:
        """Returns the greatest whole number that is not greater."""
        return self._of_intrinsic("floor")

    def at_least(self, bound: float) -> Number:
        """Returns the number, or the bound where it is below; NaN stays."""
        # In this form it is a single instruction of x86.
        return (self.alike(bound) > self).choose(bound, self)

    def at_most(self, bound: float) -> Number:
        """Returns the number, or the bound where it is above; NaN stays."""
        return (self.alike(bound) < self).choose(bound, self)

    def bits(self) -> Integer:
        """Returns the bits as an integer."""
        return Integer(self.writer, self.writer.cast("bitcast", self.value, self.format.integer))

    def widened(self) -> Number:
        """Returns it as `double`."""
        return Number(self.writer, self.writer.cast("fpext", self.value, "double"))

    def narrowed(self) -> Number:
        """Returns it as `float`, rounded."""
        return Number(self.writer, self.writer.cast("fptrunc", self.value, "float"))


def polynomial(point: Number, coefficients: Sequence[float]) -> Number:
    """Returns the value of a polynomial, lowest power first, by Horner's rule."""
    found = point.alike(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        found = found.fma(point, coefficient)
    return found


def two_sum(one: Number, other: Number) -> tuple[Number, Number]:
    """Returns the rounded sum and what rounding has lost, whichever is larger."""
    total = one + other
    back = total - one
    return total, (one - (total - back)) + (other - back)


def fast_two_sum(larger: Number, smaller: Number) -> tuple[Number, Number]:
    """Returns the rounded sum and what rounding has lost; the first is larger, or 0."""
    total = larger + smaller
    return total, smaller - (total - larger)


def two_product(one: Number, other: Number) -> tuple[Number, Number]:
    """Returns the rounded product and what rounding has lost."""
    product = one * other
    return product, one.fma(other, -product)


def branch(
    label: str,
    condition: Condition,
    then: Callable[[tuple[Number, ...]], Sequence[Number]],
    inputs: Sequence[Number],
    otherwise: Sequence[Number],
) -> tuple[Number, ...]:
    """Returns what `then` makes of the inputs where any lane asks for it, else the last ones.

    Inputs are passed on so that what is computed of them stays inside the branch. The branch
    stands in the outermost loop in which all that it needs is known, and only once for the same
    inputs; `label` says what is made of them.
    """
    writer = condition.writer

    def taken() -> list[Value]:
        values = (one.value for one in inputs)
        held = (writer.impure(f"freeze {one.text}", one.type, one.lanes) for one in values)
        return [one.value for one in then(tuple(Number(writer, one) for one in held))]

    def passed() -> list[Value]:
        return [one.value for one in otherwise]

    single = condition.any_lane()
    known = (single, *(one.value for one in (*inputs, *otherwise)))
    key = " ".join([label, *(value.name for value in known)])
    with writer.before(max(value.level for value in known)):
        found = writer.once(key, lambda: writer.branch(single, taken, passed))
    return tuple(Number(writer, one) for one in found)
