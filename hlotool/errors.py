"""Errors as values with a location, and the source text that locations point into.

Nothing here prints: the command-line driver renders an `HloError` once, at the boundary.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


class Source:
    """A text with the name that messages show for it; finds line and column of an offset."""

    __slots__ = ("_line_starts", "name", "text")

    def __init__(self, text: str, name: str = "<string>") -> None:
        self.text = text
        self.name = name
        self._line_starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Returns line and column of `offset`, both counted from 1, the column in characters."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Returns the text of line `number`, counted from 1, without its end."""
        starts = self._starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def _starts(self) -> list[int]:
        # Most runs report no error, so the index is made when the first position is asked for.
        if self._line_starts is None:
            starts = [0]
            find = self.text.find
            end = find("\n")
            while end >= 0:
                starts.append(end + 1)
                end = find("\n", end + 1)
            self._line_starts = starts
        return self._line_starts


class Location:
    """A place in a source text."""

    __slots__ = ("offset", "source")

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.offset = offset

    @property
    def line(self) -> int:
        """The line, counted from 1."""
        return self.source.position(self.offset)[0]

    @property
    def column(self) -> int:
        """The column, counted from 1, in characters."""
        return self.source.position(self.offset)[1]

    def __str__(self) -> str:
        line, column = self.source.position(self.offset)
        return f"{self.source.name}:{line}:{column}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Location):
            return NotImplemented
        return self.source is other.source and self.offset == other.offset

    def __hash__(self) -> int:
        return hash((id(self.source), self.offset))


def counted(count: int, noun: str, mark: str = "") -> str:
    """Returns a number with its noun, as messages have it; `mark` stands between thousands."""
    return f"{count:{mark}} {noun}{'' if count == 1 else 's'}"


class HloError(Exception):
    """A fault of the input, with the place it was found at and notes that help to mend it."""

    def __init__(
        self, message: str, location: Location | None = None, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.notes = tuple(notes)

    def __str__(self) -> str:
        return self.message if self.location is None else f"{self.location}: {self.message}"


class ParseError(HloError):
    """The text is no HLO module."""


class ShapeError(HloError):
    """Operands and attributes that give no shape, or another one than is declared."""


class VerificationError(HloError):
    """A module that parses but breaks a rule of the language."""


class EvaluationError(HloError):
    """A module that cannot be evaluated with the given inputs."""


class UnsupportedError(HloError):
    """Something that this version of hlotool knows and does not do."""


class UsageError(HloError):
    """A command called with options or files that it cannot use."""


class VerificationErrors(VerificationError):
    """Every error of a module at once; `errors` holds them in text order, at least one."""

    def __init__(self, errors: Sequence[HloError]) -> None:
        first = errors[0]
        super().__init__(first.message, first.location, first.notes)
        self.errors = tuple(errors)
