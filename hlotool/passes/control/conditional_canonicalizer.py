"""Conditionals that yield tuples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import TupleShape
from hlotool.ops.control_flow import Conditional
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import call_counts, own_called
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class ConditionalCanonicalizer(Pass):
    """Lets conditionals that yield no tuple yield one of a single element."""

    name: ClassVar[str] = "conditional-canonicalizer"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Puts the results of branches into tuples and takes them out behind the conditional."""
        counts = call_counts(module)
        fused = fused_computations(module)
        changed = False
        for computation in list(module.computations):
            if computation in fused:
                continue
            for one in list(computation.instructions):
                is_single = isinstance(one.op, Conditional) and not one.shape.is_tuple
                if is_single and journal.hit("single-result"):
                    own_called(one, counts)
                    _put_into_tuple(one)
                    changed = True
        if changed:
            module.settle()
        return changed


def _put_into_tuple(one: Instruction) -> None:
    computation = one.parent
    assert computation is not None, "the conditional stands in a computation"
    for branch in one.calls:
        branch.root = Builder(branch, branch.root).tuple(branch.root)
    users = list(one.users)
    is_root = one.is_root
    sharding = one.annotations.sharding
    one.shape = TupleShape([one.shape])
    taken = Builder(computation, one).element(one, 0)
    for user in users:
        user.operands = tuple(taken if operand is one else operand for operand in user.operands)
    if is_root:
        computation.root = taken
    if sharding is not None:
        taken.annotations = taken.annotations.replace(sharding=sharding)
        whole = sharding.for_shape(one.shape)
        one.annotations = one.annotations.replace(sharding=whole, origin=None)
