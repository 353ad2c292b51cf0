"""Fusion of producers into consumers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.cost import running_computations
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.passes.fusion.kernel import Kernel, Limits, can_be_fused, is_free
from hlotool.passes.fusion.plan import FusionPlan
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.outlining import Fuser, outlined

LIMITS = {
    "cpu": Limits(),
    "gpu": Limits(parameters=64, row_elements=1 << 14, products=False),
}
"""What kernels of each backend may be."""


@dataclass(frozen=True)
class InstructionFusion(Pass):
    """Fuses elementwise work, moves and folds with their users, so that no value between is stored.

    Softmax and layernorm become one kernel each: rows are folded and used while in cache.
    """

    name: ClassVar[str] = "fusion"
    is_exact: ClassVar[bool] = True

    backend: str = option("cpu", "the backend whose kernels are made", choices=("cpu", "gpu"))

    def run(self, module: Module, journal: Journal) -> bool:
        """Plans the kernels of each computation, then makes them."""
        limits = LIMITS[self.backend]
        changed = False
        for computation in running_computations(module):
            plan = FusionPlan(computation, limits, journal)
            positions = {one: number for number, one in enumerate(computation.instructions)}
            fuser = Fuser(computation)
            for kernel in plan.kernels:
                make_fusion(kernel, positions, fuser, journal)
            changed |= fuser.finish()
        if changed:
            module.settle()
        return changed


def make_fusion(
    kernel: Kernel, positions: dict[Instruction, int], fuser: Fuser, journal: Journal
) -> None:
    """Makes the fusion of a kernel that has more than one instruction."""
    members = sorted(kernel.places, key=positions.__getitem__)
    if len(members) > 1 and journal.hit("fusion"):
        members, output = with_views(members, kernel.root)
        fuser.fuse(outlined(members, [output]), kernel.kind)


def with_views(
    members: Sequence[Instruction], output: Instruction
) -> tuple[list[Instruction], Instruction]:
    """Returns members and output with the bitcasts and the like behind that alone use it."""
    found = list(members)
    while len(output.users) == 1 and not output.is_root:
        (user,) = output.users
        if not is_free(user) or not can_be_fused(user):
            break
        found.append(user)
        output = user
    return found, output
