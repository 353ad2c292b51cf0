"""Work on arrays in the order in which they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.metadata import DEFAULT_ACCURACY
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.shape_changing import (
    Bitcast,
    Broadcast,
    Concatenate,
    Pad,
    Reverse,
    Slice,
    Transpose,
)
from hlotool.ops.source import Constant, Iota
from hlotool.ops.unary import Copy
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("layout_normalization")


@dataclass(frozen=True)
class LayoutNormalization(PatternPass):
    """Replaces arrays that are not row-major by row-major ones of the same bytes, with bitcasts.

    It works on elementwise ops and those that only move elements; what else there is keeps its
    layouts, and so do inputs and results.
    """

    name: ClassVar[str] = "layout_normalization"
    identities: ClassVar[PatternSet] = patterns


@patterns.rewrites(Bitcast)
def bitcast_of_bitcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """bitcast(bitcast(x)) -> bitcast(x), or x"""
    (operand,) = instruction.operands
    if not isinstance(operand.op, Bitcast):
        return None
    (source,) = operand.operands
    if source.shape == instruction.shape:
        return source
    return build.add(Bitcast(), source, shape=instruction.shape)


@patterns.rewrites(Elementwise)
def elementwise_in_memory(instruction: Instruction, build: Builder) -> Instruction | None:
    """f(x, y) -> bitcast(f(bitcast(x), bitcast(y)))"""
    shape = _unordered(instruction)
    if shape is None or instruction.result_accuracy != DEFAULT_ACCURACY:
        return None
    if not all(_scalar(operand) or _alike(operand, shape) for operand in instruction.operands):
        return None
    operands = [
        operand if _scalar(operand) else _normal(operand, build) for operand in instruction.operands
    ]
    return _restored(instruction.op, operands, shape, build)


@patterns.rewrites(Copy)
def copy_to_another_layout(instruction: Instruction, build: Builder) -> Instruction | None:
    """copy(x) to another layout -> bitcast(transpose(bitcast(x)))"""
    (operand,) = instruction.operands
    if _unordered(instruction) is None and _unordered(operand) is None:
        return None
    shape = _plain(instruction)
    given = _plain(operand)
    if shape is None or given is None:
        return None
    return _moved(operand, _order(given), _order(shape), shape, build)


@patterns.rewrites(Transpose)
def transpose_in_memory(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(x) -> bitcast(transpose(bitcast(x)))"""
    match instruction:
        case Instruction(op=Transpose(dimensions=dimensions), operands=[operand]):
            shape, given = _plain(instruction), _plain(operand)
            if _unordered(instruction) is None and _unordered(operand) is None:
                return None
            if shape is None or given is None:
                return None
            wanted = [dimensions[d] for d in _order(shape)]
            return _moved(operand, _order(given), wanted, shape, build)
    return None


