"""LLVM: text of its IR to machine code, in this process."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from hlotool.codegen.target import FloatMode, Target
from hlotool.ir.process_setting import ProcessSetting
from hlotool.runtime.libraries import present_functions
from hlotool.runtime.symbols import check_symbols

_counter = itertools.count()
_LIBRARIES_OF_A_LOADER = 256
Passes = tuple[str, ...]
"""Names of LLVM's passes, in order."""
PASSES: Passes = ("simplify_cfg",)
"""What code written in vectors, with nothing to hoist, still needs: instructions are combined
where they are selected."""
NARROW_PASSES: Passes = ("instruction_combine", *PASSES)
"""Those of code with conversions from narrow types and back, which are then left out."""
NATIVE_PASSES: Passes = ("always_inliner", "sroa", "instruction_combine", "simplify_cfg")
"""Those that text written by hand, with calls of short functions, wants."""
_NARROW = re.compile(r"\bhalf\b| x i(?:8|16)>|load i(?:8|16),")
_PLAIN_LOOPS = {"disable-lsr": ("true", "false"), "enable-misched": ("false", "true")}
"""Switches of LLVM: what they are for us, and what they are otherwise."""


@lru_cache(maxsize=1)
def _initialized() -> bool:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return True


@lru_cache(maxsize=8)
def host_target(float_mode: FloatMode = FloatMode.STRICT) -> Target:
    """Returns the processor that this process runs on."""
    _initialized()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    wide = features.get("avx512f", False)
    return Target(
        triple,
        llvm.get_host_cpu_name(),
        features.flatten(),
        64 if wide else 32 if features.get("avx2", False) else 16,
        32 if wide or not triple.startswith("x86_64") else 16,
        float_mode,
        present_functions(),
    )


def target_machine(target: Target, level: int = 2) -> llvm.TargetMachine:
    """Returns LLVM's view of a target; at level 0 it makes code soon and not well."""
    _initialized()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=level, reloc="pic", codemodel="small"
    )


@lru_cache(maxsize=8)
def _kept_machine(target: Target) -> llvm.TargetMachine:
    # What LLVM works out about a processor takes a millisecond; all its calls hold one lock.
    return target_machine(target)


def parsed(text: str, target: Target) -> llvm.ModuleRef:
    """Returns a module of LLVM IR that is verified.

    Raises `AssertionError` for what calls a function that LLVM or the process may not know.
    """
    check_symbols(text)
    machine = _kept_machine(target)
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    return module


def passes_for(text: str) -> Passes:
    """Returns the passes that LLVM IR wants."""
    return NARROW_PASSES if _NARROW.search(text) else PASSES


def pass_manager(passes: Passes) -> llvm.ModulePassManager:
    """Returns a manager that runs some passes."""
    manager = llvm.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, f"add_{name}_pass")()
    return manager


def pass_builder(machine: llvm.TargetMachine) -> llvm.PassBuilder:
    """Returns what a run of passes takes beside its module."""
    return llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2))


# LLVM does not let go of the passes of a manager, so there is one for all modules.
_kept_manager = lru_cache(maxsize=8)(pass_manager)


def optimize(module: llvm.ModuleRef, target: Target, passes: Passes) -> None:
    """Runs passes over a module."""
    _kept_manager(passes).run(module, pass_builder(_kept_machine(target)))


def object_code(module: llvm.ModuleRef, target: Target) -> bytes:
    """Returns the machine code of a module as an object file."""
    with _emission, plain_loops():
        return bytes(_kept_machine(target).emit_object(module))


def assembly(module: llvm.ModuleRef, target: Target) -> str:
    """Returns the machine code of a module as assembly."""
    with _emission, plain_loops():
        return str(_kept_machine(target).emit_assembly(module))


def plain_loops() -> AbstractContextManager[None]:
    """Holds while LLVM leaves loops as they are written; in several threads at once, too.

    Addresses in them are sums of few parts already, so that reduction of strength takes half of
    LLVM's time to change nothing; and scheduling pulls loads ahead until sums leave registers.
    """
    # LLVM has these switches for all modules of the process; others lose little meanwhile.
    return _plain_loops.changed(lambda _: True)


def _set_plain_loops(ours: bool) -> None:  # noqa: FBT001
    for name, (value, otherwise) in _PLAIN_LOOPS.items():
        llvm.set_option("hlotool", f"-{name}={value if ours else otherwise}")


_plain_loops = ProcessSetting(lambda: False, _set_plain_loops)
_emission = threading.Lock()
"""Held while a module of the context that all share becomes machine code."""


class LoadedCode:
    """Machine code in memory, which lasts as long as this object."""

    def __init__(self, codes: Sequence[bytes], names: list[str]) -> None:
        builder = llvm.JITLibraryBuilder().add_current_process()
        for code in codes:
            builder.add_object_img(code)
        for name in names:
            builder.export_symbol(name)
        loader = _loaders.take()
        self._library = builder.link(loader, f"hlotool{next(_counter)}")
        # The loader must outlive the library, which closes itself before it lets go of this.
        self._library.loader = loader
        self._addresses = {name: self._library[name] for name in names}

    @property
    def parts(self) -> tuple[object, ...]:
        """What must stay for the code to stay in memory, beside this object."""
        return self._library, self._library.loader

    def address(self, name: str) -> int:
        """Returns the address of an exported function."""
        address: int = self._addresses[name]
        return address

    def function(self, name: str, *types: type) -> Any:
        """Returns an exported function that yields an `int`."""
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(self.address(name))


class _Loaders:
    """LLVM's loaders, each for a number of libraries.

    A loader keeps some memory for every library that it has loaded, also of those that are gone.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._current: llvm.LLJIT | None = None
        self._count = 0

    def take(self) -> llvm.LLJIT:
        """Returns a loader for one more library."""
        with self.lock:
            if self._current is None or self._count >= _LIBRARIES_OF_A_LOADER:
                self._current = llvm.create_lljit_compiler(target_machine(host_target()))
                self._count = 0
            self._count += 1
            return self._current


_loaders = _Loaders()


def watch_forks(locks: Sequence[Any]) -> None:
    """Sees to it that no copy of the process is made while a thread holds one of some locks.

    The copy would wait for ever for a lock whose holder is not there. Threads take such locks
    before those that were given earlier.
    """

    def take() -> None:
        for lock in locks:
            lock.__enter__()

    def release() -> None:
        for lock in reversed(locks):
            lock.__exit__(None, None, None)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=take, after_in_parent=release, after_in_child=release)


watch_forks((_emission, _loaders.lock, llvm.ffi.lib._lock))  # noqa: SLF001
