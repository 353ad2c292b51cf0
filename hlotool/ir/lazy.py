"""numpy, ml_dtypes and scipy, each loaded when one of its names is first used.

Importing numpy takes 0.1 to 0.25 s and scipy more, while most commands never touch a value:
what knows about values takes the packages from here, under their usual names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ml_dtypes
    import numpy
    import scipy.fft as scipy_fft
    import scipy.linalg as scipy_linalg
    import scipy.special as scipy_special

__all__ = ["LazyModule", "ml_dtypes", "numpy", "scipy_fft", "scipy_linalg", "scipy_special"]


class LazyModule:
    """Stands for a module until somebody asks for a name in it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        # The next time the name is found without coming here.
        setattr(self, name, found)
        return found


if not TYPE_CHECKING:
    ml_dtypes = LazyModule("ml_dtypes")
    numpy = LazyModule("numpy")
    scipy_fft = LazyModule("scipy.fft")
    scipy_linalg = LazyModule("scipy.linalg")
    scipy_special = LazyModule("scipy.special")
