"""Letting ops that take several widths of floats do conversions of bf16 by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import BF16, F32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.contraction import Dot
from hlotool.ops.conversion import Convert
from hlotool.ops.convolution import Convolution
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.passes.pattern_pass import PatternPass
from hlotool.passes.types.contractions import has_plain_numbers
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("bfloat16-fold")


@patterns.rewrites(Dot, Convolution, Reduce, ReduceWindow)
def take_bf16_operands(instruction: Instruction, builder: Builder) -> Instruction | None:
    """dot(convert(x: bf16) to f32, y): f32 -> dot(x: bf16, y): f32"""
    if not _is_mixing(instruction):
        return None
    operands = [_unwidened(operand) for operand in instruction.operands]
    if operands == list(instruction.operands):
        return None
    return builder.add(instruction.op, *operands, calls=instruction.calls, shape=instruction.shape)


@patterns.rewrites(Convert)
def yield_bf16_result(instruction: Instruction, builder: Builder) -> Instruction | None:
    """convert(dot(x, y): f32) to bf16 -> dot(x, y): bf16"""
    (made,) = instruction.operands
    if array_shape(instruction).element_type is not BF16 or len(made.users) > 1:
        return None
    if not _is_mixing(made) or made.has_control_edges:
        return None
    shape = array_shape(made).with_element_type(BF16)
    return builder.add(made.op, *made.operands, calls=made.calls, shape=shape)


def _is_mixing(instruction: Instruction) -> bool:
    """Whether the op makes one array of f32 and does it in f32 whatever its operands are."""
    shape = instruction.shape
    if not isinstance(shape, ArrayShape) or shape.element_type is not F32:
        return False
    if isinstance(instruction.op, (Dot, Convolution)):
        return has_plain_numbers(instruction) and all(
            _is_bf16_or_f32(operand.shape) for operand in instruction.operands
        )
    if not isinstance(instruction.op, (Reduce, ReduceWindow)):
        return False
    (reducer,) = instruction.calls
    signature = reducer.program_shape
    return all(
        isinstance(one, ArrayShape) and one.element_type is F32
        for one in (*signature.parameters, signature.result)
    )


def _is_bf16_or_f32(shape: object) -> bool:
    return isinstance(shape, ArrayShape) and shape.element_type in {BF16, F32}


def _unwidened(operand: Instruction) -> Instruction:
    match operand:
        case Instruction(op=Convert(), operands=[source]) if (
            array_shape(source).element_type is BF16 and array_shape(operand).element_type is F32
        ):
            return source
    return operand


@dataclass(frozen=True)
class BFloat16Fold(PatternPass):
    """Folds conversions from and to bf16 into ops that take operands of either width."""

    name: ClassVar[str] = "bfloat16-fold"
    identities: ClassVar[PatternSet] = patterns
