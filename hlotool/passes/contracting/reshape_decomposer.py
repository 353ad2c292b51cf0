"""Reshapes that move nothing in memory, and copies for what must move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_changing import Reshape
from hlotool.passes.contracting.products import has_known_sizes
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reshape-decomposer")


@patterns.rewrites(Reshape)
def copy_and_bitcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """reshape(x{0,1}){0} -> reshape(copy(x){1,0}){0}"""
    if not has_known_sizes(instruction):
        return None
    (operand,) = instruction.operands
    given, wanted = array_shape(operand), array_shape(instruction)
    if given.layout.has_tail or wanted.layout.has_tail or _moves_nothing(given, wanted):
        return None
    source = build.in_layout(operand, given.with_default_layout())
    plain = build.add(Reshape(), source, shape=wanted.with_default_layout())
    return build.in_layout(plain, wanted)


def _moves_nothing(given: ArrayShape, wanted: ArrayShape) -> bool:
    """Whether a reshape leaves every element where it is in memory."""
    if given.element_count == 0:
        return True
    starts = _starts_of_groups(given.dimensions, wanted.dimensions)
    ours = _order_of_groups(given, [one for one, _ in starts])
    theirs = _order_of_groups(wanted, [other for _, other in starts])
    return ours is not None and ours == theirs


def _starts_of_groups(one: Sequence[int], other: Sequence[int]) -> list[tuple[int, int]]:
    """Returns where the shortest groups of dimensions begin that have equally many elements."""
    starts = []
    first = second = 0
    ours = theirs = 1
    while first < len(one) or second < len(other):
        if ours == theirs:
            starts.append((first, second))
        if second == len(other) or (first < len(one) and ours <= theirs):
            ours *= one[first]
            first += 1
        else:
            theirs *= other[second]
            second += 1
    return starts


def _order_of_groups(shape: ArrayShape, starts: Sequence[int]) -> list[int] | None:
    """Returns the groups as they lie in memory, the major one first.

    `None` where a group is not row-major in itself. Dimensions of size 1 lie nowhere.
    """
    order = [d for d in reversed(shape.layout.minor_to_major) if shape.dimensions[d] != 1]
    groups: list[int] = []
    for place, dimension in enumerate(order):
        group = sum(start <= dimension for start in starts)
        if groups and groups[-1] == group:
            if order[place - 1] > dimension:
                return None
        elif group in groups:
            return None
        else:
            groups.append(group)
    return groups


@dataclass(frozen=True)
class ReshapeDecomposer(PatternPass):
    """Makes reshapes that move elements in memory copies and reshapes that move none."""

    name: ClassVar[str] = "reshape-decomposer"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
