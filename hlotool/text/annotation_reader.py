"""Annotations from text: each distinct value is read once, most only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lark.lexer import Token

from hlotool.ir.annotations import NO_ANNOTATIONS, Annotations
from hlotool.text.op_reader import Attribute, ReadValue, attributes_by_name, read_fields

if TYPE_CHECKING:
    from hlotool.ir.shape import Shape

CONTROL_PREDECESSORS = "control-predecessors"
NAMES = frozenset([*Annotations.readable, CONTROL_PREDECESSORS])
"""The attributes that any instruction may carry."""


def split_annotations(
    attributes: Sequence[Attribute],
) -> tuple[list[Attribute], dict[str, Attribute]]:
    """Returns the attributes of the opcode, and the annotations by name."""
    own = [attribute for attribute in attributes if str(attribute[0]) not in NAMES]
    return own, attributes_by_name([a for a in attributes if str(a[0]) in NAMES])


def read_annotations(
    attributes: dict[str, Attribute], shape: Shape, read: ReadValue
) -> Annotations:
    """Returns the annotations of an instruction of some shape; takes them out of `attributes`."""
    values: dict[str, Any] = read_fields(Annotations.readable, attributes, read)
    sharding = values.get("sharding")
    if sharding is not None:
        values["sharding"] = sharding.for_shape(shape)
    return Annotations(**values) if values else NO_ANNOTATIONS


def read_control_predecessors(attributes: dict[str, Attribute], read: ReadValue) -> list[Token]:
    """Returns the names of control predecessors; takes them out of `attributes`."""
    if CONTROL_PREDECESSORS not in attributes:
        return []
    _, value = attributes.pop(CONTROL_PREDECESSORS)
    return list(read("names", value))
