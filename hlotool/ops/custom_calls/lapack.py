"""Routines of LAPACK and BLAS, as XLA:CPU calls them from modules of JAX.

There are two spellings. `lapack_spotrf_ffi` has its parameters in `backend_config` as the codes
of the letters that LAPACK takes, `{uplo = 76 : ui8}`. `lapack_spotrf`, of modules up to 2024, has
them as leading scalar operands, and buffers for work among its results, which come out zero.
Operands and results are batches of matrices in both; their layouts do not matter here.

Arrays without elements give zeros: nothing is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import TupleShape
from hlotool.ops.custom_calls.configuration import configuration
from hlotool.ops.custom_calls.registry import custom_call, target_of
from hlotool.ops.custom_calls.results import declared_results
from hlotool.ops.numerics import lapack_routines as routines
from hlotool.ops.numerics.contexts import context

_ELEMENT_TYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
_ARRAYS = {"a": 2, "b": 2, "pivots": 1, "tau": 1, "dl": 1, "d": 1, "du": 1}
"""The operands that are no parameters, with the rank of each without its batch."""

Parameters: TypeAlias = Mapping[str, Any]
Routine: TypeAlias = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class _Form:
    """A routine for one element type in one spelling.

    `operands` and `results` are names in order. `work` is a result that means nothing, and a
    last result `work*` any number of them.
    """

    routine: Routine
    letter: str
    operands: tuple[str, ...]
    results: tuple[str, ...]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the results of the routine for each matrix of the batch."""
        target = target_of(frame)
        declared = declared_results(frame)
        try:
            names = self._result_names(len(declared))
            arrays, parameters = self._split(operands, configuration(frame))
            found = self._batched(arrays, parameters)
        except KeyError as error:
            raise EvaluationError(f"{target}: {error.args[0]} is not given") from None
        except ValueError as error:
            raise EvaluationError(f"{target}: {error}") from None
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
            raise ValueError(f"{count} results are declared, wanted are {', '.join(names)}")
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
            raise ValueError(f"{len(operands)} operands are given, wanted are {', '.join(names)}")
        given = dict(zip(names, operands, strict=True))
        arrays = {name: given[name] for name in names if name in _ARRAYS}
        scalars = {name: given[name].item() for name in names if name not in _ARRAYS}
        for name, array in arrays.items():
            wanted = "int32" if name == "pivots" else _ELEMENT_TYPES[self.letter]
            if array.dtype.name != wanted or array.ndim < _ARRAYS[name]:
                raise ValueError(f"{name} is {array.dtype}{list(array.shape)}, {wanted} is wanted")
        return arrays, {**parameters, **scalars}

    def _batched(self, arrays: Mapping[str, Array], parameters: Parameters) -> dict[str, Any]:
        batches = {array.shape[: array.ndim - _ARRAYS[name]] for name, array in arrays.items()}
        if len(batches) > 1:
            raise ValueError(f"operands have different batches: {sorted(batches)}")
        (batch,) = batches
        if any(array.size == 0 for array in arrays.values()):
            return {}
        each = []
        for index in np.ndindex(batch):
            matrices = {name: array[index] for name, array in arrays.items()}
            each.append(self.routine(self.letter, parameters, **matrices))
        stacked = {name: np.stack([one[name] for one in each]) for name in each[0]}
        return {name: array.reshape((*batch, *array.shape[1:])) for name, array in stacked.items()}


def _enter(routine: Routine, name: str, form: str, old_form: str = "", kinds: str = "sdcz") -> None:
    """Enters a routine under `lapack_?name_ffi`, and in the older spelling if there is one.

    `kinds` are the letters of element types; forms have names of operands and results.
    """
    for letter in kinds:
        target = f"lapack_{letter}{name}"
        custom_call(target + "_ffi")(_form(routine, letter, form))
        if old_form:
            old_target = f"blas_{letter}{name}" if name == "trsm" else target
            custom_call(old_target)(_form(routine, letter, old_form))


def _form(routine: Routine, letter: str, text: str) -> Callable[[Sequence[Value], Frame], Value]:
    operands, results = text.split("->")
    return _Form(routine, letter, tuple(operands.split()), tuple(results.split())).evaluate


_enter(
    routines.trsm, "trsm", "a b -> b",
    "left lower transposed unit m n batch alpha a b -> b",
)  # fmt: skip
_enter(routines.potrf, "potrf", "a -> a info", "lower batch n a -> a info")
_enter(routines.getrf, "getrf", "a -> a pivots info", "batch m n a -> a pivots info")
_enter(routines.geqrf, "geqrf", "a -> a tau", "batch m n lwork a -> a tau info work*")
_enter(
    routines.geqp3, "geqp3", "a pivots -> a pivots tau",
    "batch m n lwork a pivots -> a pivots tau info work*",
)  # fmt: skip
for _name, _kinds in (("orgqr", "sd"), ("ungqr", "cz")):
    _enter(
        routines.orgqr, _name, "a tau -> a",
        "batch m n k lwork a tau -> a info work*", kinds=_kinds,
    )  # fmt: skip
for _name, _kinds in (("syevd", "sd"), ("heevd", "cz")):
    _enter(routines.syevd, _name, "a -> a w info", "lower batch n a -> a w info work*", _kinds)
_enter(
    routines.gesdd, "gesdd", "a -> a s u vt info",
    "full_matrices compute_uv batch m n lwork a -> a s u vt info work*",
)  # fmt: skip
_enter(routines.gesvd, "gesvd", "a -> a s u vt info")
_enter(
    routines.geev, "geev", "a -> wr wi left right info",
    "batch n compute_left compute_right a -> work work work wr wi left right info", kinds="sd",
)  # fmt: skip
_enter(
    routines.geev, "geev", "a -> w left right info",
    "batch n compute_left compute_right a -> work work w left right info", kinds="cz",
)  # fmt: skip
_enter(
    routines.gees, "gees", "a -> a vectors wr wi selected info",
    "batch n mode sort a -> a wr wi vectors selected info", kinds="sd",
)  # fmt: skip
_enter(
    routines.gees, "gees", "a -> a vectors w selected info",
    "batch n mode sort a -> a work w vectors selected info", kinds="cz",
)  # fmt: skip
_enter(
    routines.gehrd, "gehrd", "a -> a tau info",
    "n low high lda batch lwork a -> a tau info work*",
)  # fmt: skip
for _name, _kinds in (("sytrd", "sd"), ("hetrd", "cz")):
    _enter(
        routines.sytrd, _name, "a -> a d e tau info",
        "n lower lda batch lwork a -> a d e tau info work*", kinds=_kinds,
    )  # fmt: skip
_enter(routines.gtsv, "gtsv", "dl d du b -> dl d du b info")
