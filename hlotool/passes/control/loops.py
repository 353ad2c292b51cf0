"""The loops of a module, inner ones before outer ones."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ops.control_flow import While


def loops_inside_out(module: Module) -> Iterator[Instruction]:
    """Yields the loops that stand in computations now, those in bodies before those around.

    Each computation is settled when all of its loops were looked at.
    """
    fused = fused_computations(module)
    for computation in list(module.computations):
        if computation in fused:
            continue
        loops = [one for one in computation.instructions if isinstance(one.op, While)]
        for loop in loops:
            if loop.parent is computation:
                yield loop
        computation.settle()
