"""Plain values of annotations: pairs of names and values, in text order."""

from __future__ import annotations

from typing import Any

from lark.lexer import Token

from hlotool.ir.metadata import OriginalArray, OriginTree
from hlotool.text.forms_attribute import Children, integer, present, unquoted

Pair = tuple[str, Any]


class AnnotationForms:
    """Callbacks for metadata, frontend attributes, statistics, accuracies and origins."""

    def metadata(self, c: Children) -> tuple[Pair, ...]:
        return tuple(present(c))

    def metadata_item(self, c: Children) -> Pair:
        name, value = c
        if isinstance(value, Token):
            value = integer(value) if value.type == "INT" else unquoted(value)
        return str(name[:-1]), value

    def frontend_attributes(self, c: Children) -> tuple[Pair, ...]:
        return tuple(present(c))

    def frontend_attribute(self, c: Children) -> Pair:
        return str(c[0][:-1]), c[1]

    def statistics(self, c: Children) -> tuple[Pair, ...]:
        return tuple(present(c))

    def statistic(self, c: Children) -> Pair:
        name, value = c
        # As in a literal, the integer -0 is 0.
        is_integer = value.removeprefix("-").isdecimal()
        return str(name[:-1]), integer(value) if is_integer else float(value)

    def result_accuracy(self, c: Children) -> tuple[str, Any]:
        name, *rest = c
        if len(rest) == 1 and isinstance(rest[0], Token):
            return str(name[:-1]), str(rest[0])
        return str(name[:-1]), tuple(present(rest))

    def origin(self, c: Children) -> tuple[OriginTree]:
        return (c[0],)

    def empty_origin(self, c: Children) -> tuple[OriginTree]:
        return ((),)

    def synthetic_origin(self, c: Children) -> str:
        return str(c[0])

    def original_array(self, c: Children) -> OriginTree:
        name, *index = c
        if name is None:
            return None
        return OriginalArray(unquoted(name), present(index)[0] if present(index) else ())

    def original_tuple(self, c: Children) -> OriginTree:
        return tuple(c)
