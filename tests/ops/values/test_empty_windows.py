"""Values of ops that read and write windows where a window or the array has no elements."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluating import entry, evaluated


@pytest.mark.parametrize(
    ("operand", "attributes", "size"),
    [
        ("0", "collapsed_slice_dims={0}, offset_dims={}, slice_sizes={0}", "1"),
        ("4", "collapsed_slice_dims={0}, offset_dims={}, slice_sizes={0}", "1"),
        ("0,3", "collapsed_slice_dims={0}, offset_dims={1}, slice_sizes={0,3}", "1,3"),
        ("0,3", "collapsed_slice_dims={}, offset_dims={1,2}, slice_sizes={0,3}", "1,0,3"),
    ],
)
def test_windows_without_elements_are_zeros(operand: str, attributes: str, size: str) -> None:
    text = entry(
        f"x = s32[{operand}] parameter(0)\ni = s32[1,1] parameter(1)\n"
        f"ROOT r = s32[{size}] gather(x, i), start_index_map={{0}}, index_vector_dim=1,"
        f" {attributes}"
    )
    wanted = np.zeros([int(number) for number in size.split(",")], np.int32)
    sizes = [int(number) for number in operand.split(",")]
    for start in (-1, 0, 7):
        found = evaluated(text, np.ones(sizes, np.int32), np.array([[start]], np.int32))
        assert found.shape == wanted.shape
        assert (found == wanted).all()


def test_windows_without_elements_along_a_batch_are_zeros() -> None:
    text = entry(
        "x = s32[2,3] parameter(0)\ni = s32[2,1] parameter(1)\n"
        "ROOT r = s32[2,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={},"
        " start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0},"
        " index_vector_dim=1, slice_sizes={0,2}"
    )
    found = evaluated(text, np.ones((2, 3), np.int32), np.array([[0], [1]], np.int32))
    assert found.tolist() == [[0, 0], [0, 0]]


def test_updates_of_an_array_without_elements_are_left_out() -> None:
    adding = "f {\na = s32[] parameter(0)\nb = s32[] parameter(1)\nROOT c = s32[] add(a, b)\n}"
    text = entry(
        "x = s32[0] parameter(0)\ni = s32[2,1] parameter(1)\nu = s32[2] parameter(2)\n"
        "ROOT r = s32[0] scatter(x, i, u), to_apply=f, update_window_dims={},"
        " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        adding,
    )
    found = evaluated(
        text, np.zeros(0, np.int32), np.array([[0], [-1]], np.int32), np.array([1, 2], np.int32)
    )
    assert found.shape == (0,)


@pytest.mark.parametrize("start", [-1, 0, 5])
def test_parts_without_elements(start: int) -> None:
    body = "x = s32[0,3] parameter(0)\ni = s32[] parameter(1)\n"
    array, index = np.zeros((0, 3), np.int32), np.array(start, np.int32)
    part = body + "ROOT r = s32[0,2] dynamic-slice(x, i, i), dynamic_slice_sizes={0,2}"
    assert evaluated(entry(part), array, index).shape == (0, 2)
    update = "u = s32[0,2] slice(x), slice={[0:0], [0:2]}\n"
    whole = body + update + "ROOT r = s32[0,3] dynamic-update-slice(x, u, i, i)"
    assert evaluated(entry(whole), array, index).shape == (0, 3)
