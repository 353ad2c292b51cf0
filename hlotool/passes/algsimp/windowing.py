"""Identities of windows that slide over an array: reduce-window and select-and-scatter."""

from __future__ import annotations

from dataclasses import replace

from hlotool.analysis.combinations import combination_of
from hlotool.ir.instruction import Instruction
from hlotool.ir.window import PaddingDimension, Window, WindowDimension
from hlotool.ops.callees.reducers import Combination
from hlotool.ops.reduction import Reduce, ReduceWindow, SelectAndScatter
from hlotool.ops.shape_changing import Pad
from hlotool.passes.algsimp.reducing import changes_nothing
from hlotool.passes.algsimp.values import is_neutral
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    count_of,
    has_elements,
    resized,
    sizes,
    without,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp windowing")


def _combination(instruction: Instruction) -> Combination | None:
    """Returns what a reduce-window does with one static array, in one type all over."""
    if len(instruction.operands) != 2 or not are_static(instruction, *instruction.operands):
        return None
    found = combination_of(instruction.calls[0])
    shapes = map(array_shape, (instruction, *instruction.operands))
    if found is None or {shape.element_type for shape in shapes} != {found.element_type}:
        return None
    return found


def _window(instruction: Instruction) -> Window:
    assert isinstance(instruction.op, ReduceWindow)
    return instruction.op.window


def is_trivial(dimension: WindowDimension) -> bool:
    """Whether the window shows each element by itself, in order."""
    plain = WindowDimension(1)
    kept = replace(dimension, window_dilation=1, reversal=False)
    return kept == plain


@patterns.rewrites(ReduceWindow)
def reduce_window_of_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce-window(x, init) -> op(broadcast(init), x), where the window shows one element

    It is x where init changes nothing.
    """
    combination = _combination(instruction)
    if combination is None or not all(map(is_trivial, _window(instruction))):
        return None
    x, init = instruction.operands
    if is_neutral(combination, init):
        return x
    return build.add(combination.op(), broadcast_to(build, init, (), sizes(x)), x)


@patterns.rewrites(ReduceWindow)
def reduce_window_of_all(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce-window(x, init) -> reshape(reduce(x, init)), where the window shows all at once"""
    if _combination(instruction) is None or not has_elements(instruction.operands[0]):
        return None
    x, init = instruction.operands
    window = _window(instruction)
    whole = [d for d, one in enumerate(window) if _shows_all(one, sizes(x)[d])]
    if not whole or any(not is_trivial(one) for d, one in enumerate(window) if d not in whole):
        return None
    kept = without(sizes(x), whole)
    reduced = build.add(
        Reduce(tuple(whole)), x, init, calls=instruction.calls, shape=resized(instruction, kept)
    )
    return build.reshape(reduced, sizes(instruction))


def _shows_all(dimension: WindowDimension, size: int) -> bool:
    plain = replace(dimension, stride=1, reversal=False)
    return size > 1 and plain == WindowDimension(size)


@patterns.rewrites(ReduceWindow)
def reduce_window_of_pad(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce-window(pad(x, value), init) -> reduce-window(x, init), padded by the window"""
    combination = _combination(instruction)
    match instruction:
        case Instruction(
            operands=[Instruction(op=Pad(padding=padding), operands=[x, value]), init]
        ) if combination is not None and has_elements(x):
            if not changes_nothing(combination, value, init):
                return None
            window = padded_window(_window(instruction), padding)
            if window is None:
                return None
            return build.add(
                ReduceWindow(window), x, init, calls=instruction.calls, shape=instruction.shape
            )
    return None


def padded_window(window: Window, padding: tuple[PaddingDimension, ...]) -> Window | None:
    """Returns the window that pads as well; `None` where a pad cuts off or both make holes."""
    found: list[WindowDimension] = []
    for one, edges in zip(window, padding, strict=True):
        if edges.low < 0 or edges.high < 0 or (edges.interior and one.base_dilation > 1):
            return None
        found.append(
            replace(
                one,
                padding_low=one.padding_low + edges.low * one.base_dilation,
                padding_high=one.padding_high + edges.high * one.base_dilation,
                base_dilation=max(one.base_dilation, edges.interior + 1),
            )
        )
    return tuple(found)


@patterns.rewrites(SelectAndScatter)
def select_and_scatter_of_nothing(instruction: Instruction, build: Builder) -> Instruction | None:
    """select-and-scatter(x, source, init) -> broadcast(init), where the source has no elements"""
    _, source, init = instruction.operands
    if not are_static(instruction, source, init) or count_of(source):
        return None
    if array_shape(init).element_type is not array_shape(instruction).element_type:
        return None
    return broadcast_to(build, init, (), sizes(instruction))
