"""How an attribute of an opcode stands in an instruction message: the forms that many share."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.errors import ParseError
from hlotool.proto.schema import Proto
from hlotool.proto.strings import as_bytes, as_text, write_string


@dataclass(frozen=True, slots=True)
class Form:
    """Reads an attribute from an instruction message and writes it to one.

    `read` gives `None` where the message does not have the attribute. `is_plain` marks values
    as the text has them, words and lists, which the attribute's kind must still read.
    """

    read: Callable[[Proto], Any]
    write: Callable[[Proto, Any], None]
    is_plain: bool = False


NOT_STORED = Form(lambda _: None, lambda _proto, _value: None)
"""The form of what only the text has."""


def inside(proto: Proto, path: str) -> tuple[Proto, str]:
    """Returns the message that holds the field at `a.b.c`, and the field's name."""
    *parents, name = path.split(".")
    for parent in parents:
        proto = getattr(proto, parent)
    return proto, name


def made(proto: Proto, path: str) -> tuple[Proto, str]:
    """Returns the same as `inside`, and makes sure that the message is there."""
    holder, name = inside(proto, path)
    if holder is not proto:
        holder.SetInParent()
    return holder, name


def scalar(path: str, *, absent: Any = None, unset: Any = None) -> Form:
    """Returns the form of a number, flag or string.

    `absent` is the value of the attribute for a field that is zero or empty, `unset` a value
    that is left out when writing.
    """

    def read(proto: Proto) -> Any:
        value = getattr(*inside(proto, path))
        return value if value or absent is None else absent

    def write(proto: Proto, value: Any) -> None:
        holder, name = made(proto, path)
        if value is None or value == unset:
            return
        if isinstance(value, str):
            write_string(holder, name, value)
        else:
            setattr(holder, name, value)

    return Form(read, write)


def optional_number(path: str, older: str = "") -> Form:
    """Returns the form of a number that is `None` where the field is not positive."""

    def read(proto: Proto) -> int | None:
        number: int = getattr(*inside(proto, path))
        if number <= 0 and older:
            number = getattr(proto, older)
        return number if number > 0 else None

    return Form(read, scalar(path).write)


def text(path: str) -> Form:
    """Returns the form of a string that the message holds as bytes."""
    return Form(
        lambda proto: as_text(getattr(*inside(proto, path))),
        lambda proto, value: scalar(path).write(proto, as_bytes(value)),
    )


def word(path: str) -> Form:
    """Returns the form of one word out of several, held as a string; empty is none."""
    return Form(
        lambda proto: getattr(*inside(proto, path)) or None, scalar(path).write, is_plain=True
    )


def listed(path: str) -> Form:
    """Returns the form of a list of numbers or flags, or of one number that stands as a list."""

    def write(proto: Proto, value: Any) -> None:
        holder, name = made(proto, path)
        if value is not None:
            values = value if isinstance(value, tuple) else (value,)
            getattr(holder, name).extend(values)

    return Form(lambda proto: tuple(getattr(*inside(proto, path))), write, is_plain=True)


def first(path: str) -> Form:
    """Returns the form of a number that stands as a list of one; a negative one is left out."""

    def read(proto: Proto) -> int | None:
        values = getattr(*inside(proto, path))
        if len(values) > 1:
            raise ParseError(f"{path} takes one number, {len(values)} are given")
        return values[0] if values else None

    def write(proto: Proto, value: int) -> None:
        if value >= 0:
            getattr(*inside(proto, path)).append(value)

    return Form(read, write)


def enumerated(path: str, prefix: str = "") -> Form:
    """Returns the form of a word out of several that the message numbers.

    The names of the enumeration are `prefix` and the word in capitals.
    """

    def read(proto: Proto) -> str:
        return name_of_value(*inside(proto, path), prefix)

    def write(proto: Proto, value: str) -> None:
        holder, name = made(proto, path)
        setattr(holder, name, number_of_name(holder, name, prefix + value))

    return Form(read, write, is_plain=True)


def name_of_value(holder: Proto, field: str, prefix: str = "", value: int | None = None) -> str:
    """Returns the word for a value of an enumerated field; raises `ParseError` for others."""
    number = getattr(holder, field) if value is None else value
    found = _values(holder, field).values_by_number.get(number)
    if found is None:
        raise ParseError(f"unknown value {number} of {field}")
    name: str = found.name.removeprefix(prefix)
    return name.lower() if prefix else name


def number_of_name(holder: Proto, field: str, name: str) -> int:
    """Returns the number that an enumerated field has for a word."""
    number: int = _values(holder, field).values_by_name[name.upper()].number
    return number


def _values(holder: Proto, field: str) -> Any:
    return holder.DESCRIPTOR.fields_by_name[field].enum_type


def single(path: str) -> Form:
    """Returns the form of a number held in 32 bits: read as the shortest decimal that fits."""
    return Form(lambda proto: shortest_decimal(getattr(*inside(proto, path))), scalar(path).write)


def shortest_decimal(value: float) -> float:
    """Returns the number with the fewest digits that has the same 32 bits as `value`."""
    bits = struct.pack("<f", value)
    for digits in range(6, 9):
        rounded = float(f"{value:.{digits}g}")
        if struct.pack("<f", rounded) == bits:
            return rounded
    return value


def messages(
    path: str, read_one: Callable[[Proto], Any], write_one: Callable[[Any], dict[str, Any]]
) -> Form:
    """Returns the form of a list whose items are messages; `write_one` gives their fields."""

    def read(proto: Proto) -> tuple[Any, ...]:
        return tuple(read_one(item) for item in getattr(*inside(proto, path)))

    def write(proto: Proto, value: Sequence[Any]) -> None:
        holder, name = made(proto, path)
        for item in value:
            getattr(holder, name).add(**write_one(item))

    return Form(read, write)


def where_present(form: Form, path: str) -> Form:
    """Returns a form that is `None`, and writes nothing, where the message at `path` is missing."""

    def read(proto: Proto) -> Any:
        holder, name = inside(proto, path)
        return form.read(proto) if holder.HasField(name) else None

    def write(proto: Proto, value: Any) -> None:
        if value is not None:
            form.write(proto, value)

    return Form(read, write, form.is_plain)
