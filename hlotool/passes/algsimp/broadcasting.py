"""Identities of broadcasts, of what is computed from broadcasts, and of iota."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import DEFAULT_ACCURACY
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.shape_changing import Broadcast, Reshape
from hlotool.ops.source import Iota
from hlotool.passes.algsimp.values import zeros
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    count_of,
    has_elements,
    inverse,
    is_increasing,
    only_adds_or_drops_ones,
    resized,
    sizes,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp broadcasting")


@patterns.rewrites(Broadcast)
def broadcast_of_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """broadcast(x) -> x, where no dimension is new or moves"""
    match instruction:
        case Instruction(op=Broadcast(dimensions=mapped), operands=[x]) if (
            are_static(instruction, x) and is_increasing(mapped) and sizes(x) == sizes(instruction)
        ):
            return x
    return None


@patterns.rewrites(Broadcast)
def broadcast_that_transposes(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(x) -> transpose(x), where no dimension is new"""
    match instruction:
        case Instruction(op=Broadcast(dimensions=mapped), operands=[x]) if (
            are_static(instruction, x)
            and len(sizes(x)) == len(sizes(instruction))
            and not is_increasing(mapped)
        ):
            return build.transpose(x, inverse(mapped))
    return None


@patterns.rewrites(Broadcast, over=(Broadcast,))
def broadcast_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(broadcast(x, inner), outer) -> broadcast(x, outer[inner])"""
    match instruction:
        case Instruction(
            op=Broadcast(dimensions=outer),
            operands=[Instruction(op=Broadcast(dimensions=inner), operands=[x])],
        ) if are_static(instruction, x):
            return broadcast_to(build, x, [outer[d] for d in inner], sizes(instruction))
    return None


@patterns.rewrites(Broadcast)
def broadcast_of_ones(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(x) -> reshape(x), where all new dimensions have size 1"""
    match instruction:
        case Instruction(op=Broadcast(dimensions=mapped), operands=[x]) if (
            are_static(instruction, x)
            and is_increasing(mapped)
            and count_of(x) == count_of(instruction)
            and sizes(x) != sizes(instruction)
        ):
            return build.reshape(x, sizes(instruction))
    return None


@patterns.rewrites(Broadcast, over=(Reshape,))
def broadcast_of_reshape(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(reshape(x)) -> broadcast(x), where the reshape only adds dimensions of size 1"""
    match instruction:
        case Instruction(
            op=Broadcast(dimensions=mapped),
            operands=[Instruction(op=Reshape(), operands=[x]) as inner],
        ) if are_static(instruction) and only_adds_or_drops_ones(inner):
            places = _places(sizes(x), sizes(inner))
            if places is not None:
                return broadcast_to(build, x, [mapped[d] for d in places], sizes(instruction))
    return None


def _places(old: Sequence[int], new: Sequence[int]) -> list[int] | None:
    """Returns where dimensions stand among those of a shape with more dimensions of size 1."""
    found: list[int] = []
    place = 0
    for size in old:
        while place < len(new) and new[place] != size:
            place += 1
        if place == len(new):
            return None
        found.append(place)
        place += 1
    return found


@patterns.rewrites(Broadcast, over=(Iota,))
def broadcast_of_iota(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(iota) -> iota"""
    match instruction:
        case Instruction(
            op=Broadcast(dimensions=mapped),
            operands=[Instruction(op=Iota(iota_dimension=along))],
        ) if are_static(instruction):
            return build.iota(mapped[along], resized(instruction, sizes(instruction)))
    return None


@patterns.rewrites(Iota)
def iota_of_size_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """iota -> broadcast(0), where the dimension has size 1"""
    match instruction:
        case Instruction(op=Iota(iota_dimension=along)) if (
            has_elements(instruction) and sizes(instruction)[along] == 1
        ):
            shape = array_shape(instruction)
            form = shape.element_type.component.float_format
            # A float type without a sign has no zero either.
            return zeros(build, shape) if form is None or form.has_sign else None
    return None


@patterns.rewrites(Elementwise, over=(Broadcast,))
def elementwise_of_broadcasts(instruction: Instruction, build: Builder) -> Instruction | None:
    """op(broadcast(x), broadcast(y)) -> broadcast(op(x, y)), where the same dimensions are new

    Scalars that are broadcast go with any; the op then has less elements to compute.
    """
    operands = instruction.operands
    if not are_static(instruction, *operands):
        return None
    wide = [operand for operand in operands if not array_shape(operand).is_scalar]
    if not wide or not all(_is_broadcast_as(operand, instruction) for operand in wide):
        return None
    if instruction.result_accuracy != DEFAULT_ACCURACY:
        return None
    sources = [operand.operands[0] for operand in wide]
    core = max(sources, key=lambda source: len(sizes(source)))
    mapped = _mapped(wide[sources.index(core)])
    for operand, source in zip(wide, sources, strict=True):
        if sizes(source) and (sizes(source), _mapped(operand)) != (sizes(core), mapped):
            return None
    if count_of(core) >= count_of(instruction):
        return None
    small = [_of_size(build, operand, core, wide) for operand in operands]
    shape = resized(instruction, sizes(core))
    made = build.add(instruction.op, *small, shape=_packed(shape, core))
    return broadcast_to(build, made, mapped, sizes(instruction))


def _is_broadcast_as(operand: Instruction, result: Instruction) -> bool:
    return (
        isinstance(operand.op, Broadcast)
        and are_static(operand.operands[0])
        and sizes(operand) == sizes(result)
    )


def _mapped(instruction: Instruction) -> tuple[int, ...]:
    assert isinstance(instruction.op, Broadcast)
    return instruction.op.dimensions


def _of_size(
    build: Builder, operand: Instruction, core: Instruction, wide: Sequence[Instruction]
) -> Instruction:
    source = operand.operands[0] if operand in wide else operand
    is_scalar = array_shape(source).is_scalar
    if not is_scalar or operand not in wide:
        return source
    return broadcast_to(build, source, (), sizes(core))


def _packed(shape: ArrayShape, core: Instruction) -> ArrayShape:
    """Returns the shape in the layout of the array that the others join."""
    order = array_shape(core).layout.minor_to_major
    return shape.with_layout(shape.layout.replace(minor_to_major=order))
