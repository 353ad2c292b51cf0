"""Copies of single parts of a tuple, with the tuple put together again around them."""

from __future__ import annotations

from collections.abc import Collection

from hlotool.analysis.dataflow import Index
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.rewriter import remove_dead


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

    def redirect_users(self, source: Instruction) -> None:
        """Lets all that uses the source, other than what was made here, use the copies.

        What takes an element of it takes the copy of the element right away; copies that
        nothing uses are not kept.
        """
        computation = self._builder.computation
        made = set(self._builder.made)
        waiting: list[tuple[Instruction, Index]] = [(source, ())]
        while waiting:
            old, index = waiting.pop()
            new = self._parts[index]
            for user in [user for user in old.users if user not in made]:
                inner = (*index, user.op.index) if isinstance(user.op, GetTupleElement) else None
                if inner is not None and index in self._on_the_way:
                    if inner in self._on_the_way or inner in self._wanted:
                        waiting.append((user, inner))
                else:
                    user.operands = [new if one is old else one for one in user.operands]
            if computation.root is old:
                computation.root = new
        remove_dead(computation, self._builder.made)
        kept = self.copies.items()
        self.copies = {index: copy for index, copy in kept if copy.parent is not None}

    def _rebuilt(self, source: Instruction, shape: Shape, index: Index) -> Instruction:
        if index in self._wanted and isinstance(shape, ArrayShape):
            found = self.copies[index] = self._builder.add(Copy(), source, shape=shape)
        elif index in self._on_the_way and isinstance(shape, TupleShape):
            known = _elements_taken(source)
            elements = [
                self._rebuilt(
                    known.get(number) or self._builder.element(source, number),
                    part,
                    (*index, number),
                )
                for number, part in enumerate(shape.elements)
            ]
            found = self._builder.tuple(*elements)
        else:
            found = source
        self._parts[index] = found
        return found


def _elements_taken(source: Instruction) -> dict[int, Instruction]:
    """Returns the instructions that take elements of a tuple, by the number of the element."""
    if isinstance(source.op, Tuple):
        return {}
    found: dict[int, Instruction] = {}
    for user in source.users:
        if isinstance(user.op, GetTupleElement):
            found.setdefault(user.op.index, user)
    return found
