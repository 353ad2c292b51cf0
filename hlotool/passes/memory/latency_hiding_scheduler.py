"""A schedule in which work goes on while something else is under way."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import Dataflow
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.asynchronous import AsyncDone, AsyncStart
from hlotool.ops.collective import AllGatherStart, AllReduceDone, AllReduceStart
from hlotool.ops.collective_groups import StartedDone
from hlotool.ops.host import CopyDone, CopyStart, Recv, RecvDone, Send, SendDone
from hlotool.ops.permuting import CollectivePermuteStart
from hlotool.ops.source import Constant, Parameter
from hlotool.passes.memory.scheduling import (
    MemoryModel,
    dependencies_in_order,
    take_back_unsound,
)
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal

_STARTS = (
    AsyncStart, AllReduceStart, AllGatherStart, CollectivePermuteStart, CopyStart, Send, Recv,
)  # fmt: skip
_DONES = (AsyncDone, AllReduceDone, StartedDone, CopyDone, SendDone, RecvDone)
_GIVEN, _START, _LEADS_TO_START, _WORK, _DONE = range(5)


@dataclass(frozen=True)
class LatencyHidingScheduler(Pass):
    """Starts what takes time as early, and waits for it as late, as operands allow.

    All else keeps its order, so that what is under way runs beside the work between.
    """

    name: ClassVar[str] = "latency-hiding-scheduler"
    is_exact: ClassVar[bool] = True

    memory_limit: int = option(0, "bytes that a computation may take at most; 0 for any number")

    def run(self, module: Module, journal: Journal) -> bool:
        """Reorders the computations in which something is started."""
        dataflow = Dataflow(module)
        waiting = [one for one in dataflow.computations if _has_pairs(one)]
        if not waiting:
            return False
        classes = BufferClasses(dataflow, in_order=True)
        was_sound = not classes.conflicts()
        before = {one: one.instructions for one in waiting}
        for computation in waiting:
            order = _order(computation)
            fits = not self.memory_limit or self._fits(computation, order, classes)
            if order != before[computation] and fits and journal.hit("computation ordered"):
                computation.instructions = order
        if was_sound:
            take_back_unsound(module, before)
        changed = any(one.instructions != order for one, order in before.items())
        if changed:
            module.header = module.header.replace(is_scheduled=True)
        return changed

    def _fits(
        self, computation: Computation, order: list[Instruction], classes: BufferClasses
    ) -> bool:
        return MemoryModel(computation, classes, {}).peak(order) <= self.memory_limit


def _has_pairs(computation: Computation) -> bool:
    return any(isinstance(instruction.op, _STARTS) for instruction in computation.instructions)


def _order(computation: Computation) -> list[Instruction]:
    needed = dependencies_in_order(computation.instructions)
    followers: dict[Instruction, list[Instruction]] = {one: [] for one in needed}
    for instruction, before in needed.items():
        for one in before:
            followers[one].append(instruction)
    urgency = _urgency(computation, needed)
    ready = [(urgency[one], place, one) for place, one in enumerate(needed) if not needed[one]]
    place_of = {instruction: place for place, instruction in enumerate(needed)}
    heapq.heapify(ready)
    left = {instruction: len(before) for instruction, before in needed.items()}
    order: list[Instruction] = []
    while ready:
        *_, instruction = heapq.heappop(ready)
        order.append(instruction)
        for follower in followers[instruction]:
            left[follower] -= 1
            if not left[follower]:
                heapq.heappush(ready, (urgency[follower], place_of[follower], follower))
    return order


def _urgency(
    computation: Computation, needed: dict[Instruction, list[Instruction]]
) -> dict[Instruction, int]:
    found: dict[Instruction, int] = {}
    leading: set[Instruction] = set()
    for instruction in reversed(computation.instructions):
        is_start = isinstance(instruction.op, _STARTS)
        if is_start or instruction in leading:
            leading.update(needed[instruction])
        if isinstance(instruction.op, Parameter | Constant):
            found[instruction] = _GIVEN
        elif is_start:
            found[instruction] = _START
        elif isinstance(instruction.op, _DONES):
            found[instruction] = _DONE
        else:
            found[instruction] = _LEADS_TO_START if instruction in leading else _WORK
    return found
