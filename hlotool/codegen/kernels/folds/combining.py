"""Ops that reducers are made of, on accumulators in registers: each with its identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.conversion import converted
from hlotool.codegen.numbers.element import Element, register_type
from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.op import Op
from hlotool.ops.elementwise import Add, And, Maximum, Minimum, Multiply, Or, Xor

_Parts: TypeAlias = tuple[Value, ...]
_Combine: TypeAlias = Callable[[FunctionWriter, _Parts, _Parts], _Parts]


@dataclass(frozen=True)
class Combining:
    """One op on accumulators of a type: how they start and how two become one."""

    type: ElementType
    start: _Parts
    """What changes nothing that it is combined with."""
    combine: _Combine
    """Writes an accumulator that has what two have."""

    @property
    def width(self) -> int:
        """How many values the accumulator is held in."""
        return len(self.start)

    def lifted(self, function: FunctionWriter, element: Element) -> _Parts:
        """Writes an element as an accumulator: integers of less than a byte are widened."""
        element = converted(function, element, self.type)
        opcode = "sext" if self.type.is_signed else "zext"
        return tuple(
            function.cast(opcode, part, first.type)
            for part, first in zip(element.parts, self.start, strict=True)
        )

    def finished(self, function: FunctionWriter, values: _Parts) -> Element:
        """Writes an accumulator as an element."""
        lane = register_type(self.type)
        if lane == "i1":
            value = function.compare("ne", values[0], constant(values[0].type, 0))
            return Element(self.type, (value,))
        if self.type.is_integer:
            return Element(self.type, (function.cast("trunc", values[0], lane),))
        return Element(self.type, values)


class _Extreme(Combining):
    """The greatest or least float: NaN wins, and -0 is less than 0.

    Comparisons do not tell zeros apart. But where the greatest is zero, no element is above it,
    so that one without a sign bit was 0: beside the value the signs are kept, and nothing else
    is done to each element.
    """

    def lifted(self, function: FunctionWriter, element: Element) -> _Parts:
        value = converted(function, element, self.type).value
        bits = function.cast("bitcast", value, self.start[1].type)
        return value, bits

    def finished(self, function: FunctionWriter, values: _Parts) -> Element:
        value, signs = values
        mask = constant(signs.type, -1 << (63 if signs.type == "i64" else 31))
        zero = function.cast("bitcast", function.binary("and", signs, mask), value.type)
        is_zero = function.compare("oeq", value, constant(value.type, 0.0))
        return Element(self.type, (function.select(is_zero, zero, value),))


def combining(op: type[Op], kind: ElementType) -> Combining | None:
    """Returns an op on accumulators of a type; `None` where there is none."""
    if kind.is_complex:
        return _of_complex(op, kind)
    if kind.is_float:
        return _of_floats(op, kind)
    return _of_integers(op, kind)


def _of_floats(op: type[Op], kind: ElementType) -> Combining | None:
    lane = register_type(kind)
    if op is Add:
        return Combining(kind, (constant(lane, -0.0),), _by("fadd"))
    if op is Multiply:
        return Combining(kind, (constant(lane, 1.0),), _by("fmul"))
    bits = "i64" if lane == "double" else "i32"
    if op is Maximum:
        start = constant(lane, float("-inf")), constant(bits, -1)
        return _Extreme(kind, start, _extreme("ogt", "and"))
    if op is Minimum:
        start = constant(lane, float("inf")), constant(bits, 0)
        return _Extreme(kind, start, _extreme("olt", "or"))
    return None


def _of_complex(op: type[Op], kind: ElementType) -> Combining | None:
    lane = register_type(kind)
    if op is Add:
        zero = constant(lane, -0.0)
        return Combining(kind, (zero, zero), _by("fadd"))
    if op is Multiply:
        return Combining(kind, (constant(lane, 1.0), constant(lane, 0.0)), _complex_product)
    return None


def _of_integers(op: type[Op], kind: ElementType) -> Combining | None:
    bits = max(8, kind.bits)
    signed = kind.is_signed
    least, most = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if kind is PRED:
        most = 1
    sign = "s" if signed else "u"
    found: dict[type[Op], tuple[int, _Combine]] = {
        Add: (0, _by("or" if kind is PRED else "add")),
        Multiply: (1, _by("and" if kind is PRED else "mul")),
        And: (1 if kind is PRED else -1, _by("and")),
        Or: (0, _by("or")),
        Xor: (0, _by("xor")),
        Maximum: (least, _called(f"{sign}max")),
        Minimum: (most, _called(f"{sign}min")),
    }
    if op not in found:
        return None
    start, combine = found[op]
    return Combining(kind, (constant(f"i{bits}", start),), combine)


def _by(opcode: str) -> _Combine:
    def combine(function: FunctionWriter, ours: _Parts, theirs: _Parts) -> _Parts:
        pairs = zip(ours, theirs, strict=True)
        return tuple(function.binary(opcode, one, other) for one, other in pairs)

    return combine


def _called(intrinsic: str) -> _Combine:
    def combine(function: FunctionWriter, ours: _Parts, theirs: _Parts) -> _Parts:
        return (function.intrinsic(intrinsic, ours[0], theirs[0]),)

    return combine


def _extreme(predicate: str, of_signs: str) -> _Combine:
    def combine(function: FunctionWriter, ours: _Parts, theirs: _Parts) -> _Parts:
        # A comparison with NaN fails: what was there stays, NaN too; a new NaN is taken in.
        (before, signs), (value, bits) = ours, theirs
        better = function.compare(predicate, value, before)
        kept = function.select(better, value, before)
        found = function.select(function.compare("uno", value, value), value, kept)
        return found, function.binary(of_signs, signs, bits)

    return combine


def _complex_product(function: FunctionWriter, ours: _Parts, theirs: _Parts) -> _Parts:
    (a, b), (c, d) = ours, theirs
    real = function.binary("fsub", function.binary("fmul", a, c), function.binary("fmul", b, d))
    imaginary = function.binary(
        "fadd", function.binary("fmul", a, d), function.binary("fmul", b, c)
    )
    return real, imaginary
