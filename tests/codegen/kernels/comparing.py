"""Compiles a module, and compares what it yields with what the evaluator does."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hlotool
from hlotool.codegen.target import Target
from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.shape import ArrayShape
from hlotool.runtime.compilation import compiled
from hlotool.runtime.llvm import host_target
from hlotool.text.parser import parse

Array = NDArray[Any]
BOUNDS = {4: 2e-5, 8: 1e-12, 2: 4e-3}
"""Largest error for each size of a part of an element, relative to the root mean square."""


def random_arguments(text: str, seed: int = 0) -> list[Array]:
    """Returns an array for each parameter of the entry."""
    chance = np.random.default_rng(seed)
    found = []
    for parameter in parse(text).entry.parameters:
        assert isinstance(parameter.shape, ArrayShape)
        found.append(_random(parameter.shape.element_type, parameter.shape.dimensions, chance))
    return found


def _random(kind: ElementType, sizes: Sequence[int], chance: np.random.Generator) -> Array:
    if kind is PRED:
        return chance.random(sizes) < 0.3
    if kind.is_integer:
        bits = min(kind.bits - kind.is_signed, 30)
        low = -(1 << bits) if kind.is_signed else 0
        return chance.integers(low, 1 << bits, sizes).astype(kind.numpy)
    made = chance.standard_normal(sizes)
    if kind.is_complex:
        return (made + 1j * chance.standard_normal(sizes)).astype(kind.numpy)
    return made.astype(kind.numpy)


def check_compiled(
    text: str, arguments: Sequence[Array] | None = None, target: Target | None = None
) -> None:
    """Asserts that a module runs without the host, and yields what the evaluator does, nearly."""
    arguments = random_arguments(text) if arguments is None else arguments
    made = compiled(parse(text), target or host_target())
    assert [(call.instruction.name, call.reason) for call in made.program.host_calls] == []
    wanted = hlotool.evaluate(text, *arguments)
    results = list(wanted) if isinstance(wanted, tuple) else [wanted]
    for one, other in zip(made.run(arguments), results, strict=True):
        assert_near(one, np.asarray(other))


def assert_near(found: Array, wanted: Array) -> None:
    """Asserts that integers are equal, and that floats differ by little; NaN is NaN."""
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, wanted)
        return
    one, other = found.astype(np.complex128), wanted.astype(np.complex128)
    np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
    if not one.size or np.isnan(other).all():
        return
    size = found.dtype.itemsize // (2 if found.dtype.kind == "c" else 1)
    scale = np.sqrt(np.nanmean(np.abs(other) ** 2))
    assert np.nanmax(np.abs(one - other)) <= BOUNDS[size] * scale
