"""Sorts that keep equals in order, by a comparison of their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import resized_layout
from hlotool.ops.ordering import Sort
from hlotool.ops.source import Iota
from hlotool.passes.expanders.expander import Expander, index_type
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class StableSortExpander(Expander):
    """Lets stable sorts compare places where the comparator has no preference.

    An operand that numbers the places already is used, else one is added.
    """

    name: ClassVar[str] = "stable-sort-expander"
    is_exact: ClassVar[bool] = True

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a sort that must be stable."""
        return isinstance(instruction.op, Sort) and instruction.op.is_stable

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """sort(x), is_stable=true -> first element of sort(x, iota)"""
        sort = instruction.op
        assert isinstance(sort, Sort)
        operands = list(instruction.operands)
        numbered = _numbers_of_places(instruction, sort)
        if numbered is None:
            operands.append(_places(sort, array_shape(operands[0]), build))
            numbered = len(operands) - 1
        comparator = _with_places(instruction.calls[0], operands, numbered, build)
        made = build.add(sort.replace(is_stable=False), *operands, calls=[comparator])
        if len(operands) == len(instruction.operands):
            return made
        results = [build.element(made, number) for number in range(len(operands) - 1)]
        return build.joined(results, instruction.shape)


def _numbers_of_places(instruction: Instruction, sort: Sort) -> int | None:
    """Returns which operand numbers the places along the sorted dimension, if one does."""
    length = array_shape(instruction.operands[0]).dimensions[sort.dimensions]
    for number, operand in enumerate(instruction.operands):
        element_type = array_shape(operand).element_type
        bits = element_type.bits - (element_type.kind is Kind.SIGNED)
        is_iota = isinstance(operand.op, Iota) and operand.op.iota_dimension == sort.dimensions
        if is_iota and element_type.is_integer and length <= 1 << bits:
            return number
    return None


def _places(sort: Sort, shape: ArrayShape, build: Builder) -> Instruction:
    length = shape.dimensions[sort.dimensions]
    element_type = index_type(length)
    layout = resized_layout(shape.layout, element_type)
    return build.iota(sort.dimensions, ArrayShape(element_type, shape.dimensions, layout))


def _with_places(
    comparator: Computation, operands: list[Instruction], numbered: int, build: Builder
) -> Computation:
    """Returns the comparator that compares places where the given one has no preference."""
    scalars = [ArrayShape(array_shape(operand).element_type) for operand in operands]
    inside = build.computation_named(
        f"{comparator.name}_stable", [scalar for scalar in scalars for _ in range(2)]
    )
    parameters = inside.computation.parameters
    given = parameters[: len(comparator.parameters)]
    swapped = [given[place ^ 1] for place in range(len(given))]
    is_before, is_after = (
        Term(inside, inlined(comparator, arguments, inside)) for arguments in (given, swapped)
    )
    place, other_place = (Term(inside, one) for one in parameters[2 * numbered : 2 * numbered + 2])
    is_tie = is_before.compared("EQ", is_after)
    assert is_before.element_type is PRED
    chosen = is_tie.chosen(place.compared("LT", other_place), is_before)
    return inside.finish(chosen.instruction)
