"""LLVM: text of its IR to machine code, in this process."""

from __future__ import annotations

import ctypes
import itertools
from functools import lru_cache

import llvmlite.binding as llvm

from hlotool.codegen.target import FloatMode, Target

_counter = itertools.count()


@lru_cache(maxsize=1)
def _initialized() -> bool:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return True


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
    )


def target_machine(target: Target) -> llvm.TargetMachine:
    """Returns LLVM's view of a target."""
    _initialized()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small"
    )


def parsed(text: str, target: Target) -> llvm.ModuleRef:
    """Returns a module of LLVM IR that is verified."""
    machine = target_machine(target)
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    return module


def optimize(module: llvm.ModuleRef, target: Target) -> None:
    """Runs the few passes that code written in vectors, with nothing to hoist, still needs."""
    machine = target_machine(target)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)


def object_code(module: llvm.ModuleRef, target: Target) -> bytes:
    """Returns the machine code of a module as an object file."""
    return bytes(target_machine(target).emit_object(module))


def assembly(module: llvm.ModuleRef, target: Target) -> str:
    """Returns the machine code of a module as assembly."""
    return str(target_machine(target).emit_assembly(module))


class LoadedCode:
    """Machine code in memory, which lasts as long as this object."""

    def __init__(self, code: bytes, names: list[str]) -> None:
        self._library = None
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            builder.export_symbol(name)
        self._library = builder.link(_compiler(), f"hlotool{next(_counter)}")
        self._addresses = {name: self._library[name] for name in names}

    def address(self, name: str) -> int:
        """Returns the address of an exported function."""
        return self._addresses[name]

    def function(self, name: str, *types: type) -> ctypes._CFuncPtr:
        """Returns an exported function that yields an `int`."""
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(self.address(name))


@lru_cache(maxsize=1)
def _compiler() -> llvm.LLJIT:
    _initialized()
    return llvm.create_lljit_compiler(target_machine(host_target()))
