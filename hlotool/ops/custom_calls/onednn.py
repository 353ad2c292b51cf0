"""Calls of oneDNN, as XLA:CPU makes them where it is built with that library.

Products are made in f32 or wider, what is fused with them follows there, and the result is
rounded once. A second result is room for work and comes out zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import pack, unpack
from typing import Any

from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.window import DimensionLabels, WindowDimension
from hlotool.ops.convolution import Convolution
from hlotool.ops.custom_calls.configuration import configuration
from hlotool.ops.custom_calls.convolutions import unrounded_convolution
from hlotool.ops.custom_calls.registry import custom_call, fault, unsupported
from hlotool.ops.custom_calls.results import first_result, stored
from hlotool.ops.numerics import epilogues
from hlotool.ops.numerics.matrix_products import computing_type

Parameters = Mapping[str, Any]

_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "RELU": epilogues.relu,
    "RELU6": epilogues.relu6,
    "TANH": epilogues.tanh,
    "GELU_ERF": epilogues.gelu_erf,
    "GELU_TANH": epilogues.gelu_tanh,
    "SIGMOID": epilogues.sigmoid,
    "SWISH": epilogues.swish,
    "ELU": epilogues.elu,
}


@custom_call("__onednn$matmul")
def matmul(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the product of the last two dimensions, and what is fused with it."""
    parameters = _parameters(frame, "onednn_matmul_config")
    if parameters.get("optimization_config", {}).get("weights_prepacked"):
        raise unsupported(frame, "weights in the library's own layout are not evaluated")
    result = first_result(frame)
    wide = computing_type(frame.operand_shapes[:2], result)
    lhs, rhs = (
        _matrices(operand.astype(wide), parameters, side, flag)
        for operand, side, flag in zip(
            operands[:2], ("lhs", "rhs"), ("transpose_a", "transpose_b"), strict=True
        )
    )
    order = _order(parameters, "result", lhs.ndim)
    product = np.matmul(lhs, rhs).transpose(np.argsort(order))
    value = _fused(product, parameters, operands[2:], result.rank - 1, frame)
    return stored(value, frame)


@custom_call("__onednn$convolution")
def convolution(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the convolution, and what is fused with it.

    The library's window counts stride, padding and dimensions from 1, so that none is 0.
    """
    parameters = _parameters(frame, "onednn_conv_config")
    op = Convolution(
        window=tuple(_window(parameters["window"], frame)),
        dim_labels=_labels(parameters),
        feature_group_count=int(parameters.get("feature_groups", 1)) or 1,
    )
    value = unrounded_convolution(op, operands[:2], frame)
    feature = op.dim_labels.output_feature
    return stored(_fused(value, parameters, operands[2:], feature, frame), frame)


@custom_call("__onednn$softmax")
def softmax(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns e^x divided by its sum along one dimension."""
    axis = int(_parameters(frame, "onednn_softmax_config").get("softmax_axis", -1))
    wide = operands[0].astype(np.float64)
    powers = np.exp(wide - wide.max(axis, keepdims=True, initial=-np.inf))
    return stored(powers / powers.sum(axis, keepdims=True), frame)


@custom_call("__onednn$layernorm")
def layer_norm(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns rows with mean 0 and variance 1, then scaled and shifted by two vectors."""
    parameters = _parameters(frame, "onednn_layer_norm_config")
    x, scale, shift = (operand.astype(np.float64) for operand in operands)
    centered = x - x.mean(-1, keepdims=True)
    variance = np.square(centered).mean(-1, keepdims=True)
    epsilon = _float_of_bits(parameters.get("epsilon_typecast", 0))
    return stored(centered / np.sqrt(variance + epsilon) * scale + shift, frame)


def _fused(
    value: Array, parameters: Parameters, operands: Sequence[Value], feature: int, frame: Frame
) -> Array:
    """Returns the value after all that is fused with it, in order.

    A vector is added along the dimension `feature`.
    """
    fusions = parameters.get("fusions", {})
    steps = fusions.get("ops", parameters.get("fused_ops", ()))
    slopes = _slopes(fusions)
    given = iter(operands)
    # The bias is part of the product itself, wherever it stands in the list.
    for step in sorted(steps, key=lambda step: step != "BIAS"):
        if step in _ACTIVATIONS:
            value = _ACTIVATIONS[step](value)
        elif step == "LINEAR":
            value = value * value.dtype.type(next(slopes))
        elif step in ("BIAS", "BINARY_ADD", "SUM"):
            value = value + _spread(next(given).astype(value.dtype), value.ndim, feature)
        elif step == "BINARY_MUL":
            value = value * _spread(next(given).astype(value.dtype), value.ndim, feature)
        else:
            raise unsupported(frame, f"fused {step} is not evaluated")
    return value


def _spread(operand: Array, rank: int, feature: int) -> Array:
    """Returns an operand so that it meets the elements that it belongs to."""
    if operand.ndim != 1:
        return operand
    return operand.reshape(-1, *[1] * (rank - feature - 1))


def _slopes(fusions: Parameters) -> Iterator[float]:
    yield from fusions.get("alpha", ())
    while True:
        yield _float_of_bits(fusions.get("alpha_typecast", 0))


def _float_of_bits(bits: int) -> float:
    """Returns the f32 of a pattern of bits, which the parameters hold as an integer."""
    (value,) = unpack("<f", pack("<I", int(bits) & 0xFFFF_FFFF))
    return float(value)


def _matrices(operand: Array, parameters: Parameters, side: str, flag: str) -> Array:
    turned = operand.transpose(_order(parameters, side, operand.ndim))
    is_transposed = parameters.get(flag) and operand.ndim > 1
    return np.swapaxes(turned, -1, -2) if is_transposed else turned


def _order(parameters: Parameters, side: str, rank: int) -> list[int]:
    """Returns the dimensions of an operand in the order in which the library sees them."""
    dimensions = parameters.get(side, {}).get("tensor", {}).get("dimensions", ())
    return [int(dimension) - 1 for dimension in dimensions] or list(range(rank))


def _window(window: Parameters, frame: Frame) -> Iterator[WindowDimension]:
    names = ("size", "strides", "pad_left", "pad_right", "window_dilations")
    columns = [list(map(int, window.get(name, ()))) for name in names]
    if len(set(map(len, columns[1:]))) > 1:
        raise fault(frame, f"the window has {columns}, lists of one length are wanted")
    sizes = columns[0] or [2] * len(columns[1])
    for size, stride, low, high, dilation in zip(sizes, *columns[1:], strict=True):
        yield WindowDimension(size - 1, stride - 1, low - 1, high - 1, window_dilation=dilation - 1)


def _labels(parameters: Parameters) -> DimensionLabels:
    data, kernel, output = (
        parameters[side].get(kind, {})
        for side, kind in (("input", "data"), ("kernel", "filter"), ("output", "data"))
    )
    return DimensionLabels(
        int(data.get("batch_dim", 0)),
        int(data.get("feature_dim", 0)),
        _spatial(data),
        int(kernel.get("input_feature_dim", 0)),
        int(kernel.get("output_feature_dim", 0)),
        _spatial(kernel),
        int(output.get("batch_dim", 0)),
        int(output.get("feature_dim", 0)),
        _spatial(output),
    )


def _spatial(layout: Parameters) -> tuple[int, ...]:
    return tuple(int(dimension) - 1 for dimension in layout.get("spatial_dims", ()))


def _parameters(frame: Frame, name: str) -> Parameters:
    found = configuration(frame).get(name, {})
    if not isinstance(found, Mapping):
        raise fault(frame, f"{name} is {found!r}, a dictionary is wanted")
    return found
