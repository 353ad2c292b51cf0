"""Strings of messages: bytes where anything may stand, else UTF-8."""

from __future__ import annotations

from hlotool.errors import UnsupportedError
from hlotool.ir.strings import quote
from hlotool.proto.schema import Proto


def as_text(value: bytes) -> str:
    """Returns bytes as the text form holds them: what is no UTF-8 becomes surrogates."""
    return value.decode("utf-8", "surrogateescape")


def as_bytes(value: str) -> bytes:
    """Returns the bytes of a string of the text form."""
    return value.encode("utf-8", "surrogateescape")


def write_string(proto: Proto, field: str, value: str) -> None:
    """Sets a field that takes UTF-8; raises `UnsupportedError` for other bytes."""
    try:
        setattr(proto, field, value)
    except ValueError:
        raise UnsupportedError(
            f"{field} of a proto takes UTF-8 alone, not {quote(value)}"
        ) from None
