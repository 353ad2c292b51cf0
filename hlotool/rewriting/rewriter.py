"""Applies patterns to a module until none matches any more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from hlotool.analysis.effects import can_be_removed
from hlotool.ir.annotations import Annotations
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import DEFAULT_ACCURACY
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ops.unary import Copy
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import OperandTable, Pattern, PatternSet, PatternTable

ROUNDS = 50
"""How often instructions of a computation are gone through while they change."""


def rewrite(
    module: Module,
    patterns: PatternSet,
    journal: Journal,
    *,
    rounds: int = ROUNDS,
    allowed: Collection[str] = (),
) -> bool:
    """Applies patterns everywhere but inside fusions; returns whether the module changed.

    Each instruction is tried in text order, then those again that are near a change, and in the
    end all, for patterns that look further: until none matches, or after so many rounds.
    `allowed` names what patterns may assume. Instructions that nothing uses any more are removed.
    """
    table = patterns.table(allowed)

    def rewritten(computation: Computation) -> bool:
        changed = _Rewriter(computation, table, journal).run(rounds)
        # Patterns that gave up have left removed instructions behind.
        computation.settle()
        return changed

    return change_each(module, rewritten)


def change_each(module: Module, change: Callable[[Computation], bool]) -> bool:
    """Changes each computation but the bodies of fusions; returns whether any changed.

    Computations that are added meanwhile are made well and are not looked at.
    """
    fused = fused_computations(module)
    changed = False
    for computation in [one for one in module.computations if one not in fused]:
        changed |= change(computation)
    if changed:
        if fused:
            # The body of a fusion that is gone would no longer be known as one.
            module.drop_unreachable()
        module.settle()
    return changed


def replace(old: Instruction, new: Instruction, builder: Builder) -> None:
    """Puts `new`, which has the same value, in the place of `old`, and removes what is dead then.

    A new instruction takes over annotations and control edges. Where the layouts differ a
    copy comes between.
    """
    computation = builder.computation
    assert new.shape.compatible(old.shape), f"{old.name}: {old.shape} became {new.shape}"
    if new in builder.made:
        _take_place(old, new)
    elif new.shape != old.shape and new.shape.is_array:
        new = builder.add(Copy(), new, shape=old.shape)
        _take_place(old, new)
    computation.replace_uses(old, new)
    remove_dead(computation, [old])


def remove_dead(computation: Computation, candidates: Iterable[Instruction]) -> int:
    """Removes those that nothing uses, then their operands where nothing else does.

    Returns how many were removed. Side effects, parameters and control edges keep one.
    """
    waiting = list(candidates)
    removed = 0
    while waiting:
        instruction = waiting.pop()
        if instruction.parent is not computation or not can_be_removed(instruction):
            continue
        operands = instruction.operands
        computation.remove(instruction)
        removed += 1
        waiting += dict.fromkeys(operands)
    return removed


def _take_place(old: Instruction, new: Instruction) -> None:
    if new.shape.is_array or new.op.opcode == old.op.opcode:
        new.shape = old.shape
    if old.has_metadata_alone and new.has_metadata_alone:
        new.take_metadata(old)
    else:
        new.annotations = kept_annotations(old.annotations, new)
    if old.control_predecessors:
        new.control_predecessors = (*new.control_predecessors, *old.control_predecessors)
    new.take_successors(old)


def kept_annotations(annotations: Annotations, new: Instruction) -> Annotations:
    """Returns what still holds of an instruction for another that has the same value."""
    changes: dict[str, object] = {}
    if annotations.backend_config != new.annotations.backend_config:
        changes["backend_config"] = new.annotations.backend_config
    if annotations.result_accuracy != DEFAULT_ACCURACY and not new.op.takes_result_accuracy:
        changes["result_accuracy"] = DEFAULT_ACCURACY
    return annotations.replace(**changes) if changes else annotations


class _Rewriter:
    """Works through one computation; `_again` has what is to be looked at in the next round."""

    def __init__(self, computation: Computation, patterns: PatternTable, journal: Journal) -> None:
        self._computation = computation
        self._patterns = patterns
        self._journal = journal
        self._waiting: dict[Instruction, None] = {}
        self._again: dict[Instruction, None] = {}

    def run(self, rounds: int) -> bool:
        """Returns whether anything was replaced."""
        changed = False
        for _ in range(rounds):
            looks_at_all = not self._again
            if looks_at_all:
                self._computation.settle()
                self._again = dict.fromkeys(self._computation.instructions)
            has_changed = self._round()
            if looks_at_all and not has_changed:
                return changed
            changed |= has_changed
        self._journal.note(
            f"{self._computation.name}: rewriting stopped after {rounds} rounds, while patterns"
            " still matched"
        )
        return changed

    def _round(self) -> bool:
        """Tries what is to be looked at; returns whether anything was replaced."""
        changed = False
        self._waiting, self._again = self._again, {}
        # Removed instructions stay in the dictionary that is walked through.
        for instruction in list(self._waiting):
            del self._waiting[instruction]
            table = self._patterns[type(instruction.op)]
            if table is not None and instruction.parent is self._computation:
                changed |= self._visit(instruction, table)
        return changed

    def _visit(self, instruction: Instruction, table: OperandTable) -> bool:
        runs = table[frozenset([type(operand.op) for operand in instruction.operands])]
        if not runs:
            return False
        if not instruction.users and not instruction.is_root and not can_be_removed(instruction):
            # It would stay whatever has its value, and be rewritten again and again.
            return False
        builder = Builder(self._computation, instruction)
        for condition, patterns in runs:
            if condition is None or condition(instruction):
                for pattern in patterns:
                    found = pattern.rewrite(instruction, builder)
                    if found is not None and self._put(found, pattern, instruction, builder):
                        return True
                    builder.discard()
        return False

    def _put(
        self, found: Instruction, pattern: Pattern, instruction: Instruction, builder: Builder
    ) -> bool:
        """Puts what a pattern found in the place of an instruction; returns whether it did."""
        # What stands there already cannot be made to wait for others.
        is_bound = instruction.has_control_edges and found not in builder.made
        if found is instruction or is_bound or not self._journal.hit(pattern.name):
            return False
        operands = instruction.operands
        replace(instruction, found, builder)
        self._look_again(builder.made)
        self._look_again(found.users)
        for operand in operands:
            # A pattern may wait for an operand to have no other user.
            if operand.parent is self._computation and len(operand.users) == 1:
                self._look_again(operand.users)
        return True

    def _look_again(self, instructions: Iterable[Instruction]) -> None:
        for instruction in instructions:
            if instruction not in self._waiting:
                self._again[instruction] = None
