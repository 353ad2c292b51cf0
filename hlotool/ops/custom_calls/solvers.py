"""Factors of matrices as other devices than CPUs call them, from modules of JAX.

On GPUs targets are named after the library: `cusolver_getrf_ffi`, `hipsolver_getrf_ffi`. On TPUs
they are `LuDecomposition`, `Qr`, `Eigh`. Each yields what the routine of LAPACK would; signs of
vectors, and the order of equal values, are left to the implementation.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape
from hlotool.ops.custom_calls.registry import custom_call, fault
from hlotool.ops.custom_calls.results import first_result
from hlotool.ops.custom_calls.routine_forms import Parameters, Routine, routine_form
from hlotool.ops.numerics import lapack_routines as routines
from hlotool.ops.numerics.linear_algebra import adjoint
from hlotool.ops.numerics.threefry import threefry


def _ordered_singular(letter: str, parameters: Parameters, a: Array) -> routines.Results:
    """Returns singular vectors in the order of results: U and Vᴴ, or the other way round."""
    found = routines.gesvd(letter, parameters, a)
    pair = [found[name] for name in ("u", "vt") if name in found]
    if parameters.get("transposed"):
        pair.reverse()
    return found | dict(zip(("first", "second"), pair, strict=False))


def _singular_columns(letter: str, parameters: Parameters, a: Array) -> routines.Results:
    """Returns singular vectors of both sides in columns."""
    found = routines.gesvd(letter, parameters, a)
    return found | {"v": adjoint(found["vt"])} if "vt" in found else found


def _exchanged(letter: str, parameters: Parameters, a: Array) -> routines.Results:
    """Returns factors, what each row changed places with, counted from 0, and the order of rows."""
    found = routines.getrf(letter, parameters, a)
    pivots = found["pivots"] - np.int32(1)
    return found | {"pivots": pivots, "permutation": routines.permutation(pivots, len(a))}


_ON_GPU: dict[str, tuple[Routine, str]] = {
    "potrf": (routines.potrf, "a -> a info"),
    "getrf": (routines.getrf, "a -> a pivots info"),
    "geqrf": (routines.geqrf, "a -> a tau"),
    "orgqr": (routines.orgqr, "a tau -> a"),
    "syevd": (routines.syevd, "a -> a w info"),
    "sytrd": (routines.sytrd, "a -> a d e tau info"),
    "gesvd": (_ordered_singular, "a -> a s first second info"),
    "gesdd": (_ordered_singular, "a -> a s first second info"),
    "gesvdj": (_singular_columns, "a -> a s u v info"),
    "gesvdp": (_singular_columns, "a -> a s u v info"),
}
for _library in ("cusolver", "hipsolver"):
    for _name, (_routine, _form) in _ON_GPU.items():
        custom_call(f"{_library}_{_name}_ffi")(routine_form(_routine, _form).evaluate)
custom_call("cusparse_gtsv2_ffi", "hipsparse_gtsv2_ffi")(
    routine_form(routines.gtsv, "dl d du b -> b").evaluate
)

custom_call("LuDecomposition")(routine_form(_exchanged, "a -> a pivots permutation").evaluate)
custom_call("Qr")(routine_form(routines.geqrf, "a -> a tau").evaluate)
custom_call("ProductOfElementaryHouseholderReflectors")(
    routine_form(routines.orgqr, "a tau -> a").evaluate
)
_EIGH = routine_form(routines.syevd, "a -> a w")


@custom_call("Eigh")
def eigh(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns eigenvectors in columns, and eigenvalues in ascending order.

    The parameters are `lower, sorted, sweeps, tolerance`; of these only the first counts.
    """
    text = frame.instruction.annotations.backend_config
    lower = text.split(",")[0].strip()
    if lower not in ("0", "1"):
        raise fault(frame, f"backend_config is {text!r}, one that begins with 0 or 1 is wanted")
    return _EIGH.applied(operands, {"lower": int(lower)}, frame)


@custom_call("cu_lu_pivots_to_permutation", "hip_lu_pivots_to_permutation")
def pivots_to_permutation(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the order that rows come to by changing places, counted from 0."""
    (pivots,) = operands
    result = first_result(frame)
    if not isinstance(frame.shape, ArrayShape) or result.is_scalar or pivots.ndim != result.rank:
        raise fault(frame, f"{result.plain_text} is declared, an order of rows is wanted")
    rows = result.dimensions[-1]
    orders = np.empty(result.dimensions, np.int32)
    for index in np.ndindex(pivots.shape[:-1]):
        orders[index] = routines.permutation(pivots[index], rows)
    return orders


@custom_call("cu_threefry2x32_ffi", "hip_threefry2x32_ffi")
def threefry2x32(operands: Sequence[Value], _frame: Frame) -> Value:
    """Returns the two words of each block, for the words of its key and of its counter."""
    low_key, high_key, low, high = (operand.astype(np.uint64).ravel() for operand in operands)
    keys = low_key | high_key << np.uint64(32)
    counters = low | high << np.uint64(32)
    words = np.empty((2, keys.size), np.uint32)
    for key in np.unique(keys):
        chosen = keys == key
        words[:, chosen] = threefry(int(key), counters[chosen])
    return tuple(words.reshape(2, *operands[2].shape))
