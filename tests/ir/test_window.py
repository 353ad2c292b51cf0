"""Windows, paddings, labels: their texts, and what is refused."""

from __future__ import annotations

import pytest

from hlotool.ir.window import (
    DIMENSION_LABELS,
    PADDING,
    WINDOW,
    DimensionLabels,
    PaddingDimension,
    WindowDimension,
)
from tests.ir.texts import read


@pytest.mark.parametrize(
    "text",
    [
        "{size=3x3}",
        "{size=3x3 stride=2x1}",
        "{size=1 pad=-1_2}",
        "{size=2x2 stride=1x2 pad=0_0x1_0 lhs_dilate=2x1 rhs_dilate=1x3 rhs_reversal=0x1}",
        "{}",
    ],
)
def test_windows_print_as_they_stand(text: str) -> None:
    assert WINDOW.write(read(WINDOW, text)) == text


def test_a_window_has_its_parts_in_each_dimension() -> None:
    text = "{rhs_reversal=1x0 pad=1_2x-3_4 size=3x5 rhs_dilate=2x1 lhs_dilate=1x4 stride=2x1}"
    assert read(WINDOW, text) == (
        WindowDimension(3, 2, 1, 2, 1, 2, reversal=True),
        WindowDimension(5, 1, -3, 4, 4, 1),
    )
    assert WINDOW.write(read(WINDOW, "{stride=1x1 size=2x2 pad=0_0x0_0}")) == "{size=2x2}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{stride=2}", "a window needs size="),
        ("{size=3 size=3}", "size is given twice"),
        ("{size=3 width=3}", "width is not one of size, stride, pad"),
        ("{size=3x3 stride=2}", "must have 2 dimensions, as size has"),
        ("{size=3 pad=1_2_3}", "two numbers a dimension expected"),
    ],
)
def test_parts_that_do_not_fit_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(WINDOW, text)


@pytest.mark.parametrize(
    ("window", "size", "count"),
    [
        (WindowDimension(3), 5, 3),
        (WindowDimension(3, stride=2), 5, 2),
        (WindowDimension(3, padding_low=1, padding_high=1), 5, 5),
        (WindowDimension(2, base_dilation=3), 3, 6),
        (WindowDimension(2, window_dilation=4), 5, 1),
        (WindowDimension(3, padding_low=-2), 5, 1),
        (WindowDimension(6), 5, 0),
        (WindowDimension(2, padding_high=-9), 5, 0),
        (WindowDimension(1, base_dilation=3), 0, 0),
        (WindowDimension(1, padding_low=2), 0, 2),
    ],
)
def test_windows_that_fit_are_counted(window: WindowDimension, size: int, count: int) -> None:
    assert window.output_size(size) == count


@pytest.mark.parametrize("text", ["0_0", "1_-2x0_3", "1_2_3x0_0_0"])
def test_paddings_print_as_they_stand(text: str) -> None:
    assert PADDING.write(read(PADDING, text)) == text


def test_interiors_show_for_all_dimensions_or_none() -> None:
    padding = (PaddingDimension(1, 2), PaddingDimension(0, 0, 4))
    assert PADDING.write(padding) == "1_2_0x0_0_4"
    assert read(PADDING, "1_2x0_0_4") == padding
    assert PADDING.write(read(PADDING, "1_2_0x0_0_0")) == "1_2x0_0"


@pytest.mark.parametrize(
    "text", ["b01f_01io->b01f", "bf_io->bf", "f1b0_o0i1->0b1f", "b?f0_?io0->bf0"]
)
def test_labels_print_as_they_stand(text: str) -> None:
    assert DIMENSION_LABELS.write(read(DIMENSION_LABELS, text)) == text


def test_labels_say_what_each_dimension_is() -> None:
    assert read(DIMENSION_LABELS, "b01f_01io->bf10") == DimensionLabels(
        0, 3, (1, 2), 2, 3, (0, 1), 0, 1, (3, 2)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b0f_io0->b0f0", "spatial labels must be 0 to 1, once each"),
        ("b1f_1io->b1f", "spatial labels must be 0 to 0, once each"),
        ("b0_0io->b0f", "label f must stand once"),
        ("bb0f_0io->b0f", "label b must stand once"),
        ("b0f_01io->b0f", "operands and output need equally many spatial dimensions"),
    ],
)
def test_labels_that_do_not_fit_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(DIMENSION_LABELS, text)
