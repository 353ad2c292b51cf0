"""Copies of computations, with all that they call, for other modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hlotool.ir.computation import Computation, parameters_in_order
from hlotool.ir.instruction import Instruction


def cloned_computations(roots: Iterable[Computation]) -> dict[Computation, Computation]:
    """Returns copies of computations of one module and of all that they call, by the original.

    Called computations come before their callers. Ops, shapes and annotations are shared.
    """
    wanted: set[Computation] = set()
    waiting = list(roots)
    while waiting:
        computation = waiting.pop()
        if computation not in wanted:
            wanted.add(computation)
            for instruction in computation.instructions:
                waiting += instruction.calls
    modules = {computation.parent for computation in wanted}
    clones: dict[Computation, Computation] = {}
    for module in modules:
        assert module is not None, "a computation belongs to a module"
        for computation in module.computations:
            if computation in wanted:
                clones[computation] = _cloned(computation, clones)
    return clones


def cloned_instruction(
    instruction: Instruction,
    operands: Sequence[Instruction],
    clones: Mapping[Computation, Computation],
) -> Instruction:
    """Returns a copy with other operands, which calls `clones` of what it called."""
    return Instruction(
        instruction.name,
        instruction.shape,
        instruction.op,
        tuple(operands),
        tuple(clones[called] for called in instruction.calls),
        instruction.annotations,
    )


def computation_of(name: str, instructions: list[Instruction], root: Instruction) -> Computation:
    """Returns a computation of new instructions, its parameters found among them."""
    made = Computation(name, instructions, root)
    made.parameters = parameters_in_order(instructions)
    return made


def _cloned(computation: Computation, clones: Mapping[Computation, Computation]) -> Computation:
    copies: dict[Instruction, Instruction] = {}
    for instruction in computation.instructions:
        operands = [copies[operand] for operand in instruction.operands]
        copies[instruction] = cloned_instruction(instruction, operands, clones)
    for instruction, copy in copies.items():
        copy.control_predecessors = tuple(copies[p] for p in instruction.control_predecessors)
    made = computation_of(computation.name, list(copies.values()), copies[computation.root])
    made.execution_thread = computation.execution_thread
    return made
