"""How much work it is to evaluate an instruction, before anyone does it."""

from __future__ import annotations

from hlotool.analysis.cost import CostAnalysis, run_by
from hlotool.ir.computation import Computation
from hlotool.ir.cost import element_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import append_with_called
from hlotool.ops.source import Constant


class EvaluationWork:
    """Estimates work in operations and in elements that are read and written.

    A loop is counted as if it ran once: how often it does is not known here.
    """

    def __init__(self, module: Module) -> None:
        self._costs = CostAnalysis(module)
        self._of_computations: dict[Computation, int] = {}
        self._entered: set[Computation] = set()

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
        if computation not in self._of_computations:
            # Called ones come first: calls nest deeper than Python's stack.
            order: list[Computation] = []
            append_with_called(computation, self._entered, order)
            for one in order:
                self._of_computations[one] = sum(map(self.of, one.instructions))
        return self._of_computations[computation]
