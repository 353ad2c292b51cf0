"""Fusions with several results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.cost import running_computations
from hlotool.analysis.reachability import Group, GroupOrder
from hlotool.ir.computation import Computation
from hlotool.ir.cost import Access, byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.control_flow import Fusion
from hlotool.ops.source import Constant
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.fusion.fusion import LIMITS
from hlotool.passes.fusion.kernel import Limits, can_be_fused, is_free, kernel_of
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Decision, Journal
from hlotool.rewriting.outlining import Fuser, outlined
from hlotool.rewriting.rewriter import remove_dead

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

    backend: str = option("gpu", "the backend whose kernels are made", choices=("cpu", "gpu"))
    max_results: int = option(16, "how many results a fusion may have")

    def run(self, module: Module, journal: Journal) -> bool:
        """Merges producers with consumers, then kernels that read the same."""

        def merge(merger: Merger) -> None:
            merger.merge_producers()
            merger.merge_readers()

        return merge_kernels(module, LIMITS[self.backend], self.max_results, journal, merge)


@dataclass(frozen=True)
class CpuMultiOutputFusion(MultiOutputFusion):
    """Merges kernels as multi_output_fusion does, by what kernels of the CPU can do."""

    name: ClassVar[str] = "cpu_multi_output_fusion"

    backend: str = option("cpu", "the backend whose kernels are made", choices=("cpu", "gpu"))


def merge_kernels(
    module: Module,
    limits: Limits,
    most_results: int,
    journal: Journal,
    merge: Callable[[Merger], None],
) -> bool:
    """Lets `merge` merge kernels of each computation until nothing is left to be merged.

    Returns whether the module changed.
    """
    changed = False
    trials = Trials(limits)
    for computation in running_computations(module):
        # Each merge may make room for others.
        while True:
            merger = Merger(computation, trials, most_results, journal)
            merge(merger)
            if not merger.finish():
                break
            computation.settle()
            changed = True
    if changed:
        module.drop_unreachable()
        module.settle()
    return changed


class Trials:
    """The kernels that instructions would make, each tried once.

    Members and outputs may get other users, but no other bodies, while kernels are merged.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._known: dict[Hashable, tuple[str, str]] = {}

    def kind(self, members: list[Instruction]) -> tuple[str, str]:
        """Returns the kind of the fusion that members would make, or why they make none."""
        outputs = _outputs(members)
        key = (tuple(members), tuple(outputs), tuple(one.operands for one in members))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._tried(members, outputs)
        return found

    def _tried(self, members: list[Instruction], outputs: list[Instruction]) -> tuple[str, str]:
        outline = outlined(members, outputs)
        kernel = kernel_of(outline.body.instructions, outline.roots, self.limits)
        return ("", kernel) if isinstance(kernel, str) else (kernel.kind, "")


