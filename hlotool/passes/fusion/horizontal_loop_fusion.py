"""Small kernels that have nothing to do with each other, run as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.reachability import Group
from hlotool.ir.cost import element_count
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import Fusion
from hlotool.passes.fusion.fusion import LIMITS
from hlotool.passes.fusion.multi_output import Merger, merge_kernels
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class HorizontalLoopFusion(Pass):
    """Merges small elementwise fusions of equal dimensions, so that fewer kernels are started."""

    name: ClassVar[str] = "horizontal_loop_fusion"
    is_exact: ClassVar[bool] = True

    backend: str = option("gpu", "the backend whose kernels are made", choices=("cpu", "gpu"))
    max_elements: int = option(1 << 16, "how many elements a small result has at most")
    max_results: int = option(16, "how many results a fusion may have")

    def run(self, module: Module, journal: Journal) -> bool:
        """Merges the loops of equal dimensions in each computation."""
        limits = LIMITS[self.backend]
        return merge_kernels(module, limits, self.max_results, journal, self._merge)

    def _merge(self, merger: Merger) -> None:
        alike: dict[tuple[int, ...], list[Group]] = {}
        for group in merger.groups():
            dimensions = self._small_loop(group) if merger.is_mergeable(group) else None
            if dimensions is not None:
                alike.setdefault(dimensions, []).append(group)
        for groups in alike.values():
            merger.merge_among(groups)

    def _small_loop(self, group: Group) -> tuple[int, ...] | None:
        """Returns the dimensions that a small loop runs through, of anything else none."""
        first = group.instructions[0]
        op = first.op
        if not isinstance(op, Fusion) or op.kind != "kLoop":
            return None
        leaves = [leaf for _, leaf in first.shape.leaves() if isinstance(leaf, ArrayShape)]
        if not leaves or any(element_count(leaf) > self.max_elements for leaf in leaves):
            return None
        return leaves[0].dimensions
