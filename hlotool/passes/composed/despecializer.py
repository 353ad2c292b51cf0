"""Making a module plain again, so that it can serve as a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.passes.expanders.sub_byte import SubByteSizeRemoval
from hlotool.passes.fusion.defuser import Defuser
from hlotool.passes.memory.control_dep_remover import ControlDepRemover
from hlotool.passes.memory.hlo_descheduler import HloDescheduler
from hlotool.passes.pass_base import Pass
from hlotool.passes.types.bf16_mixed_precision_removal import Bf16MixedPrecisionRemoval
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class Despecializer(Pass):
    """Undoes what a backend has done: schedule, control edges, fusions, mixed types, packing."""

    name: ClassVar[str] = "despecializer"

    def run(self, module: Module, journal: Journal) -> bool:
        """Runs the passes that undo each of these."""
        changed = False
        for one in (
            HloDescheduler(),
            ControlDepRemover(),
            Defuser(),
            Bf16MixedPrecisionRemoval(),
            SubByteSizeRemoval(),
        ):
            changed |= one.run(module, journal)
        return changed
