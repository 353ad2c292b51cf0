"""Strings of the text format: C escapes, and dictionaries that may stand bare."""

from __future__ import annotations

import re

_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "?": 63,
            "'": 39, '"': 34}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.)|)", re.DOTALL
)
_SPECIAL = re.compile(r"""[^ !#-&(-\[\]-~]""")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
_DICTIONARY_PART = re.compile(r'[{}]|"(?:[^"\\]|\\.)*"?', re.DOTALL)


def unquote(text: str) -> str:
    """Returns what a quoted string means, the quotes included in `text`.

    Strings are bytes in the reference; bytes that are no UTF-8 become surrogates. Raises
    `ValueError` for an escape that C does not have.
    """
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    out = bytearray()
    end = 0
    for match in _ESCAPE.finditer(inner):
        out += inner[end : match.start()].encode("utf-8", "surrogateescape")
        out += _escaped(match)
        end = match.end()
    out += inner[end:].encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "surrogateescape")


def _escaped(match: re.Match[str]) -> bytes:
    octal, hexadecimal, short, long, letter = match.groups()
    if octal or hexadecimal:
        value = int(octal, 8) if octal else int(hexadecimal, 16)
        if value > 255:
            raise ValueError(f"escape {match[0]} is no byte")
        return bytes((value,))
    if short or long:
        code = int(short or long, 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise ValueError(f"escape {match[0]} is no character")
        return chr(code).encode()
    if letter not in _ESCAPES:
        raise ValueError(f"unknown escape {match[0]}")
    return bytes((_ESCAPES[letter],))


def quote(value: str) -> str:
    """Returns a string in double quotes with C escapes; what is not ASCII as octal bytes."""
    if _SPECIAL.search(value) is None:
        return f'"{value}"'
    return '"' + _SPECIAL.sub(_escape, value) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    short = _SHORT.get(character)
    if short is not None:
        return short
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))


def is_dictionary(value: str) -> bool:
    """Whether a string is one run of balanced braces, so that it may stand without quotes."""
    if not value.startswith("{"):
        return False
    depth = 0
    for match in _DICTIONARY_PART.finditer(value):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                return match.end() == len(value)
        elif len(match[0]) < 2 or not match[0].endswith('"'):
            return False
    return False


def write_text_or_dictionary(value: str) -> str:
    """Returns a dictionary bare, any other string quoted."""
    return value if is_dictionary(value) else quote(value)
