"""Matrix products of cuBLAS, as XLA:GPU calls them.

The result is `epilogue(alpha·lhs·rhs + beta·addend)`, made in f32 or wider and rounded once.
Behind it may stand what an epilogue keeps for a gradient, the largest magnitude of the result,
and room for work, which comes out zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape
from hlotool.ops.contraction import Dot
from hlotool.ops.custom_calls.configuration import configuration
from hlotool.ops.custom_calls.registry import custom_call, target_of
from hlotool.ops.custom_calls.results import declared_results, first_result, stored
from hlotool.ops.numerics import epilogues
from hlotool.ops.numerics.matrix_products import computing_type

_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "RELU": epilogues.relu,
    "GELU": epilogues.gelu_tanh,
    "SILU": epilogues.swish,
}
_DIMENSIONS = {
    "lhs_contracting_dimensions": "lhs_contracting_dims",
    "rhs_contracting_dimensions": "rhs_contracting_dims",
    "lhs_batch_dimensions": "lhs_batch_dims",
    "rhs_batch_dimensions": "rhs_batch_dims",
}


@custom_call("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8")
def gemm(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the product, or the tuple that begins with it.

    Operands are lhs and rhs, the addend unless beta is 0, of the `f8` target the scales of lhs,
    rhs, addend and result (of two only lhs and rhs, of three not of the addend), and the bias of
    the epilogue, which is added along the last dimensions.
    """
    whole = configuration(frame)
    parameters: Mapping[str, Any] = whole.get("gemm_backend_config", whole)
    wide = computing_type(frame.operand_shapes[:2], first_result(frame))
    lhs, rhs, *rest = (np.asarray(operand).astype(wide) for operand in operands)
    beta = parameters.get("beta", 0)
    addend = rest.pop(0) if beta and rest else None
    words = str(parameters.get("epilogue", "DEFAULT")).split("_")
    bias = rest.pop() if "BIAS" in words and rest else None
    scales = _scales(rest, frame)

    value = _product(lhs, rhs, parameters, frame) * _alpha(parameters, wide.kind)
    value = value * (scales[0] * scales[1])
    if addend is not None:
        value = value + addend * scales[2] * wide.type(beta)
    if bias is not None:
        value = value + bias
    kept = value
    value = _activated(value, words, frame)
    others = []
    if "AUX" in words:
        others.append(kept.astype(_second_type(frame)))
    elif parameters.get("damax_output"):
        others.append(np.max(np.abs(value), initial=0).astype(_second_type(frame)))
    return stored((value * scales[3]).astype(wide), frame, *others)


def _product(lhs: Array, rhs: Array, parameters: Mapping[str, Any], frame: Frame) -> Array:
    numbers = parameters.get("dot_dimension_numbers")
    if numbers is None:
        raise EvaluationError(f"{target_of(frame)}: dot_dimension_numbers are not given")
    dimensions: dict[str, Any] = {
        name: tuple(map(int, numbers.get(key, ()))) for key, name in _DIMENSIONS.items()
    }
    return Dot(**dimensions).product(lhs, rhs)


def _alpha(parameters: Mapping[str, Any], kind: str) -> Any:
    real, imaginary = parameters.get("alpha_real", 1), parameters.get("alpha_imag", 0)
    if kind == "c":
        return np.complex64(complex(real, imaginary))
    # What counts in integers has a whole number here.
    return int(real) if kind in "iu" else np.float32(real)


def _scales(given: Sequence[Array], frame: Frame) -> list[Any]:
    """Returns the scales of lhs, rhs, addend and result; 1 for one that is not given."""
    if any(scale.size != 1 for scale in given) or len(given) not in (0, 2, 3, 4):
        shapes = ", ".join(str(list(scale.shape)) for scale in given)
        raise EvaluationError(f"{target_of(frame)}: operands {shapes} are none of its scales")
    scales = [scale.reshape(()) for scale in given]
    if len(scales) == 3:
        scales.insert(2, np.ones((), scales[0].dtype))
    return [*scales, *[1] * (4 - len(scales))]


def _activated(value: Array, words: Sequence[str], frame: Frame) -> Array:
    for word in words:
        if word in _ACTIVATIONS:
            value = _ACTIVATIONS[word](value)
        elif word not in ("DEFAULT", "BIAS", "AUX"):
            raise UnsupportedError(f"{target_of(frame)}: epilogue {'_'.join(words)}")
    return value


def _second_type(frame: Frame) -> Any:
    results = declared_results(frame)
    if len(results) < 2 or not isinstance(results[1], ArrayShape):
        raise EvaluationError(f"{target_of(frame)}: two results are wanted, {frame.shape} declared")
    return results[1].element_type.numpy
