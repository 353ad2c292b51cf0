"""What libraries of matrix products and convolutions do to a result before they store it."""

from __future__ import annotations

from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np
from hlotool.ir.lazy import scipy_special

_GELU_SLOPE = 0.7978845608028654  # √(2/π)
_GELU_CUBIC = 0.044715


def relu(x: Array) -> Array:
    """Returns x where it is positive, else zero; NaN stays."""
    return np.asarray(np.maximum(x, x.dtype.type(0)))


def relu6(x: Array) -> Array:
    """Returns x between 0 and 6, else the nearer of the two; NaN stays."""
    return np.clip(x, x.dtype.type(0), x.dtype.type(6))


def gelu_tanh(x: Array) -> Array:
    """Returns x·Φ(x) with the normal distribution Φ approximated by a hyperbolic tangent."""
    wide = x.astype(np.float64)
    inner = _GELU_SLOPE * (wide + _GELU_CUBIC * wide**3)
    return np.asarray(0.5 * wide * (1 + np.tanh(inner))).astype(x.dtype)


def gelu_erf(x: Array) -> Array:
    """Returns x·Φ(x) with the normal distribution Φ."""
    wide = x.astype(np.float64)
    return np.asarray(wide * scipy_special.ndtr(wide)).astype(x.dtype)


def sigmoid(x: Array) -> Array:
    """Returns 1 / (1 + e^-x)."""
    return np.asarray(scipy_special.expit(x.astype(np.float64))).astype(x.dtype)


def swish(x: Array) -> Array:
    """Returns x / (1 + e^-x)."""
    return np.asarray(x * sigmoid(x))


def tanh(x: Array) -> Array:
    """Returns the hyperbolic tangent."""
    return np.tanh(x)


def elu(x: Array) -> Array:
    """Returns x where it is positive, else e^x - 1."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, x.dtype.type(0))))
