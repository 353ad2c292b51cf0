"""Functions of OpenBLAS for kernels, where its wheel `scipy-openblas64` is installed.

It is a copy of the library apart from those of numpy and scipy, and works on the caller's
thread alone: kernels share their work among threads themselves.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from hlotool.codegen.kernels.libraries import LibraryFunction
from hlotool.errors import UnsupportedError

_PACKAGE = "scipy_openblas64"
_NAME = "libscipy_openblas64_"


@lru_cache(maxsize=1)
def present_functions() -> frozenset[str]:
    """Returns the names of the functions that kernels may call; the library is not loaded yet."""
    return frozenset(one.name.lower() for one in LibraryFunction) if _file() else frozenset()


@lru_cache(maxsize=1)
def table_address() -> int:
    """Returns the address of the table of all functions; loads the library.

    Raises `UnsupportedError` where it is not there, or is not what it says.
    """
    file = _file()
    if file is None:
        raise UnsupportedError(f"the code calls OpenBLAS, and {_PACKAGE} is not installed")
    try:
        library = ctypes.CDLL(str(file))
        library.scipy_openblas_set_num_threads64_(1)
        functions = [getattr(library, f"scipy_cblas_{one}64_") for one in _names()]
    except (OSError, AttributeError) as error:
        raise UnsupportedError(f"OpenBLAS cannot be used: {error}") from None
    addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in functions]
    table = (ctypes.c_void_p * len(addresses))(*addresses)
    _kept.extend((library, table))
    return ctypes.addressof(table)


_kept: list[object] = []
"""The library and its table, which last as long as the process."""


def _names() -> list[str]:
    return [one.name.lower() for one in sorted(LibraryFunction)]


def _file() -> Path | None:
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.origin:
        return None
    folder = Path(spec.origin).parent / "lib"
    found = sorted(one for one in folder.glob(f"{_NAME}*") if one.suffix in (".so", ".dylib"))
    return found[0] if found else None
