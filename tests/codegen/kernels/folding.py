"""Modules that fold, and how near the results of their kernels must be to the evaluator's."""

from collections.abc import Sequence

import numpy as np

import hlotool
from hlotool.codegen.target import Target
from tests.codegen.kernels.one_kernel import Array, OneKernel, Shared, assert_same_bits

TOLERANCES = {
    "f64": 1e-13, "f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2, "c64": 2e-5, "c128": 1e-13,
    "f8e5m2": 0.3, "f8e4m3fn": 0.15,
}  # fmt: skip
"""How far results may be apart, as a part of the largest; other types must be equal."""


def reducer(op: str, kind: str, name: str = "reducer") -> str:
    """Returns the text of a computation that is one op."""
    return f"""{name} {{
  a = {kind}[] parameter(0)
  b = {kind}[] parameter(1)
  ROOT r = {kind}[] {op}(a, b)
}}
"""


def check_folds(
    text: str,
    arguments: Sequence[Array],
    shared: Shared = (),
    target: Target | None = None,
    tolerance: float | None = None,
) -> OneKernel:
    """Asserts that a kernel yields what the evaluator does, with the same bits however it is cut.

    Sums may differ by the tolerance of their type, or one that is given.
    """
    found = OneKernel(text, shared, target)
    wanted = hlotool.evaluate(text, *arguments)
    results = list(wanted) if isinstance(wanted, tuple) else [wanted]
    whole = found.run(arguments)
    for cuts in ((1,), (1, 2, 3, 5, 8)):
        for one, other in zip(found.run(arguments, cuts), whole, strict=True):
            assert_same_bits(one, other)
    shapes = [leaf for _, leaf in found.body.instruction.shape.leaves() if not leaf.is_tuple]
    for one, other, shape in zip(whole, results, shapes, strict=True):
        name = shape.element_type.name  # type: ignore[attr-defined]
        assert_near(one, other, TOLERANCES.get(name, 0.0) if tolerance is None else tolerance)
    return found


def assert_near(one: Array, other: Array, tolerance: float) -> None:
    """Asserts that numbers are alike but for a part of the largest; NaNs and infinities are."""
    assert one.shape == other.shape
    mine, wanted = (_wide(array) for array in (one, other))
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(np.where(finite, 0, mine), np.where(finite, 0, wanted))
    if finite.any():
        scale = max(np.abs(wanted[finite]).max(), 1e-30)
        worst = np.abs(mine[finite] - wanted[finite]).max() / scale
        assert worst <= tolerance, f"results differ by {worst} of the largest"


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
