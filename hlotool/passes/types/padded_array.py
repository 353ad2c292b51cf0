"""Arrays with dynamic dimensions as arrays of their bounds, with live sizes beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import And, Compare
from hlotool.ops.indexing import SetDimensionSize
from hlotool.rewriting.builder import Builder, array_shape

Sizes = tuple[Instruction | None, ...]
"""For each dimension the number of live elements, an `s32[]`; `None` where it is static."""


@dataclass(frozen=True)
class PaddedArray:
    """An array of static shape of which only the first elements of some dimensions are live."""

    array: Instruction
    sizes: Sizes

    @staticmethod
    def whole(array: Instruction) -> PaddedArray:
        """Returns an array all of which is live."""
        return PaddedArray(array, (None,) * array_shape(array).rank)

    @property
    def shape(self) -> ArrayShape:
        """The static shape."""
        return array_shape(self.array)

    @property
    def parts(self) -> list[Instruction]:
        """The array and its live sizes."""
        return [self.array, *(size for size in self.sizes if size is not None)]

    @property
    def dynamic_dimensions(self) -> list[int]:
        """The dimensions with live sizes."""
        return [number for number, size in enumerate(self.sizes) if size is not None]

    def filled(
        self,
        dimensions: Iterable[int],
        value: Callable[[], Instruction],
        builder: Builder,
    ) -> Instruction:
        """Returns the array with a scalar in place of what is not live along some dimensions."""
        mask: Instruction | None = None
        for dimension in dimensions:
            size = self.sizes[dimension]
            if size is None:
                continue
            live = is_below(self.shape, dimension, size, builder)
            mask = live if mask is None else builder.add(And(), mask, live)
        if mask is None:
            return self.array
        filling = builder.broadcast(value(), (), self.shape)
        return builder.select(mask, self.array, filling)

    def dynamic(self, builder: Builder) -> Instruction:
        """Returns the array with dynamic dimensions, which only has the live elements."""
        found = self.array
        for dimension in self.dynamic_dimensions:
            size = self.sizes[dimension]
            assert size is not None
            found = builder.add(SetDimensionSize(dimension), found, size)
        return found


def is_below(shape: ArrayShape, dimension: int, size: Instruction, builder: Builder) -> Instruction:
    """Returns a flag for each element: whether its index along a dimension is below a size."""
    numbers = ArrayShape(S32, shape.dimensions, shape.layout)
    index = builder.iota(dimension, numbers)
    return builder.add(Compare("LT"), index, builder.broadcast(size, (), numbers))


def static(shape: ArrayShape) -> ArrayShape:
    """Returns the shape with its bounds as sizes."""
    return ArrayShape(shape.element_type, shape.dimensions, shape.layout)


def first_sizes(arrays: Sequence[PaddedArray]) -> Sizes:
    """Returns for each dimension the first live size that arrays of one rank have."""
    columns = zip(*(one.sizes for one in arrays), strict=True)
    return tuple(next((size for size in column if size is not None), None) for column in columns)
