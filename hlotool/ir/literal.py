"""Constant values: arrays and tuples of arrays, held as bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from hlotool.ir.element_type import ELEMENT_TYPES, ElementType, Kind
from hlotool.ir.float_format import decode
from hlotool.ir.literal_text import integers, literal_text, typed_literal_text
from hlotool.ir.record import AttributeKind
from hlotool.ir.shape import ArrayShape, Shape, TupleShape

if TYPE_CHECKING:
    import numpy

Value = bool | int | float | complex
"""One element as Python holds it."""

_FLOAT_CODES = {"f16": "e", "f32": "f", "f64": "d"}
_PRED_BYTES = bytes([0] + [1] * 255)


class Literal:
    """An immutable value of an array or tuple shape; equal when shape and bytes are.

    `data` holds an array's elements in row-major order of the logical indices whatever the
    layout of the shape, little-endian, `element_type.storage_bytes` bytes each. Types narrower
    than a byte lie in its low bits and the others are 0, pred is 0 or 1, complex is real part
    and imaginary part. A tuple has `elements` and no data. `elided` is the value the text
    leaves out as `{...}`: it has neither.
    """

    __slots__ = ("data", "elements", "elided", "shape")

    shape: Shape
    data: bytes
    elements: tuple[Literal, ...]
    elided: bool

    def __init__(self, shape: ArrayShape, data: bytes) -> None:
        if not shape.is_static:
            raise ValueError(f"a literal needs a static shape, not {shape}")
        wanted = shape.element_count * shape.element_type.storage_bytes
        if len(data) != wanted:
            raise ValueError(f"{shape} takes {wanted} bytes, {len(data)} given")
        self.shape = shape
        self.data = _canonical(shape.element_type, data)
        self.elements = ()
        self.elided = False

    @classmethod
    def of_elements(cls, elements: Sequence[Literal]) -> Literal:
        """Returns the tuple of `elements`."""
        made = cls.elision(TupleShape([element.shape for element in elements]))
        made.elements = tuple(elements)
        made.elided = False
        return made

    @classmethod
    def elision(cls, shape: Shape) -> Literal:
        """Returns the literal of `shape` whose value is not known."""
        made = cls.__new__(cls)
        made.shape = shape
        made.data = b""
        made.elements = ()
        made.elided = True
        return made

    @classmethod
    def from_array(cls, array: Any, shape: ArrayShape | ElementType | None = None) -> Literal:
        """Returns the literal of a numpy array, or of what numpy makes an array of.

        Values are converted as numpy does where an element type is given. Raises `ValueError`
        for dimensions that are not the shape's and for a numpy type that is no element type.
        """
        import numpy as np

        found = np.asarray(array)
        wanted = shape.element_type if isinstance(shape, ArrayShape) else shape
        if wanted is None:
            wanted = _element_type_of(found.dtype)
        found = found.astype(wanted.numpy)
        if not isinstance(shape, ArrayShape):
            shape = ArrayShape(wanted, found.shape)
        if found.shape != shape.dimensions:
            sizes = ",".join(map(str, found.shape))
            raise ValueError(f"the dimensions of {shape} expected, an array of [{sizes}] given")
        little = found.dtype.newbyteorder("<")
        return cls(shape, found.astype(little, copy=False).tobytes())

    @property
    def element_type(self) -> ElementType:
        """The element type of an array; raises `ValueError` for a tuple."""
        return self._array_shape().element_type

    def array(self) -> numpy.ndarray[Any, Any]:
        """Returns the value as a numpy array that cannot be written to."""
        import numpy as np

        shape = self._known_array_shape()
        element_type = shape.element_type
        flat = np.frombuffer(self.data, element_type.numpy)
        unused = 8 - element_type.bits
        if unused > 0 and flat.dtype == np.int8:
            flat = flat << unused >> unused
            flat.flags.writeable = False
        return flat.reshape(shape.dimensions)

    def scalar(self) -> Value:
        """Returns the value of an array of one element."""
        shape = self._known_array_shape()
        if shape.element_count != 1:
            raise ValueError(f"one element expected, {shape} has {shape.element_count}")
        return next(iter(self))

    def __iter__(self) -> Iterator[Value]:
        """Yields the elements of an array, row-major, as Python values."""
        element_type = self._known_array_shape().element_type
        if element_type.is_complex:
            parts = _floats(element_type.component, self.data)
            return map(complex, parts, parts)
        if element_type.is_float:
            return _floats(element_type, self.data)
        values = integers(element_type, self.data)
        return map(bool, values) if element_type.kind is Kind.PRED else iter(values)

    def is_all(self, value: int) -> bool:
        """Whether this is an array whose every element equals `value`; also when it is empty."""
        return not self.elided and self.shape.is_array and all(item == value for item in self)

    @property
    def has_elision(self) -> bool:
        """Whether the text leaves out the value, or that of any part of a tuple."""
        return self.elided or any(element.has_elision for element in self.elements)

    def with_shape(self, shape: Shape) -> Literal:
        """Returns the same value with another layout; raises `ValueError` for other shapes."""
        if shape == self.shape:
            return self
        if not shape.compatible(self.shape):
            raise ValueError(f"a literal of {self.shape} given, {shape} expected")
        if self.elided:
            return Literal.elision(shape)
        if isinstance(shape, TupleShape):
            pairs = zip(self.elements, shape.elements, strict=True)
            return Literal.of_elements([element.with_shape(inner) for element, inner in pairs])
        return Literal(cast("ArrayShape", shape), self.data)

    def _array_shape(self) -> ArrayShape:
        if isinstance(self.shape, ArrayShape):
            return self.shape
        raise ValueError(f"a literal of an array expected, {self.shape} given")

    def _known_array_shape(self) -> ArrayShape:
        if self.elided:
            raise ValueError("the value of the literal is elided as {...} in the text")
        return self._array_shape()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Literal)
            and self.shape == other.shape
            and self.elided is other.elided
            and self.data == other.data
            and self.elements == other.elements
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.data, self.elements, self.elided))

    def __repr__(self) -> str:
        return f"Literal({self.shape} {literal_text(self, print_large=False)})"


def _canonical(element_type: ElementType, data: bytes) -> bytes:
    """Returns the bytes that are the same for equal values: unused bits 0, pred 0 or 1."""
    if element_type.kind is Kind.PRED:
        return data.translate(_PRED_BYTES)
    if element_type.bits >= 8:
        return data
    mask = (1 << element_type.bits) - 1
    return data.translate(bytes(byte & mask for byte in range(256)))


def _floats(element_type: ElementType, data: bytes) -> Iterator[float]:
    code = _FLOAT_CODES.get(element_type.name)
    if code is not None:
        return iter(struct.unpack(f"<{len(data) // element_type.storage_bytes}{code}", data))
    float_format = element_type.float_format
    if float_format is None:
        raise ValueError(f"a type of floating-point numbers expected, {element_type} given")
    unsigned = "B" if element_type.storage_bytes == 1 else "H"
    return (decode(bits, float_format) for (bits,) in struct.iter_unpack("<" + unsigned, data))


def _element_type_of(numpy_type: numpy.dtype[Any]) -> ElementType:
    native = numpy_type.newbyteorder("=")
    for element_type in ELEMENT_TYPES.values():
        # The one-bit types may share a numpy type with s8 and u8.
        if element_type.bits > 1 and element_type.numpy == native:
            return element_type
    raise ValueError(f"the numpy type {numpy_type} is no element type")


LITERAL = AttributeKind[Literal](
    "literal", "a literal", write=lambda literal: literal_text(literal, print_large=True)
)
LITERAL_WITH_SHAPE = AttributeKind[Literal](
    "typed_literal", "a shape and a literal", write=typed_literal_text
)
