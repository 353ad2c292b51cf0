"""The table of functions of libraries, as kernels call them."""

import ctypes
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hlotool.codegen.kernels.libraries import LibraryFunction
from hlotool.errors import UnsupportedError
from hlotool.runtime import libraries

ROW_MAJOR, AS_IT_LIES, TURNED = 101, 111, 112


def test_without_the_library_there_are_no_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_file", lambda: None)
    libraries.present_functions.cache_clear()
    libraries.table_address.cache_clear()
    assert libraries.present_functions() == frozenset()
    with pytest.raises(UnsupportedError, match="not installed"):
        libraries.table_address()
    monkeypatch.undo()
    libraries.present_functions.cache_clear()
    libraries.table_address.cache_clear()


def test_functions_multiply_matrices() -> None:
    pytest.importorskip("scipy_openblas64")
    assert libraries.present_functions() == {one.name.lower() for one in LibraryFunction}
    table = (ctypes.c_void_p * len(LibraryFunction)).from_address(libraries.table_address())
    chance = np.random.default_rng(0)
    for wanted, dtype, scalar in (
        (LibraryFunction.SGEMM, np.float32, ctypes.c_float),
        (LibraryFunction.DGEMM, np.float64, ctypes.c_double),
    ):
        arrays: list[NDArray[Any]] = [
            np.asarray(chance.standard_normal((5, 5)), dtype) for _ in range(3)
        ]
        left, right, found = arrays
        integer, pointer = ctypes.c_int64, ctypes.c_void_p
        kinds = [ctypes.c_int] * 3 + [integer] * 3 + [scalar, pointer, integer, pointer, integer]
        function = ctypes.CFUNCTYPE(None, *kinds, scalar, pointer, integer)(table[wanted] or 0)
        function(
            ROW_MAJOR, AS_IT_LIES, TURNED, 5, 5, 5,
            1.0, left.ctypes.data, 5, right.ctypes.data, 5, 0.0, found.ctypes.data, 5,
        )  # fmt: skip
        np.testing.assert_allclose(found, left @ right.T, rtol=1e-5)
