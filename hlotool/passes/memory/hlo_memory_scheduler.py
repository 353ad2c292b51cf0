"""A schedule that takes little memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import Dataflow
from hlotool.ir.computation import Computation
from hlotool.ir.module import Module
from hlotool.passes.memory.reading_first import Costs, overwrites, reading_first
from hlotool.passes.memory.scheduling import (
    MemoryModel,
    order_for_memory,
    plain_order,
    take_back_unsound,
)
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class HloMemoryScheduler(Pass):
    """Schedules for little memory: the best of some orders by the memory that each takes.

    A module that is scheduled keeps its order where none takes less.
    """

    name: ClassVar[str] = "hlo-memory-scheduler"
    is_exact: ClassVar[bool] = True

    reschedule: bool = option(default=True, words="also look for a better order of a schedule")

    def run(self, module: Module, journal: Journal) -> bool:
        """Orders every computation, called ones first, and calls the orders the schedule."""
        if module.is_scheduled and not self.reschedule:
            return False
        if not module.is_scheduled and not journal.hit("schedule added"):
            return False
        classes = BufferClasses(Dataflow(module), in_order=True)
        was_sound = not classes.conflicts()
        before = {one: one.instructions for one in classes.dataflow.computations}
        peaks: dict[Computation, int] = {}
        for computation in before:
            _order(computation, classes, peaks, journal)
        if was_sound:
            take_back_unsound(module, before)
        changed = not module.is_scheduled
        changed |= any(one.instructions != order for one, order in before.items())
        module.header = module.header.replace(is_scheduled=True)
        return changed


def _order(
    computation: Computation,
    classes: BufferClasses,
    peaks: dict[Computation, int],
    journal: Journal,
) -> None:
    """Takes better orders as long as there are some; notes the memory that the last one takes.

    Of orders that take as much memory, one that makes fewer copies necessary is better.
    """
    model = MemoryModel(computation, classes, peaks)
    costs = Costs(model, overwrites(computation, classes))
    cost = costs.of(computation.instructions)
    peaks[computation] = cost[0]
    plain = plain_order(computation)
    while True:
        orders = [plain, order_for_memory(computation, model)]
        if costs.overwrites:
            orders += [reading_first(order, costs.overwrites) for order in orders]
        best_cost, best = min((costs.of(order), n) for n, order in enumerate(orders))
        if best_cost >= cost or not journal.hit("computation ordered"):
            return
        computation.instructions = orders[best]
        cost = best_cost
        peaks[computation] = cost[0]
        before, plain = plain, plain_order(computation)
        # The other orders follow from the plain one.
        if plain == before:
            return
