"""Putting the body of a computation in the place of a call to it."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.rewriting.builder import Builder


def inlined(body: Computation, arguments: Sequence[Instruction], build: Builder) -> Instruction:
    """Returns a copy of the root of `body`, made with all that it needs for these arguments.

    Instructions of the body that the root does not need are copied too: they may have side
    effects. Computations that the body calls are shared.
    """
    module = build.module
    copies = dict(zip(body.parameters, arguments, strict=True))
    for instruction in body.instructions:
        if instruction in copies:
            continue
        copied = instruction.copied([copies[operand] for operand in instruction.operands])
        copied.name = module.instruction_name(instruction.name)
        before = [copies[predecessor] for predecessor in instruction.control_predecessors]
        copied.control_predecessors = tuple(before)
        build.made.append(build.computation.add(copied))
        copies[instruction] = copied
    return copies[body.root]
