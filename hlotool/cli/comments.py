"""Keeps the comments of a text while it is printed anew.

A comment belongs to what it stands before, or behind on the same line: the header, a
computation, an instruction, the end of a computation or of the text. It moves with that, since
printing may change the order. Comments in the midst of an instruction move before it. The
marks that the printer makes itself, as /*index=5*/, are no comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hlotool.ir.module import Module

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = r"(?P<comment>//[^\r\n]*+|/\*.*?\*/)(?P<blank>[ \t\r]*\n[ \t\r]*\n)?"
_SCAN = re.compile(
    rf"(?P<dictionary>backend_config=\s*+\{{)|(?P<entries>frontend_attributes=\s*+\{{)"
    rf"|{_STRING}|'[^'\\\n]*+'|{_COMMENT}",
    re.DOTALL,
)
_SCAN_ENTRIES = re.compile(
    rf"(?P<dictionary>=\s*+\{{)|(?P<close>\}})|{_STRING}|{_COMMENT}", re.DOTALL
)
_BRACES = re.compile(rf"[{{}}]|{_STRING}", re.DOTALL)
_MARK = re.compile(r"/\*index=\d+\*/")
_NO_NEWLINE = re.compile(r"[^\n]")
# The offset of an instruction or computation may be that of its name.
_BEGINNING = re.compile(r"\s*(?:ROOT\b|ENTRY\b)?\s*%?\s*")

_HEADER = "header"
_COMPUTATION = "computation"
_INSTRUCTION = "instruction"
_CLOSING = "closing"
_END = "end"


class Place(NamedTuple):
    """A place that comments can belong to: its kind, its name, where it starts."""

    offset: int
    kind: str
    name: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What the place is known by in every text of the same module."""
        return self.kind, self.name


class Comment(NamedTuple):
    """A comment of a text; `blank_after` tells of an empty line behind it."""

    start: int
    end: int
    text: str
    blank_after: bool


class _Belonging:
    """The comments of one place: on lines before it, and behind it on its line."""

    __slots__ = ("before", "behind")

    def __init__(self) -> None:
        self.before: list[Comment] = []
        self.behind: list[Comment] = []


class Comments:
    """The comments of the text that a module was read from, by their places."""

    def __init__(self, module: Module) -> None:
        assert module.source is not None, "comments belong to a module that was read"
        text = module.source.text
        found = list(find_comments(text))
        self._belonging: dict[tuple[str, str], _Belonging] = {}
        if not found:
            return
        code = _blanked(text, found)
        self._places = _places(module, code)
        self._offsets = [place.offset for place in self._places]
        for comment in found:
            self._enter(comment, code)

    def _enter(self, comment: Comment, code: str) -> None:
        index = max(0, bisect_right(self._offsets, comment.start) - 1)
        current, follower = self._places[index], self._places[index + 1]
        line_start = code.rfind("\n", 0, comment.start) + 1
        line_end = code.find("\n", comment.end)
        shares_line = code[line_start : comment.start].strip()
        if shares_line and not code[comment.end : None if line_end < 0 else line_end].strip():
            self._of(current).behind.append(comment)
        elif comment.start < current.offset:
            self._of(current).before.append(comment)
        elif _BEGINNING.fullmatch(code, comment.end, follower.offset):
            self._of(follower).before.append(comment)
        else:
            self._of(current).before.append(comment)

    def _of(self, place: Place) -> _Belonging:
        return self._belonging.setdefault(place.key, _Belonging())

    def put_into(self, printed: Module) -> str:
        """Returns the text of `printed` with the comments in their places.

        `printed` was read from what the printer made of the module: names are the same. The
        text ends with one end of line.
        """
        assert printed.source is not None, "comments are put into a text"
        text = printed.source.text.rstrip("\n") + "\n"
        if not self._belonging:
            return text
        places = _places(printed, text)
        self._adopt({place.key for place in places})
        pieces: list[str] = []
        position = 0
        for place, follower in pairwise([*places, Place(len(text), _END)]):
            belonging = self._belonging.get(place.key)
            if belonging is None:
                continue
            start = _line_start(text, place)
            # Only one comment can stand behind; of several, the others move before.
            before = sorted([*belonging.before, *belonging.behind[:-1]])
            pieces += (text[position:start], _lines(before, place))
            position = start
            if belonging.behind:
                end = _statement_end(text, place, follower)
                pieces += (text[position:end], f"  {belonging.behind[-1].text}")
                position = end
        pieces.append(text[position:])
        return "".join(pieces).rstrip("\n") + "\n"

    def _adopt(self, known: set[tuple[str, str]]) -> None:
        """Gives the comments of what is not printed on its own to what stands before it."""
        nearest = next(place for place in self._places if place.key in known)
        for place in self._places:
            if place.key in known:
                nearest = place
            elif place.key in self._belonging:
                stray = self._belonging.pop(place.key)
                self._of(nearest).before += [*stray.before, *stray.behind]


