"""What compilation makes on the way from a prepared module to machine code, as text or bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hlotool.codegen.program.program import Program
from hlotool.codegen.target import Target
from hlotool.errors import EvaluationError
from hlotool.ir.module import Module
from hlotool.runtime.compilation import generated
from hlotool.runtime.constants import check_constants
from hlotool.runtime.llvm import assembly, object_code, optimize, parsed, passes_for

if TYPE_CHECKING:
    import llvmlite.binding as llvm


@dataclass
class Stages:
    """The steps of one compilation; each is done when it is first asked for.

    All is one module of LLVM here, to be looked at. What is run is compiled in parts, each with the
    passes that it alone wants, and the entry function quickly. `module` is scheduled, with the
    copies that buffer assignment needs.
    """

    module: Module
    target: Target

    @cached_property
    def program(self) -> Program:
        """The LLVM IR as it is generated, with what is needed to run it."""
        return generated(self.module, self.target)

    @cached_property
    def unit(self) -> llvm.ModuleRef:
        """LLVM's module after its passes."""
        unit = parsed(self.program.text, self.target)
        unit.name = self.module.name
        optimize(unit, self.target, passes_for(self.program.text))
        return unit

    def llvm_before_optimizations(self) -> bytes:
        """Returns the LLVM IR as it is generated."""
        return f"{self._remark()}{self.program.text}".encode()

    def llvm(self) -> bytes:
        """Returns the LLVM IR after LLVM's passes."""
        return f"{self._remark()}{self.unit}".encode()

    def _remark(self) -> str:
        """Returns a comment where the code has no values for some constants."""
        try:
            check_constants(self.module)
        except EvaluationError as error:
            return "".join(f"; {line}\n" for line in (error.message, *error.notes))
        return ""

    def asm(self) -> bytes:
        """Returns the assembly."""
        return assembly(self.unit, self.target).encode()

    def object(self) -> bytes:
        """Returns the object file."""
        return object_code(self.unit, self.target)


STAGES: dict[str, Callable[[Stages], bytes]] = {
    "llvm-before-optimizations": Stages.llvm_before_optimizations,
    "llvm": Stages.llvm,
    "asm": Stages.asm,
    "object": Stages.object,
}
"""What of a compilation can be looked at, in order."""
