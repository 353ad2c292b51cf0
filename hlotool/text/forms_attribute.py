"""Plain values of attribute forms: what the rules of attribute.lark yield."""

from __future__ import annotations

import re
from typing import Any

from lark.lexer import Token

from hlotool.ir.attribute import near_names
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.shape import (
    OPAQUE,
    TOKEN,
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    Layout,
    Shape,
    TupleShape,
)
from hlotool.ir.strings import unquote
from hlotool.text.simple_forms import plain_array

Children = list[Any]
MOST_DIGITS = 40
"""No number of so many digits fits 64 bits."""
_LONG_NUMBER = re.compile(r"[0-9]{19,}")


class FormError(ValueError):
    """A form that the grammar takes and that means nothing; `offset` is where."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def offset(token: Token) -> int:
    """Returns where in the text a token begins."""
    assert token.start_pos is not None
    return token.start_pos


def integer(token: Token) -> int:
    """Returns the value of an integer token; raises `FormError` beyond 64 bits."""
    # Python refuses to read numbers of thousands of digits, with an error of its own.
    value = int(token) if len(token) < MOST_DIGITS else 1 << 64
    if not -(1 << 63) <= value < 1 << 64:
        raise FormError(f"{token[:MOST_DIGITS]} does not fit 64 bits", offset(token))
    return value if value < 1 << 63 else value - (1 << 64)


def unquoted(token: Token) -> str:
    """Returns what a string token means; raises `FormError` for an escape that is none."""
    try:
        return unquote(str(token))
    except ValueError as error:
        escape = next((word for word in str(error).split() if word[0] == "\\"), "")
        raise FormError(str(error), offset(token) + max(0, token.find(escape))) from None


def present(children: Children) -> Children:
    """Returns the children without the places of optional parts that are absent."""
    return [child for child in children if child is not None]


class AttributeForms:
    """Callbacks for numbers, words, lists, windows."""

    def boolean(self, c: Children) -> bool:
        return bool(c[0] == "true")

    def booleans(self, c: Children) -> tuple[bool, ...]:
        return tuple(present(c))

    def integer(self, c: Children) -> int:
        return integer(c[0])

    def integers(self, c: Children) -> tuple[int, ...]:
        if c and isinstance(c[0], Token) and c[0].type == "INTEGERS":
            return _coarse_integers(c[0])
        return tuple(integer(token) for token in present(c))

    def integer_lists(self, c: Children) -> tuple[tuple[int, ...], ...]:
        return tuple(present(c))

    def real(self, c: Children) -> float:
        return float(c[0])

    def text(self, c: Children) -> str:
        return unquoted(c[0])

    def text_or_dictionary(self, c: Children) -> str:
        return str(c[0]) if c[0].type == "DICTIONARY" else self.text(c)

    def word(self, c: Children) -> str:
        return str(c[0])

    def words(self, c: Children) -> tuple[str, ...]:
        return tuple(str(word) for word in present(c))

    def name(self, c: Children) -> Token:
        token: Token = c[0]
        return token.update(value=token[1:]) if token[0] == "%" else token

    def names(self, c: Children) -> tuple[Token, ...]:
        return tuple(present(c))

    def slices(self, c: Children) -> tuple[tuple[int, int, int], ...]:
        return tuple(present(c))

    def slice(self, c: Children) -> tuple[int, int, int]:
        low, high, stride = c
        return integer(low), integer(high), 1 if stride is None else integer(stride)

    def window(self, c: Children) -> tuple[tuple[str, str], ...]:
        return tuple(c)

    def window_part(self, c: Children) -> tuple[str, str]:
        return str(c[0][:-1]), checked_numbers(c[1])

    def padding(self, c: Children) -> str:
        return checked_numbers(c[0])

    def dimension_labels(self, c: Children) -> str:
        return str(c[0])

    def sparsity(self, c: Children) -> str:
        return checked_numbers(c[0])

    def aliasing(self, c: Children) -> tuple[Any, ...]:
        return tuple(present(c))

    def alias(self, c: Children) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        output, operand, index = c
        return output, integer(operand), index or ()


class ShapeForms:
    """Callbacks for shapes and layouts."""

    def shapes(self, c: Children) -> tuple[Shape, ...]:
        return tuple(present(c))

    def ARRAY(self, token: Token) -> Shape:
        text = str(token)
        return plain_array(text) or _WITHOUT_ELEMENTS.get(text) or _long_array(token)

    def shape(self, c: Children) -> Shape:
        shape: Shape = c[0]
        return shape

    def tuple_shape(self, c: Children) -> Shape:
        return TupleShape(present(c))

    def buffer_shape(self, c: Children) -> Shape:
        array = c[1]
        if not isinstance(array, ArrayShape):
            raise FormError("a buffer holds an array", offset(c[0]))
        return BufferShape(array)

    def dimension(self, c: Children) -> tuple[int, bool]:
        return _size(c[0]), False

    def bounded_dimension(self, c: Children) -> tuple[int, bool]:
        return _size(c[1]), True

    def unbounded_dimension(self, c: Children) -> tuple[int, bool]:
        return UNBOUNDED, True

    def array(self, c: Children) -> Shape:
        type_, *sizes, layout = c
        sizes = present(sizes)
        if type_ in ("token", "opaque"):
            if sizes or layout is not None:
                raise FormError(f"{type_} has neither dimensions nor layout", offset(type_))
            return TOKEN if type_ == "token" else OPAQUE
        if layout is not None and len(layout.minor_to_major) != len(sizes):
            raise FormError(
                f"layout orders {len(layout.minor_to_major)} dimensions, the shape has"
                f" {len(sizes)}",
                offset(type_),
            )
        element_type = _element_type(type_)
        return ArrayShape(
            element_type, [size for size, _ in sizes], layout, [dynamic for _, dynamic in sizes]
        )

    def layout(self, c: Children) -> Layout:
        opening, *rest = c
        order = [integer(item) for item in rest if isinstance(item, Token)]
        parts = [item for item in rest if isinstance(item, tuple)]
        places = [place for place, _, _ in parts]
        if places != sorted(set(places)):
            raise FormError(
                "parts of a layout must stand once each, in the order D T L # * E S SC P M",
                offset(opening),
            )
        return Layout(order, **{name: value for _, name, value in parts if name})

    def level_types(self, c: Children) -> tuple[int, str, Any]:
        # Sparse level types of older dumps: the reference reads and drops them.
        return 0, "", None

    def tiles(self, c: Children) -> tuple[int, str, Any]:
        return 1, "tiles", tuple(c[1:])

    def tile(self, c: Children) -> tuple[int | None, ...]:
        return tuple(size for (size,) in present(c))

    def tile_size(self, c: Children) -> tuple[int]:
        return (_size(c[0]),)

    def merged_tile_size(self, c: Children) -> tuple[None]:
        return (None,)

    def layout_number(self, c: Children) -> tuple[int, str, Any]:
        place, name = _LAYOUT_NUMBERS[str(c[0])]
        return place, name, _size(c[1])

    def layout_type(self, c: Children) -> tuple[int, str, Any]:
        element_type = _element_type(c[1])
        if not element_type.is_integer:
            raise FormError(f"an integer type expected, found {c[1]}", offset(c[1]))
        return (3, "index_type", element_type) if c[0] == "#" else (4, "pointer_type", element_type)

    def split_configs(self, c: Children) -> tuple[int, str, Any]:
        return 7, "split_configs", tuple(c[1:])

    def split(self, c: Children) -> tuple[int, tuple[int, ...]]:
        dimension, *at = map(integer, c)
        return dimension, tuple(at)

    def physical_shape(self, c: Children) -> tuple[int, str, Any]:
        raise FormError("a physical shape is for sparse arrays only", offset(c[0]))


_LAYOUT_NUMBERS = {
    "L": (2, "tail_padding_alignment_in_elements"),
    "E": (5, "element_size_bits"),
    "S": (6, "memory_space"),
    "M": (9, "dynamic_shape_metadata_prefix_bytes"),
}


def _size(token: Token) -> int:
    size = integer(token)
    if size < 0:
        raise FormError(f"a size cannot be negative: {token}", offset(token))
    return size


_WITHOUT_ELEMENTS: dict[str, Shape] = {"token[]": TOKEN, "opaque[]": OPAQUE}


def _long_array(token: Token) -> ArrayShape:
    """Returns an array in the plain form; raises `FormError` at what is wrong with it."""
    name, _, rest = token.partition("[")
    element_type = ELEMENT_TYPES.get(name)
    if element_type is None:
        near = near_names(name, list(ELEMENT_TYPES))
        raise FormError(f"unknown element type {name}{near}", offset(token))
    sizes, _, order = rest.partition("]")
    start = offset(token) + len(name) + 1
    dimensions = _listed(sizes, start, 1 << 63)
    if not order:
        return ArrayShape(element_type, dimensions)
    minor_to_major = _listed(order[1:-1], start + len(sizes) + 2, 1 << 63)
    if len(dimensions) != len(minor_to_major):
        raise FormError(
            f"the layout orders {len(minor_to_major)} dimensions, the shape has {len(dimensions)}",
            start + len(sizes) + 1,
        )
    return ArrayShape(element_type, dimensions, Layout(minor_to_major))


def _coarse_integers(token: Token) -> tuple[int, ...]:
    return _listed(token[1:-1], offset(token) + 1, 1 << 64)


def _listed(text: str, start: int, limit: int) -> tuple[int, ...]:
    """Returns the numbers of `0,1,2`; raises `FormError` at a part that is none below `limit`."""
    found = []
    for part in text.split(",") if text else ():
        if not part:
            raise FormError("an integer is missing beside a comma", start)
        value = int(part) if len(part) < MOST_DIGITS else limit
        if value >= limit:
            raise FormError(f"{part[:MOST_DIGITS]} does not fit 64 bits", start)
        found.append(value if value < 1 << 63 else value - (1 << 64))
        start += len(part) + 1
    return tuple(found)


def checked_numbers(token: Token) -> str:
    """Returns a token with numbers inside; raises `FormError` at one that does not fit 64 bits."""
    for match in _LONG_NUMBER.finditer(token):
        if len(match[0]) >= MOST_DIGITS or int(match[0]) >= 1 << 63:
            raise FormError(
                f"{match[0][:MOST_DIGITS]} does not fit 64 bits", offset(token) + match.start()
            )
    return str(token)


def _element_type(token: Token) -> ElementType:
    found = ELEMENT_TYPES.get(str(token))
    if found is None:
        raise FormError(f"unknown element type {token}", offset(token))
    return found
