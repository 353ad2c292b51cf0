"""Loops lose the state that they do not need, and go where they run once or never."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import has_side_effect
from hlotool.analysis.trip_count import trip_count
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import While
from hlotool.ops.elementwise import Add, Subtract
from hlotool.ops.source import Constant
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import call_counts, inline_call
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.loop_state import LoopState, followed, is_element
from hlotool.rewriting.rewriter import remove_dead
from hlotool.rewriting.tuple_state import (
    remove_unused_elements,
    take_apart,
    used_elements,
)


@dataclass(frozen=True)
class SimplifyWhileLoops(Pass):
    """Removes loops that run once or never, and state that is dead, constant or there twice."""

    name: ClassVar[str] = "simplify-while-loops"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Simplifies inner loops before outer ones, until none changes."""
        changed = False
        while self._simplifies_any(module, journal):
            module.drop_unreachable()
            module.settle()
            changed = True
        return changed

    def _simplifies_any(self, module: Module, journal: Journal) -> bool:
        counts = call_counts(module)
        fused = fused_computations(module)
        changed = False
        for computation in list(module.computations):
            loops = [one for one in computation.instructions if isinstance(one.op, While)]
            if computation in fused or not loops:
                continue
            for loop in loops:
                if loop.parent is computation:
                    changed |= _is_simplified(loop, counts, journal)
            computation.settle()
        return changed


def _is_simplified(loop: Instruction, counts: Counter[Computation], journal: Journal) -> bool:
    """Does one thing after another to a loop; returns whether there was anything to do."""
    if _is_removed(loop, journal):
        return True
    state = LoopState.of(loop, counts)
    if state is None:
        return False
    changed = _hands_around(state, journal)
    changed |= _takes_in_constants(state, journal)
    changed |= _merges_equal(state, journal)
    return _drops_dead(state, journal) or changed


def _is_removed(loop: Instruction, journal: Journal) -> bool:
    """Puts the operand, or the body, in the place of a loop that runs never, or once."""
    condition, body = loop.calls
    count = trip_count(loop)
    if count not in {0, 1} or any(map(has_side_effect, condition.instructions)):
        return False
    assert loop.parent is not None, "the loop stands in a computation"
    if not journal.hit("loop-that-runs-never" if count == 0 else "loop-that-runs-once"):
        return False
    if count == 0:
        loop.parent.replace_uses(loop, loop.operands[0])
        loop.parent.remove(loop)
    else:
        inline_call(loop, body, loop.operands, Builder(loop.parent, loop))
    return True


def _hands_around(state: LoopState, journal: Journal) -> bool:
    """Lets users of elements that stay use what the loop begins with."""
    initial = state.initial
    if initial is None:
        return False
    remove_unused_elements(state.loop)
    staying = {index for index in used_elements(state.loop) if state.stays(index)}
    if not staying or not journal.hit("element-that-stays"):
        return False
    take_apart(state.loop)
    for user in list(state.loop.users):
        match user.op:
            case GetTupleElement(index=index) if index in staying:
                state.computation.replace_uses(user, initial[index])
                remove_dead(state.computation, [user])
    return True


def _takes_in_constants(state: LoopState, journal: Journal) -> bool:
    """Puts constants into the loop in place of elements that always are the same scalar."""
    changed = False
    for index, literal in _constant_elements(state).items():
        users = [
            user
            for parameter in state.inside
            for user in parameter.users
            if user.op == GetTupleElement(index) and _is_needed(user, state, index)
        ]
        if not users or not journal.hit("constant-element"):
            continue
        state.own()
        for called in (state.condition, state.body):
            _put_constant(called, index, literal)
        changed = True
    return changed


def _constant_elements(state: LoopState) -> dict[int, Constant]:
    found: dict[int, Constant] = {}
    for index, value in enumerate(state.initial or ()):
        op, shape = value.op, value.shape
        if not isinstance(op, Constant) or not isinstance(shape, ArrayShape) or shape.dimensions:
            continue
        if state.stays(index) or state.next_elements[index].op == op:
            found[index] = op
    return found


def _is_needed(user: Instruction, state: LoopState, index: int) -> bool:
    """Whether anything but the handing on of an element makes use of it."""
    root = state.body.root
    only_handed_on = list(user.users) == [root] and root.operands.count(user) == 1
    return bool(user.users or user.is_root) and not (
        only_handed_on and root.operands[index] is user
    )


