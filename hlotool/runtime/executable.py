"""Compiled modules that can be called."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from hlotool.codegen.program.program import ENTRY, Program, Slot
from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.ir.frame import Array
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.source import Constant
from hlotool.runtime.host_calls import HostCalls
from hlotool.runtime.llvm import LoadedCode


def in_memory_order(array: Array, shape: ArrayShape) -> Array:
    """Returns an array whose bytes lie as the layout of its shape says."""
    order = shape.layout.minor_to_major[::-1]
    return np.ascontiguousarray(np.transpose(array, order) if order else array)


class Executable:
    """A module as machine code, with what it needs at run time."""

    def __init__(self, module: Module, program: Program, code: LoadedCode) -> None:
        self.module = module
        self.program = program
        self._code = code
        pointer = ctypes.c_void_p
        self._entry = code.function(ENTRY, pointer, pointer, pointer, pointer)
        self._constants = [self._constant(one) for one in program.constants]

    def run(self, arguments: Sequence[Array], seed: int = 0) -> list[Array]:
        """Returns the arrays of the result for those of the arguments, in order."""
        program = self.program
        held = [in_memory_order(*pair) for pair in zip(arguments, program.arguments, strict=True)]
        results = [_fresh(shape) for shape in program.results]
        for result, argument in program.shared:
            results[result][...] = held[argument]
        temporaries = np.empty(program.temporary_bytes + 64, np.uint8)
        base = temporaries.ctypes.data
        host = HostCalls(program.host_calls, LoneDevice(seed))
        context = (ctypes.c_void_p * len(Slot))()
        constants = _table(self._constants)
        context[Slot.CONSTANTS] = ctypes.addressof(constants)
        context[Slot.HOST_CALL] = ctypes.cast(host.function, ctypes.c_void_p).value
        failed = self._entry(context, _table(held), _table(results), base + -base % 64)
        if failed:
            raise host.error or EvaluationError("the module has been stopped")
        return [_logical(*pair) for pair in zip(results, program.results, strict=True)]

    def _constant(self, instruction: Any) -> Array:
        assert isinstance(instruction.op, Constant)
        return in_memory_order(instruction.op.literal.array(), instruction.shape)


def _table(arrays: Sequence[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(arrays)))(*[one.ctypes.data for one in arrays])


def _fresh(shape: ArrayShape) -> Array:
    order = shape.layout.minor_to_major[::-1]
    return np.empty([shape.dimensions[d] for d in order], shape.element_type.numpy)


def _logical(array: Array, shape: ArrayShape) -> Array:
    order = shape.layout.minor_to_major[::-1]
    return array.transpose(np.argsort(order)) if order else array
