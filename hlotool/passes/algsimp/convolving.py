"""Identities that begin at a convolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hlotool.ir.instruction import Instruction
from hlotool.ir.window import PaddingDimension, Window
from hlotool.ops.convolution import Convolution
from hlotool.ops.shape_changing import Pad
from hlotool.passes.algsimp.constants import is_any_zero
from hlotool.passes.algsimp.regular import NO_NANS
from hlotool.passes.algsimp.values import zeros
from hlotool.passes.algsimp.windowing import padded_window
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import are_static, count_of, has_elements
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp convolving")

_NOTHING = PaddingDimension(0, 0)


@patterns.rewrites(Convolution)
def convolution_over_nothing(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, kernel) -> broadcast(0), where there is nothing to add up"""
    if not are_static(instruction, *instruction.operands) or not count_of(instruction):
        return None
    if all(count_of(operand) for operand in instruction.operands):
        return None
    return zeros(build, array_shape(instruction))


@patterns.rewrites(Convolution, over=(Pad,))
def convolution_of_padded_integers(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(pad(x, 0), kernel) -> convolution(x, kernel), padded by the window"""
    return _padded(instruction, build) if _counts(instruction) else None


@patterns.rewrites(Convolution, over=(Pad,), assumes=NO_NANS)
def convolution_of_padded_floats(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(pad(x, 0), kernel) -> convolution(x, kernel), where no infinity meets the pad"""
    return None if _counts(instruction) else _padded(instruction, build)


@patterns.rewrites(Convolution, over=(Pad,))
def convolution_with_padded_integers(
    instruction: Instruction, build: Builder
) -> Instruction | None:
    """convolution(x, pad(kernel, 0)) -> convolution(x, kernel), where the pad is between taps"""
    return _dilated(instruction, build) if _counts(instruction) else None


@patterns.rewrites(Convolution, over=(Pad,), assumes=NO_NANS)
def convolution_with_padded_floats(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, pad(kernel, 0)) -> convolution(x, kernel), where no infinity meets the pad"""
    return None if _counts(instruction) else _dilated(instruction, build)


def _counts(instruction: Instruction) -> bool:
    return all(
        array_shape(one).element_type.is_integer for one in (instruction, *instruction.operands)
    )


def _spatial_padding(
    padding: Sequence[PaddingDimension], spatial: Sequence[int]
) -> tuple[PaddingDimension, ...] | None:
    """Returns the padding of spatial dimensions, where there is no other."""
    others = [edges for d, edges in enumerate(padding) if d not in spatial]
    if any(edges != _NOTHING for edges in others):
        return None
    return tuple(padding[d] for d in spatial)


def _padded(instruction: Instruction, build: Builder) -> Instruction | None:
    match instruction:
        case Instruction(
            op=Convolution(window=window) as op,
            operands=[Instruction(op=Pad(padding=padding), operands=[x, value]), kernel],
        ) if has_elements(x, kernel) and is_any_zero(value):
            edges = _spatial_padding(padding, op.dim_labels.input_spatial)
            padded = None if edges is None else padded_window(window, edges)
            if padded is None:
                return None
            return build.add(op.replace(window=padded), x, kernel, shape=instruction.shape)
    return None


def _dilated(instruction: Instruction, build: Builder) -> Instruction | None:
    match instruction:
        case Instruction(
            op=Convolution(window=window) as op,
            operands=[x, Instruction(op=Pad(padding=padding), operands=[kernel, value])],
        ) if has_elements(x, kernel) and is_any_zero(value):
            edges = _spatial_padding(padding, op.dim_labels.kernel_spatial)
            taps = [array_shape(kernel).dimensions[d] for d in op.dim_labels.kernel_spatial]
            dilated = None if edges is None else _dilated_window(window, edges, taps)
            if dilated is None:
                return None
            return build.add(op.replace(window=dilated), x, kernel, shape=instruction.shape)
    return None


def _dilated_window(
    window: Window, padding: Sequence[PaddingDimension], taps: Sequence[int]
) -> Window | None:
    """Returns the window that makes the holes of its own; `None` where an edge is padded."""
    found = []
    for one, edges, size in zip(window, padding, taps, strict=True):
        if edges.low or edges.high or (edges.interior and one.window_dilation > 1):
            return None
        found.append(
            replace(one, size=size, window_dilation=max(one.window_dilation, edges.interior + 1))
        )
    return tuple(found)
