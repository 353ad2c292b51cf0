"""Loops whose state is a tuple, and changes of what the state consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import TupleShape
from hlotool.ops.control_flow import While
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.rewriting.builder import Builder, tuple_shape
from hlotool.rewriting.calls import own_called
from hlotool.rewriting.rewriter import remove_dead
from hlotool.rewriting.tuple_state import (
    append_elements,
    append_operands,
    drop_elements,
    keep_operands,
    remove_unused_elements,
)


class LoopState:
    """A `while` over a tuple whose body ends with one; it must stand in its computation.

    `counts` says how often computations are called, and is kept up.
    """

    def __init__(self, loop: Instruction, counts: Counter[Computation]) -> None:
        assert isinstance(loop.op, While), f"{loop.name} is no loop"
        self.loop = loop
        self._counts = counts

    @classmethod
    def of(cls, loop: Instruction, counts: Counter[Computation]) -> LoopState | None:
        """Returns the state of a loop, `None` where it is no tuple that is seen made."""
        body = loop.calls[1]
        is_seen = isinstance(loop.shape, TupleShape) and isinstance(body.root.op, Tuple)
        return cls(loop, counts) if is_seen else None

    @property
    def computation(self) -> Computation:
        """Where the loop stands."""
        assert self.loop.parent is not None, f"{self.loop.name} was removed"
        return self.loop.parent

    @property
    def condition(self) -> Computation:
        """What decides on the next round."""
        return self.loop.calls[0]

    @property
    def body(self) -> Computation:
        """What a round does."""
        return self.loop.calls[1]

    @property
    def inside(self) -> tuple[Instruction, Instruction]:
        """The state as the condition and as the body see it."""
        return self.condition.parameters[0], self.body.parameters[0]

    @property
    def count(self) -> int:
        """How many elements the state has."""
        return len(tuple_shape(self.loop).elements)

    @property
    def initial(self) -> tuple[Instruction, ...] | None:
        """The elements that the loop begins with, where they are seen."""
        (operand,) = self.loop.operands
        return operand.operands if isinstance(operand.op, Tuple) else None

    @property
    def next_elements(self) -> tuple[Instruction, ...]:
        """What a round makes of each element."""
        return self.body.root.operands

    def stays(self, index: int) -> bool:
        """Whether a round hands an element on as it is."""
        return is_element(self.next_elements[index], self.body.parameters[0], index)

    def own(self) -> None:
        """Gives the loop a body and a condition that nothing else calls."""
        own_called(self.loop, self._counts)

    def drop(self, dropped: Collection[int]) -> None:
        """Takes elements out that neither the rounds to come nor the result depend on.

        What only they needed is removed from the body.
        """
        self.own()
        kept = [index for index in range(self.count) if index not in dropped]
        keep_operands(self._own_root(), kept)
        for called in self.loop.calls:
            remove_dead(called, called.instructions[::-1])
            drop_elements(called.parameters[0], dropped)
        builder = Builder(self.computation, self.loop)
        (operand,) = self.loop.operands
        self.loop.operands = (builder.tuple(*[builder.element(operand, i) for i in kept]),)
        remove_dead(self.computation, [operand])
        remove_unused_elements(self.loop)
        drop_elements(self.loop, dropped)

    def append(self, values: Sequence[Instruction]) -> list[Instruction]:
        """Adds values from around the loop as elements that stay, and returns them in the body.

        What uses the whole state goes on with the elements that were there.
        """
        self.own()
        count = self.count
        shapes = [value.shape for value in values]
        (operand,) = self.loop.operands
        builder = Builder(self.computation, self.loop)
        before = [builder.element(operand, index) for index in range(count)]
        self.loop.operands = (builder.tuple(*before, *values),)
        remove_dead(self.computation, [operand])
        root = self._own_root()
        for instruction in (self.loop, *self.inside):
            append_elements(instruction, shapes)
        inside = Builder(self.body, root)
        added = [inside.element(self.inside[1], count + n) for n in range(len(values))]
        append_operands(root, added)
        return added

    def _own_root(self) -> Instruction:
        """Returns the tuple that the body ends with, made anew where something else uses it."""
        root = self.body.root
        if root.users:
            self.body.root = root = Builder(self.body, root).tuple(*root.operands)
        return root


def has_one_shape(loop: Instruction) -> bool:
    """Whether a loop is given, hands on and yields its state in the same layouts."""
    body = loop.calls[1]
    shapes = (loop.operands[0].shape, body.parameters[0].shape, body.root.shape)
    return all(shape == loop.shape for shape in shapes)


def is_element(instruction: Instruction, source: Instruction, index: int) -> bool:
    """Whether an instruction takes an element of a tuple, also of tuples made on the way."""
    found, rest = followed(instruction)
    return found is source and rest == (index,)


def followed(instruction: Instruction) -> tuple[Instruction, tuple[int, ...]]:
    """Returns what a value is a part of, behind tuples and the taking of their elements."""
    index: tuple[int, ...] = ()
    while True:
        if isinstance(instruction.op, GetTupleElement):
            index = (instruction.op.index, *index)
            (instruction,) = instruction.operands
        elif isinstance(instruction.op, Tuple) and index:
            instruction = instruction.operands[index[0]]
            index = index[1:]
        else:
            return instruction, index
