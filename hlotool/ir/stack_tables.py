"""The tables of call stacks that metadata points into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hlotool.ir.strings import quote

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A span of a source file in a function; the ids count the tables' entries from 1."""

    file_name_id: int
    function_name_id: int
    line: int
    end_line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A frame of a call stack: where it is and, counted from 1, who called; 0 is nobody."""

    file_location_id: int
    parent_frame_id: int


class StackTables:
    """The call stacks that `stack_frame_id` of metadata points into, counted from 1.

    `numbers_in_text` says what the frames' numbers of the text that was read are now; it takes
    no part in comparisons.
    """

    __slots__ = (
        "file_locations", "file_names", "function_names", "numbers_in_text", "stack_frames",
    )  # fmt: skip

    def __init__(
        self,
        file_names: Sequence[str] = (),
        function_names: Sequence[str] = (),
        file_locations: Sequence[FileLocation] = (),
        stack_frames: Sequence[StackFrame] = (),
    ) -> None:
        self.file_names = tuple(file_names)
        self.function_names = tuple(function_names)
        self.file_locations = tuple(file_locations)
        self.stack_frames = tuple(stack_frames)
        self.numbers_in_text: dict[int, int] = {}

    def __bool__(self) -> bool:
        """Whether there is anything in the tables."""
        return bool(self._tables() != ((), (), (), ()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StackTables) and self._tables() == other._tables()

    def __hash__(self) -> int:
        return hash(self._tables())

    def _tables(self) -> tuple[tuple[object, ...], ...]:
        return self.file_names, self.function_names, self.file_locations, self.stack_frames

    def frames_from(self, number: int) -> list[StackFrame] | None:
        """Returns the frame of this number and its callers, or `None` where one is missing."""
        frames: list[StackFrame] = []
        while number:
            known = 0 < number <= len(self.stack_frames) and len(frames) < len(self.stack_frames)
            if not known:
                return None
            frames.append(self.stack_frames[number - 1])
            number = frames[-1].parent_frame_id
        return frames

    def used_by(self, numbers: Iterable[int]) -> StackTables:
        """Returns the tables with only what frames of these numbers need, in order of use.

        Equal entries become one; frames that are not there, or whose callers are not, have no
        number in the result.
        """
        kept = _Interned(self)
        found = {}
        for number in numbers:
            if number not in found:
                frames = self.frames_from(number)
                if frames:
                    found[number] = kept.frame(frames)
        made = StackTables(
            list(kept.file_names), list(kept.function_names), list(kept.locations),
            list(kept.frames),
        )  # fmt: skip
        made.numbers_in_text = found
        return made

    def text(self) -> str:
        """Returns the four tables as they stand between header and computations."""
        sections = (
            ("FileNames", [quote(name) for name in self.file_names]),
            ("FunctionNames", [quote(name) for name in self.function_names]),
            ("FileLocations", [_location_text(location) for location in self.file_locations]),
            ("StackFrames", [_frame_text(frame) for frame in self.stack_frames]),
        )
        return "".join(
            f"{title}\n" + "".join(f"{i} {line}\n" for i, line in enumerate(lines, 1)) + "\n"
            for title, lines in sections
        )


class _Interned:
    """Tables that grow by what is used of others."""

    def __init__(self, source: StackTables) -> None:
        self.source = source
        self.file_names: dict[str, int] = {}
        self.function_names: dict[str, int] = {}
        self.locations: dict[FileLocation, int] = {}
        self.frames: dict[StackFrame, int] = {}

    def frame(self, frames: Sequence[StackFrame]) -> int:
        """Returns the number of a frame that stands before its callers."""
        number = 0
        for frame in reversed(frames):
            location = self._location(frame.file_location_id)
            number = _number(self.frames, StackFrame(location, number))
        return number

    def _location(self, number: int) -> int:
        if not 0 < number <= len(self.source.file_locations):
            return 0
        location = self.source.file_locations[number - 1]
        return _number(
            self.locations,
            replace(
                location,
                file_name_id=_name(self.file_names, self.source.file_names, location.file_name_id),
                function_name_id=_name(
                    self.function_names, self.source.function_names, location.function_name_id
                ),
            ),
        )


def _name(kept: dict[str, int], names: Sequence[str], number: int) -> int:
    return _number(kept, names[number - 1]) if 0 < number <= len(names) else 0


def _number(kept: dict[T, int], entry: T) -> int:
    return kept.setdefault(entry, len(kept) + 1)


def _location_text(location: FileLocation) -> str:
    parts = (f"{part}={getattr(location, part)}" for part in FileLocation.__slots__)
    return "{" + " ".join(parts) + "}"


def _frame_text(frame: StackFrame) -> str:
    # A frame without a caller shows 1, one that frame 1 called shows 2.
    return (
        f"{{file_location_id={frame.file_location_id} parent_frame_id={frame.parent_frame_id + 1}}}"
    )
