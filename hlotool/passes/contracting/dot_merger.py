"""Dots that share an operand, as one dot of which each takes a slice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from hlotool.ir.computation import Computation
from hlotool.ir.cost import byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ops.shape_changing import Concatenate
from hlotool.passes.contracting.products import DenseDot, add_product, dense_dot
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import without
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace

Key: TypeAlias = tuple[object, ...]
"""What dots that can be merged have in common; it begins with the number of the shared operand."""


@dataclass(frozen=True)
class DotMerger(Pass):
    """Merges dots that share an operand into one, by concatenating their other operands."""

    name: ClassVar[str] = "dot-merger"

    max_size_to_merge: int = option(
        1 << 25, "dots whose operands and result have more bytes together stay as they are"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Merges until no two dots that share an operand are independent of each other."""
        changed = False
        for computation in unfused_computations(module):
            while self._merge_once(computation, journal):
                changed = True
        if changed:
            module.settle()
        return changed

    def _merge_once(self, computation: Computation, journal: Journal) -> bool:
        """Merges groups of dots that have one level; returns whether there were any."""
        groups = self._groups(computation)
        levels = _levels(computation, {dot for dots in groups.values() for dot in dots})
        changed = False
        for key, dots in groups.items():
            by_level: dict[int, list[Instruction]] = {}
            for dot in dots:
                if dot.parent is computation:
                    by_level.setdefault(levels[dot], []).append(dot)
            for independent in by_level.values():
                if len(independent) > 1 and journal.hit("merge_dots"):
                    _merge(computation, independent, int(key[0] == 1))
                    changed = True
        computation.settle()
        return changed

    def _groups(self, computation: Computation) -> dict[Key, list[Instruction]]:
        """Returns the dots that could be merged but for what depends on them, two or more each."""
        groups: dict[Key, list[Instruction]] = {}
        for instruction in computation.instructions:
            dot = dense_dot(instruction)
            if dot is None or self._is_bound(instruction):
                continue
            for key in _keys(dot):
                groups.setdefault(key, []).append(instruction)
        return {key: dots for key, dots in groups.items() if len(dots) > 1}

    def _is_bound(self, instruction: Instruction) -> bool:
        """Whether a dot must stay as it is."""
        size = sum(byte_count(one.shape) for one in (instruction, *instruction.operands))
        return bool(
            size > self.max_size_to_merge
            or instruction.has_control_edges
            or instruction.annotations.sharding
        )


def _keys(dot: DenseDot) -> Iterable[Key]:
    """Yields for each operand what must be equal in dots that share it."""
    for number, (shared, other) in enumerate(((dot.lhs, dot.rhs), (dot.rhs, dot.lhs))):
        if len(other.free) != 1:
            continue
        shape = array_shape(other.operand)
        kept = tuple(without(shape.dimensions, other.free))
        yield number, shared.operand, dot.op, shape.element_type, kept, dot.element_type


def _levels(computation: Computation, dots: set[Instruction]) -> dict[Instruction, int]:
    """Returns how many of the dots lie at most on a way to each instruction, itself included.

    Dots of one level do not depend on each other, and still do not when others were merged
    that are of one level each.
    """
    levels: dict[Instruction, int] = {}
    for instruction in computation.instructions:
        before = max((levels[one] for one in instruction.dependencies), default=0)
        levels[instruction] = before + (instruction in dots)
    return levels


def _merge(computation: Computation, dots: Sequence[Instruction], shared: int) -> None:
    """Replaces dots that share an operand of a number by slices of one dot."""
    parts = [dot for dot in map(dense_dot, dots) if dot is not None]
    first = parts[0]
    build = Builder(computation, dots[0])
    others = [dot.lhs if shared else dot.rhs for dot in parts]
    (along,) = others[0].free
    joined = build.add(Concatenate(along), *(other.operand for other in others))
    lhs, rhs = (joined, first.rhs.operand) if shared else (first.lhs.operand, joined)
    product = add_product(build, first.op, lhs, rhs, first.element_type)
    sizes = array_shape(product).dimensions
    cut = len(first.lhs.batch) if shared else len(sizes) - 1
    start = 0
    for instruction, other in zip(dots, others, strict=True):
        (length,) = other.sizes(other.free)
        own = Builder(computation, instruction)
        starts = [start if d == cut else 0 for d in range(len(sizes))]
        limits = [start + length if d == cut else size for d, size in enumerate(sizes)]
        replace(instruction, own.slice(product, starts, limits), own)
        start += length
