"""Routines of LAPACK and BLAS, as XLA:CPU calls them from modules of JAX.

There are two spellings. `lapack_spotrf_ffi` has its parameters in `backend_config` as the codes
of the letters that LAPACK takes, `{uplo = 76 : ui8}`. `lapack_spotrf`, of modules up to 2024, has
them as leading scalar operands, and buffers for work among its results, which come out zero.
Operands and results are batches of matrices in both; their layouts do not matter here.
"""

from __future__ import annotations

from hlotool.ops.custom_calls.registry import custom_call
from hlotool.ops.custom_calls.routine_forms import Routine, routine_form
from hlotool.ops.numerics import lapack_routines as routines


def _enter(routine: Routine, name: str, form: str, old_form: str = "", kinds: str = "sdcz") -> None:
    """Enters a routine under `lapack_?name_ffi`, and in the older spelling if there is one.

    `kinds` are the letters of element types; forms have names of operands and results.
    """
    for letter in kinds:
        target = f"lapack_{letter}{name}"
        custom_call(target + "_ffi")(routine_form(routine, form, letter).evaluate)
        if old_form:
            old_target = f"blas_{letter}{name}" if name == "trsm" else target
            custom_call(old_target)(routine_form(routine, old_form, letter).evaluate)


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
