"""The code that compiled modules share, loaded once for the life of the process."""

from __future__ import annotations

import ctypes
import importlib
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llvmlite
import numpy as np

from hlotool.codegen.native.text import POINTER_BYTES, is_known, native_text
from hlotool.codegen.target import Target
from hlotool.errors import UnsupportedError
from hlotool.runtime.cache import SHARED, key_of, user_cache
from hlotool.runtime.compilers import compiled_code
from hlotool.runtime.llvm import NATIVE_PASSES, LoadedCode, host_target

_EXPORTED = (
    "hlotool_parallel",
    "hlotool_forget_workers",
    "hlotool_workers",
    "hlotool_take_block",
    "hlotool_give_block",
    "hlotool_free_blocks",
    "hlotool_result_dies",
    "hlotool_host_call",
    "hlotool_call",
    "hlotool_binding_dies",
)
_METH_FASTCALL = 0x80
# Functions of numpy keep their places in its table for ever: extension modules rely on it.
_ARRAY_TYPE, _NEW_FROM_DESCR, _SET_BASE_OBJECT = 2, 94, 282


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


class NumpyTable(ctypes.Structure):
    """What the shared code calls of numpy."""

    _fields_ = (
        ("array_type", ctypes.c_void_p),
        ("new_from_descr", ctypes.c_void_p),
        ("set_base_object", ctypes.c_void_p),
        ("none", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class Native:
    """The shared code and what it needs; it is never unloaded.

    Workers run it until the process ends, and results call it when they are gone.
    """

    code: LoadedCode
    numpy: NumpyTable
    method: _MethodDefinition

    def address(self, name: str) -> int:
        """Returns the address of a function."""
        return self.code.address(name)

    def python_function(self, binding: int, owner: object) -> Any:
        """Returns the function of Python that runs the module of a binding, by its address.

        It keeps `owner` alive, to which the binding and all that it leads to belong.
        """
        python = ctypes.pythonapi
        capsule = python.PyCapsule_New(binding, None, self.address("hlotool_binding_dies"))
        python.Py_IncRef(ctypes.py_object(owner))
        return python.PyCFunction_NewEx(ctypes.byref(self.method), capsule, None)


_lock = threading.Lock()


def native() -> Native:
    """Returns the shared code; raises `UnsupportedError` on processors that it is not for."""
    if _native.cache_info().currsize:
        return _native()
    with _lock:
        # There must be one pool of threads, whoever asks first.
        return _native()


@lru_cache(maxsize=1)
def _native() -> Native:
    target = host_target()
    if not is_known(target):
        raise UnsupportedError(f"modules are not compiled for {target.architecture}")
    _declare_python()
    code = LoadedCode([_native_code(target)], list(_EXPORTED))
    method = _MethodDefinition(
        b"run", code.address("hlotool_call"), _METH_FASTCALL, b"Runs a compiled module."
    )
    found = Native(code, _numpy_table(), method)
    _keep_for_ever(found, code, *code.parts)
    return found


def _native_code(target: Target) -> bytes:
    """Returns the object file of the shared code, from the disk where it was made before."""
    text = native_text(target, object.__basicsize__)
    cache = user_cache()
    key = SHARED + key_of(text, target.triple, target.cpu, target.features, llvmlite.__version__)
    code = cache.read(key)
    if code is None:
        code = compiled_code(text, target, NATIVE_PASSES)
        cache.write(key, code)
    return code


def _declare_python() -> None:
    python = ctypes.pythonapi
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    python.PyCFunction_NewEx.restype = ctypes.py_object
    python.PyCFunction_NewEx.argtypes = (
        ctypes.POINTER(_MethodDefinition), ctypes.py_object, ctypes.c_void_p,
    )  # fmt: skip
    python.Py_IncRef.restype = None
    python.Py_IncRef.argtypes = (ctypes.py_object,)


def _numpy_table() -> NumpyTable:
    module = importlib.import_module("numpy._core._multiarray_umath")
    capsule = module._ARRAY_API  # noqa: SLF001 - extension modules find it there
    address = ctypes.pythonapi.PyCapsule_GetPointer(capsule, None)
    table = (ctypes.c_void_p * (_SET_BASE_OBJECT + 1)).from_address(address)
    assert table[_ARRAY_TYPE] == id(np.ndarray), "numpy has another table of functions"
    _check_arrays()
    return NumpyTable(table[_ARRAY_TYPE], table[_NEW_FROM_DESCR], table[_SET_BASE_OBJECT], id(None))


def _check_arrays() -> None:
    """Checks that arrays lie in memory as the shared code reads them."""
    array = np.zeros((3, 5), np.float32)
    words = (ctypes.c_size_t * 7).from_address(id(array) + object.__basicsize__)
    head = (ctypes.c_size_t * (object.__basicsize__ // POINTER_BYTES)).from_address(id(array))
    assert head[-1] == id(np.ndarray)
    assert words[0] == array.ctypes.data
    assert words[1] & 0xFFFFFFFF == array.ndim
    assert (ctypes.c_ssize_t * 2).from_address(words[2])[:] == [3, 5]
    assert (ctypes.c_ssize_t * 2).from_address(words[3])[:] == [20, 4]
    assert words[5] == id(array.dtype)
    assert words[6] & 0xFFFFFFFF == array.flags.num


def _keep_for_ever(*objects: object) -> None:
    for one in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))
