"""Memory spaces inside fusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.dataflow import Index, Place, array_indices, shared_operand
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class MemorySpacePropagation(Pass):
    """Gives what fusions take and yield the same memory spaces inside them as outside."""

    name: ClassVar[str] = "memory-space-propagation"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Works on bodies of fusions; where several fusions share one, the last counts."""
        wanted: dict[Computation, dict[Place, int]] = {}
        changed = False
        # Callers come first: a body has its spaces before fusions inside it are looked at.
        for computation in reversed(module.computations):
            for (instruction, index), space in wanted.get(computation, {}).items():
                shape = _with_space(instruction.shape, index, space)
                if shape != instruction.shape and journal.hit("memory space set"):
                    instruction.shape = shape
                    changed = True
            for instruction in reversed(computation.instructions):
                if instruction.op.is_fusion:
                    (body,) = instruction.calls
                    known = wanted.get(body, {})
                    wanted[body] = _spaces_inside(instruction, body) | known
        return changed


def _spaces_inside(fusion: Instruction, body: Computation) -> dict[Place, int]:
    wanted: dict[Place, int] = {}
    for operand, parameter in zip(fusion.operands, body.parameters, strict=True):
        for index in array_indices(operand.shape):
            _spread(body, (parameter, index), _space(operand.shape, index), wanted)
    for index in array_indices(fusion.shape):
        place: Place | None = (body.root, index)
        while place is not None:
            wanted[place] = _space(fusion.shape, index)
            place = _source(place)
    return wanted


def _spread(body: Computation, start: Place, space: int, wanted: dict[Place, int]) -> None:
    waiting = [start]
    while waiting:
        place = waiting.pop()
        wanted[place] = space
        instruction, index = place
        for user in instruction.users:
            if isinstance(user.op, GetTupleElement) and index[:1] == (user.op.index,):
                waiting.append((user, index[1:]))
            elif isinstance(user.op, Bitcast):
                waiting.append((user, index))


def _source(place: Place) -> Place | None:
    instruction, index = place
    if not isinstance(instruction.op, Tuple | GetTupleElement | Bitcast):
        return None
    found = shared_operand(instruction, index)
    return None if found is None else (instruction.operands[found[0]], found[1])


def _space(shape: Shape, index: Index) -> int:
    part = shape.subshape(index)
    return part.layout.memory_space if isinstance(part, ArrayShape) else 0


def _with_space(shape: Shape, index: Index, space: int) -> Shape:
    if isinstance(shape, TupleShape) and index:
        elements = list(shape.elements)
        elements[index[0]] = _with_space(elements[index[0]], index[1:], space)
        return TupleShape(elements)
    if not isinstance(shape, ArrayShape) or shape.layout.memory_space == space:
        return shape
    return shape.with_layout(shape.layout.replace(memory_space=space))
