"""Fusions of one instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.cost import running_computations
from hlotool.ir.computation import Computation
from hlotool.ir.cost import Access
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.source import Constant
from hlotool.passes.fusion.fusion import with_views
from hlotool.passes.fusion.kernel import can_be_fused, is_free
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.outlining import Fuser, outlined


@dataclass(frozen=True)
class FusionWrapper(Pass):
    """Puts what could be fused and was not into a fusion of its own.

    All kernels are generated alike then. Products and what fusions cannot hold stay as they are.
    """

    name: ClassVar[str] = "fusion-wrapper"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Wraps each instruction that runs code outside a fusion and may be in one."""
        changed = False
        for computation in running_computations(module):
            changed |= _wraps(computation, journal)
        if changed:
            module.settle()
        return changed


def _wraps(computation: Computation, journal: Journal) -> bool:
    fuser = Fuser(computation)
    for instruction in list(computation.instructions):
        if is_wrapped(instruction) and journal.hit("wrap"):
            name = f"wrapped_{instruction.opcode}"
            kind = "kInput" if instruction.op.access is Access.FOLDED else "kLoop"
            members, output = with_views([instruction], instruction)
            fuser.fuse(outlined(members, [output]), kind, name, f"{name}_computation")
    return fuser.finish()


def is_wrapped(instruction: Instruction) -> bool:
    """Whether the pass gives an instruction a fusion."""
    return (
        can_be_fused(instruction)
        and instruction.op.access is not Access.SUMMED
        and not isinstance(instruction.op, Constant)
        and not is_free(instruction)
    )
