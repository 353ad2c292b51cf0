"""The functions by name: HLO's opcodes, and a few that HLO has no opcode for."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.math import (
    complex_exponentials,
    complex_inverse,
    complex_number,
    complex_powers,
    error_functions,
    exponentials,
    gamma,
    logarithms,
    powers,
    trigonometry,
)
from hlotool.codegen.math.complex_number import Complex
from hlotool.codegen.math.number import Number

Pair = tuple[Value, Value]
"""Real and imaginary part."""


def _entered(function: Callable[..., Number]) -> Callable[..., Value]:
    """Returns the function of a writer and values, instead of numbers."""

    def written(writer: FunctionWriter, *operands: Value) -> Value:
        together = writer.together(*operands)
        return function(*(Number(writer, operand) for operand in together)).value

    written.__name__ = function.__name__
    written.__doc__ = function.__doc__
    return written


_REAL: dict[str, Callable[..., Number]] = {
    "acos": trigonometry.acos,
    "acosh": logarithms.acosh,
    "asin": trigonometry.asin,
    "asinh": logarithms.asinh,
    "atan2": trigonometry.atan2,
    "atanh": logarithms.atanh,
    "cbrt": powers.cbrt,
    "cosh": exponentials.cosh,
    "cosine": trigonometry.cosine,
    "digamma": gamma.digamma,
    "erf": error_functions.erf,
    "erf-inv": error_functions.inverse_erf,
    "erfc": error_functions.erfc,
    "exp2": exponentials.exponential_base_two,
    "exponential": exponentials.exponential,
    "exponential-minus-one": exponentials.exponential_minus_one,
    "lgamma": gamma.lgamma,
    "log": logarithms.log,
    "log-plus-one": logarithms.log_plus_one,
    "log2": logarithms.log_base_two,
    "logistic": exponentials.logistic,
    "power": powers.power,
    "rsqrt": powers.rsqrt,
    "sine": trigonometry.sine,
    "sinh": exponentials.sinh,
    "sqrt": powers.sqrt,
    "tan": trigonometry.tangent,
    "tanh": exponentials.tanh,
}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    name: _entered(function) for name, function in _REAL.items()
}
"""Functions of real numbers: of a writer and values of `float` or `double`, to a value."""


def _entered_complex(function: Callable[..., Complex]) -> Callable[..., Pair]:
    """Returns the function of a writer and pairs, instead of complex numbers.

    Parts of `float` are computed as `double`, as the evaluator does: so nothing overflows on the
    way.
    """

    def written(writer: FunctionWriter, *operands: Pair) -> Pair:
        parts = writer.together(*(part for operand in operands for part in operand))
        numbers = [Number(writer, part) for part in parts]
        is_single = numbers[0].is_single
        if is_single:
            numbers = [number.widened() for number in numbers]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        found = function(*(Complex(*pair) for pair in pairs))
        if is_single:
            found = found.narrowed()
        return found.real.value, found.imaginary.value

    written.__name__ = function.__name__
    written.__doc__ = function.__doc__
    return written


def absolute(writer: FunctionWriter, operand: Pair) -> Pair:
    """Returns the magnitude of a complex number, and 0."""
    found = complex_number.magnitude(Complex(*(Number(writer, part) for part in operand)))
    return found.value, found.alike(0.0).value


def multiply(writer: FunctionWriter, one: Pair, other: Pair) -> Pair:
    """Returns the product of complex numbers, computed in their own width."""
    operands = (Complex(*(Number(writer, part) for part in pair)) for pair in (one, other))
    found = complex_number.multiply(*operands)
    return found.real.value, found.imaginary.value


_COMPLEX: dict[str, Callable[..., Complex]] = {
    "acos": complex_inverse.acos,
    "acosh": complex_inverse.acosh,
    "asin": complex_inverse.asin,
    "asinh": complex_inverse.asinh,
    "atan2": complex_powers.angle,
    "atanh": complex_inverse.atanh,
    "cosh": complex_exponentials.hyperbolic_cosine,
    "cosine": complex_exponentials.cosine,
    "divide": complex_number.divide,
    "exponential": complex_exponentials.exponential,
    "exponential-minus-one": complex_exponentials.minus_one,
    "log": complex_powers.log,
    "log-plus-one": complex_powers.log_plus_one_of,
    "logistic": complex_exponentials.logistic,
    "power": complex_powers.power,
    "rsqrt": complex_powers.rsqrt,
    "sign": complex_number.direction,
    "sine": complex_exponentials.sine,
    "sinh": complex_exponentials.hyperbolic_sine,
    "sqrt": complex_powers.sqrt,
    "tan": complex_exponentials.tangent,
    "tanh": complex_exponentials.tanh,
}
COMPLEX_FUNCTIONS: dict[str, Callable[..., Pair]] = {
    name: _entered_complex(function) for name, function in _COMPLEX.items()
} | {"abs": absolute, "multiply": multiply}
"""Functions of complex numbers: of a writer and pairs of values, to a pair."""
