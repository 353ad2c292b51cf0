"""Triangular matrices: factors and solutions, for all matrices of a batch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir.lazy import numpy as np

if TYPE_CHECKING:
    from hlotool.ir.frame import Array


def adjoint(matrices: Array) -> Array:
    """Returns each matrix transposed and conjugated."""
    return np.conj(np.swapaxes(matrices, -1, -2))


def lower_factor(matrices: Array) -> Array:
    """Returns l, lower triangular with l·lᴴ = a, for each matrix a; reads lower triangles only.

    A matrix that is not positive definite has NaN in place of its factor.
    """
    factor = np.zeros_like(matrices)
    is_definite = np.ones(matrices.shape[:-2], np.bool_)
    for column in range(matrices.shape[-1]):
        done = factor[..., column:, :column]
        row = np.conj(factor[..., column, :column, None])
        rest = matrices[..., column:, column] - np.matmul(done, row)[..., 0]
        # The diagonal is real by definition: what else may stand there is not read.
        pivot = rest[..., 0].real
        is_definite &= pivot > 0
        root = np.sqrt(pivot)
        factor[..., column:, column] = rest / root[..., None]
        factor[..., column, column] = root
    factor[~is_definite] = np.nan
    return factor


def lower_solution(matrices: Array, right: Array, *, unit_diagonal: bool) -> Array:
    """Returns x with a·x = b for each lower triangular a; reads lower triangles only."""
    solution = np.zeros_like(right)
    for row in range(matrices.shape[-1]):
        known = np.matmul(matrices[..., row : row + 1, :row], solution[..., :row, :])
        rest = right[..., row, :] - known[..., 0, :]
        pivot = matrices[..., row, row, None]
        solution[..., row, :] = rest if unit_diagonal else rest / pivot
    return solution


def upper_solution(matrices: Array, right: Array, *, unit_diagonal: bool) -> Array:
    """Returns x with a·x = b for each upper triangular a; reads upper triangles only."""
    turned = lower_solution(
        matrices[..., ::-1, ::-1], right[..., ::-1, :], unit_diagonal=unit_diagonal
    )
    return turned[..., ::-1, :]
