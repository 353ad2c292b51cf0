"""Windows, paddings, slices and convolution labels as messages."""

from __future__ import annotations

from typing import Any

from hlotool.errors import ParseError
from hlotool.ir.window import DimensionLabels, PaddingDimension, WindowDimension
from hlotool.proto.forms import Form, messages, where_present
from hlotool.proto.schema import Proto


def _read_window_dimension(proto: Proto) -> WindowDimension:
    return WindowDimension(
        size=proto.size,
        stride=proto.stride,
        padding_low=proto.padding_low,
        padding_high=proto.padding_high,
        base_dilation=proto.base_dilation,
        window_dilation=proto.window_dilation,
        reversal=proto.window_reversal,
    )


def _write_window_dimension(dimension: WindowDimension) -> dict[str, Any]:
    return {
        "size": dimension.size,
        "stride": dimension.stride,
        "padding_low": dimension.padding_low,
        "padding_high": dimension.padding_high,
        "base_dilation": dimension.base_dilation,
        "window_dilation": dimension.window_dilation,
        "window_reversal": dimension.reversal,
    }


WINDOW = messages("window.dimensions", _read_window_dimension, _write_window_dimension)
OPTIONAL_WINDOW = where_present(WINDOW, "window")
PADDING = messages(
    "padding_config.dimensions",
    lambda proto: PaddingDimension(
        proto.edge_padding_low, proto.edge_padding_high, proto.interior_padding
    ),
    lambda dimension: {
        "edge_padding_low": dimension.low,
        "edge_padding_high": dimension.high,
        "interior_padding": dimension.interior,
    },
)
SLICES = messages(
    "slice_dimensions",
    lambda proto: (proto.start, proto.limit, proto.stride),
    lambda bounds: dict(zip(("start", "limit", "stride"), bounds, strict=True)),
)
ALIASING = messages(
    "output_operand_aliasing",
    lambda proto: (
        tuple(proto.output_shape_index), proto.operand_index, tuple(proto.operand_shape_index)
    ),
    lambda alias: dict(
        zip(("output_shape_index", "operand_index", "operand_shape_index"), alias, strict=True)
    ),
)  # fmt: skip

_NUMBERS = (
    "input_batch", "input_feature", "kernel_input_feature", "kernel_output_feature",
    "output_batch", "output_feature",
)  # fmt: skip
_DIMENSIONS = frozenset(range(32))
"""More dimensions than any convolution has: a guard against what a broken file claims."""
_SPATIAL = ("input_spatial", "kernel_spatial", "output_spatial")


def _read_labels(proto: Proto) -> DimensionLabels:
    numbers = proto.convolution_dimension_numbers
    values: dict[str, Any] = {name: getattr(numbers, f"{name}_dimension") for name in _NUMBERS}
    values |= {name: tuple(getattr(numbers, f"{name}_dimensions")) for name in _SPATIAL}
    labels = DimensionLabels(**values)
    for side in (
        (labels.input_batch, labels.input_feature, *labels.input_spatial),
        (labels.kernel_input_feature, labels.kernel_output_feature, *labels.kernel_spatial),
        (labels.output_batch, labels.output_feature, *labels.output_spatial),
    ):
        if len(set(side)) < len(side) or not set(side) <= _DIMENSIONS:
            raise ParseError(f"dim_labels: {side} are not different dimensions")
    return labels


def _write_labels(proto: Proto, labels: DimensionLabels) -> None:
    numbers = proto.convolution_dimension_numbers
    numbers.SetInParent()
    for name in _NUMBERS:
        setattr(numbers, f"{name}_dimension", getattr(labels, name))
    for name in _SPATIAL:
        getattr(numbers, f"{name}_dimensions").extend(getattr(labels, name))


LABELS = where_present(Form(_read_labels, _write_labels), "convolution_dimension_numbers")
