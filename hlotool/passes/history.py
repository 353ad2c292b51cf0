"""What each pass of a run made of a module: its states, and what lies between them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from hlotool.analysis.differences import ModuleDifferences, differences_of_unlike
from hlotool.analysis.fingerprint import fingerprint
from hlotool.ir.cloning import cloned_module
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.passes.running import Hook, Record, Step, instruction_count
from hlotool.rewriting.journal import Decision
from hlotool.text.printer import print_module


@dataclass(frozen=True, slots=True)
class Comparison:
    """The instructions in which two states differ, by their names."""

    is_same_graph: bool = True
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    """Those on both sides: the names before and after, and in words in what they differ."""


@dataclass(frozen=True, slots=True)
class PassChange:
    """One run of a pass; `before` and `after` are numbers of states."""

    name: str
    pipeline: str
    before: int
    after: int
    instructions: int
    """How many there are afterwards."""
    comparison: Comparison = Comparison()
    seconds: float | None = None
    """How long the pass ran, where that is known."""
    is_alone: bool = True
    """Whether no other pass ran between the two states; where that is not known it is not."""
    decisions: tuple[Decision, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether the module is written otherwise than before."""
        return self.before != self.after

    @property
    def is_same_graph(self) -> bool:
        """Whether the module means the same as before: only names, order or remarks changed."""
        return self.comparison.is_same_graph

    @property
    def removed(self) -> int:
        """How many instructions are gone."""
        return len(self.comparison.removed)

    @property
    def added(self) -> int:
        """How many instructions are new."""
        return len(self.comparison.added)

    @property
    def changed(self) -> int:
        """How many instructions are there before and after, and differ."""
        return len(self.comparison.changed)


@dataclass
class States:
    """Modules as they were at different times, each once."""

    modules: list[Module] = field(default_factory=list)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _fingerprints: dict[int, str] = field(default_factory=dict)

    def number(self, key: Hashable, read: Callable[[], Module]) -> int:
        """Returns the number of the state with a key; `read` gives the module of a new one.

        Equal keys stand for equal modules: texts, say, or their digests. The module that `read`
        gives must not be changed any more.
        """
        number = self._numbers.get(key)
        if number is None:
            self.modules.append(read())
            number = self._numbers[key] = len(self.modules) - 1
        return number

    def fingerprint(self, number: int) -> str:
        """Returns the fingerprint of a state."""
        found = self._fingerprints.get(number)
        if found is None:
            found = self._fingerprints[number] = fingerprint(self.modules[number])
        return found

    def kept(self, module: Module) -> int:
        """Returns the number of the state that a module is in, which may go on being changed."""
        digest = fingerprint(module)
        numbers = range(len(self.modules))
        alike = [number for number in numbers if self.fingerprint(number) == digest]
        # Those that mean the same may still be written otherwise.
        text = print_module(module) if alike else ""
        for number in alike:
            if print_module(self.modules[number]) == text:
                return number
        self.modules.append(cloned_module(module))
        self._fingerprints[len(self.modules) - 1] = digest
        return len(self.modules) - 1

    def has(self, key: Hashable) -> bool:
        """Whether there is a state with this key."""
        return key in self._numbers


@dataclass
class PassHistory:
    """The passes that led from one state of a module to the next."""

    states: States = field(default_factory=States)
    changes: list[PassChange] = field(default_factory=list)
    _compared: dict[tuple[int, int], Comparison] = field(default_factory=dict)

    def passed(
        self, name: str, pipeline: str, before: int, after: int, *, seconds: float | None = None,
        is_alone: bool = True, decisions: Sequence[Decision] = (),
    ) -> PassChange:  # fmt: skip
        """Notes that a pass made one state of another and returns what it changed."""
        made = PassChange(
            name, pipeline, before, after, instruction_count(self.states.modules[after]),
            self._comparison(before, after), seconds, is_alone, tuple(decisions),
        )  # fmt: skip
        self.changes.append(made)
        return made

    def only(self, is_wanted: Callable[[PassChange], bool]) -> PassHistory:
        """Returns the history of the wanted passes alone, with the states that these have."""
        wanted = [change for change in self.changes if is_wanted(change)]
        numbers = sorted({number for change in wanted for number in (change.before, change.after)})
        places = {number: place for place, number in enumerate(numbers)}
        return PassHistory(
            States([self.states.modules[number] for number in numbers]),
            [
                replace(change, before=places[change.before], after=places[change.after])
                for change in wanted
            ],
        )

    def _comparison(self, before: int, after: int) -> Comparison:
        if before == after:
            return Comparison()
        found = self._compared.get((before, after))
        if found is None:
            found = self._compared[before, after] = self._compare(before, after)
        return found

    def _compare(self, before: int, after: int) -> Comparison:
        states = self.states
        if states.fingerprint(before) == states.fingerprint(after):
            return Comparison()
        return _comparison(differences_of_unlike(states.modules[before], states.modules[after]))


def _comparison(differences: ModuleDifferences) -> Comparison:
    pairs = differences.computations
    return Comparison(
        differences.is_equal,
        _names(
            (one for pair in pairs for one in pair.removed),
            (one for computation in differences.removed for one in computation.instructions),
        ),
        _names(
            (one for pair in pairs for one in pair.added),
            (one for computation in differences.added for one in computation.instructions),
        ),
        tuple(
            (change.old.name, change.new.name, "; ".join(change.differences))
            for pair in pairs
            for change in pair.changed
        ),
    )


def _names(*parts: Iterable[Instruction]) -> tuple[str, ...]:
    return tuple(one.name for part in parts for one in part)


class HistoryHook(Hook):
    """Keeps the history of one module while passes run over it."""

    def __init__(self) -> None:
        self.history = PassHistory()
        self._state = -1

    def started(self, step: Step, module: Module) -> None:
        """Keeps the module as it is at first."""
        if self._state < 0:
            self._state = self.history.states.kept(module)

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        """Keeps what a pass has made, where it made anything."""
        before = self._state
        if record.changed:
            self._state = self.history.states.kept(module)
        self.history.passed(
            one.name, step.pipeline, before, self._state,
            seconds=record.seconds, decisions=record.journal.decisions,
        )  # fmt: skip
