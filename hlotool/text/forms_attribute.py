"""Plain values of attribute forms: what the rules of attribute.lark yield."""

from __future__ import annotations

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
from hlotool.text.simple_forms import plain_array, plain_integers

Children = list[Any]


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
    value = int(token) if len(token) < 40 else 1 << 64
    if not -(1 << 63) <= value < 1 << 64:
        raise FormError(f"{token[:40]} does not fit 64 bits", offset(token))
    return value if value < 1 << 63 else value - (1 << 64)


def unquoted(token: Token) -> str:
    """Returns what a string token means; raises `FormError` for an escape that is none."""
    try:
        return unquote(str(token))
    except ValueError as error:
        raise FormError(str(error), offset(token)) from None


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
        return str(c[0][:-1]), str(c[1])

    def padding(self, c: Children) -> str:
        return str(c[0])

    def dimension_labels(self, c: Children) -> str:
        return str(c[0])

    def sparsity(self, c: Children) -> str:
        return str(c[0])

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
        found = plain_array(str(token)) or _WITHOUT_ELEMENTS.get(str(token))
        if found is None:
            raise _array_fault(token)
        return found

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


def _array_fault(token: Token) -> FormError:
    """Returns what is wrong with an array in the plain form."""
    name, _, rest = token.partition("[")
    if name not in ELEMENT_TYPES:
        near = near_names(name, list(ELEMENT_TYPES))
        return FormError(f"unknown element type {name}{near}", offset(token))
    sizes, _, order = rest.partition("]")
    dimensions, minor_to_major = plain_integers(sizes), plain_integers(order[1:-1])
    if dimensions is None or minor_to_major is None:
        return FormError("an integer is missing beside a comma", offset(token))
    if len(dimensions) != len(minor_to_major) and order:
        return FormError(
            f"the layout orders {len(minor_to_major)} dimensions, the shape has {len(dimensions)}",
            offset(token),
        )
    return FormError("a size does not fit 64 bits", offset(token))


def _coarse_integers(token: Token) -> tuple[int, ...]:
    found = plain_integers(token[1:-1])
    if found is None:
        raise FormError("an integer is missing beside a comma", offset(token))
    if any(value >= 1 << 64 for value in found):
        raise FormError("an integer does not fit 64 bits", offset(token))
    return found


def _element_type(token: Token) -> ElementType:
    found = ELEMENT_TYPES.get(str(token))
    if found is None:
        raise FormError(f"unknown element type {token}", offset(token))
    return found
