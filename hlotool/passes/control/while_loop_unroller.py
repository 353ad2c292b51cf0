"""Short loops become what their rounds do, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import has_side_effect
from hlotool.analysis.trip_count import trip_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import instructions_within
from hlotool.ops.collective_groups import Collective
from hlotool.passes.control.loops import loops_inside_out
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.loop_state import has_one_shape


@dataclass(frozen=True)
class WhileLoopUnroller(Pass):
    """Writes out all rounds of loops whose trip count is known and small."""

    name: ClassVar[str] = "while-loop-unroller"
    is_exact: ClassVar[bool] = True

    max_trip_count: int = option(64, "the most rounds of a loop that is unrolled")
    max_instructions: int = option(10_000, "the most instructions that a loop becomes")

    def run(self, module: Module, journal: Journal) -> bool:
        """Unrolls inner loops first, which may make outer ones too long."""
        changed = False
        for loop in loops_inside_out(module):
            count = trip_count(loop)
            if count is None or not self._is_unrolled(loop, count, journal):
                continue
            if not journal.hit("unrolled-loop"):
                break
            _unroll(loop, count)
            changed = True
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed

    def _is_unrolled(self, loop: Instruction, count: int, journal: Journal) -> bool:
        size = count * len(loop.calls[1].instructions)
        if loop.has_control_edges or _is_bound(loop):
            return False
        if not has_one_shape(loop):
            return False
        if count > self.max_trip_count or size > self.max_instructions:
            journal.note(f"{count} rounds, {size} instructions: too long to be unrolled", loop)
            return False
        return True


def _is_bound(loop: Instruction) -> bool:
    """Whether rounds do more than compute: what they do must stay one instruction each."""
    is_any_collective = any(isinstance(one.op, Collective) for one in instructions_within(loop))
    return is_any_collective or has_side_effect(loop)


def _unroll(loop: Instruction, count: int) -> None:
    computation = loop.parent
    assert computation is not None, "the loop stands in a computation"
    builder = Builder(computation, loop)
    state = loop.operands[0]
    for _ in range(count):
        state = inlined(loop.calls[1], [state], builder)
    computation.replace_uses(loop, state)
    computation.remove(loop)
