"""Kernels of triangular-solve and cholesky against the evaluator."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hlotool.runtime.compilation import compiled
from hlotool.text.parser import parse
from tests.codegen.kernels.comparing import check_compiled
from tests.codegen.kernels.module_texts import shape_text

Array = NDArray[Any]
DTYPES = {"f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}
SIZES = [((), 1, 1), ((2,), 5, 3), ((), 33, 70), ((2, 2), 9, 20)]
"""Batch dimensions, the size of the matrix, and how many columns the other side has."""


def random_matrices(kind: str, sizes: tuple[int, ...]) -> Array:
    chance = np.random.default_rng(sum(sizes))
    made = chance.standard_normal(sizes)
    if kind.startswith("c"):
        made = made + 1j * chance.standard_normal(sizes)
    return made.astype(DTYPES[kind])


def module(kind: str, sizes: list[tuple[int, ...]], result: str) -> str:
    parameters = "".join(
        f"  p{number} = {shape_text(kind, one)} parameter({number})\n"
        for number, one in enumerate(sizes)
    )
    return f"HloModule m, is_scheduled=true\nENTRY e {{\n{parameters}  ROOT r = {result}\n}}\n"


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("batch", "size", "count"), SIZES)
def test_triangular_solve(kind: str, batch: tuple[int, ...], size: int, count: int) -> None:
    ways = list(product((True, False), (True, False), ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")))
    for number, (is_left, is_lower, transposition) in enumerate(ways):
        if number % 4 != (size + len(kind)) % 4 and kind != "c64":
            continue
        other = (*batch, size, count) if is_left else (*batch, count, size)
        matrix = random_matrices(kind, (*batch, size, size)) / size + np.eye(size)
        text = module(
            kind,
            [(*batch, size, size), other],
            f"{shape_text(kind, other)} triangular-solve(p0, p1), left_side={str(is_left).lower()},"
            f" lower={str(is_lower).lower()}, unit_diagonal={str(number % 2 == 0).lower()},"
            f" transpose_a={transposition}",
        )
        check_compiled(text, [matrix.astype(DTYPES[kind]), random_matrices(kind, other)])


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize(("batch", "size", "_"), SIZES)
def test_cholesky(kind: str, lower: str, batch: tuple[int, ...], size: int, _: int) -> None:
    sizes = (*batch, size, size)
    root = random_matrices(kind, sizes)
    matrix = root @ np.conj(np.swapaxes(root, -1, -2)) + size * np.eye(size)
    text = module(kind, [sizes], f"{shape_text(kind, sizes)} cholesky(p0), lower={lower}")
    check_compiled(text, [matrix.astype(DTYPES[kind])])


def test_a_matrix_that_is_not_definite_has_a_factor_of_nan() -> None:
    matrices = np.stack([np.eye(6), -np.eye(6), np.full((6, 6), np.nan)]).astype("f4")
    text = module("f32", [(3, 6, 6)], f"{shape_text('f32', (3, 6, 6))} cholesky(p0), lower=true")
    (found,) = compiled(parse(text)).run([matrices])
    np.testing.assert_array_equal(found[0], np.eye(6, dtype="f4"))
    assert np.isnan(found[1:]).all()


def test_only_the_named_triangle_is_read() -> None:
    matrix = np.tril(np.full((20, 20), 0.1)) + np.eye(20)
    with_nan = matrix + np.triu(np.full((20, 20), np.nan), 1)
    right = np.arange(20.0).reshape(20, 1)
    text = module(
        "f64",
        [(20, 20), (20, 1)],
        "f64[20,1] triangular-solve(p0, p1), left_side=true, lower=true, unit_diagonal=false,"
        " transpose_a=NO_TRANSPOSE",
    )
    (found,) = compiled(parse(text)).run([with_nan, right])
    np.testing.assert_allclose(matrix @ found, right, rtol=1e-12)


def test_a_zero_on_the_diagonal_divides() -> None:
    text = module(
        "f64",
        [(2, 2), (2, 1)],
        "f64[2,1] triangular-solve(p0, p1), left_side=true, lower=true, unit_diagonal=false,"
        " transpose_a=NO_TRANSPOSE",
    )
    (found,) = compiled(parse(text)).run([np.array([[0.0, 0.0], [1.0, 1.0]]), np.ones((2, 1))])
    np.testing.assert_array_equal(found, [[np.inf], [-np.inf]])
