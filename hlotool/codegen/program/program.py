"""What compilation of a module yields: text of LLVM IR, and what must be there to run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

from hlotool.codegen.kernels.libraries import LIBRARIES_SLOT
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape

ENTRY = "hlotool_run"
"""The function of a module: `i32 (ptr context, ptr arguments, ptr results, ptr temporaries)`.

`arguments` and `results` are tables of addresses of arrays, `temporaries` is memory aligned to
64 bytes. It returns 0, or 1 where a host call failed.
"""


class Slot(IntEnum):
    """The entries of the table of addresses that `context` is."""

    CONSTANTS = 0  # a table of addresses of arrays
    HOST_CALL = 1  # i32 (ptr state, i64 number, ptr addresses)
    HOST_STATE = 2  # the first argument of host calls
    PARALLEL = 3  # void (ptr pool, ptr function, ptr table, i64 count, i64 grain)
    POOL = 4  # the first argument of `PARALLEL`
    LIBRARIES = LIBRARIES_SLOT  # a table of addresses of functions, see `LibraryFunction`
    PROFILE = 6  # a table of counters, i64: for each launch as many as `PROFILE_COUNTERS`


PROFILE_COUNTERS = 3
"""What is counted of a launch: all its ticks, how often it ran, and the fewest ticks of a run."""
POLL = -1
"""The number of the host call that asks whether the first loop should go on.

The second loop asks with one less, and so on.
"""
POLL_ROUNDS = 1 << 14
"""After so many rounds a loop asks that."""


@dataclass(frozen=True)
class HostCall:
    """An instruction that is not compiled: the host evaluates it.

    The addresses are those of the arrays of all operands, then of the result's.
    """

    instruction: Instruction
    reason: str


@dataclass(frozen=True)
class LaunchedKernel:
    """A place of the schedule where a kernel runs."""

    instruction: Instruction
    kernel: str
    """The name of its function; equal kernels share one."""
    count: int
    grain: int
    is_parallel: bool
    nanoseconds: float = 0.0
    """About how long all of it takes, on one thread."""


@dataclass
class Program:
    """A compiled module, as text."""

    write: Callable[[], str]
    """Puts the text together."""
    arguments: list[ArrayShape]
    results: list[ArrayShape]
    temporary_bytes: int
    constants: list[Instruction]
    host_calls: list[HostCall]
    launches: list[LaunchedKernel]
    libraries: list[str]
    """Names of the functions of libraries that kernels call."""
    shared: list[tuple[int, int]] = field(default_factory=list)
    """Results that are computed in the memory of an argument: their numbers."""
    loops: list[Instruction] = field(default_factory=list)
    """The loops by the numbers with which they ask whether to go on."""

    @cached_property
    def text(self) -> str:
        """LLVM IR, as one module; empty where the code was read from disk."""
        return self.write()
