"""Which computations of several modules are the same, so that they need be looked at once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from hlotool.graph.model import Face, ModuleGraph
from hlotool.ir.computation import Computation
from hlotool.ir.cost import Cost
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module


class SameComputations:
    """Numbers of computations, equal for those that are the same with all that they call.

    Ops, shapes and annotations count as the same when they are one object: copies of a module
    share them, and comparing them would take longer than looking at all again. What is known of
    the computations stands in `columns` and `data`, by their numbers.
    """

    def __init__(self) -> None:
        self.columns: dict[int, dict[str, Any]] = {}
        self.data: dict[tuple[int, str], list[Any]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._fusions: dict[tuple[int, str], tuple[Cost, Face]] = {}
        self._modules: list[Module] = []
        """They keep what they are made of, so that nothing else has its place."""

    def numbers(self, graph: ModuleGraph) -> dict[Computation, int]:
        """Returns the numbers of the computations of a module, which must not change any more."""
        self._modules.append(graph.module)
        found: dict[Computation, int] = {}
        for computation in graph.computations:
            order = graph.instructions(computation)
            key = self._key(computation, order, found)
            found[computation] = self._numbers.setdefault(key, len(self._numbers))
        self._share_fusions(graph, found)
        return found

    def _key(
        self, computation: Computation, order: list[Instruction], found: dict[Computation, int]
    ) -> Hashable:
        at = {instruction: number for number, instruction in enumerate(order)}
        return (
            computation.name,
            at[computation.root],
            tuple(
                (
                    one.name,
                    id(one.op),
                    id(one.shape),
                    id(one.annotations),
                    tuple([at[operand] for operand in one.operands]),
                    tuple([at[before] for before in one.control_predecessors]),
                    tuple([found[called] for called in one.calls]),
                )
                for one in order
            ),
        )

    def _share_fusions(self, graph: ModuleGraph, numbers: dict[Computation, int]) -> None:
        """Lets a graph know what fusions with bodies that were there before cost and say."""
        for computation in graph.computations:
            for one in graph.instructions(computation):
                if one.op.is_fusion:
                    key = numbers[one.calls[0]], one.op.title
                    known = self._fusions.get(key)
                    if known is None:
                        self._fusions[key] = graph.cost(one), graph.face(one)
                    else:
                        graph.take_known(one, *known)
