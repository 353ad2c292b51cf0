"""Errors as lines: for a person with source line and caret, for a program as JSON.

What an input holds is shown with its control characters escaped, so that no file can send
commands to a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from unicodedata import category, combining, east_asian_width

from hlotool.errors import HloError, Location, VerificationErrors

EXCERPT_COLUMNS = 100
"""The most columns of a source line that are shown."""
MESSAGE_CHARACTERS = 2000
"""The most characters of a message that are shown to a person."""
TAB_COLUMNS = 4
_CUT = "..."
ERROR = "error"
WARNING = "warning"

_BOLD = "1"
_RED = "1;31"
_GREEN = "1;32"
_MAGENTA = "1;35"
_CYAN = "1;36"


def printable(text: str) -> str:
    """Returns `text` with every character that is no visible one escaped, newlines too."""
    return text if text.isprintable() else "".join(map(_visible, text))


def shortened(text: str, longest: int) -> str:
    """Returns a text whose end is left out where it is too long."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def printable_lines(text: str) -> str:
    """Returns `text` with control characters escaped but for tabs and ends of lines."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c if c in "\n\t" else _visible(c) for c in text)


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if category(character) == "Cs":
        return f"\\u{ord(character):04x}"
    return character.encode("unicode_escape").decode("ascii")


def render(error: HloError, subject: str, *, colour: bool, severity: str = ERROR) -> str:
    """Returns the lines that show an error to a person.

    `subject` is the file or command that the error is about where it has no location.
    """
    if not isinstance(error, VerificationErrors):
        return _render_one(error, subject, colour=colour, severity=severity)
    lines = [_render_one(one, subject, colour=colour) for one in error.errors]
    count = len(error.errors)
    lines.append(f"{printable(subject)}: {count} error{'s' if count != 1 else ''}\n")
    return "".join(lines)


def render_json(error: HloError, subject: str) -> str:
    """Returns each error as one line of JSON: file, line, column, message and notes.

    Line and column are null where the error has no place.
    """
    errors = error.errors if isinstance(error, VerificationErrors) else (error,)
    return "".join(json.dumps(error_fields(one, subject)) + "\n" for one in errors)


def error_fields(error: HloError, subject: str) -> dict[str, object]:
    """Returns file, line, column, message and notes of an error, by name."""
    location = _place(error)
    return {
        "file": subject if error.location is None else error.location.source.name,
        "line": None if location is None else location.line,
        "column": None if location is None else location.column,
        "message": error.message,
        "notes": list(error.notes),
    }


def _render_one(error: HloError, subject: str, *, colour: bool, severity: str = ERROR) -> str:
    location = _place(error)
    shown = printable(subject if location is None else str(location))
    painted = _painter(colour=colour)
    tint = _RED if severity == ERROR else _MAGENTA
    said = _shortened(error.message)
    head = f"{painted(_BOLD, shown + ':')} {painted(tint, severity + ':')} {said}"
    lines = [head]
    if location is not None:
        lines += _excerpt(location, painted(_GREEN, "^"))
    lines += (f"{painted(_CYAN, 'note:')} {_shortened(note)}" for note in error.notes)
    return "\n".join(lines) + "\n"


def _place(error: HloError) -> Location | None:
    location = error.location
    # An instruction that no text holds may still know its module's source.
    return None if location is None or location.offset < 0 else location


def _painter(*, colour: bool) -> Callable[[str, str], str]:
    def paint(code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if colour else text

    return paint


def _shortened(message: str) -> str:
    kept = printable(message[:MESSAGE_CHARACTERS])
    left = len(message) - MESSAGE_CHARACTERS
    return f"{kept}{_CUT} ({left} more characters)" if left > 0 else kept


def _excerpt(location: Location, caret: str) -> list[str]:
    line, column = location.source.position(location.offset)
    text, indent = excerpt(location.source.line(line), column - 1)
    gutter = f"{line:5}"
    return [f"{gutter} | {text}", f"{' ' * len(gutter)} | {' ' * indent}{caret}"]


def excerpt(line: str, index: int) -> tuple[str, int]:
    """Returns at most `EXCERPT_COLUMNS` columns of `line`, and the caret's column in them.

    The caret, counted from 0, stands under the character at `index`, or behind the last one.
    Lines may be megabytes long: only the neighbourhood of `index` is looked at.
    """
    first = max(0, index - EXCERPT_COLUMNS)
    last = min(len(line), index + EXCERPT_COLUMNS)
    cells = [_cell(character) for character in line[first:last]]
    widths = [_columns(cell) for cell in cells]
    caret = index - first
    start, end = _window(widths, caret, open_left=first > 0, open_right=last < len(line))
    left = _CUT if first + start > 0 else ""
    right = _CUT if first + end < len(line) else ""
    shown = left + "".join(cells[start:end]) + right
    return shown.rstrip(), len(left) + sum(widths[start:caret])


def _window(widths: list[int], caret: int, *, open_left: bool, open_right: bool) -> tuple[int, int]:
    """Returns the range of cells to show: all, or some around the caret with room for cuts."""
    if not open_left and not open_right and sum(widths) <= EXCERPT_COLUMNS:
        return 0, len(widths)
    room = EXCERPT_COLUMNS - 2 * len(_CUT)
    start = end = min(caret, len(widths))
    if end < len(widths):
        room -= widths[end]
        end += 1
    # The left half first, then all that fits on the right, then what is left over on the left.
    start, room = _grow_left(widths, start, room, keep=room // 2)
    while end < len(widths) and widths[end] <= room:
        room -= widths[end]
        end += 1
    start, room = _grow_left(widths, start, room, keep=0)
    return start, end


def _grow_left(widths: list[int], start: int, room: int, keep: int) -> tuple[int, int]:
    while start > 0 and widths[start - 1] <= room - keep:
        start -= 1
        room -= widths[start]
    return start, room


def _cell(character: str) -> str:
    return " " * TAB_COLUMNS if character == "\t" else _visible(character)


def _columns(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    if combining(cell) or category(cell) in {"Mn", "Me"}:
        return 0
    return 2 if east_asian_width(cell) in "WF" else 1
