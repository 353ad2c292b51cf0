"""Folds: what a reducer does to accumulators in registers, many lanes of them at once.

Reducers that are one op are folded in any order, lane by lane, and what the lanes have is put
together at the end. Sums of narrow floats are kept in f32 and rounded once. Other reducers are
called; in any order only where it is certain that the order makes no difference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

from hlotool.codegen.elements.callee import applied
from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.kernels.folds.combining import Combining, combining
from hlotool.codegen.kernels.folds.order import is_free, position
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, elements_of
from hlotool.codegen.numbers.rounding import rounded
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.reducers import Combination, recognized

State: TypeAlias = tuple[Value, ...]
"""The accumulators of a fold while it runs, in as many values as the fold wants."""


class Fold(ABC):
    """How one `reduce` is computed. States may have lanes, each with accumulators of its own."""

    @property
    @abstractmethod
    def is_free(self) -> bool:
        """Whether elements may be taken in any order and grouping, and the start more than once."""

    @abstractmethod
    def start(self, initials: Sequence[Element], /) -> State:
        """Returns the state before any element."""

    @abstractmethod
    def lifted(self, function: FunctionWriter, elements: Sequence[Element], /) -> State:
        """Returns the elements as a state, to be combined with another."""

    @abstractmethod
    def combined(self, emitter: ElementEmitter, state: State, other: State) -> State:
        """Writes what both states have taken in; `other` comes later."""

    def merged(self, emitter: ElementEmitter, state: State, other: State) -> State:
        """Writes what both states have taken in, where neither comes later; of free folds."""
        return self.combined(emitter, state, other)

    @abstractmethod
    def finished(
        self, emitter: ElementEmitter, state: State, initials: Sequence[Element], /
    ) -> tuple[Element, ...]:
        """Writes the results."""


def fold_of(instruction: Instruction) -> Fold:
    """Returns how a `reduce` is computed."""
    found = []
    for one in recognized(instruction.calls[0]) or ():
        combined = combining(one.op, one.element_type) if isinstance(one, Combination) else None
        if combined is None:
            return _Called(instruction)
        found.append(combined)
    return _Recognized(instruction, found) if found else _Called(instruction)


class _Recognized(Fold):
    """A fold of ops that have an identity: accumulators start from it."""

    def __init__(self, instruction: Instruction, components: list[Combining]) -> None:
        self._components = components
        self._types = result_types(instruction)

    @property
    def is_free(self) -> bool:
        return True

    def start(self, _: Sequence[Element], /) -> State:
        return tuple(value for one in self._components for value in one.start)

    def lifted(self, function: FunctionWriter, elements: Sequence[Element], /) -> State:
        pairs = zip(self._components, elements, strict=True)
        return tuple(value for one, e in pairs for value in one.lifted(function, e))

    def combined(self, emitter: ElementEmitter, state: State, other: State) -> State:
        found: list[Value] = []
        for one, ours, theirs in zip(
            self._components, self._cut(state), self._cut(other), strict=True
        ):
            found += one.combine(emitter.function, ours, theirs)
        return tuple(found)

    def finished(
        self, emitter: ElementEmitter, state: State, initials: Sequence[Element], /
    ) -> tuple[Element, ...]:
        function = emitter.function
        whole = self.combined(emitter, self.lifted(function, initials), state)
        return tuple(
            _rounded(function, kind, one.finished(function, values))
            for one, kind, values in zip(
                self._components, self._types, self._cut(whole), strict=True
            )
        )

    def _cut(self, state: State) -> list[State]:
        found, begin = [], 0
        for one in self._components:
            found.append(state[begin : begin + one.width])
            begin += one.width
        return found


class _Called(Fold):
    """A fold whose reducer is called for each element, from the initial values on."""

    def __init__(self, instruction: Instruction) -> None:
        self._instruction = instruction
        self._reducer = instruction.calls[0]
        self._types = result_types(instruction)

    @property
    def is_free(self) -> bool:
        return self._is_free

    @cached_property
    def _is_free(self) -> bool:
        return self._position is not None or is_free(self._reducer)

    @cached_property
    def _position(self) -> int | None:
        return position(self._instruction)

    def start(self, initials: Sequence[Element], /) -> State:
        return tuple(part for one in initials for part in one.parts)

    def lifted(self, _: FunctionWriter, elements: Sequence[Element], /) -> State:
        return tuple(part for one in elements for part in one.parts)

    def combined(self, emitter: ElementEmitter, state: State, other: State) -> State:
        types = map(element_type_of, self._reducer.parameters)
        given = elements_of(types, (*state, *other))
        lanes = max(value.lanes for value in (*state, *other))
        with emitter.with_lanes(lanes):
            yielded = applied(emitter, self._reducer, given)
        function = emitter.function
        return tuple(function.splat(part, lanes) for one in yielded for part in one.parts)

    def merged(self, emitter: ElementEmitter, state: State, other: State) -> State:
        if self._position is None:
            return self.combined(emitter, state, other)
        # What comes first is the accumulator.
        function, number = emitter.function, self._position
        counted = element_type_of(self._reducer.parameters[number])
        predicate = "sle" if counted.is_signed else "ule"
        in_order = function.compare(predicate, state[number], other[number])
        pairs = list(zip(state, other, strict=True))
        first = tuple(function.select(in_order, one, two) for one, two in pairs)
        second = tuple(function.select(in_order, two, one) for one, two in pairs)
        return self.combined(emitter, first, second)

    def finished(
        self, _: ElementEmitter, state: State, __: Sequence[Element], /
    ) -> tuple[Element, ...]:
        return tuple(elements_of(self._types, state))


def result_types(instruction: Instruction) -> list[ElementType]:
    """Returns the element types of the arrays that a reduction yields."""
    found = []
    for _, leaf in instruction.shape.leaves():
        assert isinstance(leaf, ArrayShape)
        found.append(leaf.element_type)
    return found


def across(emitter: ElementEmitter, fold: Fold, state: State) -> State:
    """Writes what all lanes of a state have taken in, in one lane: halves, one with the other."""
    function = emitter.function
    lanes = max(value.lanes for value in state)
    state = tuple(function.splat(value, lanes) for value in state)
    while lanes > 1:
        assert lanes % 2 == 0, "lanes are halved"
        lanes //= 2
        low = tuple(function.shuffle(v, v, range(lanes)) for v in state)
        high = tuple(function.shuffle(v, v, range(lanes, 2 * lanes)) for v in state)
        state = fold.merged(emitter, low, high)
    return state


def joined(emitter: ElementEmitter, fold: Fold, states: Sequence[State]) -> State:
    """Writes what several states have taken in, each two neighbours first."""
    found = list(states)
    while len(found) > 1:
        pairs = [fold.merged(emitter, found[n], found[n + 1]) for n in range(0, len(found) - 1, 2)]
        found = [*pairs, *found[2 * len(pairs) :]]
    return found[0]


def _rounded(function: FunctionWriter, kind: ElementType, element: Element) -> Element:
    return Element(kind, tuple(rounded(function, kind, part) for part in element.parts))
