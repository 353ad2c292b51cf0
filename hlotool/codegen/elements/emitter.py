"""Writes elements of instructions: an op asks for elements of its operands, these for theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Index
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op

Indices: TypeAlias = tuple[Index, ...]
Rule: TypeAlias = "Callable[[ElementEmitter, Instruction, Indices], Element]"
"""Writes the element of an instruction's result at an index."""

RULES: dict[type[Op], Rule] = {}
"""How the elements of each op are made."""


def element_rule(*ops: type[Op]) -> Callable[[Rule], Rule]:
    """Enters a function as the one that writes elements of ops."""

    def enter(rule: Rule) -> Rule:
        for op in ops:
            assert op not in RULES, f"{op.opcode} has two rules"
            RULES[op] = rule
        return rule

    return enter


class ElementEmitter:
    """Writes elements into a function, `lanes` of them at once.

    `sources` are the instructions whose elements lie in memory. What is asked for again is
    written once, as long as the loop or branch that it stands in is open.
    """

    def __init__(
        self,
        function: FunctionWriter,
        target: Target,
        sources: Mapping[Instruction, Source],
        lanes: int = 1,
    ) -> None:
        self.function = function
        self.target = target
        self.sources = dict(sources)
        self.lanes = lanes
        self._known: list[dict[tuple[Instruction, Indices, int], Element]] = [{}]

    def element(self, instruction: Instruction, index: Sequence[Index]) -> Element:
        """Returns the element of an instruction's result; raises `NotCompiled` without a rule."""
        place = tuple(index)
        key = (instruction, place, self.lanes)
        for known in reversed(self._known):
            if key in known:
                return known[key]
        found = self._made(instruction, place)
        self._known[-1][key] = found
        return found

    def operand(self, instruction: Instruction, number: int, index: Sequence[Index]) -> Element:
        """Returns an element of an operand."""
        return self.element(instruction.operands[number], index)

    @contextmanager
    def region(self) -> Iterator[None]:
        """Holds while a loop or a branch is open: what is written in it is not known behind it."""
        self._known.append({})
        yield
        self._known.pop()

    @contextmanager
    def with_lanes(self, lanes: int) -> Iterator[None]:
        """Holds while so many elements are written at once."""
        before, self.lanes = self.lanes, lanes
        yield
        self.lanes = before

    def branch(
        self,
        condition: Value,
        then: Callable[[], None],
        otherwise: Callable[[], None] = lambda: None,
    ) -> None:
        """Writes `if` and `else` that yield nothing."""

        def side(write: Callable[[], None]) -> None:
            with self.region():
                write()

        self.function.branch(condition, lambda: side(then), lambda: side(otherwise))

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        source = self.sources.get(instruction)
        if source is not None:
            return source.load(self.function, index, self.lanes)
        rule = RULES.get(type(instruction.op))
        if rule is None:
            raise NotCompiled(f"there is no code for {instruction.opcode}")
        return rule(self, instruction, index)