@patterns.rewrites(Reverse, Slice, Pad, Concatenate)
def movement_in_memory(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(x) -> bitcast(slice(bitcast(x))), and so for reverse, pad and concatenate"""
    shape = _unordered(instruction)
    if shape is None:
        return None
    arrays = instruction.operands
    if isinstance(instruction.op, Pad):
        arrays = arrays[:1]
    layouts = {plain.layout for operand in arrays if (plain := _plain(operand)) is not None}
    if layouts != {shape.layout} or any(_plain(operand) is None for operand in arrays):
        return None
    operands = [_normal(operand, build) for operand in arrays]
    operands += instruction.operands[len(arrays) :]
    return _restored(_permuted(instruction.op, _order(shape)), operands, shape, build)


@patterns.rewrites(Broadcast)
def broadcast_in_memory(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(x) -> bitcast(broadcast(bitcast(x)))"""
    match instruction:
        case Instruction(op=Broadcast(dimensions=dimensions), operands=[operand]):
            shape, given = _plain(instruction), _plain(operand)
            if _unordered(instruction) is None and _unordered(operand) is None:
                return None
            if shape is None or given is None:
                return None
            order = _order(shape)
            moved = tuple(order.index(dimensions[d]) for d in _order(given))
            return _restored(Broadcast(moved), [_normal(operand, build)], shape, build)
    return None


@patterns.rewrites(Iota)
def iota_in_memory(instruction: Instruction, build: Builder) -> Instruction | None:
    """iota -> bitcast(iota)"""
    shape = _unordered(instruction)
    if shape is None or not isinstance(instruction.op, Iota):
        return None
    moved = _order(shape).index(instruction.op.iota_dimension)
    return _restored(Iota(moved), [], shape, build)


@patterns.rewrites(Constant)
def constant_in_memory(instruction: Instruction, build: Builder) -> Instruction | None:
    """constant -> bitcast(constant)"""
    shape = _unordered(instruction)
    if shape is None or not isinstance(instruction.op, Constant):
        return None
    literal = instruction.op.literal
    normal = _normal_shape(shape)
    if literal.elided:
        made = Literal.elision(normal)
    else:
        made = Literal.from_array(literal.array().transpose(_order(shape)), normal)
    return _restored(Constant(made), [], shape, build)


def _plain(instruction: Instruction) -> ArrayShape | None:
    """Returns the shape of an array whose layout is an order of dimensions and nothing else."""
    shape = instruction.shape
    if isinstance(shape, ArrayShape) and shape.is_static and not shape.layout.has_tail:
        return shape
    return None


def _unordered(instruction: Instruction) -> ArrayShape | None:
    """Returns the shape of a plain array that is not row-major."""
    shape = _plain(instruction)
    return None if shape is None or shape.layout.is_default else shape


def _scalar(operand: Instruction) -> bool:
    return isinstance(operand.shape, ArrayShape) and operand.shape.is_scalar


def _alike(operand: Instruction, shape: ArrayShape) -> bool:
    plain = _plain(operand)
    return (
        plain is not None and plain.dimensions == shape.dimensions and plain.layout == shape.layout
    )


def _order(shape: ArrayShape) -> list[int]:
    """Returns the dimensions as they lie in memory, the slowest first."""
    return list(reversed(shape.layout.minor_to_major))


def _normal_shape(shape: ArrayShape) -> ArrayShape:
    return ArrayShape(shape.element_type, [shape.dimensions[d] for d in _order(shape)])


def _normal(operand: Instruction, build: Builder) -> Instruction:
    """Returns the row-major array that has the bytes of another one."""
    assert isinstance(operand.shape, ArrayShape)
    return _bitcast(operand, _normal_shape(operand.shape), build)


def _bitcast(operand: Instruction, shape: ArrayShape, build: Builder) -> Instruction:
    if operand.shape == shape:
        return operand
    if isinstance(operand.op, Bitcast) and operand.operands[0].shape == shape:
        return operand.operands[0]
    return build.add(Bitcast(), operand, shape=shape)


def _restored(
    op: Op, operands: Sequence[Instruction], shape: ArrayShape, build: Builder
) -> Instruction:
    made = build.add(op, *operands, shape=_normal_shape(shape))
    return _bitcast(made, shape, build)


def _moved(
    operand: Instruction,
    given: Sequence[int],
    wanted: Sequence[int],
    shape: ArrayShape,
    build: Builder,
) -> Instruction:
    """Returns an array of `shape` whose dimensions lie in the wanted order of the operand's."""
    if list(given) == list(wanted):
        return build.add(Bitcast(), operand, shape=shape)
    dimensions = tuple(given.index(d) for d in wanted)
    return _restored(Transpose(dimensions), [_normal(operand, build)], shape, build)


def _permuted(op: Op, order: Sequence[int]) -> Op:
    match op:
        case Reverse(dimensions=dimensions):
            return Reverse(tuple(sorted(order.index(d) for d in dimensions)))
        case Slice(slice=bounds):
            return Slice(tuple(bounds[d] for d in order))
        case Pad(padding=padding):
            return Pad(tuple(padding[d] for d in order))
        case Concatenate(dimensions=dimension):
            return Concatenate(order.index(dimension))
    raise AssertionError(f"{op.opcode} moves no elements")
