"""The text form of protos, `.pbtxt`: to bytes and from bytes."""

from __future__ import annotations

from functools import cache

from google.protobuf import descriptor_pool, text_format
from google.protobuf.message import DecodeError

from hlotool.errors import Location, ParseError, Source
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
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    errors = []
    for message_name in _MESSAGES:
        message = _message(message_name)()
        try:
            text_format.Parse(text, message)
        except text_format.ParseError as error:
            errors.append(error)
        except RecursionError:
            raise ParseError(f"{name}: messages are nested too deeply") from None
        except UnicodeDecodeError as error:
            raise ParseError(f"{name}: {error.reason} at byte {error.start}") from None
        else:
            return bytes(message.SerializeToString())
    raise _located(max(errors, key=_place), shown, name)


def _place(error: text_format.ParseError) -> tuple[int, int]:
    # The kind of message that the text gets furthest as is the one that was meant.
    return error.GetLine() or 0, error.GetColumn() or 0


def _located(error: text_format.ParseError, text: str, name: str) -> ParseError:
    line, column = _place(error)
    starts = [0]
    for _ in range(line - 1):
        starts.append(text.find("\n", starts[-1]) + 1)
    message = str(error).partition(" : ")[2] or str(error)
    offset = min(starts[-1] + max(column - 1, 0), len(text))
    return ParseError(
        message[:1].lower() + message[1:].rstrip(". "), Location(Source(text, name), offset)
    )


def print_proto(data: bytes) -> str:
    """Returns the text form of a serialized `HloProto`; raises `ParseError` for other bytes."""
    try:
        message = _message("HloProto").FromString(data)
    except DecodeError:
        raise ParseError("this is no HLO proto, or one that is cut off") from None
    return text_format.MessageToString(message)