def _put_constant(called: Computation, index: int, constant: Constant) -> None:
    parameter = called.parameters[0]
    for user in list(parameter.users):
        if user.op != GetTupleElement(index):
            continue
        builder = Builder(called, user)
        known = builder.add(constant, shape=user.shape)
        root = called.root
        called.replace_uses(user, known)
        # The element itself is still handed on, until it is dropped.
        if called.root is root and known in root.operands:
            kept = [user if number == index else one for number, one in enumerate(root.operands)]
            root.operands = kept if root.operands[index] is known else root.operands
        remove_dead(called, [user])


def _merges_equal(state: LoopState, journal: Journal) -> bool:
    """Lets users of an element use another one that always is the same."""
    first: dict[Hashable, int] = {}
    changed = False
    for index, value in enumerate(state.initial or ()):
        step = _step(state, index)
        if step is None:
            continue
        kept = first.setdefault((_identity(value), step), index)
        if kept == index or not _has_users(state, index):
            continue
        if journal.hit("equal-elements"):
            state.own()
            _use_other(state, index, kept)
            changed = True
    return changed


def _identity(value: Instruction) -> Hashable:
    return (value.op, value.shape.text) if isinstance(value.op, Constant) else value


def _step(state: LoopState, index: int) -> Hashable:
    """Returns how a counting element changes, in terms that others may share."""
    parameter = state.body.parameters[0]
    grown = state.next_elements[index]
    if state.stays(index):
        return "stays"
    if not isinstance(grown.op, Add | Subtract):
        return None
    one, other = grown.operands
    if is_element(one, parameter, index) and isinstance(other.op, Constant):
        return grown.op, other.op
    if isinstance(grown.op, Add) and is_element(other, parameter, index):
        return (grown.op, one.op) if isinstance(one.op, Constant) else None
    return None


def _has_users(state: LoopState, index: int) -> bool:
    """Whether anything uses an element but what makes it anew for the next round."""
    outside = [one for one in state.loop.users if one.op == GetTupleElement(index)]
    if any(one.users or one.is_root for one in outside):
        return True
    root = state.body.root
    for parameter in state.inside:
        for taken in parameter.users:
            if taken.op != GetTupleElement(index):
                continue
            for user in taken.users:
                is_own = user is root or list(user.users) == [root]
                if not (is_own and followed(root.operands[index])[0] in {user, parameter}):
                    return True
    return False


def _use_other(state: LoopState, index: int, kept: int) -> None:
    for tuples, computation in (
        (state.loop, state.computation),
        (state.inside[0], state.condition),
        (state.inside[1], state.body),
    ):
        taken = [one for one in tuples.users if one.op == GetTupleElement(index)]
        for one in taken:
            own_step = state.body.root.operands[index] if computation is state.body else None
            other = Builder(computation, one).element(tuples, kept)
            for user in list(one.users):
                if user is not own_step and user is not computation.root:
                    user.operands = tuple(other if x is one else x for x in user.operands)
            if computation.root is one:
                computation.root = other
            remove_dead(computation, [one, other])


def _drops_dead(state: LoopState, journal: Journal) -> bool:
    """Takes elements out that neither the result nor any round needs."""
    remove_unused_elements(state.loop)
    live = _live_elements(state)
    dead = [index for index in range(state.count) if index not in live]
    if not dead or not journal.hit("dead-elements"):
        return False
    state.drop(dead)
    return True


def _live_elements(state: LoopState) -> set[int]:
    live = used_elements(state.loop)
    condition, body = state.condition, state.body
    needed = [condition.root, *filter(has_side_effect, condition.instructions)]
    live |= _elements_needed(needed, condition.parameters[0], set())
    visited: set[Instruction] = set()
    effects = list(filter(has_side_effect, body.instructions))
    fresh = live | _elements_needed(effects, body.parameters[0], visited)
    live = set()
    while fresh:
        live |= fresh
        made = [state.next_elements[index] for index in fresh]
        fresh = _elements_needed(made, body.parameters[0], visited) - live
    return live


def _elements_needed(
    needed: list[Instruction], parameter: Instruction, visited: set[Instruction]
) -> set[int]:
    """Returns the elements of a parameter that instructions need, those visited before left out."""
    found: set[int] = set()
    waiting = list(needed)
    while waiting:
        instruction = waiting.pop()
        if instruction in visited:
            continue
        visited.add(instruction)
        match instruction.op:
            case GetTupleElement(index=index) if instruction.operands[0] is parameter:
                found.add(index)
            case _ if instruction is parameter:
                shape = parameter.shape
                found.update(range(len(getattr(shape, "elements", ()))))
            case _:
                waiting += instruction.dependencies
    return found
