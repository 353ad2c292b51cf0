"""Making one collective of several that do not wait for each other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.cost import byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace

BYTES = 30 * 1024 * 1024
"""How large a combined collective becomes at most, unless told otherwise."""
COUNT = 256
"""How many operands it takes at most."""


KeyOf = Callable[[Instruction], object | None]
"""Says which collectives may become one: those with the same key; `None` for no such one."""


@dataclass
class _Batch:
    """Collectives that become one."""

    members: list[Instruction] = field(default_factory=list)
    size: int = 0
    count: int = 0


@dataclass(frozen=True)
class Combiner(Pass):
    """Base of passes that make one collective of each batch of those with the same key."""

    is_exact: ClassVar[bool] = True

    combine_threshold_in_bytes: int = option(BYTES, "how large a combined one becomes at most")
    combine_threshold_count: int = option(COUNT, "how many operands it takes at most")

    @abstractmethod
    def key(self, instruction: Instruction) -> object | None:
        """Returns what collectives that are combined have in common; `None` for all others."""

    def run(self, module: Module, journal: Journal) -> bool:
        """Combines those that do not wait for each other, within both thresholds."""
        changed = False
        most = self.combine_threshold_in_bytes, self.combine_threshold_count
        for computation in unfused_computations(module):
            for batch in _batches(computation, self.key, *most):
                if len(batch.members) > 1 and journal.hit("combined"):
                    _combine(batch.members, computation)
                    changed = True
        if changed:
            module.settle()
        return changed


def _batches(
    computation: Computation, key_of: KeyOf, most_bytes: int, most_operands: int
) -> list[_Batch]:
    open_batches: dict[object, list[_Batch]] = {}
    for instruction, level in _levels(computation, key_of):
        batches = open_batches.setdefault((level, key_of(instruction)), [])
        size, count = byte_count(instruction.shape), len(instruction.operands)
        # The first with room is taken, so that what is left has no room for each other.
        batch = next(
            (
                one
                for one in batches
                if one.size + size <= most_bytes and one.count + count <= most_operands
            ),
            None,
        )
        if batch is None:
            batch = _Batch()
            batches.append(batch)
        batch.members.append(instruction)
        batch.size += size
        batch.count += count
    return [batch for batches in open_batches.values() for batch in batches]


def _levels(computation: Computation, key_of: KeyOf) -> Iterator[tuple[Instruction, int]]:
    """Yields the collectives with how many stand above each other before them.

    Those of one level do not wait for each other, and all of a level can be combined at once.
    """
    above: dict[Instruction, int] = {}
    for instruction in computation.instructions:
        level = max((above[one] for one in instruction.dependencies), default=0)
        key = key_of(instruction)
        above[instruction] = level if key is None else level + 1
        if key is not None and not instruction.has_control_edges:
            yield instruction, level


def _combine(members: list[Instruction], computation: Computation) -> None:
    first = members[0]
    builder = Builder(computation, first)
    operands = [operand for member in members for operand in member.operands]
    shapes = [shape for member in members for shape in _results(member)]
    both = builder.add(first.op, *operands, calls=first.calls, shape=TupleShape(shapes))
    both.annotations = first.annotations
    position = 0
    for member in members:
        count = len(member.operands)
        elements = [builder.add(GetTupleElement(position + n), both) for n in range(count)]
        position += count
        whole = builder.tuple(*elements) if member.shape.is_tuple else elements[0]
        replace(member, whole, builder)


def _results(member: Instruction) -> tuple[Shape, ...]:
    shape = member.shape
    return shape.elements if isinstance(shape, TupleShape) else (shape,)


def is_static(instruction: Instruction) -> bool:
    """Whether all that an instruction takes and yields are arrays of known sizes."""
    shapes = [*_results(instruction), *(operand.shape for operand in instruction.operands)]
    return all(isinstance(shape, ArrayShape) and shape.is_static for shape in shapes)
