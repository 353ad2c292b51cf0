"""Copies of single parts of a tuple, with the tuple put together again around them."""

from __future__ import annotations

from collections.abc import Collection

from hlotool.analysis.dataflow import Index
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.tuples import GetTupleElement
from hlotool.ops.unary import Copy
from hlotool.rewriting.builder import Builder


class LeafCopies:
    """A value with copies in the place of some of its arrays; `copies` has them by their index."""

    def __init__(self, source: Instruction, wanted: Collection[Index], builder: Builder) -> None:
        self.copies: dict[Index, Instruction] = {}
        self._wanted = frozenset(wanted)
        self._on_the_way = {index[:length] for index in wanted for length in range(len(index))}
        self._builder = builder
        self._parts: dict[Index, Instruction] = {}
        self.value = self._rebuilt(source, source.shape, ())
        """The whole with the copies in it."""

    def redirect_elements(self, source: Instruction) -> None:
        """Lets all that uses the source, other than what was made here, use the copies.

        What takes an element of it takes the copy of the element right away.
        """
        made = set(self._builder.made)
        computation = self._builder.computation
        waiting: list[tuple[Instruction, Index]] = [(source, ())]
        while waiting:
            old, index = waiting.pop()
            new = self._parts.get(index)
            if new is None or new is old:
                continue
            for user in list(old.users):
                if user in made:
                    continue
                if isinstance(user.op, GetTupleElement) and isinstance(old.shape, TupleShape):
                    waiting.append((user, (*index, user.op.index)))
                else:
                    user.operands = [new if one is old else one for one in user.operands]
            if computation.root is old:
                computation.root = new

    def _rebuilt(self, source: Instruction, shape: Shape, index: Index) -> Instruction:
        if index in self._wanted and isinstance(shape, ArrayShape):
            found = self.copies[index] = self._builder.add(Copy(), source, shape=shape)
        elif index in self._on_the_way and isinstance(shape, TupleShape):
            elements = [
                self._rebuilt(self._builder.element(source, number), part, (*index, number))
                for number, part in enumerate(shape.elements)
            ]
            found = self._builder.tuple(*elements)
        else:
            found = source
        self._parts[index] = found
        return found


def with_copies(source: Instruction, wanted: Collection[Index], builder: Builder) -> LeafCopies:
    """Returns a value with copies of its arrays at the wanted indices."""
    return LeafCopies(source, wanted, builder)
