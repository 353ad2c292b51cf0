"""Protos in text form, of schemas that hold only what is wanted of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from hlotool.errors import Location, ParseError, Source

Schema = Mapping[str, str]
"""The fields of each message: `name:type`.

Types are `bytes`, `int`, `float`, `bool`, `enum`, and names of messages. Texts are bytes, since
they need not be UTF-8. `*` behind a type says that there may be several, `?` that only one of the
fields so marked is set: `message.WhichOneof("choice")` names it.
"""

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "bytes": _Field.TYPE_BYTES,
    "int": _Field.TYPE_INT64,
    "float": _Field.TYPE_DOUBLE,
    "bool": _Field.TYPE_BOOL,
    "enum": _Field.TYPE_ENUM,
}


def text_of(data: bytes) -> str:
    """Returns a text of a message; bytes that are no UTF-8 are shown by their numbers."""
    return data.decode("utf-8", "backslashreplace")


def text_proto(text: str, name: str, schema: Schema, root: str, words: Iterable[str] = ()) -> Any:
    """Returns the message of a text; fields that the schema does not have are passed over.

    `root` is the name of its message, `words` are what fields of type `enum` may say. Raises a
    located `ParseError` for what is no text form of a proto.
    """
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file(schema, words))
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"dump.{root}"))()
    try:
        text_format.Parse(text, message, allow_unknown_field=True)
    except text_format.ParseError as error:
        raise _located(error, text, name) from None
    except RecursionError:
        raise ParseError(f"{name} is no proto that can be read: it is nested too deeply") from None
    return message


def _file(schema: Schema, words: Iterable[str]) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="dump.proto", package="dump", syntax="proto3")
    for name, fields in schema.items():
        message = file.message_type.add(name=name)
        if "?" in fields:
            message.oneof_decl.add(name="choice")
        for number, field in enumerate(fields.split(), 1):
            field_name, _, type_name = field.partition(":")
            made = message.field.add(name=field_name, number=number)
            made.label = _Field.LABEL_REPEATED if "*" in type_name else _Field.LABEL_OPTIONAL
            if "?" in type_name:
                made.oneof_index = 0
            plain = type_name.rstrip("*?")
            made.type = _TYPES.get(plain, _Field.TYPE_MESSAGE)
            if plain not in _TYPES or plain == "enum":
                made.type_name = ".dump.Word" if plain == "enum" else f".dump.{plain}"
    word = file.enum_type.add(name="Word")
    for number, value in enumerate(("NONE", *words)):
        word.value.add(name=value, number=number)
    return file


def _located(error: text_format.ParseError, text: str, name: str) -> ParseError:
    line = error.GetLine()
    # What stands in front is the whole line, however long.
    message = str(error).rpartition("': ")[2]
    if line is None:
        return ParseError(f"{name} is no text form of a proto: {message}")
    lines = text.splitlines(keepends=True)
    offset = sum(map(len, lines[: line - 1])) + max(0, (error.GetColumn() or 1) - 1)
    return ParseError(
        f"no text form of a proto: {message}", Location(Source(text, name), min(offset, len(text)))
    )
