"""Sending narrow numbers: conversions to narrow types before, to wide ones behind collectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllGather, CollectiveBroadcast
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Divide, Multiply
from hlotool.ops.permuting import AllToAll, CollectivePermute
from hlotool.ops.shape_changing import Broadcast
from hlotool.ops.source import Constant
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

_SENDING: tuple[type[Op], ...] = (AllGather, AllToAll, CollectiveBroadcast, CollectivePermute)

patterns = PatternSet("collective-quantizer")


@patterns.rewrites(*_SENDING)
def widen_behind(instruction: Instruction, builder: Builder) -> Instruction | None:
    """all-gather(convert(x: s8) to f32) -> convert(all-gather(x)) to f32"""
    if not _sends_one(instruction):
        return None
    (operand,) = instruction.operands
    if not isinstance(operand.op, Convert) or not _is_only_use(operand):
        return None
    (source,) = operand.operands
    narrow, wide = array_shape(source).element_type, array_shape(operand).element_type
    if narrow.bits >= wide.bits:
        return None
    shape = array_shape(instruction).with_element_type(narrow)
    return builder.convert(builder.add(instruction.op, source, shape=shape), wide)


@patterns.rewrites(AllGather, AllToAll)
def scale_behind(instruction: Instruction, builder: Builder) -> Instruction | None:
    """all-gather(multiply(convert(x: s8) to f32, 0.5)) -> multiply(all-gather(convert(x)), 0.5)"""
    if not _sends_one(instruction):
        return None
    (scaled,) = instruction.operands
    match scaled:
        case Instruction(
            op=Multiply() | Divide() as op,
            operands=[
                Instruction(op=Convert(), operands=[source]) as wide,
                Instruction(
                    op=Broadcast(dimensions=()), operands=[Instruction(op=Constant()) as c]
                ),
            ],
        ) if _is_only_use(scaled) and _is_only_use(wide):
            pass
        case _:
            return None
    if array_shape(source).element_type.bits >= array_shape(wide).element_type.bits:
        return None
    shape = array_shape(instruction)
    sent = builder.add(instruction.op, wide, shape=shape)
    return builder.add(op, sent, builder.broadcast(c, (), shape), shape=shape)


@patterns.rewrites(Convert)
def narrow_before(instruction: Instruction, builder: Builder) -> Instruction | None:
    """convert(all-gather(x: f32)) to bf16 -> all-gather(convert(x) to bf16)"""
    (sent,) = instruction.operands
    if type(sent.op) not in _SENDING or not _sends_one(sent) or not _is_only_use(sent):
        return None
    wide, narrow = array_shape(sent).element_type, array_shape(instruction).element_type
    if narrow.bits >= wide.bits:
        return None
    return builder.add(sent.op, builder.convert(sent.operands[0], narrow), shape=instruction.shape)


def _sends_one(instruction: Instruction) -> bool:
    op = instruction.op
    is_in_place = isinstance(op, CollectivePermute) and bool(op.slice_sizes)
    return (
        type(op) in _SENDING
        and not is_in_place
        and len(instruction.operands) == 1
        and isinstance(instruction.shape, ArrayShape)
    )


def _is_only_use(operand: Instruction) -> bool:
    return len(operand.users) == 1 and not operand.has_control_edges


@dataclass(frozen=True)
class CollectiveQuantizer(PatternPass):
    """Moves conversions, and scaling by a constant, so that collectives send narrow numbers."""

    name: ClassVar[str] = "collective-quantizer"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
