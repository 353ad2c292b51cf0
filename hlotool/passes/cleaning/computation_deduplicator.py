"""Equal computations become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.equal_computations import EqualComputations
from hlotool.ir.computation import Computation
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.calls import asynchronous_computations
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class ComputationDeduplicator(Pass):
    """Lets the callers of equal computations call one of them."""

    name: ClassVar[str] = "computation-deduplicator"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Compares computations by what they do; bodies of fusions and of asynchronous ops stay."""
        kept_apart = fused_computations(module) | asynchronous_computations(module)
        numbering = EqualComputations()
        first: dict[int, Computation] = {}
        shared: dict[Computation, Computation] = {}
        for computation in module.computations:
            if computation in kept_apart or computation is module.entry:
                continue
            found = first.setdefault(numbering.number(computation), computation)
            if found is not computation and journal.hit("equal-computations"):
                shared[computation] = found
        for one in module.instructions():
            if any(called in shared for called in one.calls):
                one.calls = tuple(shared.get(called, called) for called in one.calls)
        if shared:
            module.drop_unreachable()
            module.settle()
        return bool(shared)
