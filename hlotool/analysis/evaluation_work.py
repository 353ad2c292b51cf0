"""How much work it is to evaluate an instruction, before anyone does it."""

from __future__ import annotations

from hlotool.analysis.cost import CostAnalysis, run_by
from hlotool.ir.computation import Computation
from hlotool.ir.cost import element_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.source import Constant


class EvaluationWork:
    """Estimates work in operations and in elements that are read and written.

    A loop is counted as if it ran once: how often it does is not known here.
    """

    def __init__(self, module: Module) -> None:
        self._costs = CostAnalysis(module)
        self._of_computations: dict[Computation, int] = {}

    def of(self, instruction: Instruction) -> int:
        """Returns the work of one evaluation, with loops and branches that are run by it."""
        return self.own(instruction) + sum(map(self._of_computation, run_by([instruction])))

    def own(self, instruction: Instruction) -> int:
        """Returns the work without that of loops and branches."""
        op = instruction.op
        if op.parameter_number is not None or isinstance(op, Constant):
            return 0
        cost = self._costs.instruction_cost(instruction)
        touched = [instruction.shape, *[operand.shape for operand in instruction.operands]]
        return cost.flops + cost.transcendentals + sum(map(element_count, touched))

    def _of_computation(self, computation: Computation) -> int:
        found = self._of_computations.get(computation)
        if found is None:
            found = sum(map(self.of, computation.instructions))
            self._of_computations[computation] = found
        return found
