"""What a pass may still do, and what it did: fuel, hits, notes and decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module


@dataclass(frozen=True)
class Note:
    """Something that a pass left alone, or did in another way than is to be expected, and why."""

    instruction: str
    """The name of the instruction, empty where it is none in particular."""
    words: str


@dataclass(frozen=True)
class Decision:
    """Whether a producer was fused into a consumer, and why; bytes are those of memory traffic."""

    producer: str
    consumer: str
    is_fused: bool
    reason: str
    bytes_saved: int = 0


class Fuel:
    """How many more rewrites each pass may do; passes that are not named may do any number."""

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        self.left = dict(amounts or {})
        self._refused: set[str] = set()

    def burn(self, name: str) -> bool:
        """Takes one unit for a pass and returns whether there was one."""
        left = self.left.get(name)
        if left is None:
            return True
        if left <= 0:
            self._refused.add(name)
            return False
        self.left[name] = left - 1
        return True

    def used_up(self) -> list[str]:
        """Returns the passes that wanted more than there was."""
        return sorted(self._refused)


class Journal:
    """One run of one pass: what it may do and what it did."""

    def __init__(
        self,
        pass_name: str = "",
        fuel: Fuel | None = None,
        watch: Callable[[str, Module], None] | None = None,
    ) -> None:
        self.pass_name = pass_name
        self.hits: Counter[str] = Counter()
        """How often each pattern was applied, by its name."""
        self.notes: list[Note] = []
        self.decisions: list[Decision] = []
        self._fuel = fuel or Fuel()
        self._watch = watch

    def hit(self, pattern: str) -> bool:
        """Asks for leave to apply a pattern once; where there is fuel it counts as applied."""
        if not self._fuel.burn(self.pass_name):
            return False
        self.hits[pattern] += 1
        return True

    def note(self, words: str, instruction: Instruction | None = None) -> None:
        """Notes what the user should know of this run."""
        self.notes.append(Note("" if instruction is None else instruction.name, words))

    def step(self, words: str, module: Module) -> None:
        """Shows the module to whoever watches, after a part of the pass that has a name."""
        if self._watch is not None:
            self._watch(words, module)
