"""Loops lose the state that they do not need, and go where they run once or never."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import has_side_effect
from hlotool.analysis.equal_computations import meaning_of_op
from hlotool.analysis.trip_count import trip_count
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ops.control_flow import While
from hlotool.ops.elementwise import Add, Subtract
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, tuple_shape
from hlotool.rewriting.calls import call_counts, inline_call
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.live_state import live_elements
from hlotool.rewriting.loop_state import LoopState, has_one_shape, is_element
from hlotool.rewriting.tuple_state import (
    replace_elements,
    take_apart,
    taken_elements,
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
    changed = False
    for step in (_hands_around, _takes_in_constants, _merges_equal, _drops_dead):
        # A loop that nothing uses any more goes with its last user.
        if state.loop.parent is not None:
            changed |= step(state, journal)
    return changed


def _is_removed(loop: Instruction, journal: Journal) -> bool:
    """Puts the operand, or the body, in the place of a loop that runs never, or once."""
    condition, body = loop.calls
    count = trip_count(loop)
    if count not in {0, 1} or any(map(has_side_effect, condition.instructions)):
        return False
    # Where layouts differ, the loop is what copies.
    if not has_one_shape(loop):
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
    """Lets users of elements that never change use what the loop begins with."""
    initial = state.initial
    if initial is None:
        return False
    fixed = {index for index in used_elements(state.loop) if _is_fixed(state, initial, index)}
    if not fixed or not journal.hit("element-that-stays"):
        return False
    take_apart(state.loop)
    replace_elements(state.loop, {index: initial[index] for index in fixed})
    return True


def _takes_in_constants(state: LoopState, journal: Journal) -> bool:
    """Puts constants into the loop in place of elements that always are the same scalar."""
    initial = state.initial or ()
    used = set().union(*map(_used, state.inside))
    taken_in = [
        index
        for index, value in enumerate(initial)
        if index in used
        and isinstance(value.op, Constant)
        and value.shape.plain_text.endswith("[]")
        and _is_fixed(state, initial, index)
        and journal.hit("constant-element")
    ]
    if not taken_in:
        return False
    state.own()
    for parameter in state.inside:
        assert parameter.parent is not None, "the parameter stands in a computation"
        builder = Builder(parameter.parent, parameter)
        constants = {
            index: builder.add(initial[index].op, shape=initial[index].shape) for index in taken_in
        }
        replace_elements(parameter, constants)
        builder.discard()
    return True


def _is_fixed(state: LoopState, initial: tuple[Instruction, ...], index: int) -> bool:
    """Whether an element is the same before, between and after all rounds."""
    begun = initial[index]
    if begun.shape != tuple_shape(state.loop).elements[index]:
        return False
    if state.stays(index):
        return True
    made = state.next_elements[index]
    return isinstance(begun.op, Constant) and meaning_of_op(made) == meaning_of_op(begun)


def _used(parameter: Instruction) -> set[int]:
    """Returns the elements of a state that are taken and used."""
    return {
        index
        for index, taken in taken_elements(parameter).items()
        if any(one.users or one.is_root for one in taken)
    }


def _merges_equal(state: LoopState, journal: Journal) -> bool:
    """Lets users of an element use another one that always is the same."""
    first: dict[Hashable, int] = {}
    merged: dict[int, int] = {}
    for index, value in enumerate(state.initial or ()):
        step = _step(state, index)
        if step is None:
            continue
        is_constant = isinstance(value.op, Constant)
        begun = (meaning_of_op(value), value.shape.text) if is_constant else value
        shape = tuple_shape(state.loop).elements[index].text
        kept = first.setdefault((begun, step, shape), index)
        if kept != index and journal.hit("equal-elements"):
            merged[index] = kept
    if not merged:
        return False
    state.own()
    take_apart(state.loop)
    for source in (state.loop, *state.inside):
        assert source.parent is not None, "the tuple stands in a computation"
        builder = Builder(source.parent, source)
        elements = {kept: builder.element(source, kept) for kept in set(merged.values())}
        replace_elements(source, {index: elements[kept] for index, kept in merged.items()})
        builder.discard()
    return True


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
        return grown.op, meaning_of_op(other)
    if isinstance(grown.op, Add) and is_element(other, parameter, index):
        return (grown.op, meaning_of_op(one)) if isinstance(one.op, Constant) else None
    return None


def _drops_dead(state: LoopState, journal: Journal) -> bool:
    """Takes elements out that neither the result nor any round needs."""
    live = live_elements(state.loop)
    dead = [index for index in range(state.count) if index not in live]
    if not dead or not journal.hit("dead-elements"):
        return False
    state.drop(dead)
    return True
