"""Modules on the CPU as machine code, for commands that run them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.errors import UnsupportedError

if TYPE_CHECKING:
    from hlotool.ir.frame import Value
    from hlotool.ir.module import Module
    from hlotool.runtime.executable import Executable


class CpuSession:
    """Compiles each module of a command once, as its options say."""

    def __init__(self, arguments: Namespace) -> None:
        self._arguments = arguments
        self._module: Module | None = None
        self._executable: Executable | None = None

    def executable(self, module: Module) -> Executable:
        """Returns a module as machine code; raises `HloError`."""
        if self._executable is None or self._module is not module:
            self._executable, self._module = self.compiled(module), module
        return self._executable

    def compiled(self, module: Module, *, profile: bool = False) -> Executable:
        """Compiles a module anew; with `profile` it counts the ticks of its kernels."""
        from hlotool.codegen.target import FloatMode
        from hlotool.runtime.compilation import compiled
        from hlotool.runtime.llvm import host_target

        arguments = self._arguments
        return compiled(
            module,
            host_target(FloatMode(arguments.fp_mode)),
            threads=arguments.threads,
            passes=None if arguments.run_test_hlo_passes else "",
            uses_cache=arguments.compile_cache and not profile,
            profile=profile,
        )

    def run(
        self, module: Module, devices: Sequence[Sequence[Value]], seed: int, most_iterations: int
    ) -> list[Value]:
        """Returns what a module yields on its one device; raises `HloError`."""
        if len(devices) > 1:
            raise UnsupportedError(
                f"{module.name} is to run on {len(devices)} devices, and the CPU is one",
                notes=("--platform=interpreter runs several in one process",),
            )
        return [self.executable(module)(*devices[0], seed=seed, max_steps=most_iterations)]
