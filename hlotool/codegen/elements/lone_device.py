"""Collectives and numbers of devices where there is only one device, as in compiled modules."""

from __future__ import annotations

from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.llvm.value import constant
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import U32
from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllGather, AllReduce, AllReduceStart, ReduceScatter
from hlotool.ops.collective_groups import GroupedCollective
from hlotool.ops.permuting import AllToAll
from hlotool.ops.source import PartitionId, ReplicaId

_ALONE = ((), ((0,),))


@element_rule(ReplicaId, PartitionId)
def _number(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    return Element(U32, (constant("i32", 0),))


@element_rule(AllGather, AllReduce, AllReduceStart, AllToAll, ReduceScatter)
def _alone(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, GroupedCollective)
    if tuple(map(tuple, op.replica_groups.groups)) not in _ALONE:
        raise NotCompiled("groups of other devices")
    if not instruction.shape.compatible(instruction.operands[0].shape):
        raise NotCompiled(f"{instruction.opcode} of several arrays")
    return emitter.operand(instruction, 0, index)
