"""Loops over a state of arrays, built with `while`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import Shape
from hlotool.ops.control_flow import While
from hlotool.ops.elementwise import Add, Compare
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.rewriter import remove_dead

State: TypeAlias = Sequence[Instruction]
"""What a loop carries from step to step."""
Condition: TypeAlias = Callable[[Builder, State], Instruction]
"""Returns whether there is a next step."""
Step: TypeAlias = Callable[[Builder, State], State]
"""Returns the state after a step; it uses nothing but the state and what it makes itself."""
NumberedStep: TypeAlias = Callable[[Builder, Instruction, State], State]
"""A step that gets its number, from 0, as s32."""


def while_loop(
    build: Builder, state: State, condition: Condition, step: Step, name: str = "loop"
) -> list[Instruction]:
    """Returns the first state that the condition does not hold for.

    Arrays of the state are row-major; they are copied where they are not.
    """
    shapes = [instruction.shape.with_default_layout() for instruction in state]
    initial = build.tuple(*_in_layouts(build, state, shapes))
    body = build.computation_named(f"{name}_body", [initial.shape])
    stepped = step(body, _elements(body, len(shapes)))
    after = _finished(body, body.tuple(*_in_layouts(body, stepped, shapes)))
    test = build.computation_named(f"{name}_condition", [initial.shape])
    before = _finished(test, condition(test, _elements(test, len(shapes))))
    last = build.add(While(), initial, calls=[before, after], shape=initial.shape, name=name)
    return [build.element(last, number) for number in range(len(shapes))]


def counted_loop(
    build: Builder,
    count: int,
    state: State,
    step: NumberedStep,
    *,
    name: str = "loop",
    unrolled: int = 1,
) -> list[Instruction]:
    """Returns the state after `count` steps; up to `unrolled` of them are written out."""
    if count <= unrolled:
        for number in range(count):
            state = step(build, build.constant(number, S32), state)
        return list(state)

    def is_next(inside: Builder, current: State) -> Instruction:
        return inside.add(Compare("LT"), current[0], inside.constant(count, S32))

    def counted(inside: Builder, current: State) -> State:
        number, *rest = current
        following = inside.add(Add(), number, inside.constant(1, S32))
        return [following, *step(inside, number, rest)]

    first = build.constant(0, S32)
    return while_loop(build, [first, *state], is_next, counted, name)[1:]


def _elements(inside: Builder, count: int) -> list[Instruction]:
    (state,) = inside.computation.parameters
    return [inside.element(state, number) for number in range(count)]


def _finished(inside: Builder, root: Instruction) -> Computation:
    """Returns a computation without the elements of the state that it does not use."""
    made = inside.finish(root)
    remove_dead(made, reversed(inside.made))
    made.settle()
    return made


def _in_layouts(build: Builder, state: State, shapes: Sequence[Shape]) -> list[Instruction]:
    return [build.in_layout(*pair) for pair in zip(state, shapes, strict=True)]
