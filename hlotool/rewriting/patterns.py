"""Patterns: single identities, each a function from an instruction to what it may become."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.rewriting.builder import Builder

Rewrite = Callable[[Instruction, Builder], Instruction | None]
"""Returns the instruction, new or there already, that has the same value; `None` for no match.

It changes nothing but by what it adds with the builder, and of that the result is the last.
"""


@dataclass(frozen=True)
class Pattern:
    """One identity. `assumes` is what must be allowed for it, empty where it always holds."""

    name: str
    identity: str
    """The identity in words: `before -> after`, the first line of the function's docstring."""
    rewrite: Rewrite
    assumes: str


class PatternSet:
    """Patterns by the class of the op that they begin at, in the order in which they are tried."""

    def __init__(self, name: str, *included: PatternSet) -> None:
        self.name = name
        self._patterns: list[tuple[tuple[type[Op], ...], Pattern]] = []
        self._by_class: dict[type[Op], tuple[Pattern, ...]] = {}
        for other in included:
            self.include(other)

    def rewrites(self, *classes: type[Op], assumes: str = "") -> Callable[[Rewrite], Rewrite]:
        """Enters a function as the pattern of these classes of ops and of those below them."""

        def enter(function: Rewrite) -> Rewrite:
            name = getattr(function, "__name__", "")
            identity = (function.__doc__ or "").strip().splitlines()[0]
            assert "->" in identity, f"{name}: the docstring begins with before -> after"
            assert name not in {pattern.name for pattern in self}, f"{name} is there twice"
            self._patterns.append((classes, Pattern(name, identity, function, assumes)))
            self._by_class = {}
            return function

        return enter

    def include(self, other: PatternSet) -> None:
        """Takes in the patterns of another set, behind those that are here."""
        self._patterns += other._patterns
        self._by_class = {}

    def of(self, op_class: type[Op]) -> tuple[Pattern, ...]:
        """Returns the patterns that may match an op of a class."""
        found = self._by_class.get(op_class)
        if found is None:
            found = tuple(p for classes, p in self._patterns if issubclass(op_class, classes))
            self._by_class[op_class] = found
        return found

    def __iter__(self) -> Iterator[Pattern]:
        return iter([pattern for _, pattern in self._patterns])

    def __len__(self) -> int:
        return len(self._patterns)
