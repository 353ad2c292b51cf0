"""Shapes: what an instruction yields, with the layout it has in memory, and their text.

Shapes are immutable and shared; text and hash are made once a shape. A dimension is a size,
an upper bound (`dynamic` says so), or `UNBOUNDED`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from hlotool.ir.element_type import ElementType

UNBOUNDED = -1
"""The size of a dimension written `?`: nothing is known but that it is dynamic."""

_MADE = ("_hash", "text")
"""What a layout makes of its other attributes."""


class Layout:
    """How an array lies in memory.

    `minor_to_major` lists dimensions from the fastest-changing one on. Each tile is a tuple of
    sizes, `None` where the text has `*` (the dimension is merged with the next one).
    `element_size_bits` 0 and `memory_space` 0 stand for the default. A split configuration is
    a dimension with the indices where it is cut.
    """

    __slots__ = (
        "_hash",
        "dynamic_shape_metadata_prefix_bytes",
        "element_size_bits",
        "index_type",
        "memory_space",
        "minor_to_major",
        "pointer_type",
        "split_configs",
        "tail_padding_alignment_in_elements",
        "text",
        "tiles",
    )

    def __init__(
        self,
        minor_to_major: Sequence[int],
        tiles: Sequence[tuple[int | None, ...]] = (),
        *,
        tail_padding_alignment_in_elements: int = 1,
        index_type: ElementType | None = None,
        pointer_type: ElementType | None = None,
        element_size_bits: int = 0,
        memory_space: int = 0,
        split_configs: Sequence[tuple[int, tuple[int, ...]]] = (),
        dynamic_shape_metadata_prefix_bytes: int = 0,
    ) -> None:
        self.minor_to_major = tuple(minor_to_major)
        self.tiles = tuple(tiles)
        self.tail_padding_alignment_in_elements = tail_padding_alignment_in_elements
        self.index_type = index_type
        self.pointer_type = pointer_type
        self.element_size_bits = element_size_bits
        self.memory_space = memory_space
        self.split_configs = tuple(split_configs)
        self.dynamic_shape_metadata_prefix_bytes = dynamic_shape_metadata_prefix_bytes
        order = ",".join(map(str, self.minor_to_major))
        tail = self._tail()
        self.text = f"{{{order}:{tail}}}" if tail else f"{{{order}}}"
        """The layout as text, braces included; equal layouts have equal text."""
        self._hash = hash(self.text)

    @staticmethod
    @lru_cache(maxsize=64)
    def default(rank: int) -> Layout:
        """Returns the row-major layout of `rank` dimensions."""
        return Layout(range(rank - 1, -1, -1))

    @property
    def is_default(self) -> bool:
        """Whether this is row-major with nothing else said."""
        return self.text == Layout.default(len(self.minor_to_major)).text

    @property
    def has_tail(self) -> bool:
        """Whether there is more than the order of dimensions."""
        return ":" in self.text

    def replace(self, **changes: Any) -> Layout:
        """Returns a copy with other values for some parts."""
        kept = {name: getattr(self, name) for name in self.__slots__ if name not in _MADE}
        return Layout(**(kept | changes))

    def _tail(self) -> str:
        parts = []
        if self.tiles:
            sizes = (",".join("*" if s is None else str(s) for s in tile) for tile in self.tiles)
            parts.append("T" + "".join(f"({size})" for size in sizes))
        if self.tail_padding_alignment_in_elements != 1:
            parts.append(f"L({self.tail_padding_alignment_in_elements})")
        if self.index_type is not None:
            parts.append(f"#({self.index_type.name})")
        if self.pointer_type is not None:
            parts.append(f"*({self.pointer_type.name})")
        if self.element_size_bits:
            parts.append(f"E({self.element_size_bits})")
        if self.memory_space:
            parts.append(f"S({self.memory_space})")
        if self.split_configs:
            cuts = (f"({d}:{','.join(map(str, at))})" for d, at in self.split_configs)
            parts.append("SC" + "".join(cuts))
        if self.dynamic_shape_metadata_prefix_bytes > 0:
            parts.append(f"M({self.dynamic_shape_metadata_prefix_bytes})")
        return "".join(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.text == other.text

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Layout({self.text})"


class Shape:
    """Base of all shapes. `text` has layouts, `plain_text` has none."""

    __slots__ = ("_hash", "plain_text", "text")

    plain_text: str
    text: str
    is_array = False
    is_tuple = False
    is_token = False

    def __init__(self, text: str, plain_text: str) -> None:
        self.text = text
        self.plain_text = plain_text
        self._hash = hash(text)

    def leaves(self) -> Iterator[tuple[tuple[int, ...], Shape]]:
        """Yields index and shape of each part that is no tuple, in order."""
        yield (), self

    def compatible(self, other: Shape) -> bool:
        """Whether both hold the same values: layouts and dynamic dimensions are ignored."""
        return self is other or self.plain_text == other.plain_text

    def with_default_layout(self) -> Shape:
        """Returns this shape with every array row-major."""
        return self

    def subshape(self, index: Sequence[int]) -> Shape | None:
        """Returns the part at a tuple index, or `None` where there is none."""
        return None if index else self

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Shape) and self.text == other.text)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


class ArrayShape(Shape):
    """An array: element type, dimensions, layout.

    `dynamic` is empty when every dimension is static, else it has one flag a dimension.
    A bounded dynamic dimension holds its bound.
    """

    __slots__ = ("dimensions", "dynamic", "element_type", "layout")

    is_array = True

    def __init__(
        self,
        element_type: ElementType,
        dimensions: Sequence[int] = (),
        layout: Layout | None = None,
        dynamic: Sequence[bool] = (),
    ) -> None:
        self.element_type = element_type
        self.dimensions = tuple(dimensions)
        self.layout = layout or Layout.default(len(self.dimensions))
        self.dynamic = tuple(dynamic) if any(dynamic) else ()
        sizes: Sequence[int | str] = self.dimensions
        if self.dynamic:
            marked = zip(self.dimensions, self.dynamic, strict=True)
            sizes = ["?" if s == UNBOUNDED else f"<={s}" if d else s for s, d in marked]
        plain = f"{element_type.name}[{','.join(map(str, sizes))}]"
        shows_layout = self.dimensions or self.layout.has_tail
        super().__init__(plain + self.layout.text if shows_layout else plain, plain)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dimensions)

    @property
    def is_scalar(self) -> bool:
        """Whether there are no dimensions."""
        return not self.dimensions

    @property
    def is_static(self) -> bool:
        """Whether every dimension has one known size."""
        return not self.dynamic

    @property
    def element_count(self) -> int:
        """The number of elements; bounded dimensions count with their bound."""
        return prod(self.dimensions)

    def is_dynamic(self, dimension: int) -> bool:
        """Whether the size of `dimension` is known only when the module runs."""
        return bool(self.dynamic) and self.dynamic[dimension]

    def dynamic_flags(self) -> tuple[bool, ...]:
        """Returns one flag a dimension, also when all are static."""
        return self.dynamic or (False,) * len(self.dimensions)

    def compatible(self, other: Shape) -> bool:
        """Whether element type and dimensions are equal."""
        return self is other or (
            isinstance(other, ArrayShape)
            and self.element_type is other.element_type
            and self.dimensions == other.dimensions
        )

    def with_element_type(self, element_type: ElementType) -> ArrayShape:
        """Returns the same dimensions and layout with another element type."""
        return ArrayShape(element_type, self.dimensions, self.layout, self.dynamic)

    def with_layout(self, layout: Layout | None) -> ArrayShape:
        """Returns the same array with another layout, row-major for `None`."""
        return ArrayShape(self.element_type, self.dimensions, layout, self.dynamic)

    def with_default_layout(self) -> ArrayShape:
        """Returns the same array, row-major."""
        return self if self.layout.is_default else self.with_layout(None)


class TupleShape(Shape):
    """A tuple of shapes."""

    __slots__ = ("elements",)

    is_tuple = True

    def __init__(self, elements: Sequence[Shape] = ()) -> None:
        self.elements = tuple(elements)
        super().__init__(
            f"({join_marked([e.text for e in self.elements])})",
            f"({join_marked([e.plain_text for e in self.elements])})",
        )

    def leaves(self) -> Iterator[tuple[tuple[int, ...], Shape]]:
        """Yields index and shape of each part that is no tuple, in order."""
        for position, element in enumerate(self.elements):
            for index, leaf in element.leaves():
                yield (position, *index), leaf

    def compatible(self, other: Shape) -> bool:
        """Whether the elements are compatible, each with its counterpart."""
        return self is other or (
            isinstance(other, TupleShape)
            and len(self.elements) == len(other.elements)
            and all(
                mine.compatible(theirs)
                for mine, theirs in zip(self.elements, other.elements, strict=True)
            )
        )

    def with_default_layout(self) -> TupleShape:
        """Returns this shape with every array row-major."""
        return TupleShape([element.with_default_layout() for element in self.elements])

    def subshape(self, index: Sequence[int]) -> Shape | None:
        """Returns the part at a tuple index, or `None` where there is none."""
        if not index:
            return self
        first, *rest = index
        if not 0 <= first < len(self.elements):
            return None
        return self.elements[first].subshape(rest)


class TokenShape(Shape):
    """A token: no value, only an order between side effects."""

    __slots__ = ()

    is_token = True

    def __init__(self) -> None:
        super().__init__("token[]", "token[]")


class OpaqueShape(Shape):
    """A value whose inside HLO does not know."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("opaque[]", "opaque[]")


