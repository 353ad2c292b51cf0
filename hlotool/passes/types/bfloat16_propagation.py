"""Holding values in bf16 that are rounded to bf16 in any case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import BF16, F32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Clamp, Maximum, Minimum
from hlotool.ops.indexing import DynamicSlice, Gather
from hlotool.ops.shape_changing import Slice
from hlotool.ops.source import Constant
from hlotool.ops.unary import Abs, Negate
from hlotool.passes.pass_base import Pass
from hlotool.passes.types.data_movement import moved_operands
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import change_each, remove_dead, replace

_ORDER_ONLY = (Abs, Clamp, Maximum, Minimum, Negate)
"""They yield one of their operands or its negative: rounding before or after is the same."""
_PART_ONLY = (DynamicSlice, Gather, Slice)
"""They drop elements, which would be rounded for nothing."""


@dataclass(frozen=True)
class BFloat16Propagation(Pass):
    """Lowers f32 values to bf16 where all that use them round them to bf16 without loss.

    Only where results are the same bit for bit: rounding moves past data movement and past ops
    that choose among their operands.
    """

    name: ClassVar[str] = "bfloat16-propagation"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Rounds before such ops instead of behind them."""
        return change_each(module, lambda computation: _Propagation(computation).run(journal))


class _Propagation:
    """Works through one computation, users before what they use, then the other way around."""

    def __init__(self, computation: Computation) -> None:
        self._computation = computation
        self._rounded: set[Instruction] = set()
        self._narrow: dict[Instruction, Instruction] = {}

    def run(self, journal: Journal) -> bool:
        """Returns whether any value was lowered."""
        order = list(self._computation.instructions)
        for instruction in reversed(order):
            if _may_round_before(instruction) and self._is_only_rounded(instruction):
                self._rounded.add(instruction)
        changed = False
        for instruction in order:
            if instruction not in self._rounded:
                continue
            if not journal.hit("round_before"):
                break
            self._narrow[instruction] = self._lowered(instruction)
            changed = True
        if changed:
            self._replace_conversions(order)
        return changed

    def _is_only_rounded(self, instruction: Instruction) -> bool:
        if instruction.is_root or not instruction.users:
            return False
        return all(self._rounds(user, instruction) for user in instruction.users)

    def _rounds(self, user: Instruction, value: Instruction) -> bool:
        if isinstance(user.op, Convert):
            return _type_of(user) is BF16
        if user not in self._rounded:
            return False
        data = _data_operands(user)
        return all(number in data for number, one in enumerate(user.operands) if one is value)

    def _lowered(self, instruction: Instruction) -> Instruction:
        """Returns the instruction made in bf16."""
        builder = Builder(self._computation, instruction)
        operands = list(instruction.operands)
        for number in _data_operands(instruction):
            operands[number] = self._rounded_value(operands[number], builder)
        shape = instruction.shape
        assert isinstance(shape, ArrayShape)
        made = builder.add(instruction.op, *operands, shape=shape.with_element_type(BF16))
        made.annotations = instruction.annotations
        return made

    def _rounded_value(self, operand: Instruction, builder: Builder) -> Instruction:
        found = self._narrow.get(operand)
        if found is None:
            is_widened = isinstance(operand.op, Convert) and _type_of(operand.operands[0]) is BF16
            found = operand.operands[0] if is_widened else builder.convert(operand, BF16)
            self._narrow[operand] = found
        return found

    def _replace_conversions(self, order: list[Instruction]) -> None:
        for instruction in order:
            if not isinstance(instruction.op, Convert) or _type_of(instruction) is not BF16:
                continue
            (source,) = instruction.operands
            if source in self._rounded and source in self._narrow:
                builder = Builder(self._computation, instruction)
                replace(instruction, self._narrow[source], builder)
        remove_dead(self._computation, reversed(order))


def _may_round_before(instruction: Instruction) -> bool:
    if _type_of(instruction) is not F32 or isinstance(instruction.op, _PART_ONLY):
        return False
    if instruction.has_control_edges:
        return False
    data = _data_operands(instruction)
    # One conversion before takes the place of the one behind; more would be for nothing.
    new = {one for one in map(instruction.operands.__getitem__, data) if not _is_narrow(one)}
    return bool(data) and len(new) <= 1


def _is_narrow(operand: Instruction) -> bool:
    """Whether an operand is to be had in bf16 without a conversion of an array, or likely so."""
    if isinstance(operand.op, Convert):
        return _type_of(operand.operands[0]) is BF16
    return isinstance(operand.op, Constant) or bool(_data_operands(operand))


def _data_operands(instruction: Instruction) -> range:
    if isinstance(instruction.op, _ORDER_ONLY):
        return range(len(instruction.operands))
    return moved_operands(instruction)


def _type_of(instruction: Instruction) -> object:
    shape = instruction.shape
    return shape.element_type if isinstance(shape, ArrayShape) else None
