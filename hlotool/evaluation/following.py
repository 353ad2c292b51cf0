"""Follows values through instructions: who made a part of one, what passes parts on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import Shape, TupleShape

Index: TypeAlias = tuple[int, ...]
"""Which part of a value: positions in tuples, from the outermost on."""


def passed(instruction: Instruction, index: Index) -> tuple[int, Index] | None:
    """Returns the operand that has a part of an instruction's value as it is, and where in it."""
    return instruction.op.passes(index, len(instruction.operands))


def maker(instruction: Instruction, index: Index) -> tuple[Instruction, Index]:
    """Returns the instruction that made a part of the value of another one, and which part."""
    while (found := passed(instruction, index)) is not None:
        number, index = found
        instruction = instruction.operands[number]
    return instruction, index


def part_of(value: Any, index: Index) -> Any:
    """Returns a part of something that is built as values are; all parts of `None` are `None`."""
    for position in index:
        if value is None:
            return None
        value = value[position]
    return value


def with_passed(instruction: Instruction, operands: Sequence[Any], made: Callable[[], Any]) -> Any:
    """Returns what is known of an instruction's value, by what is known of its operands.

    It is built as values are, and `made` is asked, once at most, for parts that no operand has.
    """
    made_once = cache(made)

    def part(shape: Shape, index: Index) -> Any:
        found = passed(instruction, index)
        if found is not None:
            number, within = found
            return part_of(operands[number], within)
        if isinstance(shape, TupleShape):
            return tuple(part(one, (*index, n)) for n, one in enumerate(shape.elements))
        return part_of(made_once(), index)

    return part(instruction.shape, ())


def compared_operands(comparator: Computation) -> set[int]:
    """Returns the numbers of the operands of a sort whose elements a comparator looks at."""
    found = set()
    seen = {comparator.root}
    waiting = [comparator.root]
    while waiting:
        instruction = waiting.pop()
        if instruction.op.parameter_number is not None:
            found.add(instruction.op.parameter_number // 2)
        fresh = set(instruction.operands) - seen
        seen |= fresh
        waiting += fresh
    return found
