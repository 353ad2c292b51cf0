"""Where a mistake was made that shows only later: at the end of the text, at the next head."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from lark.lexer import Token

from hlotool.ir.attribute import near_names
from hlotool.text.expectations import LONGEST, UnexpectedError, shown
from hlotool.text.forms_attribute import FormError, offset

if TYPE_CHECKING:
    from hlotool.text.op_reader import MissingAttributeError
    from hlotool.text.scope import Scope

_SPACE = re.compile(r"(?:\s|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/|//[^\r\n]*+)*")
_NAME = r"%?+[A-Za-z_][\w.-]*+"
_HEAD = re.compile(rf"[ \t]*+(?:ENTRY\b|{_NAME}\s*+(?:\{{|\([^()=]*+\)\s*+->))")
_MODULE = re.compile(r"[ \t]*+HloModule\b")
_BEGIN = rf"\s*+(?:ROOT\s++)?{_NAME}\s++=\s++(?:[a-z][\w-]*+\s*+[\[(]|\()"
_INSTRUCTION = re.compile(rf"\n{_BEGIN}")
_INLINE = re.compile(rf"\{{{_BEGIN}")
_ATTRIBUTE = re.compile(r"[)\]}\"']\s++([a-z_-]++)\s*+=\s*+")
_PIECE = re.compile(r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*\"|//[^\r\n]*+|[(\[{]|[)\]}]", re.DOTALL)
_CLOSING = ")]}"
MOST_NAMES = 2000
"""How many names are looked at to find the one that was meant."""


def explained(
    error: UnexpectedError, text: str, scopes: Sequence[Scope], last_value: Token | None
) -> FormError:
    """Returns the fault that most likely made the grammar of modules stop at `error`.

    `scopes` are the computations that are open there, `last_value` is the attribute value
    that was found last.
    """
    line = text.rfind("\n", 0, error.offset) + 1
    is_end = _space_end(text, error.offset) == len(text)
    if scopes and (is_end or (_HEAD.match(text, line) and scopes[-1].offset < line)):
        return _unclosed_computation(error, text, scopes[-1], last_value, line)
    if not scopes and _MODULE.match(text, line) and text.find("HloModule") < line:
        return FormError("a second HloModule begins here; a text holds one module", line)
    missing_comma = _attribute_before(text, line, error.offset)
    if missing_comma is not None:
        return _missing_comma(missing_comma)
    return error


def _unclosed_computation(
    error: UnexpectedError, text: str, scope: Scope, last_value: Token | None, line: int
) -> FormError:
    where = line if _HEAD.match(text, line) else error.offset
    if last_value is not None and _space_end(text, _end(last_value)) >= where:
        swallowing = _swallowing(text, scope, last_value)
        if swallowing is not None:
            return swallowing
    found = error.found if where == error.offset else shown(text[where:].split(maxsplit=1)[0])
    begun = text.count("\n", 0, scope.offset) + 1
    return FormError(
        f"'}}' expected, found {found}: computation {scope.name}, begun in line {begun},"
        " is not closed",
        where,
    )


def _swallowing(text: str, scope: Scope, value: Token) -> FormError | None:
    """Returns the fault of a value that took the `}` of its computation for its own."""
    start, end = offset(value), _end(value)
    instruction = None if _INLINE.match(text, start) else _INSTRUCTION.search(text, start, end)
    if instruction is not None:
        opening = _innermost(text, start, instruction.start())
        if opening is not None:
            line = text.count("\n", 0, _space_end(text, instruction.start())) + 1
            return FormError(
                f"nothing closes this {text[opening]!r} before the instruction of line {line}",
                opening,
            )
    closing = end - 1
    if text[closing] == "}" and _indentation(text, closing) == _indentation(text, scope.offset):
        line = text.count("\n", 0, closing) + 1
        return FormError(
            f"nothing closes this '{{' before the '}}' of line {line}, which ends"
            f" computation {scope.name}",
            start,
        )
    return None


def _innermost(text: str, start: int, end: int) -> int | None:
    """Returns the offset of the last bracket between `start` and `end` that is open at `end`."""
    open_at: list[int] = []
    for piece in _PIECE.finditer(text, start, end):
        if piece[0] in _CLOSING and open_at:
            open_at.pop()
        elif len(piece[0]) == 1 and piece[0] not in _CLOSING:
            open_at.append(piece.start())
    # The outermost bracket alone may be that of an inline computation.
    return open_at[-1] if open_at else None


def _indentation(text: str, position: int) -> int | None:
    """Returns the column of the first word of a line; `None` for a `}` behind other words."""
    line = text.rfind("\n", 0, position) + 1
    column = len(text[line:position]) - len(text[line:position].lstrip())
    return None if text[position] == "}" and column < position - line else column


def missing_instruction(text: str, name: Token, scope: Scope) -> FormError:
    """Returns the fault of a name that no instruction before it in the computation has."""
    start, shown_name = offset(name), name[:LONGEST]
    end = text.find("\n}", start)
    later = _defined(text, name, start, len(text) if end < 0 else end, r"\s*+=")
    if later is not None:
        return FormError(
            f"instruction {shown_name} is used before its definition in line {later}", start
        )
    if _defined(text, name, text.rfind("\n", 0, start) + 1, start, r"\s*+=") is not None:
        return FormError(f"instruction {shown_name} needs itself", start)
    near = near_names(name, list(islice(scope.names, MOST_NAMES)))
    return FormError(f"instruction {shown_name} does not exist{near}", start)


def missing_computation(
    text: str, name: Token, known: Iterable[str], scopes: Sequence[Scope]
) -> FormError:
    """Returns the fault of a name that no computation before it in the text has."""
    start, shown_name = offset(name), name[:LONGEST]
    if any(scope.name == name for scope in scopes):
        return FormError(f"computation {shown_name} cannot call itself", start)
    later = _defined(text, name, start, len(text), r"\s*+(?:\{|\([^()=]*+\)\s*+->)")
    if later is not None:
        return FormError(
            f"computation {shown_name} is called before its definition in line {later}", start
        )
    near = near_names(name, list(islice(known, MOST_NAMES)))
    return FormError(f"computation {shown_name} does not exist{near}", start)


def _defined(text: str, name: str, start: int, end: int, follows: str) -> int | None:
    """Returns the line of the first definition of a name in a part of a text."""
    if len(name) > LONGEST:
        return None
    pattern = rf"^[ \t]*+(?:(?:ROOT|ENTRY)[ \t]++)?%?+{re.escape(name)}{follows}"
    found = re.compile(pattern, re.MULTILINE).search(text, start, end)
    return None if found is None else text.count("\n", 0, found.end()) + 1


def explained_single(error: UnexpectedError) -> FormError:
    """Returns the fault of a text that was read as one instruction."""
    return FormError(
        f"{error.message}; what begins with neither HloModule nor a computation is read as one"
        " instruction",
        error.offset,
    )


def explained_missing(error: MissingAttributeError, text: str, position: int) -> FormError:
    """Returns the fault of a missing attribute; the instruction ends at `position`."""
    given = _ATTRIBUTE.match(text, position - 1)
    return error if given is None else _missing_comma(given)


def _missing_comma(attribute: re.Match[str]) -> FormError:
    name = attribute[1][:LONGEST]
    return FormError(f"',' expected before the attribute {name}", attribute.start(1))


def _attribute_before(text: str, line: int, position: int) -> re.Match[str] | None:
    """Returns the attribute that stands before `position` without a comma in front of it."""
    found = _ATTRIBUTE.finditer(text, line, position)
    return next((match for match in found if match.end() == position), None)


def _space_end(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None, "the pattern matches nothing at all, too"
    return match.end()


def _end(token: Token) -> int:
    assert token.end_pos is not None
    return token.end_pos
