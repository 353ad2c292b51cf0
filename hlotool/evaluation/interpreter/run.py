"""Runs whole modules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from hlotool.errors import EvaluationError, counted
from hlotool.evaluation.interpreter.devices import MOST_ITERATIONS, LoneDevice
from hlotool.evaluation.interpreter.evaluator import Evaluator
from hlotool.evaluation.interpreter.grid import DeviceGrid, GridDevice
from hlotool.evaluation.values import holds, shown
from hlotool.ir.frame import Device, Observer, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, BufferShape, Shape, TupleShape


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


def evaluate_on_devices(
    module: Module,
    arguments_of_devices: Sequence[Sequence[Value]],
    replicas: int,
    partitions: int,
    *,
    seed: int = 0,
    most_iterations: int = MOST_ITERATIONS,
    observer: Observer | None = None,
) -> list[Value]:
    """Returns what each of `replicas` x `partitions` devices yields, replica by replica.

    Arguments come in the same order. `observer` is called by one device at a time. Raises as
    `evaluate_module` does, and where devices wait for each other without end.
    """
    grid = DeviceGrid(replicas, partitions, seed, most_iterations)
    observers = [observer] * len(grid.devices)
    return evaluate_on_grid(module, arguments_of_devices, grid, observers)


def evaluate_on_grid(
    module: Module,
    arguments_of_devices: Sequence[Sequence[Value]],
    grid: DeviceGrid,
    observers: Sequence[Observer | None],
) -> list[Value]:
    """Returns what each device of a grid yields; arguments and observers are in its order."""
    count = len(grid.devices)
    if len(arguments_of_devices) != count:
        raise EvaluationError(
            f"arguments for {len(arguments_of_devices)} devices are given, the run has {count}"
        )

    def job(device: GridDevice | LoneDevice) -> Value:
        observer = observers[device.number]
        if count > 1:
            observer = partial(_watch, grid, observer)
        return evaluate_module(module, arguments_of_devices[device.number], device, observer)

    return grid.run(job)


def _watch(
    grid: DeviceGrid, observer: Observer | None, instruction: Instruction, value: Value
) -> None:
    # A run that is interrupted ends at the next instruction.
    grid.check()
    if observer is not None:
        observer(instruction, value)


def check_arguments(module: Module, arguments: Sequence[Value]) -> None:
    """Raises `EvaluationError` unless there is a fitting value for each parameter of the entry."""
    parameters = module.entry.parameters
    if len(arguments) != len(parameters):
        takes = counted(len(parameters), "argument")
        shapes = ", ".join(parameter.shape.plain_text for parameter in parameters)
        raise EvaluationError(
            f"module {module.name} takes {takes}, {len(arguments)} given",
            notes=[f"parameters: {shapes}"] if parameters else [],
        )
    for parameter, argument in zip(parameters, arguments, strict=True):
        _check_argument(argument, parameter.shape, parameter)


def _check_argument(argument: Value, shape: Shape, parameter: Instruction) -> None:
    array = shape.array if isinstance(shape, BufferShape) else shape
    if isinstance(array, ArrayShape):
        good = (
            isinstance(argument, np.ndarray)
            and argument.dtype == array.element_type.numpy
            and holds(array, argument.shape)
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
