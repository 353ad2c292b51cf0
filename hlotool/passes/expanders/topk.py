"""Choosing the best elements of rows, by sorting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.elementwise import Compare
from hlotool.ops.ordering import Sort, TopK
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.expanders.expander import Expander
from hlotool.rewriting.builder import Builder, array_shape, tuple_shape
from hlotool.rewriting.inlining import inlined


@dataclass(frozen=True)
class TopkDecomposer(Expander):
    """Writes the choice of the best elements as a sort of which the first ones are taken.

    It takes `topk` and calls to the custom call `TopK` that give a comparator.
    """

    name: ClassVar[str] = "topk-decomposer"
    is_exact: ClassVar[bool] = True

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction chooses the best elements of rows."""
        if isinstance(instruction.op, TopK):
            return not array_shape(instruction.operands[0]).element_type.is_complex
        return is_custom_topk(instruction)

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """topk(x) -> tuple(slice(sort(x, iota)))"""
        (operand,) = instruction.operands
        count = array_shape_of_values(instruction).dimensions[-1]
        if isinstance(instruction.op, TopK) and _only_values_are_used(instruction):
            return _values_alone(instruction, count, build)
        columns = [operand, numbered(array_shape(operand), build)]
        best = best_of(columns, comparator_of(instruction, build), count, build)
        return build.joined(best, instruction.shape)


def is_custom_topk(instruction: Instruction) -> bool:
    """Whether the instruction calls the custom call `TopK` with a comparator."""
    match instruction:
        case Instruction(
            op=CustomCall(custom_call_target="TopK"),
            operands=[operand],
            calls=[called],
            shape=TupleShape(elements=[ArrayShape() as values, ArrayShape()]),
        ):
            rows = array_shape(operand).dimensions[:-1]
            return len(called.parameters) in {2, 4} and values.dimensions[:-1] == rows
    return False


def array_shape_of_values(instruction: Instruction) -> ArrayShape:
    """Returns the shape of the best values."""
    values = tuple_shape(instruction).elements[0]
    assert isinstance(values, ArrayShape)
    return values


def numbered(shape: ArrayShape, build: Builder) -> Instruction:
    """Returns the number of each element in its row."""
    return build.iota(shape.rank - 1, ArrayShape(S32, shape.dimensions))


def comparator_of(instruction: Instruction, build: Builder) -> Computation:
    """Returns what says which of two elements, that have numbers, is better."""
    element_type = array_shape(instruction.operands[0]).element_type
    scalars = [ArrayShape(element_type)] * 2 + [ArrayShape(S32)] * 2
    if instruction.calls:
        (called,) = instruction.calls
        if len(called.parameters) == len(scalars):
            return called
        inside = build.computation_named(f"{called.name}_numbered", scalars)
        arguments = inside.computation.parameters[:2]
        return inside.finish(inlined(called, arguments, inside))
    return _ordered(instruction, scalars, build)


def best_of(
    columns: Sequence[Instruction], comparator: Computation, count: int, build: Builder
) -> list[Instruction]:
    """Returns the first `count` of each row when all columns are sorted along the last dimension.

    Equals stay in order.
    """
    shape = array_shape(columns[0])
    sort = Sort(shape.rank - 1, is_stable=True)
    made = build.add(sort, *columns, calls=[comparator])
    ordered = [build.element(made, n) for n in range(len(columns))] if len(columns) > 1 else [made]
    limits = [*shape.dimensions[:-1], count]
    return [build.slice(each, [0] * shape.rank, limits) for each in ordered]


def _ordered(
    instruction: Instruction, scalars: Sequence[ArrayShape], build: Builder
) -> Computation:
    """Returns what compares the first two of scalars in total order."""
    topk = instruction.op
    assert isinstance(topk, TopK)
    is_float = scalars[0].element_type.is_float
    direction = "GT" if topk.largest else "LT"
    inside = build.computation_named("is_better", scalars)
    one, other = inside.computation.parameters[:2]
    compare = Compare(direction, "TOTALORDER" if is_float else None)
    return inside.finish(inside.add(compare, one, other))


def _only_values_are_used(instruction: Instruction) -> bool:
    return not instruction.is_root and all(
        isinstance(user.op, GetTupleElement) and user.op.index == 0 for user in instruction.users
    )


def _values_alone(instruction: Instruction, count: int, build: Builder) -> Instruction:
    (operand,) = instruction.operands
    scalars = [ArrayShape(array_shape(operand).element_type)] * 2
    best = best_of([operand], _ordered(instruction, scalars, build), count, build)
    unused = build.full(0, ArrayShape(S32, array_shape(best[0]).dimensions))
    return build.joined([*best, unused], instruction.shape)
