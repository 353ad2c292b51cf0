"""Scatter kernels against the evaluator: the same bits, however the rows are cut."""

from collections.abc import Sequence

import numpy as np
import pytest

from hlotool.codegen.kernels.loops import scatters
from hlotool.ir.shape import ArrayShape
from hlotool.text.parser import parse
from tests.codegen.kernels import random_moves
from tests.codegen.kernels.one_kernel import Array, OneKernel, check, random_array


@pytest.fixture(autouse=True)
def _many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scatters, "_INDEX_NANOSECONDS", 0.01)


def arguments_of(text: str, seed: int) -> list[Array]:
    """Returns arguments of a module whose indices lie inside, and now and then outside."""
    random = np.random.default_rng(seed)
    found = []
    for parameter in parse(text).entry.parameters:
        shape = parameter.shape
        assert isinstance(shape, ArrayShape)
        if shape.element_type.name == "bf16":
            found.append(random.standard_normal(shape.dimensions).astype(shape.element_type.numpy))
        elif shape.element_type.name == "s32":
            found.append(random.integers(-1, 6, shape.dimensions).astype(np.int32))
        else:
            found.append(random_array(shape, random))
    return found


def check_scatter(seed: int) -> None:
    """Checks a random scatter: into fresh memory, or that of its arrays."""
    module = random_moves.scatter(seed)
    shared: Sequence[tuple[int, int]] = ()
    if seed % 2:
        count = len(module.parameters) // 2
        shared = [(n, n) for n in range(count)]
    check(module.text, arguments_of(module.text, seed), shared)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_scatter_yields_what_the_evaluator_does(seed: int) -> None:
    check_scatter(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 600))
def test_many_random_scatters(seed: int) -> None:
    check_scatter(seed)


ADD = """
c {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
"""
NUMBERS = (
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},"
    " index_vector_dim=1, to_apply=c"
)


def test_updates_of_one_place_are_added_in_order() -> None:
    # Sums of such different numbers depend on their order.
    text = random_moves.Module(
        f"f32[40,19] scatter(p0, p1, p2), {NUMBERS}",
        ["f32[40,19]", "s32[500]", "f32[500,19]"],
        ADD,
    ).text
    random = np.random.default_rng(0)
    updates = random.standard_normal((500, 19)) * 10.0 ** random.integers(-6, 7, (500, 1))
    arguments = [
        np.zeros((40, 19), np.float32),
        random.integers(-3, 43, 500).astype(np.int32),
        updates.astype(np.float32),
    ]
    assert check(text, arguments).launch.grain < 40


def test_updates_and_indices_are_computed_on_the_way() -> None:
    body = [
        "k = s32[] constant(2)",
        "b = s32[60] broadcast(k), dimensions={}",
        "i = s32[60] multiply(p1, b)",
        "v = s32[60,1] reshape(i)",
        "u = f32[60,19] multiply(p2, p2)",
    ]
    text = random_moves.Module(
        f"f32[40,19] scatter(p0, v, u), {NUMBERS}",
        ["f32[40,19]", "s32[60]", "f32[60,19]"],
        ADD,
        body,
    ).text
    check(text, arguments_of(text, 1))
    check(text, arguments_of(text, 2), [(0, 0)])


def test_an_array_that_is_also_an_update_is_not_changed_in_place() -> None:
    text = random_moves.Module(
        f"f32[40,19] scatter(p0, p1, p0), {NUMBERS}", ["f32[40,19]", "s32[40]"], ADD
    ).text
    check(text, arguments_of(text, 1))
    with pytest.raises(Exception, match="read while it is updated in place"):
        OneKernel(text, [(0, 0)])
