"""Single numbers as expressions of other single numbers, seen through calls and tuples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from hlotool.ir.frame import Array, Device, Frame
from hlotool.ir.instruction import Instruction
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import Call, Fusion
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.shape_changing import Broadcast, Reshape
from hlotool.ops.source import Constant

StateIndex: TypeAlias = tuple[int, ...]
"""Which part of the parameter of a computation; empty for the parameter itself."""
_MOST_OPS = 100
_MOST_CALLS = 20
_FOLLOWED_OPS = (Elementwise, Reshape, Broadcast)
_NO_DEVICE = cast("Device", None)
"""The ops here ask no device for anything."""


@dataclass(frozen=True)
class Place:
    """An instruction, in the call that its computation is run by; none for the outermost."""

    instruction: Instruction
    caller: Place | None = None
    depth: int = 0
    """How many calls there are around it."""


def resolved(place: Place, index: StateIndex = ()) -> tuple[Place, StateIndex]:
    """Returns where a part of a value is made, and which part it is there.

    That is behind tuples, copies, calls and fusions; a parameter of the outermost computation
    is the end.
    """
    while True:
        instruction = place.instruction
        op = instruction.op
        passed = op.passes(index, len(instruction.operands))
        if passed is not None:
            number, index = passed
            place = Place(instruction.operands[number], place.caller, place.depth)
        elif isinstance(op, Call | Fusion) and place.depth < _MOST_CALLS:
            place = Place(instruction.calls[0].root, place, place.depth + 1)
        elif op.parameter_number is not None and place.caller is not None:
            operand = place.caller.instruction.operands[op.parameter_number]
            place = Place(operand, place.caller.caller, place.depth - 1)
        else:
            return place, index


Argument: TypeAlias = "StateIndex | Array | None"
"""A part of the state, a constant, or `None` for what is computed."""


@dataclass(frozen=True)
class _Step:
    """One node: a part of the state, a constant, or an op on nodes before it."""

    leaf: Argument
    instruction: Instruction
    operands: tuple[int, ...] = ()


@dataclass(frozen=True)
class ScalarExpression:
    """What a number is made of: the last of steps that come after what they need."""

    steps: tuple[_Step, ...]

    @classmethod
    def of(cls, root: Place, index: StateIndex = ()) -> ScalarExpression | None:
        """Returns the expression of a part of a value.

        It is `None` where the part is no single number, or is made of more than such, or of
        too many.
        """
        steps: list[_Step] = []
        places: dict[tuple[Place, StateIndex], int] = {}
        waiting = [resolved(root, index)]
        top = waiting[0]
        while waiting:
            key = waiting[-1]
            if key in places:
                waiting.pop()
                continue
            instruction = key[0].instruction
            leaf = _leaf(*key)
            if leaf is None and not _is_followed(*key):
                return None
            inner = [] if leaf is not None else _operands(key[0])
            missing = [one for one in inner if one not in places]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            places[key] = len(steps)
            steps.append(_Step(leaf, instruction, tuple(places[one] for one in inner)))
            if len(steps) + len(waiting) > _MOST_OPS:
                return None
        assert places[top] == len(steps) - 1, "the root comes last"
        return cls(tuple(steps))

    @property
    def root(self) -> Instruction:
        """The instruction that makes the number."""
        return self.steps[-1].instruction

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What the root is made of."""
        return tuple(self.steps[number].leaf for number in self.steps[-1].operands)

    @property
    def states(self) -> tuple[StateIndex, ...]:
        """The parts of the state that it depends on, each once."""
        found = [step.leaf for step in self.steps if isinstance(step.leaf, tuple)]
        return tuple(dict.fromkeys(found))

    @property
    def size(self) -> int:
        """How many ops there are to evaluate."""
        return sum(step.leaf is None for step in self.steps)

    def with_states(self, known: Mapping[StateIndex, Array]) -> ScalarExpression:
        """Returns the expression with constants in the place of parts of the state."""
        return ScalarExpression(
            tuple(
                _Step(known[step.leaf], step.instruction)
                if isinstance(step.leaf, tuple) and step.leaf in known
                else step
                for step in self.steps
            )
        )

    def evaluate(self, state: Mapping[StateIndex, Array]) -> Array:
        """Returns the number, given the parts of the state."""
        values: list[Array] = []
        with np.errstate(all="ignore"):
            for step in self.steps:
                if isinstance(step.leaf, tuple):
                    values.append(state[step.leaf])
                elif step.leaf is not None:
                    values.append(step.leaf)
                else:
                    operands = [values[number] for number in step.operands]
                    frame = Frame(step.instruction, (), _NO_DEVICE)
                    values.append(np.asarray(step.instruction.op.evaluate(operands, frame)))
        return values[-1]


def _leaf(place: Place, index: StateIndex) -> Argument:
    op = place.instruction.op
    if op.parameter_number is not None:
        return index
    if isinstance(op, Constant) and not index and _is_number(place.instruction):
        return None if op.literal.elided else op.literal.array()
    return None


def _is_followed(place: Place, index: StateIndex) -> bool:
    instruction = place.instruction
    numbers = (instruction, *instruction.operands)
    return isinstance(instruction.op, _FOLLOWED_OPS) and not index and all(map(_is_number, numbers))


def _is_number(instruction: Instruction) -> bool:
    shape = instruction.shape
    return isinstance(shape, ArrayShape) and shape.is_static and shape.element_count == 1


def _operands(place: Place) -> list[tuple[Place, StateIndex]]:
    operands = place.instruction.operands
    return [resolved(Place(operand, place.caller, place.depth)) for operand in operands]
