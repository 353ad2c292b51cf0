"""Convolutions of cuDNN, as XLA:GPU calls them, and the two that make up their gradients.

Window, dimension labels and groups stand on the call itself; for a gradient they are those of
the convolution that it is the gradient of. Sums are made in f32 or wider and rounded once. A
second result is room for work and comes out zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.window import DimensionLabels, WindowDimension
from hlotool.ops.convolution import Convolution
from hlotool.ops.custom_calls.configuration import configuration
from hlotool.ops.custom_calls.convolutions import unrounded_convolution
from hlotool.ops.custom_calls.registry import call_of, custom_call, fault, unsupported
from hlotool.ops.custom_calls.results import first_result, stored
from hlotool.ops.numerics import epilogues

Parameters = Mapping[str, Any]

_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "kNone": lambda x: x,
    "kSigmoid": epilogues.sigmoid,
    "kRelu": epilogues.relu,
    "kRelu6": epilogues.relu6,
    "kTanh": epilogues.tanh,
    "kElu": epilogues.elu,
}
_NUMBERED = (
    "kNone", "kSigmoid", "kRelu", "kRelu6", "kReluX", "kTanh", "kBandPass", "kElu", "kLeakyRelu",
)  # fmt: skip
"""The activations as older modules number them."""


@custom_call("__cudnn$convForward", "__cudnn$convBiasActivationForward")
def forward(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns activation(scale·convolution + side scale·side input + bias).

    Operands are input and filter, then bias and side input where the target has them.
    """
    parameters = _parameters(frame)
    base, kernel, *rest = operands
    call, labels = call_of(frame), _labels(frame)
    op = Convolution(
        window=call.window or (),
        dim_labels=labels,
        feature_group_count=call.feature_group_count,
        batch_group_count=call.batch_group_count,
    )
    value = unrounded_convolution(op, [base, kernel], frame)
    value = value * value.dtype.type(parameters.get("conv_result_scale", 1))
    if len(rest) > 1:
        side_scale = parameters.get("side_input_scale", 0)
        value = value + rest[1].astype(value.dtype) * value.dtype.type(side_scale)
    if rest:
        trailing = value.ndim - labels.output_feature - 1
        value = value + rest[0].reshape(-1, *[1] * trailing).astype(value.dtype)
    return stored(_activated(value, parameters, frame), frame)


@custom_call("__cudnn$convBackwardInput")
def backward_input(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the gradient of the input, for that of the output and the filter.

    It is a convolution of the output's gradient, spread by the stride, with the filter turned.
    """
    labels, result = _labels(frame), first_result(frame)
    gradient, _ = operands
    window = []
    for number, dimension in enumerate(call_of(frame).window or ()):
        reach = (dimension.size - 1) * dimension.window_dilation
        spread = (gradient.shape[labels.output_spatial[number]] - 1) * dimension.stride + 1
        low = reach - dimension.padding_low
        wanted = result.dimensions[labels.input_spatial[number]]
        window.append(
            WindowDimension(
                dimension.size,
                padding_low=low,
                padding_high=wanted - spread - low + reach,
                base_dilation=dimension.stride,
                window_dilation=dimension.window_dilation,
                reversal=not dimension.reversal,
            )
        )
    turned = DimensionLabels(
        labels.output_batch, labels.output_feature, labels.output_spatial,
        labels.kernel_output_feature, labels.kernel_input_feature, labels.kernel_spatial,
        labels.input_batch, labels.input_feature, labels.input_spatial,
    )  # fmt: skip
    op = Convolution(window=tuple(window), dim_labels=turned)
    parted = (labels.output_feature, labels.kernel_output_feature)
    return _gradient(op, operands, parted, labels.input_feature, frame)


@custom_call("__cudnn$convBackwardFilter")
def backward_filter(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the gradient of the filter, for the input and the gradient of the output.

    It is a convolution of the input, its batch summed over, with the output's gradient.
    """
    labels, result = _labels(frame), first_result(frame)
    base, gradient = operands
    window = []
    for number, dimension in enumerate(call_of(frame).window or ()):
        if dimension.reversal:
            raise unsupported(frame, "the gradient of a filter that is turned is not evaluated")
        size = gradient.shape[labels.output_spatial[number]]
        reach = (size - 1) * dimension.stride + 1
        steps = (result.dimensions[labels.kernel_spatial[number]] - 1) * dimension.window_dilation
        high = steps + reach - base.shape[labels.input_spatial[number]] - dimension.padding_low
        window.append(
            WindowDimension(
                size,
                stride=dimension.window_dilation,
                padding_low=dimension.padding_low,
                padding_high=high,
                window_dilation=dimension.stride,
            )
        )
    turned = DimensionLabels(
        labels.input_feature, labels.input_batch, labels.input_spatial,
        labels.output_batch, labels.output_feature, labels.output_spatial,
        labels.kernel_input_feature, labels.kernel_output_feature, labels.kernel_spatial,
    )  # fmt: skip
    op = Convolution(window=tuple(window), dim_labels=turned)
    parted = (labels.input_feature, labels.output_feature)
    return _gradient(op, operands, parted, labels.kernel_output_feature, frame)


def _gradient(
    op: Convolution,
    operands: Sequence[Array],
    parted: tuple[int, int],
    joined: int,
    frame: Frame,
) -> Value:
    """Returns the gradient as convolutions of the groups, one behind the other.

    Groups part the operands along a dimension each, and the result along `joined`.
    """
    count = call_of(frame).feature_group_count
    pieces = (
        np.split(operand, count, dimension)
        for operand, dimension in zip(operands, parted, strict=True)
    )
    parts = [unrounded_convolution(op, pair, frame) for pair in zip(*pieces, strict=True)]
    value = np.concatenate(parts, joined)
    scale = _parameters(frame).get("conv_result_scale", 1)
    return stored(value * value.dtype.type(scale), frame)


def _activated(value: Array, parameters: Parameters, frame: Frame) -> Array:
    mode = parameters.get("activation_mode", "kNone")
    if str(mode).isdigit() and int(mode) < len(_NUMBERED):
        mode = _NUMBERED[int(mode)]
    if mode == "kLeakyRelu":
        slope = value.dtype.type(parameters.get("leakyrelu_alpha", 0))
        return np.where(value > 0, value, value * slope)
    if mode not in _ACTIVATIONS:
        raise unsupported(frame, f"activation {mode} is not evaluated")
    return _ACTIVATIONS[mode](value)


def _parameters(frame: Frame) -> Parameters:
    whole = configuration(frame)
    found: Parameters = whole.get("cudnn_conv_backend_config", whole)
    return found


def _labels(frame: Frame) -> DimensionLabels:
    labels = call_of(frame).dim_labels
    if labels is None:
        raise fault(frame, "dim_labels are not given")
    return labels
