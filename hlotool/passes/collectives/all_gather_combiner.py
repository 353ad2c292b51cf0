"""One large all-gather in place of several small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllGather, AllGatherStart
from hlotool.passes.collectives.combining import Combiner, is_static


@dataclass(frozen=True)
class AllGatherCombiner(Combiner):
    """Combines all-gathers along one dimension that do not wait for each other."""

    name: ClassVar[str] = "all-gather-combiner"

    def key(self, instruction: Instruction) -> object | None:
        """Returns what all-gathers along one dimension of the same groups share."""
        op = instruction.op
        if not isinstance(op, AllGather) or isinstance(op, AllGatherStart):
            return None
        if not is_static(instruction):
            return None
        has_channel = op.channel_id is not None
        return op.replace(channel_id=None), has_channel, instruction.annotations.sharding
