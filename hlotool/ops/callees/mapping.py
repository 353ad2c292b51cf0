"""Calling computations of scalars on the elements of arrays."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.computation import Computation
from hlotool.ir.frame import Array, Callee, Device, Frame, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.control_flow import Call, Fusion, OptBarrier
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.source import Constant
from hlotool.ops.tuple_values import parts
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy

_OF_SCALARS = (Elementwise, Copy, OptBarrier, Constant, Call, Fusion, Bitcast)
"""Ops that, where they yield a scalar of scalars, do the same for each element of arrays."""
_OF_TUPLES = (Tuple, GetTupleElement, OptBarrier, Call, Fusion)


class Vectorized:
    """A computation of scalars, ready to be called with arrays of one size in their place.

    What does not depend on an array comes as a scalar.
    """

    def __init__(self, computation: Computation, device: Device) -> None:
        self.computation = computation
        self.device = device
        self._frames = [
            (instruction, Frame(instruction, self._called(instruction), device))
            for instruction in computation.instructions
        ]

    def __call__(self, *arguments: Value) -> Value:
        """Returns the value of the root: an array, or a tuple of them."""
        return self.values(arguments)[self.computation.root]

    def values(self, arguments: Sequence[Value]) -> dict[Instruction, Value]:
        """Returns the value of every instruction."""
        values: dict[Instruction, Value] = {}
        for instruction, frame in self._frames:
            number = instruction.op.parameter_number
            if number is None:
                operands = [values[operand] for operand in instruction.operands]
                value = instruction.op.evaluate(operands, frame)
            else:
                value = arguments[number]
            values[instruction] = _typed(value, frame.shape)
        return values

    def _called(self, instruction: Instruction) -> list[Callee]:
        return [Vectorized(computation, self.device) for computation in instruction.calls]


def vectorized(callee: Callee) -> Vectorized | None:
    """Returns a computation of scalars for whole arrays; `None` where its ops are not all able."""
    computation = callee.computation
    return Vectorized(computation, callee.device) if _is_able(computation, set()) else None


class Mapped:
    """A computation of scalars as a function of arrays: it is called for each index.

    Arrays have one size, scalars stand for arrays of equal elements. `is_whole` says that the
    arrays are computed as a whole, not one element at a time.
    """

    def __init__(self, callee: Callee) -> None:
        self._callee = callee
        self._whole = vectorized(callee)
        self._results = _array_shapes(callee.computation.root.shape)

    @property
    def is_whole(self) -> bool:
        """Whether all elements are computed at once."""
        return self._whole is not None

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        """Returns an array for each scalar that the computation yields."""
        given = as_parameters(self._callee, arrays)
        sizes = np.broadcast_shapes(*(array.shape for array in given))
        if self._whole is not None:
            return [np.broadcast_to(part, sizes) for part in parts(self._whole(*given))]
        spread = [np.broadcast_to(array, sizes) for array in given]
        results = [np.zeros(sizes, shape.element_type.numpy) for shape in self._results]
        for index in np.ndindex(sizes):
            yielded = self._callee(*(np.asarray(array[index]) for array in spread))
            for result, value in zip(results, parts(yielded), strict=True):
                result[index] = value
        return results


def as_parameters(callee: Callee, arguments: Sequence[Value]) -> list[Value]:
    """Returns arguments as a computation declares its parameters, where float widths differ."""
    return [
        _typed(argument, parameter.shape)
        for argument, parameter in zip(arguments, callee.computation.parameters, strict=True)
    ]


def _typed(value: Value, shape: Shape) -> Value:
    if not isinstance(shape, ArrayShape):
        return value
    return np.asarray(value).astype(shape.element_type.numpy, copy=False)


def _array_shapes(shape: Shape) -> list[ArrayShape]:
    elements = shape.elements if isinstance(shape, TupleShape) else (shape,)
    return [element for element in elements if isinstance(element, ArrayShape)]


def _is_able(computation: Computation, seen: set[Computation]) -> bool:
    """Whether all ops of a computation do for arrays what they do for scalars."""
    if computation in seen:
        return True
    seen.add(computation)
    return all(
        instruction.op.parameter_number is not None or _is_able_op(instruction)
        for instruction in computation.instructions
    ) and all(
        _is_able(callee, seen)
        for instruction in computation.instructions
        for callee in instruction.calls
    )


def _is_able_op(instruction: Instruction) -> bool:
    shape = instruction.shape
    if isinstance(shape, TupleShape):
        return isinstance(instruction.op, _OF_TUPLES)
    is_scalar = isinstance(shape, ArrayShape) and shape.is_scalar
    return is_scalar and isinstance(instruction.op, (*_OF_SCALARS, GetTupleElement))
