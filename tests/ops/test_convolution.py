"""Convolution and Fourier transform."""

from __future__ import annotations

from typing import Any

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import Op
from hlotool.ir.window import WindowDimension, read_labels
from hlotool.ops.convolution import Convolution, Fft
from hlotool.text.parser import parse, parse_shape
from hlotool.text.printer import print_module

KERNEL_OF_3 = (WindowDimension(3), WindowDimension(3))
IMAGES = "b01f_01io->b01f"


def convolution(labels: str = IMAGES, **attributes: Any) -> Convolution:
    return Convolution(dim_labels=read_labels(labels), **({"window": KERNEL_OF_3} | attributes))


def infer(op: Op, operands: str) -> str:
    return op.infer_shape([parse_shape(text) for text in operands.split()], []).text


@pytest.mark.parametrize(
    ("op", "operands", "shape"),
    [
        (convolution(), "f32[2,8,8,6]{0,1,2,3} f32[3,3,6,5]", "f32[2,6,6,5]{3,2,1,0}"),
        (
            convolution(
                "b01f_01io->bf10",
                window=(WindowDimension(3, 2, 1, 1, base_dilation=2),
                        WindowDimension(3, 2, 1, 1, window_dilation=2, reversal=True)),
            ),
            "f32[2,8,8,6] bf16[3,3,6,5]",
            "f32[2,5,3,8]{3,2,1,0}",
        ),
        (convolution(feature_group_count=3), "f32[2,8,8,6] f32[3,3,2,6]", "f32[2,6,6,6]{3,2,1,0}"),
        (convolution(batch_group_count=2), "f32[2,8,8,6] f32[3,3,6,4]", "f32[1,6,6,4]{3,2,1,0}"),
        (convolution("bf_io->bf", window=()), "f32[2,6] f32[6,4]", "f32[2,4]{1,0}"),
        (convolution(), "s8[2,8,8,6] u8[3,3,6,5]", "s8[2,6,6,5]{3,2,1,0}"),
        (convolution(), "f32[<=2,8,<=8,6] f32[3,3,6,5]", "f32[<=2,6,<=6,5]{3,2,1,0}"),
        (convolution(), "f32[?,?,8,6] f32[3,3,6,5]", "f32[?,?,6,5]{3,2,1,0}"),
        (convolution(), "f32[2,8,8,6] f32[<=3,3,<=6,5]", "f32[2,<=6,6,5]{3,2,1,0}"),
        (convolution(), "f32[2,2,8,6] f32[3,3,6,5]", "f32[2,0,6,5]{3,2,1,0}"),
    ],
)  # fmt: skip
def test_convolution(op: Convolution, operands: str, shape: str) -> None:
    assert infer(op, operands) == shape


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        (convolution(window=()), "f32[2,8,8,6] f32[3,3,6,5]", "window has 0 dimensions, 2 are"),
        (convolution(), "f32[2,8,8,6] f32[2,3,6,5]", "the window's size 3 in dimension 0 is"),
        (convolution(), "f32[2,8,8,6] f32[3,3,5,5]", "6 features, 1 groups of the kernel's 5"),
        (convolution(), "f32[2,8,6] f32[3,3,6,5]", "operand 0 is .* rank 4 is wanted"),
        (convolution(), "f32[2,8,8,6] f32[3,6,5]", "operand 1 is .* rank 4 is wanted"),
        (convolution("b0?1f_01io->b01f"), "f32[2,8,9,8,6] f32[3,3,6,5]", "rank 4 is wanted"),
        (convolution("b0?f_0io->b0f", window=KERNEL_OF_3[:1]), "f32[2,8,6] f32[3,6,5]",
         r"input dimensions of dim_labels \{0,3,1\}: 3 is out of range"),
        (convolution(feature_group_count=3), "f32[2,8,8,6] f32[3,3,2,5]",
         "5 output features are given, a multiple of 3 groups is wanted"),
        (convolution(batch_group_count=2), "f32[2,8,8,6] f32[3,3,6,5]",
         "5 output features are given, a multiple of 2 groups is wanted"),
        (convolution(batch_group_count=2), "f32[3,8,8,6] f32[3,3,6,4]", "3 input batches are"),
        (convolution(batch_group_count=2, feature_group_count=2), "f32[2,8,8,6] f32[3,3,3,4]",
         "one of them must be 1"),
        (convolution(feature_group_count=0), "f32[2,8,8,6] f32[3,3,6,5]",
         "feature_group_count is 0, at least 1 is wanted"),
        (convolution(window=(WindowDimension(3, stride=0), WindowDimension(3))),
         "f32[2,8,8,6] f32[3,3,6,5]", "must be at least 1"),
    ],
)  # fmt: skip
def test_convolution_refuses(op: Convolution, operands: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(op, operands)


def test_integer_sums_may_be_wider() -> None:
    operands = [parse_shape("s8[2,8,8,6]"), parse_shape("s8[3,3,6,5]")]
    convolution().check_shape(operands, [], parse_shape("s32[2,6,6,5]"))
    with pytest.raises(ShapeError, match="is declared"):
        convolution().check_shape(operands, [], parse_shape("s32[2,6,5,6]"))


LABELS = "window={size=3x3}, dim_labels=b01f_01io->b01f"


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (f"{LABELS}, conv_kind=dgrad", f"{LABELS}, convolution_kind=dgrad"),
        (
            f"operand_precision={{high,highest}}, convolution_kind=wgrad, {LABELS}",
            f"{LABELS}, convolution_kind=wgrad, operand_precision={{high,highest}}",
        ),
        (
            f"feature_group_count=2, {LABELS}, batch_group_count=3",
            f"{LABELS}, feature_group_count=2, batch_group_count=3",
        ),
        (f"{LABELS}, feature_group_count=1, batch_group_count=1", LABELS),
        ("dim_labels=bf_io->bf, window={}, convolution_kind=unset", "dim_labels=bf_io->bf"),
    ],
)
def test_print_order(given: str, printed: str) -> None:
    text = f"%r = f32[2] convolution(f32[2,8,8,6] %a, f32[3,3,6,5] %b), {given}"
    assert f"convolution(%a, %b), {printed}\n" in print_module(parse(text))


