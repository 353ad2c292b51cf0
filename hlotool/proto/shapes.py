"""Shapes and layouts as messages."""

from __future__ import annotations

from hlotool.errors import ParseError
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.shape import (
    OPAQUE,
    TOKEN,
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    Layout,
    ProgramShape,
    Shape,
    TupleShape,
)
from hlotool.proto.schema import LOWEST, Proto, enumeration

PRIMITIVE_TYPES = enumeration("PrimitiveType")
_NUMBERS = {
    element_type: PRIMITIVE_TYPES[name.upper()] for name, element_type in ELEMENT_TYPES.items()
}
_ELEMENT_TYPES = {number: element_type for element_type, number in _NUMBERS.items()}
_TUPLE = PRIMITIVE_TYPES["TUPLE"]
_TOKEN = PRIMITIVE_TYPES["TOKEN"]
_OPAQUE = PRIMITIVE_TYPES["OPAQUE_TYPE"]
_BUFFER = PRIMITIVE_TYPES["BUFFER"]


def read_shape(proto: Proto) -> Shape:
    """Returns the shape of a `ShapeProto`; raises `ParseError` where there is none."""
    kind = proto.element_type
    if kind == _TUPLE:
        return TupleShape([read_shape(element) for element in proto.tuple_shapes])
    if kind in (_TOKEN, _OPAQUE):
        return TOKEN if kind == _TOKEN else OPAQUE
    if kind == _BUFFER:
        inside = [read_shape(element) for element in proto.tuple_shapes]
        if len(inside) != 1 or not isinstance(inside[0], ArrayShape):
            raise ParseError("a buffer holds one array")
        return BufferShape(inside[0])
    return _read_array(proto)


def _read_array(proto: Proto) -> ArrayShape:
    element_type = _element_type(proto.element_type)
    dynamic = tuple(proto.is_dynamic_dimension)
    sizes = tuple(proto.dimensions)
    if dynamic and len(dynamic) != len(sizes):
        raise ParseError(
            f"a shape has {len(sizes)} dimensions and {len(dynamic)} flags for dynamic ones"
        )
    unbounded = [size == LOWEST for size in sizes]
    if any(unbounded):
        flags = dynamic or (False,) * len(sizes)
        dynamic = tuple(flag or open_ for flag, open_ in zip(flags, unbounded, strict=True))
        sizes = tuple(UNBOUNDED if size == LOWEST else size for size in sizes)
    for size, open_ in zip(sizes, unbounded, strict=True):
        if size < 0 and not open_:
            raise ParseError(f"a dimension has size {size}")
    layout = _read_layout(proto.layout, len(sizes)) if proto.HasField("layout") else None
    return ArrayShape(element_type, sizes, layout, dynamic)


def _element_type(number: int) -> ElementType:
    found = _ELEMENT_TYPES.get(number)
    if found is None:
        raise ParseError(f"unknown element type {number}")
    return found


def _read_layout(proto: Proto, rank: int) -> Layout:
    order = tuple(proto.minor_to_major)
    if sorted(order) != list(range(rank)):
        raise ParseError(f"layout {{{','.join(map(str, order))}}} does not order {rank} dimensions")
    if proto.HasField("physical_shape"):
        raise ParseError("a physical shape is for sparse arrays only")
    return Layout(
        order,
        [tuple(_tile_size(size) for size in tile.dimensions) for tile in proto.tiles],
        # Files that are older than the field have 0.
        tail_padding_alignment_in_elements=_size(proto, "tail_padding_alignment_in_elements") or 1,
        index_type=_index_type(proto.index_primitive_type),
        pointer_type=_index_type(proto.pointer_primitive_type),
        element_size_bits=_size(proto, "element_size_in_bits"),
        memory_space=_size(proto, "memory_space"),
        split_configs=[_split(split) for split in proto.split_configs],
        dynamic_shape_metadata_prefix_bytes=_size(proto, "dynamic_shape_metadata_prefix_bytes"),
    )


def _size(proto: Proto, field: str) -> int:
    size: int = getattr(proto, field)
    if size < 0:
        raise ParseError(f"layout: {field} is {size}")
    return size


def _tile_size(size: int) -> int | None:
    if size < 0 and size != LOWEST:
        raise ParseError(f"layout: a tile has size {size}")
    return None if size == LOWEST else size


def _split(proto: Proto) -> tuple[int, tuple[int, ...]]:
    if not proto.split_indices:
        raise ParseError(f"layout: dimension {proto.dimension} is split nowhere")
    return proto.dimension, tuple(proto.split_indices)


def _index_type(number: int) -> ElementType | None:
    found = _element_type(number) if number else None
    if found is not None and not found.is_integer:
        raise ParseError(f"layout: indices of type {found.name}, an integer type is wanted")
    return found


def write_shape(proto: Proto, shape: Shape) -> None:
    """Fills an empty `ShapeProto`."""
    if isinstance(shape, ArrayShape):
        _write_array(proto, shape)
    elif isinstance(shape, TupleShape):
        proto.element_type = _TUPLE
        for element in shape.elements:
            write_shape(proto.tuple_shapes.add(), element)
    elif isinstance(shape, BufferShape):
        proto.element_type = _BUFFER
        _write_array(proto.tuple_shapes.add(), shape.array)
    else:
        proto.element_type = _TOKEN if shape.is_token else _OPAQUE


def _write_array(proto: Proto, shape: ArrayShape) -> None:
    proto.element_type = _NUMBERS[shape.element_type]
    proto.dimensions.extend(LOWEST if size == UNBOUNDED else size for size in shape.dimensions)
    proto.is_dynamic_dimension.extend(shape.dynamic_flags())
    layout = shape.layout
    to = proto.layout
    to.minor_to_major.extend(layout.minor_to_major)
    to.tail_padding_alignment_in_elements = layout.tail_padding_alignment_in_elements
    if not layout.has_tail:
        return
    for tile in layout.tiles:
        to.tiles.add().dimensions.extend(LOWEST if size is None else size for size in tile)
    if layout.index_type is not None:
        to.index_primitive_type = _NUMBERS[layout.index_type]
    if layout.pointer_type is not None:
        to.pointer_primitive_type = _NUMBERS[layout.pointer_type]
    to.element_size_in_bits = layout.element_size_bits
    to.memory_space = layout.memory_space
    for dimension, indices in layout.split_configs:
        to.split_configs.add(dimension=dimension, split_indices=indices)
    to.dynamic_shape_metadata_prefix_bytes = layout.dynamic_shape_metadata_prefix_bytes


def read_program_shape(proto: Proto) -> ProgramShape:
    """Returns parameter shapes, result and parameter names."""
    return ProgramShape(
        [read_shape(parameter) for parameter in proto.parameters],
        read_shape(proto.result),
        proto.parameter_names,
    )


def write_program_shape(proto: Proto, shape: ProgramShape) -> None:
    """Fills an empty `ProgramShapeProto`."""
    for parameter in shape.parameters:
        write_shape(proto.parameters.add(), parameter)
    write_shape(proto.result, shape.result)
    proto.parameter_names.extend(shape.parameter_names)
