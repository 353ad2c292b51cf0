"""Runs whole modules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlotool.errors import EvaluationError
from hlotool.evaluation.devices import LoneDevice
from hlotool.evaluation.evaluator import Evaluator
from hlotool.evaluation.values import holds, shown
from hlotool.ir.frame import Device, Observer, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape


def evaluate_module(
    module: Module,
    arguments: Sequence[Value],
    device: Device | None = None,
    observer: Observer | None = None,
) -> Value:
    """Returns the value of the entry's root: arrays, in tuples as its shape says.

    `arguments` has one value a parameter of the entry: an array of the parameter's type and
    dimensions, a tuple of values, or `None` for a token. Raises `EvaluationError` for other
    arguments and for what goes wrong during the run, `UnsupportedError` for ops that mean
    something outside HLO.
    """
    check_arguments(module, arguments)
    evaluator = Evaluator(device or LoneDevice(), observer)
    # HLO says what each op yields for infinities, NaN and overflow; none of it is an incident.
    with np.errstate(all="ignore"):
        return evaluator.run(module.entry, arguments)


def check_arguments(module: Module, arguments: Sequence[Value]) -> None:
    """Raises `EvaluationError` unless there is a fitting value for each parameter of the entry."""
    parameters = module.entry.parameters
    if len(arguments) != len(parameters):
        takes = "1 argument" if len(parameters) == 1 else f"{len(parameters)} arguments"
        shapes = ", ".join(parameter.shape.plain_text for parameter in parameters)
        raise EvaluationError(
            f"module {module.name} takes {takes}, {len(arguments)} given",
            notes=[f"parameters: {shapes}"] if parameters else [],
        )
    for parameter, argument in zip(parameters, arguments, strict=True):
        _check_argument(argument, parameter.shape, parameter)


def _check_argument(argument: Value, shape: Shape, parameter: Instruction) -> None:
    if isinstance(shape, ArrayShape):
        good = (
            isinstance(argument, np.ndarray)
            and argument.dtype == shape.element_type.numpy
            and holds(shape, argument.shape)
        )
    elif isinstance(shape, TupleShape):
        good = isinstance(argument, tuple) and len(argument) == len(shape.elements)
    else:
        good = argument is None
    if not good:
        number = parameter.op.parameter_number
        raise EvaluationError(
            f"argument {number} is {shown(argument)},"
            f" parameter {parameter.name} is {shape.plain_text}",
            parameter.location,
        )
    if isinstance(shape, TupleShape):
        for part, element in zip(argument, shape.elements, strict=True):
            _check_argument(part, element, parameter)
