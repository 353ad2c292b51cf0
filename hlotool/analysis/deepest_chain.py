"""The longest chain of kernels that wait for each other: how deep a module is."""

from __future__ import annotations

from hlotool.analysis.cost import is_kernel, run_by
from hlotool.ir.computation import Computation
from hlotool.ir.module import Module
from hlotool.ir.order import append_with_called


def deepest_chain(module: Module) -> int:
    """Returns how many kernels stand on the longest chain of a module's operands.

    An instruction that runs computations counts as the longest chain in one of them: a loop as
    one turn of its body, a conditional as its deepest branch. Control predecessors count too.
    """
    order: list[Computation] = []
    append_with_called(module.entry, set(), order)
    depths: dict[Computation, int] = {}
    for computation in order:
        depths[computation] = _depth(computation, depths)
    return depths[module.entry]


def _depth(computation: Computation, called_depths: dict[Computation, int]) -> int:
    depths: dict[object, int] = {}
    for instruction in computation.instructions:
        inside = [called_depths.get(called, 0) for called in run_by([instruction])]
        own = max(inside, default=int(is_kernel(instruction)))
        before = max((depths.get(one, 0) for one in instruction.dependencies), default=0)
        depths[instruction] = before + own
    return max(depths.values(), default=0)
