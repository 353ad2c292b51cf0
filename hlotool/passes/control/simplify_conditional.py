"""Conditionals lose branches that cannot run, and what they are given or yield for nobody."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.equal_computations import EqualComputations
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import TupleShape
from hlotool.ops.control_flow import Conditional
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import call_counts, inline_call, own_called
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead
from hlotool.rewriting.tuple_state import (
    drop_elements,
    keep_operands,
    remove_unused_elements,
    used_elements,
)


@dataclass(frozen=True)
class SimplifyConditional(Pass):
    """Inlines branches that are sure to run, and removes unused results and operands."""

    name: ClassVar[str] = "simplify-conditional"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Simplifies conditionals, inner ones before those around, until none changes."""
        changed = False
        while _simplifies_any(module, journal):
            module.drop_unreachable()
            module.settle()
            changed = True
        return changed


def _simplifies_any(module: Module, journal: Journal) -> bool:
    counts = call_counts(module)
    fused = fused_computations(module)
    numbering = EqualComputations()
    changed = False
    for computation in list(module.computations):
        if computation in fused:
            continue
        for one in list(computation.instructions):
            if not isinstance(one.op, Conditional) or one.parent is not computation:
                continue
            if _is_inlined(one, numbering, journal):
                changed = True
            elif _drops_results(one, counts, journal) or _drops_operands(one, counts, journal):
                numbering.forget(one.calls)
                changed = True
        computation.settle()
    return changed


def _is_inlined(one: Instruction, numbering: EqualComputations, journal: Journal) -> bool:
    number = _sure_branch(one, numbering)
    if number is None or not journal.hit("branch-that-is-sure"):
        return False
    assert one.parent is not None, "the conditional stands in a computation"
    builder = Builder(one.parent, one)
    inline_call(one, one.calls[number], [one.operands[number + 1]], builder)
    return True


def _sure_branch(one: Instruction, numbering: EqualComputations) -> int | None:
    """Returns the number of the branch that runs, or does what the one does that runs."""
    selector, *operands = one.operands
    if isinstance(selector.op, Constant) and not selector.op.literal.elided:
        return _selected(selector.op, len(one.calls))
    for called in one.calls:
        called.settle()
    is_same = len(set(operands)) == 1 and len(set(numbering.of_calls(one))) == 1
    return 0 if is_same or len(one.calls) == 1 else None


def _selected(selector: Constant, count: int) -> int:
    value = selector.literal.scalar()
    if isinstance(value, bool):
        return 0 if value else 1
    assert isinstance(value, int), "a conditional is selected by a flag or a number"
    return value if 0 <= value < count else count - 1


def _drops_results(one: Instruction, counts: Counter[Computation], journal: Journal) -> bool:
    """Takes elements of the result out that nobody uses."""
    if not isinstance(one.shape, TupleShape):
        return False
    used = used_elements(one)
    everything = range(len(one.shape.elements))
    dropped = [index for index in everything if index not in used]
    if not dropped or not journal.hit("unused-result"):
        return False
    own_called(one, counts)
    for branch in one.calls:
        builder = Builder(branch, branch.root)
        root = branch.root
        joined = builder.tuple(*[builder.element(root, index) for index in everything])
        branch.root = joined
        keep_operands(joined, sorted(used))
        remove_dead(branch, branch.instructions[::-1])
    remove_unused_elements(one)
    drop_elements(one, dropped)
    return True


def _drops_operands(one: Instruction, counts: Counter[Computation], journal: Journal) -> bool:
    """Takes elements of what branches are given out that they do not use."""
    changed = False
    for number, branch in enumerate(one.calls):
        parameter = branch.parameters[0]
        if not isinstance(parameter.shape, TupleShape):
            continue
        used = used_elements(parameter)
        dropped = [n for n in range(len(parameter.shape.elements)) if n not in used]
        if not dropped or not journal.hit("unused-operand"):
            continue
        own_called(one, counts)
        own = one.calls[number].parameters[0]
        remove_unused_elements(own)
        drop_elements(own, dropped)
        assert one.parent is not None, "the conditional stands in a computation"
        builder = Builder(one.parent, one)
        given = list(one.operands)
        old = given[number + 1]
        given[number + 1] = builder.tuple(*[builder.element(old, n) for n in sorted(used)])
        one.operands = given
        remove_dead(one.parent, [old])
        changed = True
    return changed