@pytest.mark.parametrize(
    ("kind", "length", "operand", "shape"),
    [
        ("FFT", (8,), "c64[2,8]{0,1}", "c64[2,8]{0,1}"),
        ("IFFT", (2, 8), "c128[2,8]", "c128[2,8]{1,0}"),
        ("RFFT", (8,), "f32[2,8]", "c64[2,5]{1,0}"),
        ("RFFT", (2, 7), "f64[2,7]{0,1}", "c128[2,4]{0,1}"),
        ("RFFT", (0,), "f32[2,0]", "c64[2,0]{1,0}"),
        ("RFFT", (8,), "f32[<=2,<=8]", "c64[<=2,<=5]{1,0}"),
        ("RFFT", (8,), "f32[?,?]", "c64[?,?]{1,0}"),
        ("IRFFT", (8,), "c64[2,5]", "f32[2,8]{1,0}"),
        ("IRFFT", (9,), "c128[2,5]", "f64[2,9]{1,0}"),
        ("IRFFT", (0,), "c64[2,0]", "f32[2,0]{1,0}"),
        ("IRFFT", (1, 2, 8), "c64[7,1,2,5]", "f32[7,1,2,8]{3,2,1,0}"),
    ],
)
def test_fft(kind: str, length: tuple[int, ...], operand: str, shape: str) -> None:
    assert infer(Fft(kind, length), operand) == shape


@pytest.mark.parametrize(
    ("kind", "length", "operand", "words"),
    [
        ("FFT", (8,), "f32[2,8]", r"operand of FFT is f32\[2,8\], complex elements are wanted"),
        ("IRFFT", (8,), "f32[2,5]", "operand of IRFFT is .* complex elements are wanted"),
        ("RFFT", (8,), "f16[2,8]", r"operand of RFFT is f16\[2,8\], f32 or f64 is wanted"),
        ("RFFT", (8,), "c64[2,8]", "f32 or f64 is wanted"),
        ("FFT", (7,), "c64[2,8]", r"FFT of fft_length \{7\} last dimensions \{7\} are wanted"),
        ("RFFT", (7,), "f32[2,8]", r"last dimensions \{7\} are wanted"),
        ("IRFFT", (3, 10), "c64[3,5]", r"last dimensions \{3,6\} are wanted"),
        ("FFT", (), "c64[2,8]", r"fft_length \{\} .* has 0 entries, 1 to 2 are wanted"),
        ("FFT", (1, 2, 8), "c64[2,8]", "has 3 entries, 1 to 2 are wanted"),
        ("FFT", (2, 8, 2, 2), "c64[2,8,2,2]", "has 4 entries, 1 to 3 are wanted"),
    ],
)
def test_fft_refuses(kind: str, length: tuple[int, ...], operand: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(Fft(kind, length), operand)