class Merger:
    """Merges kernels of one computation in thought; `finish` makes the fusions."""

    def __init__(
        self, computation: Computation, trials: Trials, most_results: int, journal: Journal
    ) -> None:
        self._computation = computation
        self._trials = trials
        self._limits = trials.limits
        self._most_results = most_results
        self._journal = journal
        self._order = GroupOrder(computation)
        self._kinds: dict[Group, str] = {}
        self._mergeable: dict[Group, bool] = {}
        self._has_fuel = True

    def merge_producers(self) -> None:
        """Merges kernels with those that make what they read."""
        for group in reversed(list(self._order)):
            if self._is_whole(group) and self.is_mergeable(group):
                self._merge_producers(group)

    def merge_readers(self) -> None:
        """Merges kernels that read the same value."""
        for value in self._computation.instructions:
            if not self._has_readers(value):
                continue
            groups = dict.fromkeys(map(self._order.group, value.users))
            own = self._order.group(value)
            self.merge_among(one for one in groups if one is not own)

    def merge_among(self, groups: Iterable[Group]) -> None:
        """Merges each of some kernels with one of the last few before it."""
        mergeable = sorted(filter(self.is_mergeable, groups), key=self._order.position)
        tried: list[Group] = []
        for group in mergeable:
            current = group
            for other in tried[-_MOST_TRIED:]:
                made = self._merged(other, current)
                if made is not None:
                    del tried[_last_index(tried, other)]
                    current = made
            tried.append(current)

    def groups(self) -> list[Group]:
        """Returns the kernels as they are merged so far, and all else, in order."""
        return list(self._order)

    def is_mergeable(self, group: Group) -> bool:
        """Whether a group is kernels that can be merged, and something uses it."""
        found = self._mergeable.get(group)
        if found is None:
            found = self._mergeable[group] = _is_mergeable_group(group)
        return found

    def finish(self) -> bool:
        """Makes fusions of what was merged; returns whether anything was."""
        fuser = Fuser(self._computation)
        merged = [group.instructions for group in self._order if group in self._kinds]
        for members in merged:
            kind = self._kinds[self._order.group(members[0])]
            fuser.fuse(outlined(members, _outputs(members)), kind)
        changed = fuser.finish()
        # Results that nothing used hold on to what was merged.
        for members in merged:
            remove_dead(self._computation, members)
        return changed

    def _has_readers(self, value: Instruction) -> bool:
        if value.shape.is_tuple or len(value.users) < 2 or isinstance(value.op, Constant):
            return False
        return value.op.parameter_number is not None or len(value.users) <= _MOST_READERS

    def _is_whole(self, group: Group) -> bool:
        return self._order.group(group.instructions[0]) is group

    def _merge_producers(self, consumer: Group) -> None:
        refused: set[Group] = set()
        waiting = self._producers(consumer)
        while waiting:
            producer = waiting.pop(0)
            made = self._merged(producer, consumer)
            if made is None:
                refused.add(producer)
            else:
                consumer = made
                waiting = [one for one in self._producers(consumer) if one not in refused]

    def _producers(self, consumer: Group) -> list[Group]:
        operands = dict.fromkeys(o for one in consumer.instructions for o in one.operands)
        groups = dict.fromkeys(map(self._order.group, operands))
        return [one for one in groups if one is not consumer and self.is_mergeable(one)]

    def _merged(self, one: Group, other: Group) -> Group | None:
        first, last = sorted((one, other), key=self._order.position)
        kind, refusal = self._kind(first, last)
        if not refusal and not self._journal.hit("merge"):
            self._has_fuel = False
            return None
        self._decide(first.instructions, last.instructions, refusal)
        if refusal:
            return None
        made = self._order.merge(first, last)
        self._kinds[made] = kind
        return made

    def _kind(self, first: Group, last: Group) -> tuple[str, str]:
        """Returns the kind of the fusion that two would make, or why they make none."""
        ours, theirs = first.instructions, last.instructions
        members = [*ours, *theirs]
        refusal = self._refusal(members)
        if not refusal and not self._order.can_merge(first, last):
            refusal = "one must run before what the other needs, or they are far apart"
        if refusal:
            return "", refusal
        return self._trials.kind(members)

    def _refusal(self, both: list[Instruction]) -> str:
        if not self._has_fuel:
            return "there is no fuel left"
        if len(_outputs(both)) > self._most_results:
            return f"together they have more than {self._most_results} results"
        if sum(map(_size, both)) > self._limits.instructions:
            return f"together they have more than {self._limits.instructions} instructions"
        operands = {operand for one in both for operand in one.operands}
        if len(operands) > self._limits.parameters:
            return f"together they have more than {self._limits.parameters} operands"
        if any(map(_has_whole_users, both)):
            return "its results are used as one tuple"
        return ""

    def _decide(self, ours: list[Instruction], theirs: list[Instruction], refusal: str) -> None:
        read = {operand for one in theirs for operand in one.operands}
        shared = read & {*ours, *(operand for one in ours for operand in one.operands)}
        saved = 0 if refusal else sum(byte_count(operand.shape) for operand in shared)
        reason = refusal or "what both need is read once"
        decision = Decision(ours[0].name, theirs[0].name, not refusal, reason, saved)
        self._journal.decisions.append(decision)


def _is_mergeable_group(group: Group) -> bool:
    inside = {*group.instructions}
    return any(one.is_root or not inside.issuperset(one.users) for one in inside) and all(
        not one.has_control_edges if isinstance(one.op, GetTupleElement) else is_mergeable(one)
        for one in group.instructions
    )


def _last_index(groups: list[Group], wanted: Group) -> int:
    """Returns where a group stands that is one of the last."""
    return next(n for n in range(len(groups) - 1, -1, -1) if groups[n] is wanted)


def is_mergeable(instruction: Instruction) -> bool:
    """Whether an instruction is a kernel that others may become part of."""
    op = instruction.op
    if isinstance(op, Fusion):
        return (
            op.kind != "kCustom"
            and not op.output_to_operand_aliasing
            and not instruction.has_control_edges
            and _has_layouts_of_body(instruction)
        )
    return (
        instruction.shape.is_array
        and op.access not in {Access.SUMMED, Access.UPDATED}
        and not isinstance(op, Constant)
        and can_be_fused(instruction)
        and not is_free(instruction)
    )


def _has_layouts_of_body(fusion: Instruction) -> bool:
    """Whether a fusion takes and yields arrays as they lie in its body."""
    (body,) = fusion.calls
    pairs = zip(fusion.operands, body.parameters, strict=True)
    return fusion.shape == body.root.shape and all(o.shape == p.shape for o, p in pairs)


def _has_whole_users(instruction: Instruction) -> bool:
    """Whether something takes a tuple that the instruction yields as it is."""
    return instruction.shape.is_tuple and (
        instruction.is_root
        or any(not isinstance(user.op, GetTupleElement) for user in instruction.users)
    )


def _outputs(members: list[Instruction]) -> list[Instruction]:
    """Returns the arrays among members that something else uses."""
    inside = {*members}
    return [
        one
        for one in members
        if not one.shape.is_tuple and (one.is_root or not inside.issuperset(one.users))
    ]


def _size(instruction: Instruction) -> int:
    return len(instruction.calls[0].instructions) if instruction.op.is_fusion else 1
