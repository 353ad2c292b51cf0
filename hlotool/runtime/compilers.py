"""LLVM in several threads at once: each uses a compiler, which shares nothing with the others.

llvmlite lets one thread at a time into LLVM, as modules of one context need. A compiler has a
target machine and passes of its own, and gives each module a context of its own.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from hlotool.codegen.target import Target
from hlotool.runtime.cores import usable_cores
from hlotool.runtime.llvm import (
    Passes,
    pass_builder,
    pass_manager,
    plain_loops,
    target_machine,
    watch_forks,
)
from hlotool.runtime.symbols import check_symbols

_MOST = 4
_KEPT_MACHINES = 8


def _unlocked(name: str) -> Callable[..., Any]:
    """Returns a function of llvmlite without its lock, where it has one."""
    function = getattr(llvm.ffi.lib, name)
    found: Callable[..., Any] = getattr(function, "_cfn", function)
    return found


# The functions that take long; all others wait for the lock, which nobody has for long then.
_parse = _unlocked("LLVMPY_ParseAssembly")
_run = _unlocked("LLVMPY_RunNewModulePassManager")
_emit = _unlocked("LLVMPY_TargetMachineEmitToMemory")


class Compiler:
    """What one thread at a time, which holds `lock`, needs to compile."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._machines: dict[tuple[Target, int], llvm.TargetMachine] = {}
        # LLVM does not let go of the passes of a manager, so there is one for all modules.
        self._managers: dict[Passes, llvm.ModulePassManager] = {}

    def object_code(self, text: str, target: Target, passes: Passes, level: int) -> bytes:
        """Returns the object file of LLVM IR; at level 0 it is made soon and not well."""
        machine = self._machine(target, level)
        with llvm.create_context() as context, _parsed(text, context) as module:
            module.triple = target.triple
            module.data_layout = str(machine.target_data)
            module.verify()
            if passes:
                _run(self._manager(passes), module, pass_builder(machine))
            with plain_loops():
                return _object_code(machine, module)

    def _machine(self, target: Target, level: int) -> llvm.TargetMachine:
        # What LLVM works out about a processor takes a millisecond.
        if (target, level) not in self._machines:
            if len(self._machines) == _KEPT_MACHINES:
                self._machines.clear()
            self._machines[target, level] = target_machine(target, level)
        return self._machines[target, level]

    def _manager(self, passes: Passes) -> llvm.ModulePassManager:
        if passes not in self._managers:
            self._managers[passes] = pass_manager(passes)
        return self._managers[passes]


def _parsed(text: str, context: llvm.ContextRef) -> llvm.ModuleRef:
    with llvm.ffi.OutputString() as error:
        found = _parse(context, ctypes.c_char_p(text.encode()), error)
        if not found:
            raise RuntimeError(f"LLVM cannot read its IR: {error}")
    return llvm.ModuleRef(found, context)


def _object_code(machine: llvm.TargetMachine, module: llvm.ModuleRef) -> bytes:
    with llvm.ffi.OutputString() as error:
        buffer = _emit(machine, module, 1, error)
        if not buffer:
            raise RuntimeError(f"LLVM makes no code: {error}")
    library = llvm.ffi.lib
    try:
        begin, size = library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(begin, size)
    finally:
        library.LLVMPY_DisposeMemoryBuffer(buffer)


MOST_AT_ONCE = min(_MOST, usable_cores())
"""How many threads can compile at the same time."""
_COMPILERS = tuple(Compiler() for _ in range(MOST_AT_ONCE))
_turns = itertools.count()
watch_forks([compiler.lock for compiler in _COMPILERS])


def compiled_code(text: str, target: Target, passes: Passes, *, is_quick: bool = False) -> bytes:
    """Returns the object file of LLVM IR, which a thread can make while others do the same.

    Quick code is made in a fourth of the time, and not well. Raises `AssertionError` for what calls
    a function that LLVM or the process may not know.
    """
    check_symbols(text)
    for compiler in _COMPILERS:
        if compiler.lock.acquire(blocking=False):
            break
    else:
        compiler = _COMPILERS[next(_turns) % MOST_AT_ONCE]
        compiler.lock.acquire()
    try:
        return compiler.object_code(text, target, passes, 0 if is_quick else 2)
    finally:
        compiler.lock.release()
