"""Which taps of a convolution's kernel meet elements."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.codegen.indexing.places import increased, quotient, scaled
from hlotool.codegen.kernels.convolutions.axes import Axis
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter


@dataclass(frozen=True)
class Taps:
    """The taps that count at a position: from `low` to the one before `high`."""

    low: Value
    high: Value
    may_be_none: bool = False

    @property
    def count(self) -> int | None:
        """How many they are, where that is known."""
        if self.low.integer is None or self.high.integer is None:
            return None
        return max(0, self.high.integer - self.low.integer)


def taps_at(function: FunctionWriter, axis: Axis, position: Value, *, inner: bool) -> Taps:
    """Writes which taps count at a position of an axis; all of them where it is an inner one."""
    zero, taps = constant("i64", 0), constant("i64", axis.taps)
    if inner or len(axis.inner()) == axis.count:
        return Taps(zero, taps)
    if position.integer is not None:
        met = [tap for tap in range(axis.taps) if axis.is_met(position.integer, tap)]
        low, high = (met[0], met[-1] + 1) if met else (0, 0)
        return Taps(constant("i64", low), constant("i64", high))
    begin = increased(function, scaled(function, position, axis.step), axis.first)
    before = function.intrinsic("smax", function.binary("sub", zero, begin), zero)
    rest = function.binary("sub", constant("i64", axis.size), begin)
    after = function.intrinsic("smax", rest, zero)
    first = _rounded_up(function, before, axis.tap_step)
    behind = function.intrinsic("smin", _rounded_up(function, after, axis.tap_step), taps)
    return Taps(first, behind, _may_be_none(axis))


def _may_be_none(axis: Axis) -> bool:
    last_place = axis.first + axis.step * (axis.count - 1)
    end_of_first = axis.first + axis.tap_step * (axis.taps - 1)
    return end_of_first < 0 or last_place >= axis.size or axis.tap_step > axis.size


def _rounded_up(function: FunctionWriter, value: Value, divisor: int) -> Value:
    return quotient(function, increased(function, value, divisor - 1), divisor)
