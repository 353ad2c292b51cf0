"""Sharing equal all-gathers of what a computation is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.collective import AllGather, AllGatherStart
from hlotool.ops.control_flow import OptBarrier
from hlotool.ops.source import Parameter
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import change_each, replace

Origin = tuple[Instruction, tuple[int, ...]]


@dataclass(frozen=True)
class AllGatherCse(Pass):
    """Shares equal all-gathers of parameters, as loop bodies have them."""

    name: ClassVar[str] = "all-gather-cse"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Lets later all-gathers of the same part of a parameter take the first one's result."""
        return change_each(module, lambda computation: _share(computation, journal))


def _share(computation: Computation, journal: Journal) -> bool:
    first: dict[object, Instruction] = {}
    changed = False
    for instruction in list(computation.instructions):
        op = instruction.op
        if not isinstance(op, AllGather) or isinstance(op, AllGatherStart):
            continue
        origins = [_origin(operand) for operand in instruction.operands]
        if not all(isinstance(source.op, Parameter) for source, _ in origins):
            continue
        has_channel = op.channel_id is not None
        key = (op.replace(channel_id=None), has_channel, instruction.shape, tuple(origins))
        known = first.setdefault(key, instruction)
        if known is instruction or instruction.has_control_edges or not journal.hit("shared"):
            continue
        replace(instruction, known, Builder(computation, instruction))
        changed = True
    return changed


def _origin(instruction: Instruction) -> Origin:
    """Returns what a value is a part of, and which one, through barriers."""
    index: tuple[int, ...] = ()
    while True:
        match instruction:
            case Instruction(op=GetTupleElement(index=number), operands=[whole]):
                instruction, index = whole, (number, *index)
            case Instruction(op=OptBarrier(), operands=[inside]):
                instruction = inside
            case Instruction(op=Tuple(), operands=elements) if index:
                instruction, index = elements[index[0]], index[1:]
            case _:
                return instruction, index
