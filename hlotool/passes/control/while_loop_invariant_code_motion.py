"""What is the same in every round of a loop is computed before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart
from hlotool.ops.collective_groups import Collective
from hlotool.ops.control_flow import Domain, OptBarrier, While
from hlotool.ops.host import AddDependency, AfterAll, CopyDone, CopyStart
from hlotool.ops.shape_changing import Bitcast, Broadcast, Reshape, Reverse, Slice, Transpose
from hlotool.ops.source import Constant, DeviceNumber, Iota, Parameter
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy
from hlotool.passes.control.loops import loops_inside_out
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import call_counts
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.loop_state import LoopState, has_one_shape
from hlotool.rewriting.rewriter import remove_dead

_CHEAP = (
    Bitcast, Broadcast, Constant, Copy, DeviceNumber, GetTupleElement, Iota, Reshape, Reverse,
    Slice, Transpose, Tuple,
)  # fmt: skip
"""Not worth a place in the state by themselves; they move with what is."""
_STAYING = (
    AddDependency, AfterAll, AsyncContinuation, AsyncStart, Collective, CopyDone, CopyStart,
    Domain, OptBarrier, While,
)  # fmt: skip
"""What is bound to its place, or might not end where the loop does not run at all."""


@dataclass(frozen=True)
class WhileLoopInvariantCodeMotion(Pass):
    """Moves computing whose operands no round changes out of loops, and hands in the results."""

    name: ClassVar[str] = "while-loop-invariant-code-motion"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Moves out of inner loops first, so that things may go on out of outer ones."""
        changed = False
        while _moves_any(module, journal):
            module.drop_unreachable()
            module.settle()
            changed = True
        return changed


def _moves_any(module: Module, journal: Journal) -> bool:
    counts = call_counts(module)
    bound: dict[Computation, bool] = {}
    for computation in module.computations:
        bound[computation] = any(_is_bound(one, bound) for one in computation.instructions)
    changed = False
    for loop in loops_inside_out(module):
        state = LoopState.of(loop, counts)
        if state is not None and has_one_shape(loop):
            changed |= _moves_out(state, bound, counts, journal)
    return changed


def _moves_out(
    state: LoopState,
    bound: dict[Computation, bool],
    counts: Counter[Computation],
    journal: Journal,
) -> bool:
    hoisted = _worth_moving(_invariant(state, bound))
    results = [one for one in hoisted if any(user not in hoisted for user in one.users)]
    if not results or not journal.hit("invariant-code"):
        return False
    if counts[state.body] > 1:
        # The copy of the body has instructions of its own.
        state.own()
        hoisted = _worth_moving(_invariant(state, bound))
        results = [one for one in hoisted if any(user not in hoisted for user in one.users)]
    copies = _copied_before(state, hoisted)
    added = state.append([copies[one] for one in results])
    for one, value in zip(results, added, strict=True):
        state.body.replace_uses(one, value)
    remove_dead(state.body, results)
    return True


def _is_cheap(instruction: Instruction) -> bool:
    """Whether computing it again takes no longer than keeping it, also where it is fused."""
    if not instruction.op.is_fusion:
        return isinstance(instruction.op, _CHEAP)
    return all(
        isinstance(one.op, (Parameter, *_CHEAP)) for one in instruction.calls[0].instructions
    )


def _invariant(state: LoopState, bound: dict[Computation, bool]) -> dict[Instruction, None]:
    """Returns what has the same value in every round, in the order of the text."""
    parameter = state.body.parameters[0]
    found: dict[Instruction, None] = {}
    state.body.settle()
    for one in state.body.instructions:
        if isinstance(one.op, GetTupleElement) and one.operands[0] is parameter:
            if state.stays(one.op.index):
                found[one] = None
        elif (
            one is not parameter
            and all(operand in found for operand in one.operands)
            and not _is_bound(one, bound)
        ):
            found[one] = None
    return found


def _is_bound(instruction: Instruction, bound: dict[Computation, bool]) -> bool:
    """Whether an instruction, or what it calls, must be run where it stands."""
    if isinstance(instruction.op, _STAYING) or instruction.op.has_side_effect:
        return True
    if instruction.has_control_edges:
        return True
    return any(bound[called] for called in instruction.calls)


def _worth_moving(invariant: Iterable[Instruction]) -> dict[Instruction, None]:
    """Returns the instructions that are worth it, in order."""
    return {
        one: None
        for one in invariant
        if not _is_cheap(one)
        and one.users
        and not one.is_root
        and all(isinstance(leaf, ArrayShape) for _, leaf in one.shape.leaves())
    }


def _copied_before(
    state: LoopState, hoisted: dict[Instruction, None]
) -> dict[Instruction, Instruction]:
    """Returns copies in front of the loop, with copies of all that they are made from."""
    builder = Builder(state.computation, state.loop)
    parameter = state.body.parameters[0]
    copies: dict[Instruction, Instruction] = {}
    waiting = list(hoisted)[::-1]
    while waiting:
        one = waiting[-1]
        is_element = isinstance(one.op, GetTupleElement) and one.operands[0] is parameter
        missing = [] if is_element else [o for o in one.operands if o not in copies]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if one in copies:
            continue
        if isinstance(one.op, GetTupleElement) and is_element:
            copies[one] = builder.element(state.loop.operands[0], one.op.index)
        else:
            copied = one.copied([copies[operand] for operand in one.operands])
            copied.name = builder.module.instruction_name(one.name)
            copies[one] = state.computation.add(copied)
    return copies
