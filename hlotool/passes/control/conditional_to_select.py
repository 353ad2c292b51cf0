"""Conditionals where they run for each element become selects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import has_side_effect
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED, S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations, instructions_within
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.control_flow import Conditional, While
from hlotool.ops.elementwise import Compare
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, array_shape, tuple_shape
from hlotool.rewriting.calls import RUNNING_OPS
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace


@dataclass(frozen=True)
class ConditionalToSelect(Pass):
    """Computes all branches of conditionals in maps, reductions and their like, and selects.

    Conditionals of the program itself stay: there only one branch takes time.
    """

    name: ClassVar[str] = "conditional-to-select"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Replaces conditionals without side effects and without loops in their branches."""
        changed = False
        for computation in _run_for_elements(module):
            for one in list(computation.instructions):
                is_cheap = isinstance(one.op, Conditional) and _may_run_always(one)
                if is_cheap and journal.hit("conditional"):
                    _select(one, computation)
                    changed = True
            computation.settle()
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


def _run_for_elements(module: Module) -> list[Computation]:
    """Returns the computations that ops call for each element, with all that these call."""
    fused = fused_computations(module)
    found: set[Computation] = set()
    for computation in reversed(module.computations):
        for one in computation.instructions:
            is_outer = isinstance(one.op, RUNNING_OPS) and computation not in found
            if not is_outer and not one.op.is_fusion:
                found.update(one.calls)
    return [one for one in module.computations if one in found - fused]


def _may_run_always(one: Instruction) -> bool:
    if has_side_effect(one) or one.has_control_edges:
        return False
    if len(one.calls) < 2:
        return False
    if not all(isinstance(leaf, ArrayShape) for _, leaf in one.shape.leaves()):
        return False
    return not any(isinstance(inner.op, While) for inner in instructions_within(one))


def _select(one: Instruction, computation: Computation) -> None:
    builder = Builder(computation, one)
    selector, *operands = one.operands
    results = [
        inlined(branch, [operand], builder)
        for branch, operand in zip(one.calls, operands, strict=True)
    ]
    *others, chosen = results
    for number in reversed(range(len(others))):
        flag = selector
        if array_shape(selector).element_type is not PRED:
            wanted = builder.constant(number, S32)
            flag = builder.add(Compare("EQ"), selector, wanted)
        chosen = _chosen(flag, others[number], chosen, one.shape, builder)
    replace(one, chosen, builder)


def _chosen(
    flag: Instruction, one: Instruction, other: Instruction, shape: Shape, builder: Builder
) -> Instruction:
    """Returns one of two values of any shape, leaf by leaf."""
    if isinstance(shape, ArrayShape):
        flags = builder.broadcast(flag, (), shape.with_element_type(PRED))
        return builder.select(flags, one, other)
    elements = tuple_shape(one).elements
    return builder.tuple(
        *[
            _chosen(flag, builder.element(one, n), builder.element(other, n), element, builder)
            for n, element in enumerate(elements)
        ]
    )
