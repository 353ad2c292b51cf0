"""Small checks that shape rules of many ops are made of, with one wording of their messages.

Each raises `ShapeError`. `what` is how the message begins: the opcode and the name of what is
looked at, as `transpose: dimensions` or `dot: operand 1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from hlotool.errors import ShapeError
from hlotool.ir.attribute import INTEGERS
from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.shape import (
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    ProgramShape,
    Shape,
    TupleShape,
    same_but_float_width,
)
from hlotool.ir.window import Window, write_window

MOST_ELEMENTS = (1 << 63) - 1
INTEGER_KINDS = frozenset({Kind.SIGNED, Kind.UNSIGNED})
FLOAT_KINDS = frozenset({Kind.FLOAT})
FLOAT_OR_COMPLEX_KINDS = frozenset({Kind.FLOAT, Kind.COMPLEX})


def array(shape: Shape, what: str) -> ArrayShape:
    """Returns `shape`; raises where it is no array."""
    if not isinstance(shape, ArrayShape):
        raise ShapeError(f"{what} is {shape.plain_text}, an array is wanted")
    return shape


def arrays(shapes: Sequence[Shape], opcode: str) -> list[ArrayShape]:
    """Returns the operand shapes of `opcode`; raises where one is no array."""
    return [array(shape, f"{opcode}: operand {number}") for number, shape in enumerate(shapes)]


def scalar(shape: Shape, what: str) -> ArrayShape:
    """Returns `shape`; raises where it is no array of rank 0."""
    found = array(shape, what)
    if not found.is_scalar:
        raise ShapeError(f"{what} is {found.plain_text}, a scalar is wanted")
    return found


def check_kind(shape: ArrayShape, kinds: frozenset[Kind], what: str) -> None:
    """Raises where the element type is of none of `kinds`."""
    if shape.element_type.kind not in kinds:
        wanted = ", ".join(kind.value for kind in Kind if kind in kinds)
        raise ShapeError(f"{what} is {shape.plain_text}, elements wanted: {wanted}")


def check_dimension(dimension: int, rank: int, what: str) -> None:
    """Raises where one dimension number is out of range."""
    if not 0 <= dimension < rank:
        raise ShapeError(f"{what} {dimension} is out of range for rank {rank}")


def check_dimensions(
    dimensions: Sequence[int], rank: int, what: str, *, increasing: bool = False
) -> None:
    """Raises where dimension numbers are out of range, repeated, or not `increasing`."""
    shown = INTEGERS.write(tuple(dimensions))
    for dimension in dimensions:
        if not 0 <= dimension < rank:
            raise ShapeError(f"{what} {shown}: {dimension} is out of range for rank {rank}")
    if len(set(dimensions)) != len(dimensions):
        raise ShapeError(f"{what} {shown} are not distinct")
    if increasing and list(dimensions) != sorted(dimensions):
        raise ShapeError(f"{what} {shown} are not in increasing order")


def physical_order(shape: ArrayShape, what: str) -> tuple[int, ...]:
    """Returns the dimensions from minor to major; raises where the layout does not list each."""
    order = shape.layout.minor_to_major
    if sorted(order) != list(range(shape.rank)):
        raise ShapeError(
            f"{what} has layout {shape.layout.text}, an order of {shape.rank} dimensions is wanted"
        )
    return order


def check_length(values: Sequence[object], wanted: int, what: str) -> None:
    """Raises where a list has another number of entries than `wanted`."""
    if len(values) != wanted:
        raise ShapeError(f"{what}: {len(values)} given, {wanted} wanted")


def same_size(one: int, other: int) -> bool:
    """Whether two dimension sizes may be equal; an unbounded one may have any size."""
    return one == other or UNBOUNDED in {one, other}


def same_sizes(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two lists of dimension sizes may be equal."""
    return len(one) == len(other) and all(map(same_size, one, other))


def check_same_dimensions(shapes: Sequence[ArrayShape], opcode: str) -> None:
    """Raises where the operands of `opcode` do not all have the dimensions of the first."""
    for shape in shapes:
        if not same_sizes(shape.dimensions, shapes[0].dimensions):
            raise ShapeError(
                f"{opcode}: operands {shapes[0].plain_text} and {shape.plain_text}"
                " differ in dimensions"
            )


