"""Matrix products of cuBLAS, as XLA:GPU calls them.

The result is `epilogue(alpha·lhs·rhs + beta·addend)`, made in f32 or wider and rounded once.
Behind it may stand what an epilogue keeps for a gradient, the largest magnitude of the result,
and room for work, which comes out zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape
from hlotool.ops.contraction import Dot
from hlotool.ops.custom_calls.configuration import configuration
from hlotool.ops.custom_calls.registry import custom_call, fault, unsupported
from hlotool.ops.custom_calls.results import declared_results, first_result, stored
from hlotool.ops.numerics import epilogues
from hlotool.ops.numerics.matrix_products import computing_type

if TYPE_CHECKING:
    import numpy

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
    words = str(parameters.get("epilogue", "DEFAULT")).split("_")
    wide = computing_type(frame.operand_shapes[:2], first_result(frame))
    given = _given([operand.astype(wide) for operand in operands], parameters, words, frame)

    value = _product(given.lhs, given.rhs, parameters, frame) * _alpha(parameters, wide)
    value = value * (given.scales.lhs * given.scales.rhs)
    if given.addend is not None:
        value = value + given.addend * given.scales.addend * wide.type(parameters["beta"])
    if given.bias is not None:
        value = value + given.bias
    kept = value
    value = _activated(value, words, frame)
    others = []
    if "AUX" in words:
        others.append(kept.astype(_second_type(frame)))
    elif parameters.get("damax_output"):
        others.append(np.max(np.abs(value), initial=0).astype(_second_type(frame)))
    return stored((value * given.scales.result).astype(wide), frame, *others)


class _Scales(NamedTuple):
    lhs: Any = 1
    rhs: Any = 1
    addend: Any = 1
    result: Any = 1


@dataclass(frozen=True)
class _Given:
    """The operands of a call by what they are, in its computing type."""

    lhs: Array
    rhs: Array
    addend: Array | None
    scales: _Scales
    bias: Array | None


def _given(
    operands: Sequence[Array], parameters: Mapping[str, Any], words: Sequence[str], frame: Frame
) -> _Given:
    lhs, rhs, *others = operands
    has_addend = bool(parameters.get("beta", 0)) and len(others) > 0
    has_bias = "BIAS" in words and len(others) > int(has_addend)
    scales = others[int(has_addend) : len(others) - int(has_bias)]
    return _Given(
        lhs,
        rhs,
        others[0] if has_addend else None,
        _scales(scales, frame),
        others[-1] if has_bias else None,
    )


def _product(lhs: Array, rhs: Array, parameters: Mapping[str, Any], frame: Frame) -> Array:
    numbers = parameters.get("dot_dimension_numbers")
    if numbers is None:
        raise fault(frame, "dot_dimension_numbers are not given")
    dimensions: dict[str, Any] = {
        name: tuple(map(int, numbers.get(key, ()))) for key, name in _DIMENSIONS.items()
    }
    return Dot(**dimensions).product(lhs, rhs)


def _alpha(parameters: Mapping[str, Any], wide: numpy.dtype[Any]) -> Any:
    real, imaginary = parameters.get("alpha_real", 1), parameters.get("alpha_imag", 0)
    return wide.type(complex(real, imaginary) if wide.kind == "c" else real)


def _scales(given: Sequence[Array], frame: Frame) -> _Scales:
    """Returns the scales; 1 for one that is not given."""
    if any(scale.size != 1 for scale in given) or len(given) not in (0, 2, 3, 4):
        shapes = ", ".join(str(list(scale.shape)) for scale in given)
        raise fault(frame, f"operands {shapes} are given for scales, 2 to 4 scalars are wanted")
    scales = [scale.reshape(()) for scale in given]
    if len(scales) == 3:
        lhs, rhs, result = scales
        return _Scales(lhs, rhs, result=result)
    return _Scales(*scales)


def _activated(value: Array, words: Sequence[str], frame: Frame) -> Array:
    for word in words:
        if word in _ACTIVATIONS:
            value = _ACTIVATIONS[word](value)
        elif word not in ("DEFAULT", "BIAS", "AUX"):
            raise unsupported(frame, f"epilogue {'_'.join(words)} is not evaluated")
    return value


def _second_type(frame: Frame) -> Any:
    results = declared_results(frame)
    if len(results) < 2 or not isinstance(results[1], ArrayShape):
        raise fault(frame, f"{frame.shape.plain_text} is declared, two results are wanted")
    return results[1].element_type.numpy
