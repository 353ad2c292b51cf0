"""Checks what instructions say about devices: groups of collectives, and shardings."""

from __future__ import annotations

from hlotool.analysis.faults import Faults
from hlotool.errors import ShapeError
from hlotool.ir.header import ModuleHeader
from hlotool.ir.instruction import Instruction
from hlotool.ir.sharding import Sharding
from hlotool.ops.collective import Collective


def check_devices(instruction: Instruction, header: ModuleHeader, faults: Faults) -> None:
    """Adds where a collective does not fit the replicas and partitions of its module."""
    op = instruction.op
    if not isinstance(op, Collective):
        return
    operands = [operand.shape for operand in instruction.operands]
    try:
        op.check_devices(header.replica_count, header.num_partitions, operands, instruction.shape)
    except ShapeError as error:
        faults.add_error(instruction, error)


def check_sharding(instruction: Instruction, sharding: Sharding, faults: Faults) -> None:
    """Adds where a sharding does not fit the shape of its instruction."""
