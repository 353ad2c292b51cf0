"""Which computations of a module compute the same, whatever their names and metadata are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from hlotool.ir.annotations import NO_ANNOTATIONS
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.order import instruction_order
from hlotool.ops.source import Constant

_MEANINGFUL = ("sharding=", "frontend_attributes=", "result_accuracy=", "backend_config=")


class EqualComputations:
    """Gives computations numbers: equal ones for those that compute the same.

    Called computations are numbered before their callers. A number holds as long as its
    computation does not change.
    """

    def __init__(self) -> None:
        self._numbers: dict[Computation, int] = {}
        self._known: dict[Hashable, int] = {}

    def number(self, computation: Computation) -> int:
        """Returns the number of a computation whose called computations do not change any more."""
        waiting = [computation]
        while waiting:
            current = waiting[-1]
            unknown = [
                called
                for instruction in current.instructions
                for called in instruction.calls
                if called not in self._numbers
            ]
            if unknown:
                waiting += unknown
                continue
            waiting.pop()
            if current not in self._numbers:
                key = self._key(current)
                self._numbers[current] = self._known.setdefault(key, len(self._known))
        return self._numbers[computation]

    def forget(self, computations: Iterable[Computation]) -> None:
        """Forgets the numbers of computations that have changed; no caller has a number yet."""
        for computation in computations:
            self._numbers.pop(computation, None)

    def of_calls(self, instruction: Instruction) -> tuple[int, ...]:
        """Returns the numbers of the computations that an instruction calls."""
        return tuple(map(self.number, instruction.calls)) if instruction.calls else ()

    def _key(self, computation: Computation) -> Hashable:
        order = instruction_order(computation)
        places = {instruction: place for place, instruction in enumerate(order)}
        lines = tuple(
            (
                meaning_of_op(instruction),
                instruction.shape.text,
                meaning_of_annotations(instruction),
                tuple(places[operand] for operand in instruction.operands),
                tuple(places[before] for before in instruction.control_predecessors),
                self.of_calls(instruction),
            )
            for instruction in order
        )
        return computation.execution_thread, computation.unknown, places[computation.root], lines


def meaning_of_op(instruction: Instruction) -> Hashable:
    """Returns what equal ops have in common; values that a text leaves out are equal to none."""
    op = instruction.op
    is_unknown = isinstance(op, Constant) and op.literal.has_elision
    return instruction if is_unknown else op


def meaning_of_annotations(instruction: Instruction) -> Hashable:
    """Returns what annotations say of the computing, without where the instruction comes from."""
    if instruction.has_metadata_alone:
        return None
    text = instruction.annotation_text
    # Most texts hold only metadata, and reading them costs more than all else.
    if text is not None and not any(word in text for word in _MEANINGFUL):
        return None
    found = instruction.annotations
    said = (
        found.sharding,
        found.frontend_attributes,
        found.result_accuracy,
        found.backend_config,
    )
    return said if said != _NOTHING_SAID else None


_NOTHING_SAID = (
    NO_ANNOTATIONS.sharding,
    NO_ANNOTATIONS.frontend_attributes,
    NO_ANNOTATIONS.result_accuracy,
    NO_ANNOTATIONS.backend_config,
)