class BufferShape(Shape):
    """An array as a buffer with an address: `b(f32[2]{0})`."""

    __slots__ = ("array",)

    def __init__(self, array: ArrayShape) -> None:
        self.array = array
        super().__init__(f"b({array.text})", f"b({array.plain_text})")

    def compatible(self, other: Shape) -> bool:
        """Whether both are buffers of compatible arrays."""
        return isinstance(other, BufferShape) and self.array.compatible(other.array)

    def with_default_layout(self) -> BufferShape:
        """Returns this buffer with its array row-major."""
        return BufferShape(self.array.with_default_layout())


TOKEN = TokenShape()
OPAQUE = OpaqueShape()


def same_but_float_width(one: Shape, other: Shape) -> bool:
    """Whether two shapes are compatible but for the width of floating-point elements."""
    ours, theirs = list(one.leaves()), list(other.leaves())
    return len(ours) == len(theirs) and all(
        index == other_index and (leaf.compatible(other_leaf) or _floats(leaf, other_leaf))
        for (index, leaf), (other_index, other_leaf) in zip(ours, theirs, strict=True)
    )


def _floats(one: Shape, other: Shape) -> bool:
    return (
        isinstance(one, ArrayShape)
        and isinstance(other, ArrayShape)
        and one.element_type.is_float
        and other.element_type.is_float
        and one.dimensions == other.dimensions
    )


class ProgramShape:
    """What a computation takes and yields: parameter shapes with their names, and the result."""

    __slots__ = ("parameter_names", "parameters", "result")

    def __init__(
        self, parameters: Sequence[Shape], result: Shape, parameter_names: Sequence[str] = ()
    ) -> None:
        self.parameters = tuple(parameters)
        self.result = result
        self.parameter_names = tuple(parameter_names)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProgramShape)
            and self.parameters == other.parameters
            and self.result == other.result
        )

    def __hash__(self) -> int:
        return hash((self.parameters, self.result))

    def __repr__(self) -> str:
        return f"({', '.join(p.text for p in self.parameters)}) -> {self.result.text}"


def join_marked(parts: Sequence[str]) -> str:
    """Joins with commas and, before each fifth part, the text format's `/*index=N*/` mark."""
    if len(parts) <= 5:
        return ", ".join(parts)
    marked = list(parts)
    for index in range(5, len(parts), 5):
        marked[index] = f"/*index={index}*/{parts[index]}"
    return ", ".join(marked)
