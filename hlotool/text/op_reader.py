"""Op values from opcode and attribute text, each made once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lark.lexer import Token

from hlotool.ir.attribute import near_names
from hlotool.ir.record import Field
from hlotool.text.expectations import UnexpectedError
from hlotool.text.forms_attribute import FormError, offset

if TYPE_CHECKING:
    from hlotool.ir.op import Op, Role

Attribute = tuple[Token, Token]
"""Name and value of an attribute as they stand in the text."""
ReadValue = Callable[[str, Token], Any]
"""Reads a value token by a rule."""

_NAME = re.compile(r"%?+([A-Za-z_][A-Za-z0-9_.-]*+)")
_COMMON = frozenset(["a", "an", "the", "every"])
_LONGEST_PART = 200


class MissingAttributeError(FormError):
    """An attribute that an opcode must have and that was not given; `name` is its name."""

    def __init__(self, opcode: Token, name: str) -> None:
        super().__init__(f"{opcode}: attribute {name} is missing", offset(opcode))
        self.name = name


class OpEntry(NamedTuple):
    """An op as it stands in the text.

    `references` are the called computations: tokens for names, objects for inline ones; `roles`
    names the parts that the text gives them.
    `unknown` has the text of attributes that lenient reading keeps as they are.
    """

    op: Op
    references: tuple[Any, ...]
    unknown: str = ""
    roles: tuple[str, ...] = ()

    @property
    def is_shareable(self) -> bool:
        """Whether another instruction of the same text may have this entry."""
        return all(isinstance(reference, Token) for reference in self.references)


def attributes_by_name(attributes: Sequence[Attribute]) -> dict[str, Attribute]:
    """Returns the attributes by name; raises `FormError` where one is given twice."""
    found: dict[str, Attribute] = {}
    for name, value in attributes:
        if str(name) in found:
            raise FormError(f"attribute {name} is given twice", offset(name))
        found[str(name)] = (name, value)
    return found


def as_read(attributes: Sequence[Attribute]) -> str:
    """Returns attributes as they stood in the text, each behind a comma."""
    return "".join(f", {name}={value}" for name, value in attributes)


def read_fields(
    fields: dict[str, Field], attributes: dict[str, Attribute], read: ReadValue
) -> dict[str, Any]:
    """Takes the attributes that are fields out of `attributes`; returns their values."""
    values = {}
    for text_name, field in fields.items():
        if text_name in attributes:
            name, value = attributes.pop(text_name)
            if field.name in values:
                raise FormError(f"attribute {field.text_name} is given twice", offset(name))
            values[field.name] = read_kind(field, name, value, read)
    return values


def read_kind(field: Field, name: Token, value: Token, read: ReadValue) -> Any:
    """Returns the typed value of one attribute; raises `FormError` where it makes none."""
    try:
        return field.kind.read(read(field.kind.rule, value))
    except UnexpectedError as error:
        if error.offset != offset(value):
            raise
        what, example, shown = field.kind.words.partition(", as ")
        words = f"{what} (as {shown})" if example else what
        raise FormError(f"{name}: {words} expected, found {error.found}", error.offset) from None
    except FormError:
        raise
    except (ValueError, OverflowError) as error:
        raise FormError(f"{name}: {error}", place_in(value, str(error))) from None


def place_in(value: Token, message: str) -> int:
    """Returns the offset of the part of a value that a message is about.

    Messages begin with that part as the text has it, or their first clause ends with it; where
    they do not, the place is that of the whole value.
    """
    words = message.partition(";")[0].partition(": ")[0].split()
    for word in (*words[:1], *words[-1:]):
        is_telling = word not in _COMMON and not word.isdigit() and len(word) < _LONGEST_PART
        found = list(_whole(word).finditer(value)) if is_telling else []
        if found:
            return offset(value) + found[-1 if "twice" in words else 0].start()
    return offset(value)


def _whole(word: str) -> re.Pattern[str]:
    before = r"(?<![\w.])" if word[:1].isalnum() else ""
    behind = r"(?![\w.])" if word[-1:].isalnum() else ""
    return re.compile(before + re.escape(word) + behind)


def read_op(
    op_class: type[Op],
    payload: Any,
    attributes: dict[str, Attribute],
    read: ReadValue,
    opcode: Token,
) -> OpEntry:
    """Returns the op and its references; takes what it reads out of `attributes`.

    Raises `FormError` for a missing attribute and for a value that is none.
    """
    values = {} if payload is None else {op_class.fields[0].name: payload}
    values |= read_fields(op_class.readable, attributes, read)
    roles = tuple(role.name for role in op_class.roles if role.name in attributes)
    references, absent = _read_references(op_class.roles, attributes, read)
    absent += [f.text_name for f in op_class.fields if f.is_required and f.name not in values]
    if absent:
        # What is given and unknown may well be what is missing, misspelt.
        for unknown, _ in attributes.values():
            raise unknown_attribute(unknown, str(opcode), allowed_attributes(op_class))
        raise MissingAttributeError(opcode, absent[0])
    return OpEntry(op_class(**values), references, roles=roles)


def _read_references(
    roles: Sequence[Role], attributes: dict[str, Attribute], read: ReadValue
) -> tuple[tuple[Any, ...], list[str]]:
    """Returns the called computations, and the names of those that are missing."""
    found: list[Any] = []
    absent: list[str] = []
    for role in roles:
        given = [name for name in (role.name, *role.aliases) if name in attributes]
        if given:
            _, value = attributes.pop(given[0])
            found += _references_of(value, read, many=role.many and given[0] == role.name)
        elif not role.optional:
            absent.append(role.name)
    return tuple(found), absent


def _references_of(value: Token, read: ReadValue, *, many: bool) -> Sequence[Any]:
    if value[0] != "{":
        # The grammar would make the same of a name, with more ado.
        name = _NAME.fullmatch(value)
        if name is not None:
            return [Token("NAME", name[1], offset(value))]
    elif many:
        references: tuple[Any, ...] = read("computation_references", value)
        return references
    return [read("computation_reference", value)]


def allowed_attributes(op_class: type[Op]) -> list[str]:
    """Returns the names of the attributes that an opcode takes beside annotations."""
    return [*op_class.readable, *(role.name for role in op_class.roles)]


def unknown_attribute(name: Token, opcode: str, allowed: Sequence[str]) -> FormError:
    """Returns the error of an attribute that an opcode does not take."""
    listed = f"; {opcode} takes {', '.join(allowed)}" if 0 < len(allowed) <= 16 else ""
    return FormError(
        f"{opcode} takes no attribute {name}{near_names(str(name), allowed) or listed}",
        offset(name),
    )
