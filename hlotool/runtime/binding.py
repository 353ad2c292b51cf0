"""What the shared code must know of a compiled module: tables in memory, and a function of Python.

The layouts are those of `hlotool/codegen/native/arrays.ll`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlotool.codegen.native.text import control_word
from hlotool.codegen.program.program import ENTRY, PROFILE_COUNTERS, Program, Slot
from hlotool.codegen.target import Target
from hlotool.ir.frame import Array
from hlotool.ir.shape import ArrayShape
from hlotool.runtime.constants import constant_array
from hlotool.runtime.host_arrays import strides_of
from hlotool.runtime.llvm import LoadedCode
from hlotool.runtime.memory import Temporaries, result_blocks, strided_result_blocks
from hlotool.runtime.native import native
from hlotool.runtime.threads import watch_forks

_pointer = ctypes.c_void_p
_word = ctypes.c_int64


class _Leaf(ctypes.Structure):
    _fields_ = (
        ("element_type", _pointer),
        ("rank", _word),
        ("sizes", _pointer),
        ("strides", _pointer),
        ("bytes", _word),
        ("blocks", _pointer),
        ("shared", _word),
        ("is_given", _word),
    )


class _Binding(ctypes.Structure):
    _fields_ = (
        ("entry", _pointer),
        ("context", _pointer),
        ("argument_count", _word),
        ("arguments", _pointer),
        ("result_count", _word),
        ("results", _pointer),
        ("convert", _pointer),
        ("is_single", _word),
        ("temporaries", _pointer),
        ("releases", _word),
        ("control", _word),
        ("numpy", _pointer),
        ("host", _pointer),
        ("owner", _pointer),
    )


@dataclass(frozen=True)
class Calling:
    """How a module is called, beside what its program says."""

    convert: Callable[..., tuple[Array, ...]]
    """Makes arrays that fit of any arguments, or raises."""
    host: Any
    """A function of C that answers host calls."""
    is_single: bool
    """Whether the result is one array, not a tuple of any."""
    releases: bool
    """Whether other threads of Python may run meanwhile."""
    donated: frozenset[int]
    """The arguments whose memory the module may take, by their numbers."""
    threads: int
    libraries: int = 0
    """The address of the table of functions of libraries."""


class Loaded:
    """A compiled module in memory, with all that it needs at run time."""

    def __init__(
        self, program: Program, code: LoadedCode, target: Target, calling: Calling
    ) -> None:
        shared = native()
        watch_forks()
        self._calling = calling
        self._kept: list[object] = [code, shared]
        self.temporaries = Temporaries(program.temporary_bytes)
        self.counters = np.empty((len(program.launches), PROFILE_COUNTERS), np.uint64)
        """For each launch all its ticks, how often it ran, and its fewest ticks, if counted."""
        self.reset_counters()
        self.threads = _word(calling.threads)
        self._binding = _Binding(
            entry=code.address(ENTRY),
            context=self._context(program),
            argument_count=len(program.arguments),
            arguments=self._leaves(program.arguments),
            result_count=len(program.results),
            results=self._results(program),
            convert=id(calling.convert),
            is_single=calling.is_single,
            temporaries=self.temporaries.address,
            releases=calling.releases,
            control=control_word(target),
            numpy=ctypes.addressof(shared.numpy),
            host=ctypes.cast(calling.host, _pointer),
            owner=id(self),
        )
        self._context_table[Slot.HOST_STATE] = ctypes.addressof(self._binding)

    def reset_counters(self) -> None:
        """Lets the counters begin anew: nothing has run, and any number of ticks is fewer."""
        self.counters[:] = 0, 0, np.iinfo(np.uint64).max

    def function(self) -> Any:
        """Returns the function of Python that takes the arrays of the arguments, in order.

        It returns the array of the result or a tuple of them, or `None` where a host call says
        that it has failed.
        """
        return native().python_function(ctypes.addressof(self._binding), self)

    def _context(self, program: Program) -> int:
        constants = [constant_array(one) for one in program.constants]
        addresses = _addresses([one.ctypes.data for one in constants])
        self._kept += [constants, addresses]
        table = (_pointer * len(Slot))()
        table[Slot.CONSTANTS] = ctypes.addressof(addresses)
        table[Slot.HOST_CALL] = native().address("hlotool_host_call")
        table[Slot.PARALLEL] = native().address("hlotool_parallel")
        table[Slot.POOL] = ctypes.addressof(self.threads)
        table[Slot.LIBRARIES] = self._calling.libraries
        table[Slot.PROFILE] = self.counters.ctypes.data
        self._context_table = table
        return ctypes.addressof(table)

    def _leaves(self, shapes: Sequence[ArrayShape]) -> int:
        table = (_Leaf * max(1, len(shapes)))()
        for leaf, shape in zip(table, shapes, strict=False):
            self._fill(leaf, shape)
        self._kept.append(table)
        return ctypes.addressof(table)

    def _results(self, program: Program) -> int:
        address = self._leaves(program.results)
        table = (_Leaf * max(1, len(program.results))).from_address(address)
        for leaf, shape in zip(table, program.results, strict=False):
            is_plain = shape.layout.is_default or not leaf.strides
            leaf.blocks = (result_blocks if is_plain else strided_result_blocks)(leaf.bytes)
            leaf.shared = -1
        for result, argument in program.shared:
            table[result].shared = argument
            table[result].is_given = argument in self._calling.donated
        return address

    def _fill(self, leaf: Any, shape: ArrayShape) -> None:
        element_type = shape.element_type.numpy
        sizes = _words(shape.dimensions)
        strides = _words(strides_of(shape))
        self._kept += [element_type, sizes, strides]
        leaf.element_type = id(element_type)
        leaf.rank = shape.rank
        leaf.sizes = ctypes.addressof(sizes)
        # Strides of what has no elements say nothing.
        leaf.strides = ctypes.addressof(strides) if shape.element_count else None
        leaf.bytes = shape.element_count * element_type.itemsize


def _words(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (_word * max(1, len(numbers)))(*numbers)


def _addresses(addresses: Sequence[int]) -> ctypes.Array[ctypes.c_void_p]:
    return (_pointer * max(1, len(addresses)))(*addresses)
