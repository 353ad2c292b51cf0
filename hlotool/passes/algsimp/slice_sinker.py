"""Slices behind what is computed element by element from parts of the same arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import DEFAULT_ACCURACY
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.order import fused_computations
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.shape_changing import Slice
from hlotool.passes.algsimp.slicing import bounds_of
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import are_static, count_of, resized, sizes
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead

_Group = tuple[Op, str, tuple[Instruction, ...]]
"""An op, the type of its elements, and the whole arrays that its operands are parts of."""


@dataclass(frozen=True)
class SliceSinker(Pass):
    """Computes once on whole arrays what is computed on parts that cover them."""

    name: ClassVar[str] = "slice-sinker"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Moves slices behind elementwise ops, and on behind those that take these."""
        fused = fused_computations(module)
        changed = False
        for computation in module.computations:
            # Parts that belong together may come to be seen one after the other.
            while computation not in fused and _sink(computation, journal):
                changed = True
        if changed:
            module.settle()
        return changed


def _sink(computation: Computation, journal: Journal) -> bool:
    changed = False
    looked_at: Iterable[Instruction] = list(computation.instructions)
    while looked_at:
        made: list[Instruction] = []
        for group, members in _groups(looked_at).items():
            if _covers(members, group) and journal.hit("slices moved"):
                made += _computed_whole(group, members, computation)
        changed |= bool(made)
        looked_at = dict.fromkeys(user for part in made for user in part.users)
    return changed


def _groups(instructions: Iterable[Instruction]) -> dict[_Group, list[Instruction]]:
    """Returns the computations on parts, those of the same whole arrays together."""
    found: dict[_Group, list[Instruction]] = {}
    for instruction in instructions:
        if instruction.parent is not None and _takes_parts(instruction):
            sources = tuple(operand.operands[0] for operand in instruction.operands)
            element_type = array_shape(instruction).element_type.name
            found.setdefault((instruction.op, element_type, sources), []).append(instruction)
    return found


def _takes_parts(instruction: Instruction) -> bool:
    operands = instruction.operands
    if not isinstance(instruction.op, Elementwise):
        return False
    if not all(isinstance(operand.op, Slice) for operand in operands):
        return False
    if not are_static(instruction, *operands):
        return False
    if instruction.result_accuracy != DEFAULT_ACCURACY:
        return False
    first = operands[0]
    return sizes(first) == sizes(instruction) and all(
        bounds_of(operand) == bounds_of(first)
        and are_static(operand.operands[0])
        and sizes(operand.operands[0]) == sizes(first.operands[0])
        for operand in operands
    )


def _covers(members: list[Instruction], group: _Group) -> bool:
    """Whether the parts have as many elements as the whole, so that nothing more is computed."""
    parts = {bounds_of(member.operands[0]): count_of(member) for member in members}
    return len(parts) > 1 and sum(parts.values()) >= count_of(group[2][0])


def _computed_whole(
    group: _Group, members: list[Instruction], computation: Computation
) -> list[Instruction]:
    """Turns computations into parts of the whole one, and returns these parts."""
    op, _, sources = group
    build = Builder(computation, members[0])
    shape = resized(members[0], sizes(sources[0]))
    order = array_shape(sources[0]).layout.minor_to_major
    whole = build.add(
        op, *sources, shape=shape.with_layout(shape.layout.replace(minor_to_major=order))
    )
    cut: list[Instruction] = []
    # What is computed becomes a slice in its place: a tuple may take thousands of them.
    for member in members:
        cut += member.operands
        member.op = Slice(bounds_of(member.operands[0]))
        member.operands = [whole]
    remove_dead(computation, cut)
    return members
