"""Fusions with several results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.reachability import TopologicalOrder
from hlotool.ir.computation import Computation
from hlotool.ir.cost import Access, byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.control_flow import Fusion
from hlotool.ops.source import Constant
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.fusion.fusion import limits_of, running_computations
from hlotool.passes.fusion.kernel import Limits, can_be_fused, is_free, kernel_of
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Decision, Journal
from hlotool.rewriting.outlining import Outline, fuse, outlined

_MOST_TRIED = 4
"""How many kernels that read the same value each further one is tried with."""
_MOST_READERS = 64


@dataclass(frozen=True)
class MultiOutputFusion(Pass):
    """Merges kernels that read the same arrays, and producers that others use too.

    A value that is read by several kernels is read once then, and what is stored for some is
    not read back by others.
    """

    name: ClassVar[str] = "multi_output_fusion"
    is_exact: ClassVar[bool] = True

    backend: str = option("gpu", "the backend whose kernels are made: cpu or gpu")
    max_results: int = option(16, "how many results a fusion may have")

    def run(self, module: Module, journal: Journal) -> bool:
        """Merges producers with consumers, then kernels that read the same."""
        limits = limits_of(self.backend)
        changed = False
        for computation in running_computations(module):
            merger = _Merger(computation, limits, self.max_results, journal)
            changed |= merger.run()
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


@dataclass(frozen=True)
class CpuMultiOutputFusion(MultiOutputFusion):
    """Merges kernels as multi_output_fusion does, by what kernels of the CPU can do."""

    name: ClassVar[str] = "cpu_multi_output_fusion"

    backend: str = option("cpu", "the backend whose kernels are made: cpu or gpu")


class _Merger:
    def __init__(
        self, computation: Computation, limits: Limits, most_results: int, journal: Journal
    ) -> None:
        self._computation = computation
        self._limits = limits
        self._most_results = most_results
        self._journal = journal
        self._order = TopologicalOrder(computation)
        self._has_fuel = True

    def run(self) -> bool:
        """Returns whether anything was merged."""
        changed = False
        for instruction in reversed(list(self._computation.instructions)):
            if instruction.parent is self._computation and is_mergeable(instruction):
                changed |= self._merge_producers(instruction)
        for instruction in list(self._computation.instructions):
            if instruction.parent is self._computation:
                changed |= self._merge_readers(instruction)
        return changed

    def _merge_producers(self, consumer: Instruction) -> bool:
        changed = False
        waiting = list(_producers(consumer))
        refused: set[Instruction] = set()
        while waiting:
            producer = waiting.pop(0)
            if producer.parent is None or producer in refused:
                continue
            made = self._merged(producer, consumer)
            if made is None:
                refused.add(producer)
                continue
            changed, consumer = True, made
            waiting = [one for one in _producers(consumer) if one not in refused]
        return changed

    def _merge_readers(self, value: Instruction) -> bool:
        if value.shape.is_tuple or len(value.users) < 2 or isinstance(value.op, Constant):
            return False
        if value.op.parameter_number is None and len(value.users) > _MOST_READERS:
            return False
        readers = [user for user in value.users if is_mergeable(user)]
        readers.sort(key=self._order.position)
        changed = False
        tried: list[Instruction] = []
        for reader in readers:
            merged = reader
            for other in tried[-_MOST_TRIED:]:
                made = self._merged(other, merged)
                if made is not None:
                    tried.remove(other)
                    merged, changed = made, True
            tried.append(merged)
        return changed

    def _merged(self, one: Instruction, other: Instruction) -> Instruction | None:
        first, last = sorted((one, other), key=self._order.position)
        refusal = self._refusal(first, last)
        if refusal:
            self._decide(first, last, refusal)
            return None
        outline = _outline(first, last)
        kernel = kernel_of(outline.body.instructions, outline.roots, self._limits)
        if isinstance(kernel, str):
            self._decide(first, last, kernel)
            return None
        if not self._journal.hit("merge"):
            self._has_fuel = False
            return None
        self._decide(first, last, "")
        return self._replaced(first, last, outline, kernel.kind)

    def _replaced(
        self, first: Instruction, last: Instruction, outline: Outline, kind: str
    ) -> Instruction:
        stand_in = Instruction("", last.shape, last.op)
        self._order.merge(first, last, stand_in)
        made = fuse(outline, kind)
        self._order.rename(stand_in, made)
        return made

    def _refusal(self, first: Instruction, last: Instruction) -> str:
        if not self._has_fuel:
            return "there is no fuel left"
        if _size(first) + _size(last) > self._limits.instructions:
            return f"together they have more than {self._limits.instructions} instructions"
        if len(set(first.operands) | set(last.operands)) > self._limits.parameters:
            return f"together they have more than {self._limits.parameters} operands"
        if len(_results(first)) + len(_results(last)) > self._most_results:
            return f"together they have more than {self._most_results} results"
        if any(_has_whole_users(one) for one in (first, last)):
            return "its results are used as one tuple"
        if not self._order.can_merge(first, last):
            return "one must have run before something that the other needs, or they are far apart"
        return ""

    def _decide(self, first: Instruction, last: Instruction, refusal: str) -> None:
        shared = {*first.operands} & {*last.operands}
        saved = sum(byte_count(operand.shape) for operand in shared)
        saved += sum(byte_count(one.shape) for one in _results(first) if last in one.users)
        reason = refusal or "what both read is read once"
        decision = Decision(first.name, last.name, not refusal, reason, 0 if refusal else saved)
        self._journal.decisions.append(decision)


def is_mergeable(instruction: Instruction) -> bool:
    """Whether an instruction is a kernel that others may become part of."""
    op = instruction.op
    if isinstance(op, Fusion):
        free = not instruction.control_predecessors and not instruction.control_successors
        return free and op.kind != "kCustom" and not op.output_to_operand_aliasing
    return (
        instruction.shape.is_array
        and op.access not in {Access.SUMMED, Access.UPDATED}
        and not isinstance(op, Constant)
        and can_be_fused(instruction)
        and not is_free(instruction)
    )


def _producers(consumer: Instruction) -> Iterator[Instruction]:
    for operand in dict.fromkeys(consumer.operands):
        producer = operand.operands[0] if isinstance(operand.op, GetTupleElement) else operand
        if is_mergeable(producer):
            yield producer


def _results(instruction: Instruction) -> list[Instruction]:
    """Returns the arrays that an instruction yields, as the instructions that users take."""
    if not instruction.shape.is_tuple:
        return [instruction]
    return [user for user in instruction.users if isinstance(user.op, GetTupleElement)]


def _has_whole_users(instruction: Instruction) -> bool:
    if not instruction.shape.is_tuple:
        return False
    return instruction.is_root or len(_results(instruction)) < len(instruction.users)


def _outline(first: Instruction, last: Instruction) -> Outline:
    members = [first, *_elements(first), last, *_elements(last)]
    inside = {*members}
    results = [*_results(first), *_results(last)]
    outputs = [one for one in results if one.is_root or not inside.issuperset(one.users)]
    return outlined(members, outputs)


def _elements(instruction: Instruction) -> Iterable[Instruction]:
    return _results(instruction) if instruction.shape.is_tuple else ()


def _size(instruction: Instruction) -> int:
    return len(instruction.calls[0].instructions) if instruction.op.is_fusion else 1
