"""Modules with arguments, for both sides to run: whole ones, and single instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hlotool.analysis.verifier import verify
from hlotool.debugging.isolate import isolated_instructions
from hlotool.errors import HloError
from hlotool.evaluation.elided import fill_elided_constants
from hlotool.evaluation.files.literal_values import value_of
from hlotool.evaluation.generation.arguments import edge_arguments, generated_arguments
from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.ir.cloning import cloned_computations, cloned_instruction, computation_of
from hlotool.ir.frame import Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective_groups import Collective
from hlotool.ops.source import Constant, Parameter, PartitionId, ReplicaId
from hlotool.text.parser import parse
from hlotool.text.printer import print_module

EDGE_SEEDS = (0, 1)
GRIDS = [(2, 1), (4, 1), (8, 1), (1, 2), (1, 4), (2, 2), (1, 8), (2, 4), (1, 1)]
"""Replicas and partitions to try for an instruction that speaks to other devices."""
SPEAKING = (Collective, ReplicaId, PartitionId)
WHOLE, FOLDED, GIVEN, STATIC = (
    "whole", "constants stay", "constants are given", "dimensions are static",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A module with sets of arguments and the results for them, each device by device."""

    name: str
    variant: str
    opcode: str
    module: Module
    arguments: list[list[list[Value]]]
    results: list[list[Value]]
    replicas: int = 1
    partitions: int = 1

    @property
    def has_constants(self) -> bool:
        """Whether the reference may fold something."""
        instructions = self.module.entry.instructions
        return any(isinstance(instruction.op, Constant) for instruction in instructions)

    @property
    def key(self) -> str:
        """The name, with the variant."""
        return f"{self.name} ({self.variant})"


def cases_of(path: Path) -> Iterator[Case]:
    """Yields the module of a file and each of its instructions, as far as ours evaluates them."""
    module = parse(path.read_text(encoding="utf-8"), path.name)
    if verify(module):
        return
    fill_elided_constants(module, 0)
    opcode = module.entry.root.opcode
    yield from _evaluated(path.stem, WHOLE, opcode, module, [])
    static = with_static_dimensions(module)
    if static is not None:
        yield from _evaluated(path.stem, STATIC, opcode, static, [])
    for isolated in isolated_instructions(module):
        alone = isolated.module
        if alone is None:
            continue
        name, opcode = f"{path.stem}:{isolated.instruction.name}", isolated.instruction.opcode
        yield from _evaluated(name, FOLDED, opcode, alone, [])
        given, constants = with_parameters(alone)
        if constants:
            yield from _evaluated(name, GIVEN, opcode, given, constants)
        static = with_static_dimensions(given)
        if static is not None:
            yield from _evaluated(name, STATIC, opcode, static, constants)


def with_parameters(module: Module) -> tuple[Module, list[Value]]:
    """Returns a module whose entry has parameters for its constants, and their values."""
    constants: list[Value] = []
    made: dict[Instruction, Instruction] = {}
    clones = cloned_computations([c for i in module.entry.instructions for c in i.calls])
    count = len(module.entry.parameters)
    for instruction in module.entry.instructions:
        op = instruction.op
        if isinstance(op, Constant) and isinstance(instruction.shape, ArrayShape):
            new = Parameter(count + len(constants))
            made[instruction] = Instruction(instruction.name, instruction.shape, new)
            constants.append(value_of(op.literal))
            continue
        operands = [made[operand] for operand in instruction.operands]
        made[instruction] = cloned_instruction(instruction, operands, clones)
    entry = computation_of(module.entry.name, list(made.values()), made[module.entry.root])
    computations = [*clones.values(), entry]
    return Module(module.name, computations, entry, module.header), constants


def with_static_dimensions(module: Module) -> Module | None:
    """Returns a module with bounds in place of dynamic dimensions, if it has some and may."""
    shapes = [leaf for i in module.instructions() for _, leaf in i.shape.leaves()]
    if all(shape.is_static for shape in shapes if isinstance(shape, ArrayShape)):
        return None
    text = re.sub(r", entry_computation_layout=.*", "", print_module(module))
    text = re.sub(r"<=(?=\d)", "", text)
    text = re.sub(r"(?<=[\[,])\?(?=[\],])", "4", text)
    try:
        static = parse(text, module.name)
    except HloError:
        return None
    return None if verify(static) else static


def _evaluated(
    name: str, variant: str, opcode: str, module: Module, constants: list[Value]
) -> Iterator[Case]:
    """Yields a case of a module whose last parameters take `constants`."""
    for replicas, partitions in _grids(module):
        arguments = _arguments(module, constants, replicas * partitions)
        try:
            results = [
                evaluate_on_devices(module, devices, replicas, partitions) for devices in arguments
            ]
        except HloError:
            continue
        yield Case(name, variant, opcode, module, arguments, results, replicas, partitions)
        return


def _grids(module: Module) -> list[tuple[int, int]]:
    wanted = (module.header.replica_count, module.header.num_partitions)
    if wanted != (1, 1):
        return [wanted]
    speaks = any(isinstance(instruction.op, SPEAKING) for instruction in module.instructions())
    return GRIDS if speaks else GRIDS[-1:]


def _arguments(module: Module, constants: list[Value], devices: int) -> list[list[list[Value]]]:
    """Returns sets of arguments of all devices, which have numbers of their own."""
    count = len(module.entry.parameters) - len(constants)
    made = [
        [edge_arguments(module, seed + 100 * device) for device in range(devices)]
        for seed in EDGE_SEEDS
    ]
    made.append([generated_arguments(module, device) for device in range(devices)])
    return [[[*found.values[:count], *constants] for found in found_of] for found_of in made]
