"""Fusion in the order of what it saves."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import ClassVar

from hlotool.analysis.cost import running_computations
from hlotool.ir.computation import Computation
from hlotool.ir.cost import Access, byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.source import Constant
from hlotool.passes.fusion.fusion import LIMITS, make_fusion
from hlotool.passes.fusion.kernel import Kernel, Limits, can_be_fused, is_costly, is_free
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Decision, Journal
from hlotool.rewriting.outlining import Fuser, is_scalar_constant

_MANY_USERS = 32
"""A producer with more users is not looked at again for each of them."""
_COPIED_INSTRUCTIONS = 16
"""How large a producer may be that is computed in several kernels."""


@dataclass(frozen=True)
class PriorityFusion(Pass):
    """Fuses the producer first with all its users whose fusion saves the most time.

    Time is that of starting a kernel and of the bytes that it reads and writes.
    """

    name: ClassVar[str] = "priority-fusion"
    is_exact: ClassVar[bool] = True

    backend: str = option("gpu", "the backend whose kernels are made", choices=("cpu", "gpu"))
    launch_bytes: int = option(1 << 20, "the bytes that are moved in the time a start takes")

    def run(self, module: Module, journal: Journal) -> bool:
        """Works through a queue of producers in each computation."""
        limits = LIMITS[self.backend]
        changed = False
        for computation in running_computations(module):
            queue = _Queue(computation, limits, self.launch_bytes, journal)
            queue.run()
            fuser = Fuser(computation)
            for kernel in queue.kernels():
                make_fusion(kernel, queue.positions, fuser, journal)
            changed |= fuser.finish()
        if changed:
            module.settle()
        return changed


class _Queue:
    """Producers by what fusing them saves; each kernel goes by the name of its root."""

    def __init__(
        self, computation: Computation, limits: Limits, launch_bytes: int, journal: Journal
    ) -> None:
        self.positions = {one: n for n, one in enumerate(computation.instructions)}
        self._limits = limits
        self._launch_bytes = launch_bytes
        self._journal = journal
        self._kernels: dict[Instruction, Kernel] = {}
        self._homes: dict[Instruction, dict[Instruction, None]] = {}
        for instruction in computation.instructions:
            if can_be_fused(instruction) and not isinstance(instruction.op, Constant):
                self._kernels[instruction] = Kernel(instruction, limits)
                self._homes[instruction] = {instruction: None}

    def kernels(self) -> list[Kernel]:
        """Returns the kernels, those of users first, without what is a view alone."""
        roots = sorted(self._kernels, key=self.positions.__getitem__, reverse=True)
        return [self._kernels[root] for root in roots if not is_free(root)]

    def run(self) -> None:
        """Fuses as long as something is saved."""
        queue = [self._entry(root) for root in self._kernels]
        heapify(queue)
        by_position = list(self.positions)
        waiting: dict[Instruction, None] = {}
        while queue or waiting:
            if not queue:
                queue = [self._entry(root) for root in waiting if root in self._kernels]
                heapify(queue)
                waiting = {}
                continue
            saved, position = heappop(queue)
            root = by_position[-position]
            if root not in self._kernels or saved >= 0:
                continue
            current = self._entry(root)
            if current != (saved, position):
                heappush(queue, current)
                continue
            if self._fused(root, -saved):
                touched = {o for o in root.operands if o in self._kernels}
                for operand in touched:
                    if len(operand.users) > _MANY_USERS:
                        waiting[operand] = None
                    else:
                        heappush(queue, self._entry(operand))

    def _entry(self, root: Instruction) -> tuple[int, int]:
        """Returns the key of a producer: what it saves most first, then what stands last."""
        return -self._saving(root), -self.positions[root]

    def _consumers(self, root: Instruction) -> list[Kernel] | None:
        """Returns the kernels that read a root, or nothing where something else does."""
        if root.is_root or root.shape.is_tuple:
            return None
        found: dict[Instruction, None] = {}
        for user in root.users:
            homes = self._homes.get(user)
            if not homes:
                return None
            found.update(homes)
        return [self._kernels[one] for one in found] or None

    def _saving(self, root: Instruction) -> int:
        consumers = self._consumers(root)
        if consumers is None:
            return 0
        count = len(consumers)
        read = [o for o in self._kernels[root].arguments if not is_scalar_constant(o)]
        more = sum(
            byte_count(operand.shape)
            for consumer in consumers
            for operand in read
            if operand not in consumer.arguments
        )
        fewer = sum(byte_count(operand.shape) for operand in read)
        launch = 0 if is_free(root) else self._launch_bytes
        return launch + (1 + count) * byte_count(root.shape) + fewer - more

    def _fused(self, root: Instruction, saved: int) -> bool:
        consumers = self._consumers(root)
        if consumers is None:
            return False
        members = list(self._kernels[root].places)
        refusal = self._copy_refusal(members, len(consumers)) or _first_refusal(members, consumers)
        grown: list[Kernel] = []
        for consumer in consumers:
            made = refusal or self._grown(consumer, members)
            if isinstance(made, str):
                self._decide(root, consumers, made, 0)
                return False
            grown.append(made)
        self._decide(root, consumers, "", saved)
        del self._kernels[root]
        for member in members:
            self._homes[member].pop(root)
        for kernel in grown:
            self._kernels[kernel.root] = kernel
            for member in members:
                self._homes[member][kernel.root] = None
        return True

    def _copy_refusal(self, members: list[Instruction], count: int) -> str:
        if count == 1:
            return ""
        if len(members) > _COPIED_INSTRUCTIONS:
            return f"it has {count} users and is too large to be computed in each"
        cheap = (Access.SAME, Access.MOVED)
        if any(one.op.access not in cheap or is_costly(one) for one in members):
            return f"it has {count} users, and computing it in each is costly"
        return ""

    def _grown(self, consumer: Kernel, members: list[Instruction]) -> Kernel | str:
        """Returns a consumer with the instructions of a producer, or why there is none."""
        kernel = consumer
        if len(members) > 1:
            # What was taken in cannot be given back: a copy is tried.
            kernel, members = self._copied(consumer, members)
        for member in members:
            users = [user for user in member.users if user in kernel.places]
            if member in kernel.places:
                continue
            refusal = kernel.refusal(member, users)
            if refusal:
                return refusal
            kernel.take(member, users)
        return kernel

    def _copied(
        self, consumer: Kernel, members: list[Instruction]
    ) -> tuple[Kernel, list[Instruction]]:
        """Returns what a consumer is made from anew, and what is to be taken in, users first."""
        fresh = [one for one in members if one not in consumer.places]
        kernel = consumer.copied()
        if any(operand in kernel.places for one in fresh for operand in one.operands):
            # The consumer has copies of what the producer needs too: these come last.
            kernel = Kernel(consumer.root, self._limits)
            fresh += list(consumer.places)[1:]
        return kernel, sorted(fresh, key=self.positions.__getitem__, reverse=True)

    def _decide(self, root: Instruction, consumers: list[Kernel], refusal: str, saved: int) -> None:
        reason = refusal or "it saves the most of what is left"
        for consumer in consumers:
            share = saved // len(consumers)
            decision = Decision(root.name, consumer.root.name, not refusal, reason, share)
            self._journal.decisions.append(decision)


def _first_refusal(members: list[Instruction], consumers: list[Kernel]) -> str:
    """Returns why one of the consumers cannot take a producer of one instruction, or nothing."""
    if len(members) > 1:
        return ""
    (member,) = members
    refusals = (
        kernel.refusal(member, [user for user in member.users if user in kernel.places])
        for kernel in consumers
    )
    return next(filter(None, refusals), "")
