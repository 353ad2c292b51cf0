"""Axes in pieces of one or two sizes, and code for the piece that an item of work is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter


@dataclass(frozen=True)
class Cuts:
    """An axis in pieces: some of one size, then some of a smaller one."""

    first_count: int
    first_size: int
    second_count: int = 0
    second_size: int = 0

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return self.first_count + self.second_count


def even_cuts(extent: int, most: int) -> Cuts:
    """Returns pieces of at most a size, which differ by at most one."""
    count = -(-extent // most)
    small, larger = divmod(extent, count)
    if not larger:
        return Cuts(count, small)
    return Cuts(larger, small + 1, count - larger, small)


def equal_cuts(extent: int, most: int) -> Cuts:
    """Returns pieces of one size, which may be half of the most; else those of `even_cuts`."""
    for size in range(most, most // 2, -1):
        if extent % size == 0:
            return Cuts(extent // size, size)
    return even_cuts(extent, most)


def full_cuts(extent: int, size: int) -> Cuts:
    """Returns pieces of a size, and a smaller last one."""
    count, rest = divmod(extent, size)
    if not count:
        return Cuts(1, rest)
    return Cuts(count, size, 1 if rest else 0, rest)


def cut_start(function: FunctionWriter, cuts: Cuts, number: Value) -> Value:
    """Writes where a piece of an axis begins."""
    if not cuts.second_count:
        return function.binary("mul nsw", number, constant("i64", cuts.first_size))
    larger = function.intrinsic("smin", number, constant("i64", cuts.first_count))
    more = constant("i64", cuts.first_size - cuts.second_size)
    extra = function.binary("mul nsw", larger, more)
    each = function.binary("mul nsw", number, constant("i64", cuts.second_size))
    return function.binary("add nsw", each, extra)


def by_size(
    function: FunctionWriter, cuts: Cuts, number: Value, write: Callable[[int], None]
) -> None:
    """Writes code for the size that a piece has; the size is known in it."""
    if not cuts.second_count:
        write(cuts.first_size)
        return
    is_first = function.compare("slt", number, constant("i64", cuts.first_count))
    function.branch(is_first, lambda: write(cuts.first_size), lambda: write(cuts.second_size))
