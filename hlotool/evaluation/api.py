"""The evaluator as Python calls it: module and arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError, VerificationErrors
from hlotool.evaluation.interpreter.devices import MOST_ITERATIONS, LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module, evaluate_on_devices
from hlotool.evaluation.sharded import sharded_arguments
from hlotool.evaluation.values import shown
from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.frame import Array, Value
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.proto.given import given_module, is_given
from hlotool.text.parser import parse


def evaluate(
    module: Module | str | bytes, *arguments: Any, seed: int = 0, max_steps: int = MOST_ITERATIONS
) -> Any:
    """Returns what a module yields: arrays, in tuples as it says.

    The module may also be its text, a serialized proto, or a computation of jaxlib.

    A module whose header names several replicas or partitions runs on as many devices, all with
    the same arguments, or each with its tile of a whole array where a parameter has a sharding;
    the result is a list with what each device yields.

    There is one argument a parameter of the entry: an array of the parameter's type (what has
    a numpy array, as those of JAX and PyTorch, is one), Python numbers or lists of them, which
    are converted, a tuple for a tuple, `None` for a token. Types that numpy lacks are those of
    `ml_dtypes`. `seed` is that of `rng`; loops may take `max_steps` rounds together.

    Raises `ParseError` or `VerificationErrors` for what is no module, `EvaluationError` for
    arguments that do not fit and for what goes wrong, `UnsupportedError` for what means
    something outside HLO.
    """
    read = verified_module(module)
    parameters = read.entry.parameters
    values = list(arguments)
    # Another number of arguments is reported with the parameters' shapes.
    if len(values) == len(parameters):
        shapes = [parameter.shape for parameter in parameters]
        values = [_value(*pair, n) for n, pair in enumerate(zip(values, shapes, strict=True))]
    header = read.header
    replicas, partitions = header.replica_count, header.num_partitions
    if replicas * partitions == 1:
        return _own(evaluate_module(read, values, LoneDevice(seed, max_steps)))
    of_devices = sharded_arguments(read, values, partitions, replicas)
    results = evaluate_on_devices(
        read, of_devices, replicas, partitions, seed=seed, most_iterations=max_steps
    )
    return [_own(result) for result in results]


def verified_module(module: object) -> Module:
    """Returns a module, or that of a text, a serialized proto or jaxlib, if it is well formed.

    Raises `TypeError` for what is neither, `ParseError` and `VerificationErrors` as `evaluate`.
    """
    read = parse(module) if isinstance(module, str) else module
    if not isinstance(read, Module) and is_given(read):
        read = given_module(read)
    if not isinstance(read, Module):
        raise TypeError(
            f"a module, its text or its serialized proto is wanted, {type(module).__name__} is"
            " none of them; see hlotool.load"
        )
    errors = verify(read)
    if errors:
        raise VerificationErrors(errors)
    return read


def _own(value: Value) -> Value:
    """Returns a copy: results may share memory with arguments and constants, or repeat it."""
    if value is None:
        return None
    return tuple(map(_own, value)) if isinstance(value, tuple) else np.array(value)


def _value(argument: Any, shape: Shape, number: int) -> Value:
    if isinstance(shape, TupleShape) and isinstance(argument, Sequence):
        if len(argument) != len(shape.elements):
            raise EvaluationError(
                f"argument {number} has {len(argument)} parts, {shape.plain_text} is wanted"
            )
        return tuple(
            _value(part, element, number)
            for part, element in zip(argument, shape.elements, strict=True)
        )
    if isinstance(shape, ArrayShape) and argument is not None:
        return array_argument(argument, shape, number)
    return argument


def array_argument(argument: Any, shape: ArrayShape, number: int) -> Array:
    """Returns an argument as an array: numbers and lists are converted, arrays taken as they are.

    Raises `EvaluationError` for what is no array, and for numbers that the type does not have.
    """
    if isinstance(argument, np.ma.MaskedArray) and np.ma.is_masked(argument):
        raise EvaluationError(
            f"argument {number} has masked elements, which are no values: fill them in"
        )
    element_type = shape.element_type
    has_type = hasattr(argument, "dtype") or hasattr(argument, "__array__")
    try:
        found = np.asarray(argument)
    except (TypeError, ValueError, RuntimeError) as error:
        # Lists of unequal lengths, or an array that lies on another device.
        raise EvaluationError(f"argument {number} is no array: {error}") from None
    if has_type:
        return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))
    if _is_like(found, element_type):
        with np.errstate(over="ignore"):
            made = found.astype(element_type.numpy)
        if not (element_type.is_float and _has_overflown(found, made)):
            return made
    raise EvaluationError(f"argument {number} is {shown(found)}, {shape.plain_text} is wanted")


def _has_overflown(numbers: Array, made: Array) -> bool:
    return bool((np.isfinite(numbers) & ~np.isfinite(made.astype(np.float64))).any())


def _is_like(numbers: Array, element_type: ElementType) -> bool:
    """Whether Python's numbers may be taken for ones of a type: no part of them is lost."""
    rank = "biufc".find(numbers.dtype.kind)
    if not numbers.size:
        return True
    if element_type.is_complex:
        return rank >= 0
    if element_type.is_float:
        return 0 <= rank <= 3
    if element_type.kind is Kind.PRED:
        return rank == 0
    return rank in {1, 2} and _is_in_range(numbers, element_type)


def _is_in_range(numbers: Array, element_type: ElementType) -> bool:
    bits = element_type.bits - int(element_type.is_signed)
    least = -(1 << bits) if element_type.is_signed else 0
    return least <= int(numbers.min()) and int(numbers.max()) < 1 << bits
