"""Computing cheap values again in place of keeping them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import Dataflow
from hlotool.analysis.effects import has_side_effect
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ops.control_flow import Fusion
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.shape_changing import Broadcast, Reshape, Slice, Transpose
from hlotool.ops.source import Iota
from hlotool.passes.memory.scheduling import MemoryModel
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead

_CHEAP = (Elementwise, Broadcast, Iota, Reshape, Slice, Transpose)
_ROUNDS = 64
"""How many peaks of one computation are worked on."""


@dataclass(frozen=True)
class Rematerialization(Pass):
    """Lowers the memory of a schedule by computing cheap values again right before later uses.

    Only what could be computed at the later place without keeping more operands counts. Where
    the memory stays above the limit, a note says so.
    """

    name: ClassVar[str] = "rematerialization"
    is_exact: ClassVar[bool] = True

    memory_limit: int = option(
        0, "bytes that a computation may take beside its inputs; 0 changes nothing"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Works on every computation of a scheduled module, called ones first."""
        if not self.memory_limit:
            return False
        if not module.is_scheduled:
            journal.note("nothing is done: the module is not scheduled")
            return False
        peaks: dict[Computation, int] = {}
        changed = False
        for computation in Dataflow(module).computations:
            changed |= self._lower(module, computation, peaks, journal)
        return changed

    def _lower(
        self,
        module: Module,
        computation: Computation,
        peaks: dict[Computation, int],
        journal: Journal,
    ) -> bool:
        changed = False
        for _ in range(_ROUNDS):
            model = MemoryModel(computation, BufferClasses(Dataflow(module)), peaks)
            timeline = model.timeline(computation.instructions)
            peak = peaks[computation] = max(timeline, default=0)
            if peak <= self.memory_limit:
                return changed
            at_peak = timeline.index(peak)
            chosen = _chosen(computation, model, at_peak, peak - self.memory_limit)
            chosen = [one for one in chosen if journal.hit("value computed again")]
            if not chosen:
                break
            _compute_again(computation, chosen, at_peak)
            changed = True
        journal.note(
            f"{computation.name} still takes {peaks[computation]} bytes, "
            f"{self.memory_limit} are the limit"
        )
        return changed


def _chosen(
    computation: Computation, model: MemoryModel, at_peak: int, surplus: int
) -> list[Instruction]:
    """Returns values to be computed again behind a step, the largest first, until it is enough."""
    order = computation.instructions
    step = {instruction: number for number, instruction in enumerate(order)}
    last_use = {one: max((step[u] for u in one.users), default=step[one]) for one in order}
    running = {order[at_peak], *order[at_peak].operands}
    found = [
        instruction
        for instruction in order[:at_peak]
        if instruction not in running
        and _is_cheap(instruction)
        and model.own_bytes(instruction) > 0
        and last_use[instruction] > at_peak
        and all(
            operand.shape.is_array
            and (
                last_use[operand] >= _next_use(instruction, step, at_peak)
                or model.is_always_there(operand)
            )
            for operand in instruction.operands
        )
    ]
    found.sort(key=model.own_bytes, reverse=True)
    chosen: dict[Instruction, None] = {}
    # An operand of what is computed again must itself be there.
    needed: set[Instruction] = set()
    for instruction in found:
        if surplus <= 0:
            break
        if instruction in needed or any(operand in chosen for operand in instruction.operands):
            continue
        chosen[instruction] = None
        needed.update(instruction.operands)
        surplus -= model.own_bytes(instruction)
    return list(chosen)


def _is_cheap_op(op: Op) -> bool:
    return isinstance(op, _CHEAP) or (isinstance(op, Fusion) and op.kind == "kLoop")


def _is_cheap(instruction: Instruction) -> bool:
    return (
        _is_cheap_op(instruction.op)
        and instruction.shape.is_array
        and not instruction.is_root
        and not instruction.has_control_edges
        and not has_side_effect(instruction)
    )


def _next_use(instruction: Instruction, step: dict[Instruction, int], at_peak: int) -> int:
    return min(step[user] for user in instruction.users if step[user] > at_peak)


def _compute_again(computation: Computation, chosen: Sequence[Instruction], at_peak: int) -> None:
    order = computation.instructions
    step = {instruction: number for number, instruction in enumerate(order)}
    before: dict[Instruction, list[Instruction]] = {}
    assert computation.parent is not None
    for instruction in chosen:
        again = instruction.copied(instruction.operands)
        again.name = computation.parent.instruction_name(instruction.name)
        computation.add(again)
        later = [user for user in instruction.users if step.get(user, at_peak) > at_peak]
        for user in later:
            user.operands = [again if one is instruction else one for one in user.operands]
        first = min(later, key=lambda user: step[user])
        before.setdefault(first, []).append(again)
    computation.instructions = [
        one for instruction in order if instruction in step
        for one in (*before.get(instruction, ()), instruction)
    ]  # fmt: skip
    # A value that only later users took is needed in its first place no more.
    remove_dead(computation, chosen)
    computation.settle()