def same_type_but_float_width(one: ElementType, other: ElementType) -> bool:
    """Whether two element types are equal or both floats."""
    return one is other or (one.is_float and other.is_float)


def wider(one: ElementType, other: ElementType) -> ElementType:
    """Returns the type that holds more: complex before float before integer, range first."""
    return max(one, other, key=_capacity)


def _capacity(element_type: ElementType) -> tuple[int, ...]:
    component = element_type.component
    form = component.float_format
    if form is None:
        return (0, -1, -1, component.bits, int(component.is_signed))
    has_reserved_exponent = form.has_infinity or not form.mantissa_bits
    largest = (1 << form.exponent_bits) - 1 - form.bias - int(has_reserved_exponent)
    return (int(element_type.is_complex), largest, form.mantissa_bits, component.bits, 1)


def common_element_type(shapes: Sequence[ArrayShape], opcode: str) -> ElementType:
    """Returns the one element type of all operands, of floats the widest; raises for others."""
    first = shapes[0].element_type
    for shape in shapes:
        if not same_type_but_float_width(shape.element_type, first):
            raise ShapeError(
                f"{opcode}: operands {shapes[0].plain_text} and {shape.plain_text}"
                " differ in element type"
            )
    return reduce(wider, (shape.element_type for shape in shapes))


def check_signature(
    call: ProgramShape, parameters: Sequence[Shape], result: Shape | None, what: str
) -> None:
    """Raises where a called computation takes or yields something else, float width apart.

    `result` is `None` where any will do. `what` is opcode and role, as `reduce: to_apply`.
    """
    if len(call.parameters) != len(parameters):
        raise ShapeError(
            f"{what} takes {len(call.parameters)} parameters, {len(parameters)} are wanted"
        )
    for number, (found, wanted) in enumerate(zip(call.parameters, parameters, strict=True)):
        if not same_but_float_width(found, wanted):
            raise ShapeError(
                f"{what}: parameter {number} is {found.plain_text}, {wanted.plain_text} is wanted"
            )
    if result is not None and not same_but_float_width(call.result, result):
        raise ShapeError(f"{what} yields {call.result.plain_text}, {result.plain_text} is wanted")


def any_dynamic(shapes: Iterable[ArrayShape]) -> tuple[bool, ...]:
    """Returns a flag a dimension: whether it is dynamic in any of the shapes of one rank."""
    return tuple(any(flags) for flags in zip(*(s.dynamic_flags() for s in shapes), strict=True))


