"""Routines on one matrix as custom calls: which operand and result is which, and batches.

Arrays without elements give zeros: nothing is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import TupleShape
from hlotool.ops.custom_calls.configuration import configuration
from hlotool.ops.custom_calls.registry import fault
from hlotool.ops.custom_calls.results import declared_results
from hlotool.ops.tuple_values import context

_ELEMENT_TYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
_ARRAYS = {"a": 2, "b": 2, "pivots": 1, "tau": 1, "dl": 1, "d": 1, "du": 1}
"""The operands that are no parameters, with the rank of each without its batch."""

Parameters: TypeAlias = Mapping[str, Any]
Routine: TypeAlias = Callable[..., dict[str, Any]]
"""Takes the letter of the element type, the parameters and arrays by name."""


def routine_form(routine: Routine, text: str, letter: str = "") -> RoutineForm:
    """Returns the form whose operands and results are the names in `a tau -> a info`."""
    operands, results = text.split("->")
    return RoutineForm(routine, letter, tuple(operands.split()), tuple(results.split()))


@dataclass(frozen=True)
class RoutineForm:
    """A routine for one element type, or for all, in the spelling of one target.

    `operands` and `results` are names in order; operands that are no arrays are parameters.
    `work` is a result that means nothing, and a last result `work*` any number of them. Without
    a letter the element type is that of the first operand.
    """

    routine: Routine
    letter: str
    operands: tuple[str, ...]
    results: tuple[str, ...]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the results of the routine for each matrix of the batch."""
        return self.applied(operands, configuration(frame), frame)

    def applied(self, operands: Sequence[Value], parameters: Parameters, frame: Frame) -> Value:
        """Returns the results with these parameters, and those among the operands.

        Raises `EvaluationError` where something is missing or does not fit.
        """
        declared = declared_results(frame)
        try:
            names = self._result_names(len(declared))
            arrays, all_parameters = self._split(operands, parameters)
            found = self._batched(arrays, all_parameters)
        except KeyError as error:
            raise fault(frame, f"{error.args[0]} is not given") from None
        except ValueError as error:
            raise fault(frame, str(error)) from None
        results = tuple(
            found[name] if name in found else context(shape)
            for name, shape in zip(names, declared, strict=True)
        )
        return results if isinstance(frame.shape, TupleShape) else results[0]

    def _result_names(self, count: int) -> Sequence[str]:
        names = self.results
        if names[-1] == "work*":
            names = (*names[:-1], *["work"] * (count - len(names) + 1))
        if len(names) != count:
            raise ValueError(f"{count} results are declared, {', '.join(names)} are wanted")
        return names

    def _split(
        self, operands: Sequence[Value], parameters: Parameters
    ) -> tuple[dict[str, Array], Parameters]:
        """Returns the arrays among the operands by name, and all parameters."""
        names = self.operands
        if names == ("a", "b") and len(operands) == 3:
            # For a year trsm had the factor of its result as a last operand.
            names = (*names, "alpha")
        if len(operands) != len(names):
            raise ValueError(f"{len(operands)} operands are given, {', '.join(names)} are wanted")
        given = dict(zip(names, operands, strict=True))
        arrays = {name: given[name] for name in names if name in _ARRAYS}
        scalars = {name: given[name].item() for name in names if name not in _ARRAYS}
        element_type = _ELEMENT_TYPES[self._letter(arrays)]
        for name, array in arrays.items():
            wanted = "int32" if name == "pivots" else element_type
            if array.dtype.name != wanted or array.ndim < _ARRAYS[name]:
                raise ValueError(f"{name} is {array.dtype}{list(array.shape)}, {wanted} is wanted")
        return arrays, {**parameters, **scalars}

    def _letter(self, arrays: Mapping[str, Array]) -> str:
        if self.letter:
            return self.letter
        given = next(iter(arrays.values())).dtype.name
        letters = [letter for letter, name in _ELEMENT_TYPES.items() if name == given]
        if not letters:
            wanted = ", ".join(_ELEMENT_TYPES.values())
            raise ValueError(f"elements of {given} are given, one of {wanted} is wanted")
        return letters[0]

    def _batched(self, arrays: Mapping[str, Array], parameters: Parameters) -> dict[str, Any]:
        batches = {array.shape[: array.ndim - _ARRAYS[name]] for name, array in arrays.items()}
        if len(batches) > 1:
            shown = " and ".join(str(list(batch)) for batch in sorted(batches))
            raise ValueError(f"batches of {shown} are given, equal ones are wanted")
        (batch,) = batches
        if any(array.size == 0 for array in arrays.values()):
            return {}
        letter = self._letter(arrays)
        each = []
        for index in np.ndindex(batch):
            matrices = {name: array[index] for name, array in arrays.items()}
            each.append(self.routine(letter, parameters, **matrices))
        stacked = {name: np.stack([one[name] for one in each]) for name in each[0]}
        return {name: array.reshape((*batch, *array.shape[1:])) for name, array in stacked.items()}
