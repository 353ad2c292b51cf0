"""Copies of computations, with all that they call, and of whole modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from hlotool.ir.computation import Computation, parameters_in_order
from hlotool.ir.instruction import NOWHERE, Instruction
from hlotool.ir.module import Module


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
                clones[computation] = copied_by(
                    computation, partial(cloned_instruction, clones=clones)
                )
    return clones


def cloned_module(module: Module) -> Module:
    """Returns a copy of a module that can be changed alone; it has the same names and source."""
    clones: dict[Computation, Computation] = {}

    def copied(instruction: Instruction, operands: Sequence[Instruction]) -> Instruction:
        return instruction.copied(operands, [clones[called] for called in instruction.calls])

    for computation in module.computations:
        clones[computation] = copied_by(computation, copied)
    made = Module(
        module.name,
        list(clones.values()),
        clones[module.entry],
        module.header,
        module.stack_tables,
        module.source,
    )
    made.offset = module.offset
    made.annotation_reader = module.annotation_reader
    return made


def cloned_instruction(
    instruction: Instruction,
    operands: Sequence[Instruction],
    clones: Mapping[Computation, Computation],
) -> Instruction:
    """Returns a copy for another module, which calls `clones` of what it called."""
    made = instruction.copied(operands, [clones[called] for called in instruction.calls])
    # Annotations that nothing has read yet belong to the module that was read.
    made.annotations = instruction.annotations
    made.offset = NOWHERE
    return made


def computation_of(name: str, instructions: list[Instruction], root: Instruction) -> Computation:
    """Returns a computation of new instructions, its parameters found among them."""
    made = Computation(name, instructions, root)
    made.parameters = parameters_in_order(instructions)
    return made


def copied_by(
    computation: Computation, copy: Callable[[Instruction, Sequence[Instruction]], Instruction]
) -> Computation:
    """Returns a copy of a settled computation that is in no module yet, of the same name.

    `copy` makes each instruction for its operands; control edges are added here.
    """
    copies: dict[Instruction, Instruction] = {}
    for instruction in computation.instructions:
        operands = [copies[operand] for operand in instruction.operands]
        copies[instruction] = copy(instruction, operands)
    for instruction, copied in copies.items():
        if instruction.control_predecessors:
            copied.control_predecessors = tuple(copies[p] for p in instruction.control_predecessors)
    made = computation_of(computation.name, list(copies.values()), copies[computation.root])
    made.execution_thread = computation.execution_thread
    made.unknown = computation.unknown
    made.offset = computation.offset
    return made