def merged_dimensions(
    shapes: Sequence[ArrayShape], opcode: str
) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Returns the sizes and dynamic flags that all shapes share; raises where they differ.

    An unbounded dimension gives way to one of known size; one is dynamic where any is.
    """
    check_same_dimensions(shapes, opcode)
    columns = zip(*(zip(s.dimensions, s.dynamic_flags(), strict=True) for s in shapes), strict=True)
    merged = [_merged(column) for column in columns]
    return tuple(size for size, _ in merged), tuple(flag for _, flag in merged)


def _merged(column: Sequence[tuple[int, bool]]) -> tuple[int, bool]:
    known = [pair for pair in column if pair[0] != UNBOUNDED] or column
    return known[0][0], any(flag for _, flag in known)


def scalar_of(shape: ArrayShape) -> ArrayShape:
    """Returns the scalar shape with the element type of `shape`."""
    return ArrayShape(shape.element_type)


def one_or_tuple(shapes: Sequence[Shape]) -> Shape:
    """Returns the only one of `shapes`, or the tuple of several."""
    return shapes[0] if len(shapes) == 1 else TupleShape(shapes)


def check_same(found: Shape, wanted: Shape, what: str) -> None:
    """Raises where a shape is not the one that is wanted; layouts are ignored."""
    if not found.compatible(wanted):
        raise ShapeError(f"{what} is {found.plain_text}, {wanted.plain_text} is wanted")


def check_exact_signature(
    call: ProgramShape, parameters: Sequence[Shape], result: Shape | None, what: str
) -> None:
    """Raises as `check_signature`, and for floats of another width too."""
    check_signature(call, parameters, result, what)
    for number, (found, wanted) in enumerate(zip(call.parameters, parameters, strict=True)):
        check_same(found, wanted, f"{what}: parameter {number}")
    if result is not None:
        check_same(call.result, result, f"{what}: the result")


def check_operand_aliasing(
    aliasing: Sequence[tuple[tuple[int, ...], int, tuple[int, ...]]],
    operands: Sequence[Shape],
    result: Shape,
    opcode: str,
) -> None:
    """Raises where an output is to take the buffer of an operand that is of another shape."""
    what = f"{opcode}: output_to_operand_aliasing"
    for output_index, number, operand_index in aliasing:
        if not 0 <= number < len(operands):
            raise ShapeError(f"{what} names operand {number}, there are {len(operands)}")
        output = result.subshape(output_index)
        operand = operands[number].subshape(operand_index)
        if output is None or operand is None:
            side = "output" if output is None else f"operand {number}"
            index = output_index if output is None else operand_index
            raise ShapeError(f"{what}: {side} has no index {INTEGERS.write(index)}")
        check_same(output, operand, f"{what}: output {INTEGERS.write(output_index)}")


def check_window(window: Window, rank: int, what: str) -> None:
    """Raises where a window has another rank, or a size, stride or dilation below 1."""
    if len(window) != rank:
        raise ShapeError(f"{what} has {len(window)} dimensions, {rank} are wanted")
    for number, dimension in enumerate(window):
        if min(dimension.size, dimension.stride, dimension.base_dilation,
               dimension.window_dilation) < 1:  # fmt: skip
            raise ShapeError(
                f"{what} {write_window(window)}: size, stride and dilations"
                f" of dimension {number} must be at least 1"
            )


def windowed_sizes(sizes: Sequence[int], window: Window) -> tuple[int, ...]:
    """Returns how many windows fit along each dimension; unbounded sizes stay so."""
    return tuple(
        UNBOUNDED if size == UNBOUNDED else dimension.output_size(size)
        for size, dimension in zip(sizes, window, strict=True)
    )


def is_sum_of_products(declared: Shape, inferred: Shape) -> bool:
    """Whether sums of products whose type is inferred may be declared in another type.

    Floats may have any width; integers may add up in a type that is no narrower, or a float.
    """
    if not (isinstance(declared, ArrayShape) and isinstance(inferred, ArrayShape)):
        return False
    if not same_sizes(declared.dimensions, inferred.dimensions):
        return False
    chosen, own = declared.element_type, inferred.element_type
    if own.is_float:
        return chosen.is_float or chosen.is_complex
    if own.is_complex:
        return chosen.is_complex and chosen.bits >= own.bits
    return chosen.bits >= own.bits


def check_layouts(shape: Shape, what: str) -> None:
    """Raises where a layout does not name each dimension once, or elements cannot be counted."""
    for _, leaf in shape.leaves():
        part = leaf.array if isinstance(leaf, BufferShape) else leaf
        if not isinstance(part, ArrayShape):
            continue
        order = part.layout.minor_to_major
        if sorted(order) != list(range(part.rank)):
            raise ShapeError(
                f"{what}: layout {INTEGERS.write(order)} does not order"
                f" the dimensions of {part.plain_text}"
            )
        if part.element_count > MOST_ELEMENTS:
            raise ShapeError(f"{what}: {part.plain_text} has more elements than 64 bits can count")


def unchanged_dimensions(
    operand: ArrayShape, result: ArrayShape, ours: Sequence[int], theirs: Sequence[int]
) -> tuple[int | None, ...]:
    """Returns for each dimension of the operand the one of the result that is it, if there is one.

    The elements are the same in the order that `ours` and `theirs` give to dimensions.
    """
    found: list[int | None] = [None] * operand.rank
    mine = [d for d in ours if operand.dimensions[d] != 1]
    other = [d for d in theirs if result.dimensions[d] != 1]
    one = two = 1
    while mine and other:
        # Products are equal where a group of dimensions ends in both.
        if one == two and operand.dimensions[mine[0]] == result.dimensions[other[0]]:
            found[mine.pop(0)] = other.pop(0)
        elif one <= two:
            one *= operand.dimensions[mine.pop(0)]
        else:
            two *= result.dimensions[other.pop(0)]
    return tuple(found)


def whole_dimensions(taken: Sequence[int], sizes: Sequence[int]) -> tuple[int | None, ...]:
    """Returns the numbers of the dimensions of which all is taken, `None` for the others."""
    pairs = zip(taken, sizes, strict=True)
    return tuple(d if one == size else None for d, (one, size) in enumerate(pairs))
