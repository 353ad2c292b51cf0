"""Arguments of compiled modules: any values that mean arrays become arrays just as is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hlotool.errors import EvaluationError, counted
from hlotool.evaluation.api import array_argument
from hlotool.evaluation.values import shown
from hlotool.ir.frame import Array
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.runtime.host_arrays import strides_of

_SURE = 3e38
"""A float of Python that is no greater becomes no infinity."""


class ArgumentTypeError(EvaluationError, TypeError):
    """An argument of another type than its parameter, or another number of arguments."""


class ArgumentValueError(EvaluationError, ValueError):
    """An argument of the right type with other dimensions than its parameter."""


class Arguments:
    """The parameters of a module, as they see arguments."""

    def __init__(self, module_name: str, parameters: Sequence[Shape]) -> None:
        self._module_name = module_name
        self._parameters = tuple(parameters)
        self._leaves = [
            _Leaf(_name((number, *index)), number, shape)
            for number, parameter in enumerate(parameters)
            for index, shape in parameter.leaves()
            if isinstance(shape, ArrayShape)
        ]
        self.are_flat = all(isinstance(shape, ArrayShape) for shape in parameters)
        """Whether each parameter is an array."""

    def parts(self, *arguments: Any) -> list[Any]:
        """Returns the parts of arguments that stand for arrays, tuples taken apart."""
        self._check_count(len(arguments), len(self._parameters))
        found: list[Any] = []
        for number, (argument, shape) in enumerate(zip(arguments, self._parameters, strict=True)):
            _take_apart(argument, shape, (number,), found)
        return found

    def arrays(self, *parts: Any) -> tuple[Array, ...]:
        """Returns arrays as compiled code takes them for parts of arguments, in order.

        What lies in memory as is wanted is not copied.
        """
        self._check_count(len(parts), len(self._leaves))
        pairs = zip(parts, self._leaves, strict=True)
        return tuple(leaf.array(part) for part, leaf in pairs)

    def _check_count(self, given: int, wanted: int) -> None:
        if given != wanted:
            takes = counted(wanted, "argument")
            shapes = ", ".join(shape.plain_text for shape in self._parameters)
            raise ArgumentTypeError(
                f"module {self._module_name} takes {takes}, {given} given",
                notes=[f"parameters: {shapes}"] if shapes else [],
            )


def _name(index: Sequence[int]) -> str:
    number, *inside = index
    return f"argument {number}" + (f", part {'.'.join(map(str, inside))}" if inside else "")


def _take_apart(argument: Any, shape: Shape, index: tuple[int, ...], found: list[Any]) -> None:
    if isinstance(shape, ArrayShape):
        found.append(argument)
    elif isinstance(shape, TupleShape):
        _check_parts(argument, shape, index)
        for number, element in enumerate(shape.elements):
            _take_apart(argument[number], element, (*index, number), found)
    elif argument is not None:
        given = type(argument).__name__
        raise ArgumentTypeError(f"{_name(index)} is {given}, None is wanted for a token")


def _check_parts(argument: Any, shape: TupleShape, index: tuple[int, ...]) -> None:
    if not isinstance(argument, (tuple, list)):
        given = type(argument).__name__
        raise ArgumentTypeError(
            f"{_name(index)} is {given}, a tuple of {shape.plain_text} is wanted"
        )
    if len(argument) != len(shape.elements):
        raise ArgumentValueError(
            f"{_name(index)} has {len(argument)} parts, {shape.plain_text} is wanted"
        )


class _Leaf:
    """One array that a module takes, as it sees what is given for it."""

    def __init__(self, name: str, number: int, shape: ArrayShape) -> None:
        self._name = name
        self._number = number
        self._shape = shape
        self._type = shape.element_type.numpy
        self._strides = strides_of(shape)
        self._scalar_kind, self._least, self._greatest = _scalar_bounds(shape)

    def array(self, argument: Any) -> Array:
        """Returns an array just as compiled code takes it; raises for what is none of the shape."""
        if type(argument) is np.ndarray:
            found = argument
        elif isinstance(argument, np.generic):
            found = np.asarray(argument)
        else:
            found = self._converted(argument)
        wanted = self._shape.plain_text
        if found.dtype != self._type:
            if found.dtype.newbyteorder("=") != self._type:
                raise ArgumentTypeError(f"{self._name} is {shown(found)}, {wanted} is wanted")
            found = found.astype(self._type)
        if found.shape != self._shape.dimensions:
            raise ArgumentValueError(f"{self._name} is {shown(found)}, {wanted} is wanted")
        return self._laid_out(found)

    def _converted(self, argument: Any) -> Array:
        if argument is None:
            raise ArgumentTypeError(f"{self._name} is None, {self._shape.plain_text} is wanted")
        if self._is_plain(argument):
            return np.array(argument, self._type)
        if not hasattr(argument, "__array__") and hasattr(argument, "__dlpack__"):
            try:
                return np.from_dlpack(argument)
            except (BufferError, RuntimeError, TypeError, ValueError) as error:
                raise ArgumentTypeError(
                    f"{self._name} is no array of this memory: {error}"
                ) from None
        try:
            return array_argument(argument, self._shape, self._number)
        except EvaluationError as error:
            raise ArgumentTypeError(error.message, notes=error.notes) from None

    def _is_plain(self, argument: Any) -> bool:
        """Whether an argument is a number of Python that the element type surely has."""
        has_type = type(argument) is self._scalar_kind
        return has_type and bool(self._least <= argument <= self._greatest)

    def _laid_out(self, array: Array) -> Array:
        """Returns the same elements in the order that the layout says, as numpy's own type."""
        if self._lies_well(array):
            plain = array.view(np.ndarray)
            # There may be several objects for one type.
            return plain if plain.dtype is self._type else plain.view(self._type)
        order = self._shape.layout.minor_to_major[::-1]
        sizes = [self._shape.dimensions[dimension] for dimension in order]
        made = np.empty(sizes, self._type).transpose(np.argsort(order))
        made[...] = array
        return made

    def _lies_well(self, array: Array) -> bool:
        if not array.flags.aligned:
            return False
        triples = zip(array.shape, array.strides, self._strides, strict=True)
        return array.size == 0 or all(
            size == 1 or stride == wanted for size, stride, wanted in triples
        )


def _scalar_bounds(shape: ArrayShape) -> tuple[type | None, float, float]:
    """Returns which numbers of Python are scalars of a shape at once: their type and bounds."""
    element_type = shape.element_type.numpy
    if not shape.is_scalar:
        return None, 0, 0
    if element_type in (np.float32, np.float64):
        return float, -_SURE, _SURE
    if element_type.kind in "iu":
        bounds = np.iinfo(element_type)
        return int, int(bounds.min), int(bounds.max)
    return (bool, 0, 1) if element_type == np.bool_ else (None, 0, 0)
