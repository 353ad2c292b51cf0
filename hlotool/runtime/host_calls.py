"""Instructions that are not compiled: evaluated on the memory of the compiled module."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from hlotool.codegen.program.program import POLL, HostCall
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.evaluator import Evaluator
from hlotool.evaluation.values import fitted
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.shape import ArrayShape, Shape, TupleShape

HOST_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


class _Callee:
    """A computation that an instruction calls for elements."""

    def __init__(self, computation: Computation, device: LoneDevice) -> None:
        self.computation = computation
        self.device = device

    def __call__(self, *arguments: Value) -> Value:
        return Evaluator(self.device).run(self.computation, arguments)


class HostCalls:
    """Answers the host calls of one run of a module."""

    def __init__(self, calls: list[HostCall], device: LoneDevice) -> None:
        self._calls = calls
        self.device = device
        self.error: BaseException | None = None
        """What went wrong, when a call says that it failed."""
        self.function = HOST_CALL(self._answer)

    def _answer(self, _: int | None, number: int, addresses: int | None) -> int:
        try:
            if number != POLL:
                assert addresses is not None
                self._run(self._calls[number], addresses)
        except BaseException as error:  # noqa: BLE001 - it is raised again behind the native code
            self.error = error
            return 1
        return 0

    def _run(self, call: HostCall, addresses: int) -> None:
        instruction = call.instruction
        shapes = [operand.shape for operand in instruction.operands]
        leaves = [leaf for shape in (*shapes, instruction.shape) for _, leaf in shape.leaves()]
        count = sum(isinstance(leaf, ArrayShape) for leaf in leaves)
        table = iter((ctypes.c_void_p * count).from_address(addresses))
        operands = [_value(shape, table) for shape in shapes]
        calls: list[Any] = [_Callee(called, self.device) for called in instruction.calls]
        frame = Frame(instruction, calls, self.device)
        value = fitted(instruction.op.evaluate(operands, frame), frame.shape)
        _store(value, instruction.shape, table)


def array_at(address: int, shape: ArrayShape) -> Array:
    """Returns the array of a shape that lies at an address, as a view in logical order."""
    order = shape.layout.minor_to_major[::-1]
    element_type = shape.element_type.numpy
    memory = (ctypes.c_uint8 * (shape.element_count * element_type.itemsize)).from_address(address)
    held = np.frombuffer(memory, element_type).reshape([shape.dimensions[d] for d in order])
    return held.transpose(np.argsort(order)) if order else held


def _value(shape: Shape, table: Any) -> Value:
    if isinstance(shape, TupleShape):
        return tuple(_value(element, table) for element in shape.elements)
    if not isinstance(shape, ArrayShape):
        return None
    address = next(table)
    # Results may be written over operands.
    return np.array(array_at(address, shape)) if shape.element_count else _empty(shape)


def _store(value: Value, shape: Shape, table: Any) -> None:
    if isinstance(shape, TupleShape):
        for part, element in zip(value, shape.elements, strict=True):
            _store(part, element, table)
    elif isinstance(shape, ArrayShape):
        address = next(table)
        if shape.element_count:
            array_at(address, shape)[...] = value


def _empty(shape: ArrayShape) -> Array:
    return np.empty(shape.dimensions, shape.element_type.numpy)
