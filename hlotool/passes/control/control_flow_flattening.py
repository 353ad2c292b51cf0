"""Loops that run a fixed number of rounds, so that a module can be timed on any data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.trip_count import trip_count
from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.elementwise import Add, Compare
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.control.loops import loops_inside_out
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import call_counts
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.loop_state import LoopState
from hlotool.rewriting.rewriter import remove_dead


@dataclass(frozen=True)
class ControlFlowFlattening(Pass):
    """Lets loops of unknown or great trip counts run a fixed number of rounds; results change.

    It is there to time modules on data that mean nothing: by themselves such loops might
    never end.
    """

    name: ClassVar[str] = "control-flow-flattening"

    while_execution_count: int = option(1, "how many rounds a loop of unknown trip count runs")
    max_loop_count: int = option(1000, "the most rounds that any loop runs")

    def run(self, module: Module, journal: Journal) -> bool:
        """Gives such loops a counter, which alone decides on the next round."""
        changed = False
        counts = call_counts(module)
        for loop in loops_inside_out(module):
            rounds = self._new_rounds(loop)
            if rounds is None:
                continue
            state = LoopState.of(loop, counts)
            if state is None:
                journal.note("its state is no tuple that is seen made, so it stays", loop)
            elif journal.hit("fixed-rounds"):
                _count_rounds(state, rounds)
                changed = True
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed

    def _new_rounds(self, loop: Instruction) -> int | None:
        found = trip_count(loop)
        if found is None:
            return min(self.while_execution_count, self.max_loop_count)
        return self.max_loop_count if found > self.max_loop_count else None


def _count_rounds(state: LoopState, rounds: int) -> None:
    number = state.count
    zero = Builder(state.computation, state.loop).constant(0, S32)
    (counter,) = state.append([zero])
    root = state.body.root
    build = Builder(state.body, root)
    counted = build.add(Add(), counter, build.constant(1, S32))
    root.operands = (*root.operands[:number], counted)
    condition = state.condition
    old = condition.root
    build = Builder(condition, old)
    taken = build.add(GetTupleElement(number), condition.parameters[0])
    condition.root = build.add(Compare("LT"), taken, build.constant(rounds, S32))
    remove_dead(condition, [old])
    annotations = state.loop.annotations
    # What is said there of trip counts holds no more.
    state.loop.annotations = annotations.replace(backend_config="")
