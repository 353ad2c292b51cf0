"""Which instruction of one module is which of another, whatever their names and order are."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from hlotool.analysis.equal_computations import meaning_of_annotations
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module

T = TypeVar("T")
_Key = Callable[[Instruction], Hashable]


class Matching:
    """Pairs of computations and instructions of two modules.

    `computations` and `instructions` lead from the one module to the other, each item to one.
    Pairs that compute the same from the same are found first; what is left is paired where
    paired users have it as the same operand, then where names, then where ops and shapes are
    equal. The time is linear in the size of both modules.
    """

    def __init__(self, one: Module, other: Module) -> None:
        self.one = one
        self.other = other
        self.computations: dict[Computation, Computation] = {}
        self.instructions: dict[Instruction, Instruction] = {}
        self._taken: set[Instruction] = set()
        self._taken_computations: set[Computation] = set()
        self._classes = _Classes()
        for module in (one, other):
            for computation in module.computations:
                self._classes.enter(computation)
        self._match_all()

    def same_structure(self, one: Instruction, other: Instruction) -> bool:
        """Whether two instructions compute the same from the same, whatever the names."""
        return self._classes.of(one) == self._classes.of(other)

    def _match_all(self) -> None:
        self._pair_computations(self.one.entry, self.other.entry)
        rest = [c for c in self.one.computations if c not in self.computations]
        others = [c for c in self.other.computations if c not in self._taken_computations]
        # What the pairs above do not call is paired by what it computes, then by name.
        for key in (self._classes.of_computation, lambda computation: computation.name):
            for pair in list(_equal_pairs(rest, others, key)):
                self._pair_computations(*pair)
            rest = [c for c in rest if c not in self.computations]
            others = [c for c in others if c not in self._taken_computations]

    def _pair_computations(self, one: Computation, other: Computation) -> None:
        waiting = deque([(one, other)])
        while waiting:
            one, other = waiting.popleft()
            if one in self.computations or other in self._taken_computations:
                continue
            self.computations[one] = other
            self._taken_computations.add(other)
            self._match_instructions(one, other)
            for instruction in one.instructions:
                partner = self.instructions.get(instruction)
                if partner is not None and len(partner.calls) == len(instruction.calls):
                    waiting += zip(instruction.calls, partner.calls, strict=True)

    def _match_instructions(self, one: Computation, other: Computation) -> None:
        # Of several that compute the same, those of one name belong together.
        self._pair_equal(one, other, lambda i: (self._classes.of(i), i.name))
        self._pair_equal(one, other, self._classes.of)
        self._pair_operands(one, other)
        self._pair_equal(one, other, lambda i: (i.opcode, i.name))
        self._pair_operands(one, other)
        self._pair_equal(one, other, lambda i: (i.op, i.shape.plain_text))
        self._pair_equal(one, other, lambda i: (i.opcode, i.shape.plain_text))

    def _pair_equal(self, one: Computation, other: Computation, key: _Key) -> None:
        rest = [i for i in one.instructions if i not in self.instructions]
        others = [i for i in other.instructions if i not in self._taken]
        for pair in list(_equal_pairs(rest, others, key)):
            self._pair(*pair)

    def _pair(self, one: Instruction, other: Instruction) -> None:
        self.instructions[one] = other
        self._taken.add(other)

    def _pair_operands(self, one: Computation, other: Computation) -> None:
        if one.root not in self.instructions and one.root.opcode == other.root.opcode:
            self._pair(one.root, other.root)
        # Users come behind their operands, so one walk from the end reaches all.
        for instruction in reversed(one.instructions):
            partner = self.instructions.get(instruction)
            if partner is None or len(partner.operands) != len(instruction.operands):
                continue
            for ours, theirs in zip(instruction.operands, partner.operands, strict=True):
                is_free = ours not in self.instructions and theirs not in self._taken
                if is_free and ours.opcode == theirs.opcode:
                    self._pair(ours, theirs)


class _Classes:
    """Numbers that are equal where structure is: op, shape and operands' numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._of: dict[Instruction, int] = {}
        self._of_computation: dict[Computation, int] = {}

    def enter(self, computation: Computation) -> None:
        """Numbers the instructions of a computation whose called ones are numbered."""
        for instruction in computation.instructions:
            self._of[instruction] = self._number(
                (
                    instruction.op,
                    instruction.shape.text,
                    meaning_of_annotations(instruction),
                    tuple(self._of[operand] for operand in instruction.operands),
                    tuple(self._of_computation[called] for called in instruction.calls),
                    tuple(sorted(self._of[p] for p in instruction.control_predecessors)),
                )
            )
        numbers = sorted(self._of[instruction] for instruction in computation.instructions)
        self._of_computation[computation] = self._number(
            ("computation", self._of[computation.root], tuple(numbers))
        )

    def of(self, instruction: Instruction) -> int:
        """Returns the number of an instruction."""
        return self._of[instruction]

    def of_computation(self, computation: Computation) -> int:
        """Returns the number of a computation."""
        return self._of_computation[computation]

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _equal_pairs(
    ones: Iterable[T], others: Iterable[T], key: Callable[[T], Hashable]
) -> Iterator[tuple[T, T]]:
    """Yields pairs with equal keys: of several the first with the first, and so on."""
    waiting: dict[Hashable, deque[T]] = defaultdict(deque)
    for other in others:
        waiting[key(other)].append(other)
    for one in ones:
        found = waiting.get(key(one))
        if found:
            yield one, found.popleft()
