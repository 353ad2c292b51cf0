"""Windows, paddings and convolution dimension labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hlotool.ir.attribute import by_name
from hlotool.ir.record import AttributeKind


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """One dimension of a window; dilations of 1 and paddings of 0 change nothing."""

    size: int
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    reversal: bool = False

    def output_size(self, size: int) -> int:
        """Returns how many windows fit on a base of `size` elements."""
        dilated = 0 if size == 0 else (size - 1) * self.base_dilation + 1
        padded = dilated + self.padding_low + self.padding_high
        extent = (self.size - 1) * self.window_dilation + 1 if self.size else 0
        if padded <= 0 or extent > padded:
            return 0
        return (padded - extent) // self.stride + 1


Window = tuple[WindowDimension, ...]
"""A window; empty where the text gives none."""


@dataclass(frozen=True, slots=True)
class PaddingDimension:
    """How `pad` widens one dimension: at both edges and between elements."""

    low: int
    high: int
    interior: int = 0


@dataclass(frozen=True, slots=True)
class DimensionLabels:
    """What each dimension of a convolution's operands and output means.

    `*_spatial[i]` is the dimension number of spatial dimension i.
    """

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split("x")]


def _pairs(text: str) -> list[tuple[int, int]]:
    pairs = [tuple(map(int, part.split("_"))) for part in text.split("x")]
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"pad={text}: two numbers a dimension expected, as 1_1x0_2")
    return [(pair[0], pair[1]) for pair in pairs]


_WINDOW_PARTS = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")


def read_window(parts: Sequence[tuple[str, str]]) -> Window:
    """Returns the window of `name=value` parts; raises `ValueError` where they do not fit."""
    given = by_name(parts)
    for name in given:
        if name not in _WINDOW_PARTS:
            raise ValueError(f"{name} is not one of {', '.join(_WINDOW_PARTS)}")
    if not given:
        return ()
    if "size" not in given:
        raise ValueError("a window needs size=")
    sizes = _numbers(given["size"])
    rank = len(sizes)
    stride, base, window, reversal = (
        _numbers(given[name]) if name in given else [default] * rank
        for name, default in (("stride", 1), ("lhs_dilate", 1), ("rhs_dilate", 1),
                              ("rhs_reversal", 0))
    )  # fmt: skip
    pad = _pairs(given["pad"]) if "pad" in given else [(0, 0)] * rank
    if any(len(part) != rank for part in (stride, base, window, reversal, pad)):
        raise ValueError(f"every part of the window must have {rank} dimensions, as size has")
    return tuple(
        WindowDimension(*head, low, high, *dilations, bool(reverse))
        for head, (low, high), dilations, reverse in zip(
            zip(sizes, stride, strict=True), pad, zip(base, window, strict=True), reversal,
            strict=True,
        )
    )  # fmt: skip


def write_window(window: Window) -> str:
    """Returns the window in braces; parts that are default in every dimension are left out."""
    columns: tuple[tuple[str, Callable[[WindowDimension], str], str], ...] = (
        ("stride", lambda d: str(d.stride), "1"),
        ("pad", lambda d: f"{d.padding_low}_{d.padding_high}", "0_0"),
        ("lhs_dilate", lambda d: str(d.base_dilation), "1"),
        ("rhs_dilate", lambda d: str(d.window_dilation), "1"),
        ("rhs_reversal", lambda d: str(int(d.reversal)), "0"),
    )
    shown = ["size=" + "x".join(str(d.size) for d in window)] if window else []
    for name, column, default in columns:
        texts = [column(dimension) for dimension in window]
        if any(text != default for text in texts):
            shown.append(f"{name}={'x'.join(texts)}")
    return "{" + " ".join(shown) + "}"


def read_padding(text: str) -> tuple[PaddingDimension, ...]:
    """Returns the padding of `low_high_interior` parts joined with `x`."""
    return tuple(PaddingDimension(*map(int, part.split("_"))) for part in text.split("x") if part)


def write_padding(padding: Sequence[PaddingDimension]) -> str:
    """Returns the padding; interiors are shown for all dimensions or for none."""
    interior = any(dimension.interior for dimension in padding)
    return "x".join(
        f"{d.low}_{d.high}_{d.interior}" if interior else f"{d.low}_{d.high}" for d in padding
    )


_LABELS = re.compile(r"([0-9bf?]*)_([0-9io?]*)->([0-9bf?]*)")


def read_labels(text: str) -> DimensionLabels:
    """Returns the meaning of `b01f_01io->b01f`; raises `ValueError` where labels are amiss."""
    match = _LABELS.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is no list of dimension labels, as b01f_01io->b01f")
    sides = [_read_side(side, names) for side, names in zip(match.groups(), ("bf", "io", "bf"),
                                                            strict=True)]  # fmt: skip
    (batch, feature, spatial), (kernel_in, kernel_out, kernel), (out_b, out_f, out) = sides
    if not len(spatial) == len(kernel) == len(out):
        raise ValueError(f"{text}: operands and output need equally many spatial dimensions")
    return DimensionLabels(batch, feature, spatial, kernel_in, kernel_out, kernel,
                           out_b, out_f, out)  # fmt: skip


def _read_side(side: str, names: str) -> tuple[int, int, tuple[int, ...]]:
    digits = sorted(label for label in side if label.isdigit())
    if digits != [str(i) for i in range(len(digits))]:
        raise ValueError(
            f"{side}: spatial labels must be 0 to {max(0, len(digits) - 1)}, once each"
        )
    for name in names:
        if side.count(name) != 1:
            raise ValueError(f"{side}: label {name} must stand once")
    return side.index(names[0]), side.index(names[1]), tuple(side.index(d) for d in digits)


def write_labels(labels: DimensionLabels) -> str:
    """Returns the labels as `lhs_rhs->output`."""
    lhs = _write_side("bf", labels.input_batch, labels.input_feature, labels.input_spatial)
    rhs = _write_side("io", labels.kernel_input_feature, labels.kernel_output_feature,
                      labels.kernel_spatial)  # fmt: skip
    out = _write_side("bf", labels.output_batch, labels.output_feature, labels.output_spatial)
    return f"{lhs}_{rhs}->{out}"


def _write_side(names: str, first: int, second: int, spatial: Sequence[int]) -> str:
    # A dimension that no label names is written `?`.
    side = ["?"] * (max(first, second, *spatial) + 1)
    side[first], side[second] = names[0], names[1]
    for label, dimension in enumerate(spatial):
        side[dimension] = str(label)
    return "".join(side)


WINDOW = AttributeKind[Window](
    "window", "a window, as {size=3x3 stride=2x2}", read=read_window, write=write_window
)
PADDING = AttributeKind[tuple[PaddingDimension, ...]](
    "padding", "a padding, as 0_1x2_2_1", read=read_padding, write=write_padding
)
DIMENSION_LABELS = AttributeKind[DimensionLabels](
    "dimension_labels", "dimension labels, as b01f_01io->b01f", read=read_labels, write=write_labels
)
