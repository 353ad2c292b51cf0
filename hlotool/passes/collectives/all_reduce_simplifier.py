"""All-reduces that need no other device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import combination_of
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllReduce, AllReduceStart
from hlotool.ops.collective_groups import Collective
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.elementwise import Add, And, Elementwise, Maximum, Minimum, Multiply, Or
from hlotool.ops.source import Constant, DeviceNumber, Parameter
from hlotool.ops.tuples import Tuple
from hlotool.passes.collectives.device_groups import Groups, device_groups, same_size_of
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import change_each, replace

_SAME_OF_SAME: tuple[type[Op], ...] = (And, Maximum, Minimum, Or)
"""These yield a value that they are given twice."""
_LOCAL = (Collective, CustomCall, DeviceNumber, Parameter)
"""What these yield may differ from device to device."""
_IN_CALLS = (Constant, Elementwise, Parameter, Tuple)
"""What the computations that are looked into may hold."""
_MOST_IN_CALLS = 64


@dataclass(frozen=True)
class AllReduceSimplifier(Pass):
    """Drops all-reduces of one device, and those of values that all devices have alike."""

    name: ClassVar[str] = "all-reduce-simplifier"

    multiply_floats: bool = option(
        default=False, words="multiplies floats by the number of devices instead of adding them up"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Puts the operand, or its multiple, in place of such all-reduces."""
        return change_each(module, lambda one: self._simplified(one, module, journal))

    def _simplified(self, computation: Computation, module: Module, journal: Journal) -> bool:
        alike: set[Instruction] = set()
        changed = False
        for instruction in list(computation.instructions):
            if not _is_all_reduce(instruction):
                if _is_alike(instruction, alike):
                    alike.add(instruction)
                continue
            groups = device_groups(instruction, module)
            builder = Builder(computation, instruction)
            found = None if groups is None else self._local(instruction, groups, alike, builder)
            if found is not None and journal.hit("local_all_reduce"):
                # What is found is alike only where the operand was.
                alike |= {found} if instruction.operands[0] in alike else set()
                replace(instruction, found, builder)
                changed = True
                continue
            builder.discard()
            if groups is not None and len(groups) == 1:
                alike.add(instruction)
        computation.settle()
        return changed

    def _local(
        self,
        instruction: Instruction,
        groups: Groups,
        alike: set[Instruction],
        builder: Builder,
    ) -> Instruction | None:
        """Returns what yields the result without other devices."""
        size = same_size_of(groups)
        if size is None or instruction.has_control_edges:
            return None
        shape, operands = instruction.shape, instruction.operands
        if size == 1:
            found = operands[0] if len(operands) == 1 else builder.tuple(*operands)
            return found if found.shape.compatible(shape) else None
        if len(operands) > 1 or operands[0] not in alike or not isinstance(shape, ArrayShape):
            return None
        if not operands[0].shape.compatible(shape):
            return None
        return self._of_same(operands[0], instruction, size, builder)

    def _of_same(
        self, operand: Instruction, instruction: Instruction, size: int, builder: Builder
    ) -> Instruction | None:
        shape = instruction.shape
        assert isinstance(shape, ArrayShape)
        combination = combination_of(instruction.calls[0], shape.element_type)
        if combination is None:
            return None
        if combination.op in _SAME_OF_SAME or shape.element_type is PRED:
            return operand if combination.op in {*_SAME_OF_SAME, Add, Multiply} else None
        if combination.op is not Add or not self._may_multiply(shape.element_type, size):
            return None
        return builder.add(Multiply(), operand, builder.full(size, shape), shape=shape)

    def _may_multiply(self, element_type: ElementType, size: int) -> bool:
        # Doubling rounds as little as adding a number to itself.
        if element_type.is_integer:
            return size < 1 << (element_type.bits - 1)
        return element_type.is_float and (size == 2 or self.multiply_floats)


def _is_all_reduce(instruction: Instruction) -> bool:
    op = instruction.op
    return isinstance(op, AllReduce) and not isinstance(op, AllReduceStart)


def _is_alike(instruction: Instruction, alike: set[Instruction]) -> bool:
    """Whether an instruction yields the same on every device, where operands `alike` do."""
    op = instruction.op
    if isinstance(op, _LOCAL) or op.has_side_effect or not alike.issuperset(instruction.operands):
        return False
    return all(
        len(called.instructions) <= _MOST_IN_CALLS
        and all(isinstance(one.op, _IN_CALLS) for one in called.instructions)
        for called in instruction.calls
    )