def find_comments(text: str) -> Iterator[Comment]:
    """Yields the comments of a text in order."""
    position = 0
    scan = _SCAN
    while match := scan.search(text, position):
        position = match.end()
        found = match["comment"]
        if match["dictionary"]:
            position = _dictionary_end(text, position)
        elif match.lastgroup in {"entries", "close"}:
            # The values of frontend attributes may be dictionaries, whatever their names.
            scan = _SCAN_ENTRIES if match.lastgroup == "entries" else _SCAN
        elif found and not _MARK.fullmatch(found):
            position = match.end("comment")
            shown = found.rstrip().replace("\r\n", "\n")
            yield Comment(match.start(), position, shown, match["blank"] is not None)


def _dictionary_end(text: str, position: int) -> int:
    """Returns where the braces end that open before `position`; no comments are inside."""
    depth = 1
    for match in _BRACES.finditer(text, position):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


def _blanked(text: str, comments: Sequence[Comment]) -> str:
    """Returns the text with spaces for its comments, so that only code is left."""
    pieces = []
    position = 0
    for comment in comments:
        pieces.append(text[position : comment.start])
        pieces.append(_NO_NEWLINE.sub(" ", text[comment.start : comment.end]))
        position = comment.end
    pieces.append(text[position:])
    return "".join(pieces)


def _places(module: Module, code: str) -> list[Place]:
    """Returns the places of a text without comments, in order; the last is its end."""
    inner = [
        Place(instruction.offset, _INSTRUCTION, instruction.name)
        for instruction in module.instructions()
    ]
    inner += [Place(one.offset, _COMPUTATION, one.name) for one in module.computations]
    places = sorted(place for place in inner if place.offset >= 0)
    start = len(code) - len(code.lstrip())
    if code.startswith("HloModule", start):
        places.insert(0, Place(start, _HEADER))
    places.append(Place(len(code), _END))
    return sorted([*places, *_closings(module, places, code)])


def _closings(module: Module, places: Sequence[Place], code: str) -> Iterator[Place]:
    offsets = [place.offset for place in places]
    for computation in module.computations:
        last = max(instruction.offset for instruction in computation.instructions)
        follower = offsets[bisect_right(offsets, last)]
        closing = code.rfind("}", max(last, 0), follower)
        if closing >= 0:
            yield Place(closing, _CLOSING, computation.name)


def _line_start(text: str, place: Place) -> int:
    return len(text) if place.kind == _END else text.rfind("\n", 0, place.offset) + 1


def _statement_end(text: str, place: Place, follower: Place) -> int:
    if place.kind == _HEADER:
        return text.index("\n", place.offset)
    return len(text[: _line_start(text, follower)].rstrip())


def _lines(comments: Sequence[Comment], place: Place) -> str:
    indent = "  " if place.kind in {_INSTRUCTION, _CLOSING} else ""
    # A body has no empty lines; between computations they group comments.
    lines = [
        f"{indent}{comment.text}\n" + ("\n" if comment.blank_after and not indent else "")
        for comment in comments
    ]
    return ("\n" if place.kind == _END and lines else "") + "".join(lines)
