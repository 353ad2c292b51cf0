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

    def frame(self, number: int) -> StackFrame | None:
        """Returns the frame of a number, or `None` where it, its location or a name is missing."""
        if not 0 < number <= len(self.stack_frames):
            return None
        frame = self.stack_frames[number - 1]
        if not 0 < frame.file_location_id <= len(self.file_locations):
            return None
        location = self.file_locations[frame.file_location_id - 1]
        is_named = 0 < location.file_name_id <= len(
            self.file_names
        ) and 0 < location.function_name_id <= len(self.function_names)
        return frame if is_named else None

    def used_by(self, numbers: Iterable[int]) -> StackTables:
        """Returns the tables with only what frames of these numbers need, in order of use.

        Equal entries become one; frames that are not there, or whose callers are not, have no
        number in the result.
        """
        kept = _Interned(self)
        found = {number: kept.frame(number) for number in dict.fromkeys(numbers)}
        made = StackTables(
            list(kept.file_names), list(kept.function_names), list(kept.locations),
            list(kept.frames),
        )  # fmt: skip
        made.numbers_in_text = {number: new for number, new in found.items() if new}
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
        # By the number in the source. No caller is number 0 on both sides; elsewhere 0 marks a
        # frame that is not there.
        self.numbers = {0: 0}

    def frame(self, number: int) -> int:
        """Returns the new number of a frame, which comes behind its callers; 0 for none."""
        waiting: dict[int, StackFrame] = {}
        made = self.numbers.get(number)
        while made is None:
            frame = None if number in waiting else self.source.frame(number)
            if frame is None:
                self.numbers |= dict.fromkeys([number, *waiting], 0)
                return 0
            waiting[number] = frame
            number = frame.parent_frame_id
            made = self.numbers.get(number)
        if made == 0 and number:
            self.numbers |= dict.fromkeys(waiting, 0)
            return 0
        for number, frame in reversed(waiting.items()):
            location = self._location(self.source.file_locations[frame.file_location_id - 1])
            made = _number(self.frames, StackFrame(location, made))
            self.numbers[number] = made
        return made

    def _location(self, location: FileLocation) -> int:
        file_name = self.source.file_names[location.file_name_id - 1]
        function_name = self.source.function_names[location.function_name_id - 1]
        made = replace(
            location,
            file_name_id=_number(self.file_names, file_name),
            function_name_id=_number(self.function_names, function_name),
        )
        return _number(self.locations, made)


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
