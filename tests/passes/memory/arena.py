"""Runs a module with its values as bytes in the memory that buffer assignment gave them.

Nothing is kept beside that memory: where two values overlap that are needed at one time, or a
copy is missing, the result is another one than that of evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hlotool.analysis.buffer_assignment import BufferAssignment
from hlotool.analysis.dataflow import Index, Place, bindings, indices, shared_operand
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.evaluator import Evaluator
from hlotool.evaluation.values import fitted
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Frame, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.control_flow import Conditional, While
from hlotool.ops.source import Constant

GARBAGE = 0xAB


class Callee:
    """A computation that is run for elements: it needs no memory that is assigned."""

    def __init__(self, computation: Computation, device: LoneDevice) -> None:
        self.computation = computation
        self.device = device

    def __call__(self, *arguments: Value) -> Value:
        return Evaluator(self.device).run(self.computation, arguments)


class Arena:
    """The memory of one module."""

    def __init__(self, assignment: BufferAssignment) -> None:
        self._assignment = assignment
        self._entry = assignment.dataflow.module.entry
        self._device = LoneDevice(0, 100_000)
        self._memory = {
            allocation.number: np.full(allocation.size, GARBAGE, np.uint8)
            for allocation in assignment.allocations
        }

    def run(self, arguments: list[Value]) -> Value:
        """Returns what the entry yields; inputs and constants must be what they were after it."""
        kept: list[tuple[Place, bytes]] = []
        for parameter, argument in zip(self._entry.parameters, arguments, strict=True):
            kept += self._write(parameter, argument)
        for instruction in self._assignment.liveness.sequence:
            if isinstance(instruction.op, Constant):
                value = instruction.op.evaluate([], Frame(instruction, [], self._device))
                kept += self._write(instruction, value)
        self._run(self._entry)
        for place, data in kept:
            if self._assignment.classes.is_read_only(place):
                assert self._bytes(place, len(data)).tobytes() == data, f"{place[0].name} is lost"
        return self._read(self._entry.root, ())

    def _run(self, computation: Computation) -> None:
        for instruction in computation.instructions:
            op = instruction.op
            if op.parameter_number is not None or isinstance(op, Constant):
                continue
            if bindings(instruction):
                self._run_called(instruction)
            elif any(
                not part.is_tuple and shared_operand(instruction, index) is None
                for index, part in indices(instruction.shape)
            ):
                self._evaluate(instruction)

    def _run_called(self, instruction: Instruction) -> None:
        bound = bindings(instruction)
        if isinstance(instruction.op, While):
            condition, body = (binding.computation for binding in bound)
            while self._yielded(condition):
                self._device.count_iteration()
                self._run(body)
        elif isinstance(instruction.op, Conditional):
            selector = self._read(instruction.operands[0], ())
            last = len(bound) - 1
            if selector.dtype == np.bool_:
                number = 0 if selector else last
            else:
                number = int(selector) if 0 <= selector <= last else last
            self._run(bound[number].computation)
        else:
            self._run(bound[0].computation)

    def _yielded(self, computation: Computation) -> Value:
        self._run(computation)
        return self._read(computation.root, ())

    def _evaluate(self, instruction: Instruction) -> None:
        operands = [self._read(operand, ()) for operand in instruction.operands]
        calls: list[Any] = [Callee(called, self._device) for called in instruction.calls]
        frame = Frame(instruction, calls, self._device)
        value = fitted(instruction.op.evaluate(operands, frame), frame.shape)
        self._write(instruction, value)

    def _read(self, instruction: Instruction, index: Index) -> Value:
        shape = instruction.shape.subshape(index)
        if isinstance(shape, TupleShape):
            count = len(shape.elements)
            return tuple(self._read(instruction, (*index, n)) for n in range(count))
        if not isinstance(shape, ArrayShape):
            return None
        element_type = shape.element_type.numpy
        data = self._bytes((instruction, index), shape.element_count * element_type.itemsize)
        order = shape.layout.minor_to_major[::-1]
        held = data.view(element_type).reshape([shape.dimensions[d] for d in order])
        return np.array(held.transpose(np.argsort(order)) if order else held)

    def _write(self, instruction: Instruction, value: Value) -> list[tuple[Place, bytes]]:
        found = []
        for index, shape in indices(instruction.shape):
            if not isinstance(shape, ArrayShape) or shared_operand(instruction, index):
                continue
            part = value
            for position in index:
                part = part[position]
            data = stored(part, shape)
            self._bytes((instruction, index), len(data))[:] = np.frombuffer(data, np.uint8)
            found.append(((instruction, index), data))
        return found

    def _bytes(self, place: Place, size: int) -> Any:
        allocation, offset = self._assignment.spot(place)
        memory = self._memory[allocation.number][offset : offset + size]
        assert memory.size == size, f"{place[0].name} does not fit"
        return memory


def stored(value: Any, shape: ArrayShape) -> bytes:
    """Returns the bytes of an array in the order of its layout."""
    order = shape.layout.minor_to_major[::-1]
    return np.ascontiguousarray(np.transpose(value, order) if order else value).tobytes()


def is_plain(shape: Shape) -> bool:
    """Whether memory of this shape is simulated: no tiles, and nothing dynamic."""
    return all(
        leaf.is_static and not leaf.layout.tiles and not leaf.layout.element_size_bits
        for _, leaf in shape.leaves()
        if isinstance(leaf, ArrayShape)
    )
