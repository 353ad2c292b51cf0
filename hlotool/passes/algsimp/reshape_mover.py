"""Reshapes and transposes behind what is computed element by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import DEFAULT_ACCURACY
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.shape_changing import Reshape, Transpose
from hlotool.passes.algsimp.values import scalar_of
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import are_static, broadcast_to, resized, sizes
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reshape-mover")

_MOST_USERS = 16
"""Of a reshape with more users than this not all are looked at, and it stays."""


@patterns.rewrites(Elementwise, over=(Reshape, Transpose))
def rearranged_operands(instruction: Instruction, build: Builder) -> Instruction | None:
    """op(reshape(x), reshape(y)) -> reshape(op(x, y)), as with transposes and one value"""
    moved = _rearranged(instruction)
    if not moved or not all(map(_has_only_candidates, moved)):
        return None
    rearranged, source = moved[0], moved[0].operands[0]
    operands = [_before(build, operand, moved, source) for operand in instruction.operands]
    layout = array_shape(source).layout.minor_to_major
    shape = resized(instruction, sizes(source))
    shape = shape.with_layout(shape.layout.replace(minor_to_major=layout))
    made = build.add(instruction.op, *operands, shape=shape)
    return build.add(rearranged.op, made, shape=instruction.shape)


def _rearranged(instruction: Instruction) -> list[Instruction]:
    """Returns the operands that are rearranged in the same way; none where not all others fit."""
    operands = instruction.operands
    if not any(isinstance(operand.op, (Reshape, Transpose)) for operand in operands):
        return []
    if not isinstance(instruction.op, Elementwise) or not are_static(instruction, *operands):
        return []
    if _widens(instruction) or instruction.result_accuracy != DEFAULT_ACCURACY:
        return []
    moved: list[Instruction] = []
    others: list[Instruction] = []
    for operand in operands:
        (moved if scalar_of(operand) is None else others).append(operand)
    if not all(_is_moved_as(operand, moved[0], instruction) for operand in moved):
        return []
    fits = all(sizes(other) in {(), sizes(instruction)} for other in others)
    return moved if fits else []


def _widens(instruction: Instruction) -> bool:
    """Whether fewer bytes move where the array is rearranged before: convert-mover does so."""
    if not isinstance(instruction.op, Convert):
        return False
    before, after = (array_shape(one).element_type for one in (*instruction.operands, instruction))
    return before.storage_bytes < after.storage_bytes


def _is_moved_as(operand: Instruction, first: Instruction, result: Instruction) -> bool:
    if not isinstance(operand.op, (Reshape, Transpose)) or operand.op != first.op:
        return False
    source, other = operand.operands[0], first.operands[0]
    return (
        are_static(source, other)
        and sizes(source) == sizes(other)
        and sizes(operand) == sizes(result)
    )


def _has_only_candidates(rearranged: Instruction) -> bool:
    """Whether all users could take the array before it was rearranged, so that it goes."""
    users = rearranged.users
    if rearranged.is_root or len(users) > _MOST_USERS:
        return False
    return all(rearranged in _rearranged(user) for user in users)


def _before(
    build: Builder, operand: Instruction, moved: Sequence[Instruction], source: Instruction
) -> Instruction:
    if operand in moved:
        return operand.operands[0]
    scalar = scalar_of(operand)
    assert scalar is not None
    return scalar if not sizes(operand) else broadcast_to(build, scalar, (), sizes(source))


@dataclass(frozen=True)
class ReshapeMover(PatternPass):
    """Moves reshapes and transposes behind elementwise ops whose operands share them.

    They stay before conversions to wider types.
    """

    name: ClassVar[str] = "reshape-mover"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
