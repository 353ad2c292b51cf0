"""How much of a module is fused, and what that saves.

*Fusible* are instructions that compute each element of an array from elements of others:
elementwise ones, those that move elements, reductions, updates in place; constants are not
counted. The *fusion rate* is the share of them that stands in the bodies of fusions. *Outside*
counts the instructions of the computations that run which are no fusions and neither parameters
nor tuples nor elements of tuples: constants, bitcasts and loops count.
*Bytes saved* are those that the bodies would access if each instruction were a kernel, less
those that the fusions access.

Computations count as in `hlotool.analysis.cost`: loops once, calls once a place.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.analysis.cost import CostAnalysis, run_by, running_computations
from hlotool.ir.computation import Computation
from hlotool.ir.cost import Access, Cost
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.source import Constant, Parameter
from hlotool.ops.tuples import GetTupleElement, Tuple

_FUSIBLE = frozenset({Access.SAME, Access.MOVED, Access.FOLDED, Access.UPDATED})


@dataclass(frozen=True, slots=True)
class FusionReport:
    """The figures of one module."""

    kernels: int
    cost: Cost
    fusions: int
    fusible: int
    fused: int
    """How many of the fusible stand inside fusions."""
    outside: int
    bytes_saved: int

    @property
    def rate(self) -> float:
        """The share of fusible instructions that stand inside fusions, 1 where there are none."""
        return self.fused / self.fusible if self.fusible else 1.0


def fusion_report(module: Module) -> FusionReport:
    """Returns the figures of a module as it is."""
    costs = CostAnalysis(module)
    total = costs.total
    fusions = fusible = fused = outside = saved = 0
    for computation, times in _runs(module).items():
        for instruction in computation.instructions:
            if instruction.op.is_fusion:
                inside = instruction.calls[0].instructions
                count = sum(map(is_fusible, inside))
                alone = sum(costs.instruction_cost(one).bytes_accessed for one in inside)
                fusions += times
                fused += times * count
                fusible += times * count
                saved += times * (alone - costs.instruction_cost(instruction).bytes_accessed)
            elif not isinstance(instruction.op, (Parameter, Tuple, GetTupleElement)):
                outside += times
                fusible += times * is_fusible(instruction)
    return FusionReport(total.kernels, total.cost, fusions, fusible, fused, outside, saved)


def is_fusible(instruction: Instruction) -> bool:
    """Whether the instruction counts among those that fusions are made of."""
    return instruction.op.access in _FUSIBLE and not isinstance(instruction.op, Constant)


def _runs(module: Module) -> dict[Computation, int]:
    """Returns how often each computation is run as such, by where it is called."""
    times: dict[Computation, int] = {module.entry: 1}
    for computation in running_computations(module):
        for called in run_by(computation.instructions):
            times[called] = times.get(called, 0) + times[computation]
    return times
