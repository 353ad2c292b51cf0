"""The parameters of a custom call: its `backend_config`, in JSON or in MLIR's attribute text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hlotool.ir.frame import Frame
from hlotool.ops.custom_calls.registry import fault

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<number>[-+]?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
    | (?P<word>[#!@]?[A-Za-z_][\w.$-]*)
    | (?P<mark>[{}\[\]<>=:,()]|->)
    )""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "unit": True}
_CLOSING = {"[": "]", "<": ">", "{": "}", "(": ")"}


def configuration(frame: Frame) -> Mapping[str, Any]:
    """Returns the `backend_config` of the instruction at hand by name; empty where it has none.

    Raises `EvaluationError` where it is neither JSON nor attributes.
    """
    text = frame.instruction.annotations.backend_config.strip()
    try:
        return read_configuration(text)
    except ValueError as error:
        raise fault(frame, f"backend_config: {error}") from None


def read_configuration(text: str) -> dict[str, Any]:
    """Returns a dictionary in JSON, or in MLIR's form `{uplo = 76 : ui8, sizes = [1, 2]}`.

    Raises `ValueError` for another text.
    """
    if not text:
        return {}
    if not text.startswith("{"):
        raise ValueError(f"a dictionary is wanted, {text[:20]!r} found")
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        found = _AttributeReader(text).dictionary()
    return found


class _AttributeReader:
    """Reads MLIR attributes; the types behind values are dropped."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._place = 0

    def dictionary(self) -> dict[str, Any]:
        """Returns the dictionary that the whole text is."""
        self._expect("{")
        found = self._entries()
        if self._place < len(self._tokens):
            raise ValueError(f"{self._peek()} stands behind the end")
        return found

    def _entries(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self._taken("}"):
            kind, name = self._next()
            if kind not in ("word", "string"):
                raise ValueError(f"a name is wanted, {name} found")
            found[_unquoted(name)] = self._value() if self._taken("=") else True
            if not self._taken(",") and self._peek() != "}":
                raise ValueError(f"a comma is wanted, {self._peek()} found")
        return found

    def _value(self) -> Any:
        kind, text = self._next()
        if kind == "string":
            return _unquoted(text)
        if kind == "number":
            value = _number(text)
            if self._taken(":"):
                self._skip_type()
            return value
        if kind == "word":
            return self._worded(text)
        if text == "{":
            return self._entries()
        if text == "[":
            return self._list("]")
        raise ValueError(f"a value is wanted, {text} found")

    def _worded(self, word: str) -> Any:
        if word in _WORDS:
            return _WORDS[word]
        if word == "array" and self._taken("<"):
            # array<i64: 1, 2>, or array<i64> for none.
            self._next()
            self._taken(":")
            return self._list(">")
        if self._peek() == "<":
            return word + self._bracketed()
        return word

    def _list(self, end: str) -> list[Any]:
        values = []
        while not self._taken(end):
            values.append(self._value())
            if not self._taken(",") and self._peek() != end:
                raise ValueError(f"a comma is wanted, {self._peek()} found")
        return values

    def _skip_type(self) -> None:
        self._next()
        if self._peek() == "<":
            self._bracketed()

    def _bracketed(self) -> str:
        """Returns the text of what stands in brackets, brackets in it included."""
        ends: list[str] = []
        parts = []
        while True:
            _, text = self._next()
            parts.append(text)
            if text in _CLOSING:
                ends.append(_CLOSING[text])
            elif ends and text == ends[-1]:
                ends.pop()
            if not ends:
                return "".join(parts)

    def _peek(self) -> str:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else "the end"

    def _next(self) -> tuple[str, str]:
        if self._place == len(self._tokens):
            raise ValueError("the text ends too early")
        self._place += 1
        return self._tokens[self._place - 1]

    def _taken(self, mark: str) -> bool:
        if self._place < len(self._tokens) and self._tokens[self._place] == ("mark", mark):
            self._place += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._taken(mark):
            raise ValueError(f"{mark} is wanted, {self._peek()} found")


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise ValueError(f"neither JSON nor attributes: {text[place : place + 20]!r}")
        kind = found.lastgroup
        assert kind is not None
        tokens.append((kind, found[kind]))
        place = found.end()
    return tokens


def _number(text: str) -> int | float:
    if text.lstrip("+-").startswith("0x"):
        return int(text, 16)
    return float(text) if any(mark in text for mark in ".eE") else int(text)


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        # MLIR escapes bytes as \5C, which JSON does not know.
        return re.sub(r"\\([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), text[1:-1])
