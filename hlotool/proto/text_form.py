"""The text form of protos, `.pbtxt`: to bytes and from bytes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from google.protobuf import descriptor_pool, text_format
from google.protobuf.message import EncodeError

from hlotool.errors import Location, ParseError, Source
from hlotool.proto.reader import decode
from hlotool.proto.schema import Proto, load_pool, message_class

_MESSAGES = ("HloProto", "HloModuleProto", "HloSnapshot")


@cache
def _message(name: str) -> type[Proto]:
    # Here literals hold numbers, for people to read.
    return message_class(_pool(), name)


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    return load_pool(literals_as_bits=False)


def parse_proto(text: str | bytes, name: str = "<string>") -> bytes:
    """Returns the serialized form of an `HloProto`, `HloModuleProto` or `HloSnapshot` in text.

    Raises a located `ParseError` for anything else.
    """
    return parse_message(text, name, _MESSAGES)


def parse_message(text: str | bytes, name: str, messages: Sequence[str]) -> bytes:
    """Returns the serialized form of the first of `messages` that a text is.

    Raises a located `ParseError` where it is none of them.
    """
    shown = text if isinstance(text, str) else _decoded(text)
    errors = []
    for message_name in messages:
        message = _message(message_name)()
        try:
            text_format.Parse(shown, message)
            return bytes(message.SerializeToString(deterministic=True))
        except text_format.ParseError as error:
            errors.append(error)
        except (RecursionError, EncodeError):
            raise ParseError("messages are nested too deeply") from None
        except ValueError as error:
            # The runtime checks some numbers only when it stores them, and forgets the place.
            raise ParseError(f"a field has a value that it cannot hold: {error}") from None
    raise _located(max(errors, key=_place), Source(shown, name))


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise ParseError(f"byte 0x{text[error.start]:02x} is not valid UTF-8") from None


def _place(error: text_format.ParseError) -> tuple[int, int]:
    # The kind of message that the text gets furthest as is the one that was meant.
    return error.GetLine() or 1, error.GetColumn() or 1


def _located(error: text_format.ParseError, source: Source) -> ParseError:
    line, column = _place(error)
    before = source.text.split("\n")[: line - 1]
    offset = min(sum(len(text) + 1 for text in before) + column - 1, len(source.text))
    # The runtime puts place and line before its message, and names our package in it.
    message = str(error).partition(" : ")[2] or str(error)
    message = message.removeprefix(f"'{source.line(line)}': ").replace("hlotool.", "")
    return ParseError(message[:1].lower() + message[1:].rstrip(". "), Location(source, offset))


def print_proto(data: bytes) -> str:
    """Returns the text form of a serialized `HloProto`; raises `ParseError` for other bytes."""
    message = decode(_message("HloProto"), data)
    if message is None:
        raise ParseError("this is no HLO proto, or one that is cut off")
    return text_format.MessageToString(message)
