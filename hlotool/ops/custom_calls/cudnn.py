"""Convolutions of cuDNN, as XLA:GPU calls them, and the two that make up their gradients.

Window, dimension labels and groups stand on the call itself; for a gradient they are those of
the convolution that it is the gradient of. Sums are made in f32 or wider and rounded once. A
second result is room for work and comes out zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.element_type import F32
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ir.window import DimensionLabels, Window, WindowDimension
from hlotool.ops.convolution import Convolution
from hlotool.ops.custom_calls.configuration import configuration
from hlotool.ops.custom_calls.registry import call_of, custom_call, target_of
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
    op = _convolution(frame, _labels(frame), call_of(frame).window or ())
    shapes = [operand.shape for operand in frame.instruction.operands[:2]]
    value = _convolved(op, [base, kernel], shapes, frame)
    value = value * value.dtype.type(parameters.get("conv_result_scale", 1))
    if len(rest) > 1:
        side_scale = parameters.get("side_input_scale", 0)
        value = value + rest[1].astype(value.dtype) * value.dtype.type(side_scale)
    if rest:
        trailing = value.ndim - _labels(frame).output_feature - 1
        value = value + rest[0].reshape(-1, *[1] * trailing).astype(value.dtype)
    return stored(_activated(value, parameters, frame), frame)


@custom_call("__cudnn$convBackwardInput")
def backward_input(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the gradient of the input, for that of the output and the filter.

    It is a convolution of the output's gradient, spread by the stride, with the filter turned.
    """
    labels, result = _labels(frame), first_result(frame)
    gradient, kernel = operands
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
    count = call_of(frame).feature_group_count
    parts = [
        _grouped(turned, tuple(window), pair, frame)
        for pair in zip(
            np.split(gradient, count, labels.output_feature),
            np.split(kernel, count, labels.kernel_output_feature),
            strict=True,
        )
    ]
    return _scaled(np.concatenate(parts, labels.input_feature), frame)


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
            raise UnsupportedError(f"{target_of(frame)}: a filter that is turned")
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
    count = call_of(frame).feature_group_count
    parts = [
        _grouped(turned, tuple(window), pair, frame)
        for pair in zip(
            np.split(base, count, labels.input_feature),
            np.split(gradient, count, labels.output_feature),
            strict=True,
        )
    ]
    return _scaled(np.concatenate(parts, labels.kernel_output_feature), frame)


def _grouped(
    labels: DimensionLabels, window: Window, operands: Sequence[Array], frame: Frame
) -> Array:
    """Returns the convolution of one group."""
    op = Convolution(window=window, dim_labels=labels)
    declared = frame.operand_shapes[:2]
    shapes: list[Shape] = []
    for operand, shape in zip(operands, declared, strict=True):
        assert isinstance(shape, ArrayShape)
        shapes.append(ArrayShape(shape.element_type, operand.shape))
    return _convolved(op, operands, shapes, frame)


def _convolution(frame: Frame, labels: DimensionLabels, window: Window) -> Convolution:
    call = call_of(frame)
    return Convolution(
        window=window,
        dim_labels=labels,
        feature_group_count=call.feature_group_count,
        batch_group_count=call.batch_group_count,
    )


def _convolved(
    op: Convolution, operands: Sequence[Array], shapes: Sequence[Shape], frame: Frame
) -> Array:
    """Returns the convolution before it is rounded to a narrow type."""
    inferred = op.infer_shape(shapes, [])
    assert isinstance(inferred, ArrayShape)
    result = first_result(frame).element_type
    is_narrow = result.is_float and result.bits < 32
    wide = inferred.with_element_type(F32 if is_narrow else result)
    inputs = tuple(Instruction("operand", shape, op) for shape in shapes)
    called = Frame(Instruction("convolution", wide, op, inputs), (), frame.device)
    return np.asarray(op.evaluate(operands, called))


def _activated(value: Array, parameters: Parameters, frame: Frame) -> Array:
    mode = parameters.get("activation_mode", "kNone")
    if str(mode).isdigit() and int(mode) < len(_NUMBERED):
        mode = _NUMBERED[int(mode)]
    if mode == "kLeakyRelu":
        slope = value.dtype.type(parameters.get("leakyrelu_alpha", 0))
        return np.where(value > 0, value, value * slope)
    if mode not in _ACTIVATIONS:
        raise UnsupportedError(f"{target_of(frame)}: activation {mode}")
    return _ACTIVATIONS[mode](value)


def _scaled(value: Array, frame: Frame) -> Value:
    scale = _parameters(frame).get("conv_result_scale", 1)
    return stored(value * value.dtype.type(scale), frame)


def _parameters(frame: Frame) -> Parameters:
    whole = configuration(frame)
    found: Parameters = whole.get("cudnn_conv_backend_config", whole)
    return found


def _labels(frame: Frame) -> DimensionLabels:
    labels = call_of(frame).dim_labels
    if labels is None:
        raise EvaluationError(f"{target_of(frame)}: dim_labels are not given")
    return labels
