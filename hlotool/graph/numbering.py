"""How documents of pages write what repeats: entries by numbers, and numbers by differences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Generic, TypeVar

Entry = TypeVar("Entry", bound=Hashable)


class Table(Generic[Entry]):
    """Entries each once, in the order in which they were asked for; `listed` grows in place."""

    def __init__(self, listed: list[Entry] | None = None) -> None:
        self.listed: list[Entry] = [] if listed is None else listed
        self._numbers = {entry: number for number, entry in enumerate(self.listed)}

    def __call__(self, entry: Entry) -> int:
        """Returns the number of an entry, which is a new one for a new entry."""
        number = self._numbers.setdefault(entry, len(self.listed))
        if number == len(self.listed):
            self.listed.append(entry)
        return number


class Strings(Table[str]):
    """The texts of a document."""

    def optional(self, text: str) -> int:
        """Returns the number of a text, -1 for an empty one."""
        return self(text) if text else -1


def differences(numbers: Iterable[int]) -> list[int]:
    """Returns what each number is more than the one before it, the first one than 0."""
    return [after - before for before, after in pairwise([0, *numbers])]
