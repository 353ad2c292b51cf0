"""Sizes of dynamic dimensions as results of their own: XLA hands out arrays up to the bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hlotool.errors import EvaluationError
from hlotool.ir.element_type import S32
from hlotool.ir.frame import Array
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.indexing import GetDimensionSize
from hlotool.ops.tuples import GetTupleElement, Tuple

_SIZE = ArrayShape(S32)


def dynamic_dimensions(shape: Shape) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yields tuple index, number among the arrays, and dimension of each dynamic one."""
    arrays = ((index, leaf) for index, leaf in shape.leaves() if isinstance(leaf, ArrayShape))
    for number, (index, leaf) in enumerate(arrays):
        for dimension, is_dynamic in enumerate(leaf.dynamic_flags()):
            if is_dynamic:
                yield index, number, dimension


def with_live_sizes(module: Module) -> Module:
    """Gives the result of a module its live sizes too, if it has dynamic dimensions.

    The module is changed, its header is not: the root becomes the tuple of the old one and
    the sizes.
    """
    entry = module.entry
    root = entry.root
    sizes = [
        _added(GetDimensionSize(dimensions=dimension), _SIZE, [_part(root, index)], f"live.{count}")
        for count, (index, _, dimension) in enumerate(dynamic_dimensions(root.shape))
    ]
    if sizes:
        shape = TupleShape([root.shape, *(size.shape for size in sizes)])
        entry.root = _added(Tuple(), shape, [root, *sizes], "live")
    return module


def _part(root: Instruction, index: Sequence[int]) -> Instruction:
    part = root
    for position in index:
        assert isinstance(part.shape, TupleShape)
        shape = part.shape.elements[position]
        name = f"live.{len(root.parent.instructions) if root.parent else 0}.part"
        part = _added(GetTupleElement(index=position), shape, [part], name)
    return part


def _added(
    op: Tuple | GetTupleElement | GetDimensionSize,
    shape: Shape,
    operands: Sequence[Instruction],
    name: str,
) -> Instruction:
    computation = operands[0].parent
    assert computation is not None
    taken = {instruction.name for instruction in computation.instructions}
    while name in taken:
        name += "_"
    made = Instruction(name, shape, op, tuple(operands))
    made.parent = computation
    computation.instructions.append(made)
    return made


def live_results(values: Sequence[Array], shape: Shape) -> list[Array]:
    """Returns arrays without what lies beyond live sizes; those follow the arrays of `shape`."""
    dynamic = list(dynamic_dimensions(shape))
    if not dynamic:
        return list(values)
    count = len(values) - len(dynamic)
    arrays, sizes = list(values[:count]), values[count:]
    for (_, number, dimension), size in zip(dynamic, sizes, strict=True):
        if number >= count:
            raise EvaluationError(
                f"XLA yields {len(values)} arrays, {shape.plain_text} and sizes are wanted"
            )
        part = [slice(None)] * arrays[number].ndim
        part[dimension] = slice(int(size))
        arrays[number] = arrays[number][tuple(part)]
    return arrays
