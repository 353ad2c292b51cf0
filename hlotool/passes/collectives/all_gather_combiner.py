"""One large all-gather in place of several small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.collective import AllGather, AllGatherStart
from hlotool.passes.collectives.combining import BYTES, COUNT, combine, is_static
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class AllGatherCombiner(Pass):
    """Combines all-gathers along one dimension that do not wait for each other."""

    name: ClassVar[str] = "all-gather-combiner"
    is_exact: ClassVar[bool] = True

    combine_threshold_in_bytes: int = option(BYTES, "how large a combined one becomes at most")
    combine_threshold_count: int = option(COUNT, "how many operands it takes at most")

    def run(self, module: Module, journal: Journal) -> bool:
        """Combines those with the same groups and dimension, within the thresholds."""
        return combine(
            module, journal, _key, self.combine_threshold_in_bytes, self.combine_threshold_count
        )


def _key(instruction: Instruction) -> object | None:
    op = instruction.op
    if not isinstance(op, AllGather) or isinstance(op, AllGatherStart):
        return None
    if not is_static(instruction):
        return None
    has_channel = op.channel_id is not None
    return op.replace(channel_id=None), has_channel, instruction.annotations.sharding
