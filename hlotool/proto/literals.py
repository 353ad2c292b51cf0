"""Literals as messages: a field for each element type, elements in the order of memory."""

from __future__ import annotations

import sys
from array import array

from hlotool.errors import ParseError, UnsupportedError
from hlotool.ir.element_type import ElementType
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape, Layout, TupleShape
from hlotool.proto.schema import Proto
from hlotool.proto.shapes import read_shape, write_shape

_NUMBER_CODES = {
    "s32": "i", "s64": "q", "u32": "I", "u64": "Q",
    "f32": "I", "c64": "I", "f64": "Q", "c128": "Q",
}  # fmt: skip
"""Types with a number for each element, complex ones two; all others have bytes."""


def read_literal(proto: Proto, *, tokens: bool = False) -> Literal:
    """Returns the value of a `LiteralProto`; one without elements is one that was left out.

    Arguments and results of a run may be `tokens`, which have no value.
    """
    shape = read_shape(proto.shape)
    if tokens and shape.is_token:
        return Literal.elision(shape)
    if isinstance(shape, TupleShape):
        elements = [read_literal(element, tokens=tokens) for element in proto.tuple_literals]
        if len(elements) != len(shape.elements):
            raise ParseError(f"a literal of {shape} has {len(elements)} elements")
        return Literal.of_elements(elements)
    if not isinstance(shape, ArrayShape):
        raise ParseError(f"a literal cannot be {shape}")
    if not shape.is_static or proto.dynamic_sizes:
        raise UnsupportedError(f"a literal needs a static shape, not {shape}")
    return _read_array(proto, shape)


def _read_array(proto: Proto, shape: ArrayShape) -> Literal:
    field = _field(shape.element_type)
    others = [other.name for other, _ in proto.ListFields() if other.name not in (field, "shape")]
    if others:
        raise ParseError(f"a literal of {shape} has {others[0]}")
    data = _read_elements(getattr(proto, field), shape.element_type)
    wanted = shape.element_count * shape.element_type.storage_bytes
    if not data and wanted:
        return Literal.elision(shape)
    if len(data) != wanted:
        raise ParseError(f"a literal of {shape} takes {wanted} bytes, {len(data)} are given")
    return Literal(shape, _reordered(data, shape, to_logical=True))


def write_literal(proto: Proto, literal: Literal) -> None:
    """Fills an empty `LiteralProto`; of a value that the text leaves out only the shape."""
    write_shape(proto.shape, literal.shape)
    if literal.elided:
        return
    for element in literal.elements:
        write_literal(proto.tuple_literals.add(), element)
    if isinstance(literal.shape, ArrayShape):
        data = _reordered(literal.data, literal.shape, to_logical=False)
        _write_elements(proto, data, literal.shape.element_type)


def _field(element_type: ElementType) -> str:
    return f"{element_type.name}s"


def _read_elements(values: Proto, element_type: ElementType) -> bytes:
    code = _NUMBER_CODES.get(element_type.name)
    if code is not None:
        numbers = array(code, values)
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers.tobytes()
    return bytes(values)


def _write_elements(proto: Proto, data: bytes, element_type: ElementType) -> None:
    field = _field(element_type)
    code = _NUMBER_CODES.get(element_type.name)
    if code is not None:
        numbers = array(code, data)
        if sys.byteorder == "big":
            numbers.byteswap()
        getattr(proto, field).extend(numbers)
    elif element_type.name == "pred":
        proto.preds.extend(map(bool, data))
    else:
        setattr(proto, field, data)


def _reordered(data: bytes, shape: ArrayShape, *, to_logical: bool) -> bytes:
    order = shape.layout.minor_to_major
    if order == Layout.default(shape.rank).minor_to_major:
        return data
    if sorted(order) != list(range(shape.rank)):
        raise ParseError(f"the layout of {shape} does not order its dimensions")
    import numpy as np

    major_to_minor = order[::-1]
    elements = np.frombuffer(data, f"V{shape.element_type.storage_bytes}")
    if to_logical:
        lying = elements.reshape([shape.dimensions[dimension] for dimension in major_to_minor])
        return lying.transpose(np.argsort(major_to_minor)).tobytes()
    return elements.reshape(shape.dimensions).transpose(major_to_minor).tobytes()
