"""Runs computations on one device: each instruction asks its op for its value, in text order."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import EvaluationError, HloError, UnsupportedError
from hlotool.evaluation.values import check_size, fitted, too_large
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Callee, Device, Frame, Observer, Value
from hlotool.ir.instruction import Instruction

_WITHIN = "in instruction"


class _Step:
    """One instruction to evaluate, with the places of its operands among the values.

    `finished` are the places that nobody reads after it.
    """

    __slots__ = ("finished", "frame", "operands")

    def __init__(self, frame: Frame, operands: tuple[int, ...], finished: tuple[int, ...]) -> None:
        self.frame = frame
        self.operands = operands
        self.finished = finished


class _Plan:
    """The steps of a computation, in an order that they can be taken in."""

    __slots__ = ("root", "steps")

    def __init__(self, steps: list[_Step], root: int) -> None:
        self.steps = steps
        self.root = root


class _Called:
    """A computation as other instructions call it."""

    __slots__ = ("_evaluator", "computation", "device")

    def __init__(self, evaluator: Evaluator, computation: Computation, device: Device) -> None:
        self._evaluator = evaluator
        self.computation = computation
        self.device = device

    def __call__(self, *arguments: Value) -> Value:
        self.device.count_call()
        return self._evaluator.run(self.computation, arguments)


class Evaluator:
    """Evaluates computations of a module for one device.

    A value is let go as soon as nothing reads it any more.
    """

    def __init__(self, device: Device, observer: Observer | None = None) -> None:
        self._device = device
        self._observer = observer
        self._plans: dict[Computation, _Plan] = {}

    def run(self, computation: Computation, arguments: Sequence[Value]) -> Value:
        """Returns the value of the root for the values of the parameters.

        Raises `HloError`, at the instruction that has no value.
        """
        plan = self._plans.get(computation)
        if plan is None:
            plan = self._plans[computation] = self._planned(computation)
        values: list[Value] = [None] * len(plan.steps)
        for place, step in enumerate(plan.steps):
            values[place] = self._value(step, [values[o] for o in step.operands], arguments)
            for finished in step.finished:
                values[finished] = None
        return values[plan.root]

    def _value(self, step: _Step, operands: list[Value], arguments: Sequence[Value]) -> Value:
        frame = step.frame
        instruction = frame.instruction
        number = instruction.op.parameter_number
        try:
            if number is not None:
                value = arguments[number]
            else:
                value = fitted(instruction.op.evaluate(operands, frame), frame.shape)
        except HloError as error:
            raise placed(error, instruction) from None
        except MemoryError:
            raise too_large(instruction) from None
        except RecursionError:
            message = "computations call one another too deep to be evaluated"
            raise EvaluationError(message, instruction.location) from None
        if self._observer is not None:
            self._observer(instruction, value)
        return value

    def _planned(self, computation: Computation) -> _Plan:
        instructions = computation.instructions
        for instruction in instructions:
            check_size(instruction)
        places = {instruction: place for place, instruction in enumerate(instructions)}
        last_reads = {computation.root: len(instructions)}
        for place, instruction in enumerate(instructions):
            for operand in instruction.operands:
                last_reads[operand] = max(place, last_reads.get(operand, 0))
        finished: list[list[int]] = [[] for _ in instructions]
        for place, instruction in enumerate(instructions):
            last_read = last_reads.get(instruction, place)
            if last_read < len(instructions):
                finished[last_read].append(place)
        steps = [
            _Step(
                Frame(instruction, self._called(instruction), self._device),
                tuple(places[operand] for operand in instruction.operands),
                tuple(finished[place]),
            )
            for place, instruction in enumerate(instructions)
        ]
        return _Plan(steps, places[computation.root])

    def _called(self, instruction: Instruction) -> list[Callee]:
        return [_Called(self, computation, self._device) for computation in instruction.calls]


def placed(error: HloError, instruction: Instruction) -> HloError:
    """Returns the error with the innermost instruction that it happened at."""
    if error.location is not None or any(note.startswith(_WITHIN) for note in error.notes):
        return error
    kind = type(error) if isinstance(error, UnsupportedError) else EvaluationError
    notes = [*error.notes, f"{_WITHIN} {instruction.name}"]
    return kind(error.message, instruction.location, notes)
