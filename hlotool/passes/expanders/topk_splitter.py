"""Choosing the best elements of long rows in two rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.ordering import TopK
from hlotool.passes.expanders.expander import Expander
from hlotool.passes.expanders.topk import (
    array_shape_of_values,
    best_of,
    comparator_of,
    is_custom_topk,
)
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class TopKSplitter(Expander):
    """Splits long rows, chooses the best of each piece, and then the best of these.

    The length of a row must be a multiple of the threshold, and pieces must be longer than
    what is chosen of them.
    """

    name: ClassVar[str] = "topk-splitter"
    is_exact: ClassVar[bool] = True

    split_threshold: int = option(
        1024 * 1024, "rows that are longer are split, to this length", least=1
    )

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction chooses from long rows that can be split evenly."""
        if not (isinstance(instruction.op, TopK) or is_custom_topk(instruction)):
            return False
        shape = array_shape(instruction.operands[0])
        if shape.element_type.is_complex:
            return False
        length, count = shape.dimensions[-1], array_shape_of_values(instruction).dimensions[-1]
        is_split = length > self.split_threshold and length % self.split_threshold == 0
        return is_split and 0 < count < self.split_threshold

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """topk(x) -> first elements of sort(topk(pieces of x))"""
        (operand,) = instruction.operands
        *rows, length = array_shape(operand).dimensions
        count = array_shape_of_values(instruction).dimensions[-1]
        pieces = [*rows, length // self.split_threshold, self.split_threshold]
        split = build.reshape(operand, pieces)
        chosen = [*pieces[:-1], count]
        element_type = array_shape(operand).element_type
        shape = TupleShape([ArrayShape(each, chosen) for each in (element_type, S32)])
        op = instruction.op
        if isinstance(op, CustomCall):
            op = op.replace(operand_layout_constraints=None)
        first = build.add(op, split, calls=instruction.calls, shape=shape)
        values, places = build.element(first, 0), Term(build, build.element(first, 1))
        begins = places.of(build.iota(len(rows), places.shape)) * self.split_threshold
        columns = [
            build.reshape(each, [*rows, pieces[-2] * count])
            for each in (values, (places + begins).instruction)
        ]
        best = best_of(columns, comparator_of(instruction, build), count, build)
        return build.joined(best, instruction.shape)
