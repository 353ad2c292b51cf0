"""Patterns: single identities, each a function from an instruction to what it may become."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.rewriting.builder import Builder

Rewrite = Callable[[Instruction, Builder], Instruction | None]
"""Returns the instruction, new or there already, that has the same value; `None` for no match.

It changes nothing but by what it adds with the builder, and of that the result is the last.
"""

Condition = Callable[[Instruction], bool]
"""Whether patterns may be tried with an instruction."""


@dataclass(frozen=True)
class Pattern:
    """One identity. `assumes` is what must be allowed for it, empty where it always holds.

    It is tried only where one of the operands has an op of `over`, unless that is empty, and
    where `condition` holds, which many patterns have in common.
    """

    name: str
    identity: str
    """The identity in words: `before -> after`, the first line of the function's docstring."""
    rewrite: Rewrite
    assumes: str
    over: tuple[type[Op], ...] = ()
    condition: Condition | None = None

    def may_match(self, operands: Iterable[type[Op]]) -> bool:
        """Whether the classes of operands' ops do not rule the pattern out."""
        return not self.over or any(issubclass(one, self.over) for one in operands)


class PatternSet:
    """Patterns by the class of the op that they begin at, in the order in which they are tried.

    Those that are entered here are tried only where `condition` holds.
    """

    def __init__(
        self, name: str, *included: PatternSet, condition: Condition | None = None
    ) -> None:
        self.name = name
        self._condition = condition
        self._patterns: list[tuple[tuple[type[Op], ...], Pattern]] = []
        self._tables: dict[frozenset[str], PatternTable] = {}
        for other in included:
            self.include(other)

    def rewrites(
        self, *classes: type[Op], over: tuple[type[Op], ...] = (), assumes: str = ""
    ) -> Callable[[Rewrite], Rewrite]:
        """Enters a function as the pattern of these classes of ops and of those below them.

        Where it matches, an operand has an op of `over`; that saves trying it elsewhere.
        """

        def enter(function: Rewrite) -> Rewrite:
            name = getattr(function, "__name__", "")
            identity = (function.__doc__ or "").strip().splitlines()[0]
            assert "->" in identity, f"{name}: the docstring begins with before -> after"
            assert name not in {pattern.name for pattern in self}, f"{name} is there twice"
            pattern = Pattern(name, identity, function, assumes, over, self._condition)
            self._patterns.append((classes, pattern))
            self._tables.clear()
            return function

        return enter

    def include(self, other: PatternSet) -> None:
        """Takes in the patterns of another set, behind those that are here."""
        self._patterns += other._patterns
        self._tables.clear()

    def of(self, op_class: type[Op]) -> list[Pattern]:
        """Returns the patterns that may match an op of a class."""
        return [pattern for classes, pattern in self._patterns if issubclass(op_class, classes)]

    def table(self, allowed: Collection[str] = ()) -> PatternTable:
        """Returns the patterns by class, without those that assume what is not allowed."""
        key = frozenset(allowed)
        found = self._tables.get(key)
        if found is None:
            found = self._tables[key] = PatternTable(self, key)
        return found

    def __iter__(self) -> Iterator[Pattern]:
        return iter([pattern for _, pattern in self._patterns])

    def __len__(self) -> int:
        return len(self._patterns)


class PatternTable(dict[type[Op], "OperandTable | None"]):
    """The patterns that may be tried with ops of a class, `None` where there are none.

    They are found when somebody first asks for those of a class.
    """

    def __init__(self, patterns: PatternSet, allowed: Collection[str]) -> None:
        super().__init__()
        self._patterns = patterns
        self._allowed = {"", *allowed}

    def __missing__(self, op_class: type[Op]) -> OperandTable | None:
        allowed = [one for one in self._patterns.of(op_class) if one.assumes in self._allowed]
        self[op_class] = found = OperandTable(allowed) if allowed else None
        return found


class OperandTable(dict[frozenset[type[Op]], list[tuple[Condition | None, list[Pattern]]]]):
    """Patterns of a class of ops by the classes of operands' ops, in runs of one condition."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        super().__init__()
        self._patterns = patterns

    def __missing__(
        self, operands: frozenset[type[Op]]
    ) -> list[tuple[Condition | None, list[Pattern]]]:
        likely = [one for one in self._patterns if one.may_match(operands)]
        runs = groupby(likely, lambda pattern: pattern.condition)
        self[operands] = found = [(condition, list(run)) for condition, run in runs]
        return found
