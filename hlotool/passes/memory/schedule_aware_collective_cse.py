"""Sharing of collectives that are close to each other in the schedule."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import has_side_effect
from hlotool.analysis.equal_computations import EqualComputations, meaning_of_annotations
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.collective import AllGatherStart, AllReduceStart
from hlotool.ops.collective_groups import Collective
from hlotool.ops.permuting import CollectivePermuteStart
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace

_STARTS = (AllGatherStart, AllReduceStart, CollectivePermuteStart)


@dataclass(frozen=True)
class ScheduleAwareCollectiveCse(Pass):
    """Shares equal collectives, where the value need not be kept for long to be used again.

    Where several become one, the distance is that to the last of them.
    """

    name: ClassVar[str] = "schedule-aware-collective-cse"
    is_exact: ClassVar[bool] = True

    distance_threshold: int = option(1000, "how many instructions apart two that become one may be")

    def run(self, module: Module, journal: Journal) -> bool:
        """Lets users of a collective take an equal one that stands shortly before."""
        numbering = EqualComputations()
        changed = False
        for computation in module.computations:
            changed |= self._share(computation, numbering, journal)
        if changed:
            module.settle()
        return changed

    def _share(
        self, computation: Computation, numbering: EqualComputations, journal: Journal
    ) -> bool:
        shared = 0
        last: dict[Hashable, tuple[int, Instruction]] = {}
        for place, instruction in enumerate(list(computation.instructions)):
            if not _may_be_shared(instruction):
                continue
            key = _key(instruction, numbering)
            step = place - shared
            before, earlier = last.get(key, (step, instruction))
            is_near = earlier is not instruction and step - before <= self.distance_threshold
            if is_near and journal.hit("collectives shared"):
                replace(instruction, earlier, Builder(computation, instruction))
                last[key] = step, earlier
                shared += 1
            else:
                last[key] = step, instruction
        return shared > 0


def _may_be_shared(instruction: Instruction) -> bool:
    return (
        isinstance(instruction.op, Collective)
        and not isinstance(instruction.op, _STARTS)
        and not instruction.has_control_edges
        and not has_side_effect(instruction)
    )


def _key(instruction: Instruction, numbering: EqualComputations) -> Hashable:
    op = instruction.op
    assert isinstance(op, Collective)
    # Channels only keep apart what runs at one time; the form of a group may hang on them.
    channel = op.channel_id is not None
    return (
        op.replace(channel_id=None),
        channel,
        instruction.operands,
        numbering.of_calls(instruction),
        instruction.shape,
        meaning_of_annotations(instruction),
    )
