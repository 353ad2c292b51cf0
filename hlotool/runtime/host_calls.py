"""Instructions that are not compiled: evaluated on the memory of the compiled module."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from weakref import WeakKeyDictionary

from hlotool.analysis.effects import has_side_effect
from hlotool.codegen.program.program import HostCall
from hlotool.errors import HloError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.evaluator import Evaluator, placed
from hlotool.evaluation.values import fitted, too_large
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Array, Callee, Device, Frame, Value
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.convolution import Fft
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.tuple_values import put_together
from hlotool.runtime.host_arrays import HostArray
from hlotool.runtime.transforms import transformed


class HostCalls:
    """Evaluates what one run of a module leaves to the host, on its device."""

    def __init__(self, calls: Sequence[HostCall], device: LoneDevice) -> None:
        self._calls = calls
        self._device = device

    def evaluate(self, number: int, addresses: int) -> None:
        """Evaluates an instruction; the addresses of its arrays are in a table at `addresses`."""
        _planned_call(self._calls[number]).run(addresses, self._device)


_FASTER: dict[type[Op], Callable[[Sequence[Value], Frame], Value]] = {Fft: transformed}
"""Ops for which there is something faster than what the evaluator does, and as good."""

_plans: WeakKeyDictionary[HostCall, _PlannedCall] = WeakKeyDictionary()


def _planned_call(call: HostCall) -> _PlannedCall:
    found = _plans.get(call)
    if found is None:
        found = _plans[call] = _PlannedCall(call)
    return found


class _PlannedCall:
    """An instruction with all that is known of its arrays before it is evaluated.

    Operands are views that cannot be written into. They are copied where a result lies over one
    of them, and where the instruction may keep them.
    """

    def __init__(self, call: HostCall) -> None:
        self._instruction = call.instruction
        op = call.instruction.op
        self._evaluate = _FASTER.get(type(op), op.evaluate)
        operands = [_planned(operand.shape) for operand in call.instruction.operands]
        self._result = _planned(call.instruction.shape)
        leaves = [list(_leaves(plan)) for plan in operands]
        self._operand_arrays = list(chain.from_iterable(leaves))
        self._result_arrays = list(_leaves(self._result))
        count = len(self._operand_arrays) + len(self._result_arrays)
        self._table = ctypes.c_void_p * count
        # Nobody knows what a function of the user does with its arrays.
        self._keeps_operands = isinstance(op, CustomCall) or has_side_effect(call.instruction)

    def run(self, addresses: int, device: LoneDevice) -> None:
        """Evaluates the instruction; the addresses are in a table at `addresses`."""
        table = list(self._table.from_address(addresses))
        count = len(self._operand_arrays)
        read, written = table[:count], table[count:]
        is_copied = self._keeps_operands or self._overlaps(read, written)
        arrays = iter(
            [
                _operand(plan, address, is_copied=is_copied)
                for plan, address in zip(self._operand_arrays, read, strict=True)
            ]
        )
        value = self._value(
            [put_together(one.shape, arrays) for one in self._instruction.operands], device
        )
        _store(value, self._result, iter(written))

    def _value(self, operands: Sequence[Value], device: LoneDevice) -> Value:
        instruction = self._instruction
        calls: list[Callee] = [_Callee(called, device) for called in instruction.calls]
        frame = Frame(instruction, calls, device)
        try:
            return fitted(self._evaluate(operands, frame), frame.shape)
        except HloError as error:
            raise placed(error, instruction) from error.__cause__
        except MemoryError:
            raise too_large(instruction) from None

    def _overlaps(self, read: Sequence[int], written: Sequence[int]) -> bool:
        for ours, begin in zip(self._result_arrays, written, strict=True):
            end = begin + ours.bytes if ours.bytes else 0
            for theirs, address in zip(self._operand_arrays, read, strict=True):
                if theirs.bytes and address < end and begin < address + theirs.bytes:
                    return True
        return False


class _Callee:
    """A computation that an instruction calls for elements."""

    def __init__(self, computation: Computation, device: Device) -> None:
        self.computation = computation
        self.device = device
        self._evaluator = Evaluator(device)

    def __call__(self, *arguments: Value) -> Value:
        self.device.count_call()
        return self._evaluator.run(self.computation, arguments)


_Plan = HostArray | tuple["_Plan", ...] | None
"""The arrays of a shape; `None` stands for a token."""


def _planned(shape: Shape) -> _Plan:
    if isinstance(shape, TupleShape):
        return tuple(_planned(element) for element in shape.elements)
    return HostArray(shape) if isinstance(shape, ArrayShape) else None


def _leaves(plan: _Plan) -> Iterator[HostArray]:
    if isinstance(plan, tuple):
        for part in plan:
            yield from _leaves(part)
    elif plan is not None:
        yield plan


def _operand(plan: HostArray, address: int, *, is_copied: bool) -> Array:
    array = plan.at(address)
    if is_copied:
        array = array.copy()
    array.flags.writeable = False
    return array


def _store(value: Value, plan: _Plan, addresses: Iterator[int]) -> None:
    if isinstance(plan, tuple):
        for part, element in zip(value, plan, strict=True):
            _store(part, element, addresses)
    elif plan is not None:
        plan.store(value, next(addresses))
