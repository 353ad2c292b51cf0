"""Fourier transforms: the host's library, in the precision of the operand."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import scipy_fft
from hlotool.ops.convolution import Fft

_NAMES = {"FFT": "fftn", "IFFT": "ifftn", "RFFT": "rfftn", "IRFFT": "irfftn"}
"""The library's functions."""


def transformed(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the transform of an array.

    The evaluator computes it in double precision; here an error of a few units in the last place
    is taken for several times the speed.
    """
    (operand,) = operands
    op = frame.instruction.op
    assert isinstance(op, Fft)
    if not operand.size:
        return op.evaluate(operands, frame)
    dimensions = tuple(range(operand.ndim - len(op.fft_length), operand.ndim))
    transform = getattr(scipy_fft, _NAMES[op.fft_type])
    return transform(operand, op.fft_length, dimensions)
