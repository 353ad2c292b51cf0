"""One large all-reduce in place of several small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllReduce, AllReduceStart
from hlotool.passes.collectives.combining import Combiner, is_static
from hlotool.passes.collectives.device_groups import reducer_key


@dataclass(frozen=True)
class AllReduceCombiner(Combiner):
    """Combines all-reduces that reduce alike and do not wait for each other."""

    name: ClassVar[str] = "all-reduce-combiner"

    def key(self, instruction: Instruction) -> object | None:
        """Returns what all-reduces of one element type, reducer and groups share."""
        op = instruction.op
        if not isinstance(op, AllReduce) or isinstance(op, AllReduceStart):
            return None
        if not is_static(instruction):
            return None
        leaves = [leaf for _, leaf in instruction.shape.leaves() if isinstance(leaf, ArrayShape)]
        types = {leaf.element_type for leaf in leaves}
        taken = {
            o.shape.element_type for o in instruction.operands if isinstance(o.shape, ArrayShape)
        }
        if types != taken or len(types) != 1:
            return None
        has_channel = op.channel_id is not None
        (element_type,) = types
        reducer = reducer_key(instruction.calls[0])
        sharding = instruction.annotations.sharding
        return (op.replace(channel_id=None), has_channel, element_type, reducer, sharding)
