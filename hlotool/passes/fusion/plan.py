"""Which instructions of a computation become which kernels, decided without changing anything.

Instructions are looked at once, users before operands: what a producer's users are in is known
then. A producer all of whose users are in one kernel goes there if the rules of kernels allow
it; no cycle can come of that. Of several kernels each gets a copy if that reads and writes less
than storing the value once does. All others begin a kernel of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.computation import Computation
from hlotool.ir.cost import Access, byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ops.source import Constant
from hlotool.passes.fusion.kernel import Kernel, Limits, can_be_fused, is_costly, is_free
from hlotool.rewriting.journal import Decision, Journal
from hlotool.rewriting.outlining import is_scalar_constant

_MOST_COPIES = 8
"""Into how many kernels what computes is copied."""
_MOST_COPIES_IN_KERNEL = 64
_Groups = dict[Kernel, list[Instruction]]


class FusionPlan:
    """The kernels of one computation, those of users before those of producers."""

    def __init__(self, computation: Computation, limits: Limits, journal: Journal) -> None:
        self.kernels: list[Kernel] = []
        self._limits = limits
        self._journal = journal
        self._homes: dict[Instruction, list[Kernel]] = {}
        self._views: set[Instruction] = set()
        """Views that something outside of kernels needs, whatever kernels have copies."""
        self._copies: dict[Kernel, int] = {}
        for instruction in reversed(computation.instructions):
            if can_be_fused(instruction) and not isinstance(instruction.op, Constant):
                self._place(instruction)

    def _place(self, producer: Instruction) -> None:
        groups, outside = self._users_by_kernel(producer)
        kernels = len(groups)
        if not producer.operands and kernels:
            self._spread_leaf(producer, groups, outside=outside)
        elif kernels == 1 and not outside:
            self._place_in_one(producer, groups)
        elif kernels:
            self._place_in_many(producer, groups, outside=outside)
        else:
            self._begin(producer)

    def _users_by_kernel(self, producer: Instruction) -> tuple[_Groups, bool]:
        groups: _Groups = {}
        outside = producer.is_root
        for user in producer.users:
            homes = self._homes.get(user, [])
            outside |= not homes or user in self._views
            for kernel in homes:
                groups.setdefault(kernel, []).append(user)
        return groups, outside

    def _spread_leaf(self, producer: Instruction, groups: _Groups, *, outside: bool) -> None:
        """Copies what reads nothing to wherever it can be made."""
        stays = outside
        for kernel, users in groups.items():
            refusal = kernel.refusal(producer, users)
            self._decide(producer, kernel, refusal)
            if refusal:
                stays = True
            else:
                self._join(producer, kernel, users)
        if stays:
            self._begin(producer)

    def _place_in_one(self, producer: Instruction, groups: _Groups) -> None:
        ((kernel, users),) = groups.items()
        refusal = kernel.refusal(producer, users)
        self._decide(producer, kernel, refusal)
        if refusal:
            self._begin(producer)
        else:
            self._join(producer, kernel, users)

    def _place_in_many(self, producer: Instruction, groups: _Groups, *, outside: bool) -> None:
        refusal = self._copy_refusal(producer, groups, outside=outside)
        for kernel in groups:
            self._decide(producer, kernel, refusal)
        if refusal or outside:
            self._begin(producer)
        if not refusal:
            for kernel, users in groups.items():
                self._join(producer, kernel, users)
                if producer.op.access is Access.SAME:
                    self._copies[kernel] = self._copies.get(kernel, 0) + 1

    def _copy_refusal(self, producer: Instruction, groups: _Groups, *, outside: bool) -> str:
        count = len(groups) + outside
        if any(user.op.is_fusion for user in producer.users):
            return "a fusion that is there already needs it stored"
        computes = producer.op.access is not Access.MOVED
        if computes and (producer.op.access is not Access.SAME or is_costly(producer)):
            return f"it has users in {count} kernels, and computing it in each is costly"
        if computes and count > _MOST_COPIES:
            return f"it has users in {count} kernels, more than {_MOST_COPIES}"
        if computes and any(self._copies.get(k, 0) >= _MOST_COPIES_IN_KERNEL for k in groups):
            return f"a kernel that uses it computes {_MOST_COPIES_IN_KERNEL} copies already"
        if self._copied_bytes(producer, groups, outside=outside) > _stored_bytes(producer, count):
            return f"its {count} kernels would read more than storing it once takes"
        for kernel, users in groups.items():
            refusal = kernel.refusal(producer, users)
            if refusal:
                return f"another kernel needs it stored: in {kernel.root.name} {refusal}"
        return ""

    def _copied_bytes(self, producer: Instruction, groups: _Groups, *, outside: bool) -> int:
        read = sum(
            byte_count(operand.shape)
            for kernel in groups
            for operand in dict.fromkeys(producer.operands)
            if operand not in kernel.arguments and not is_scalar_constant(operand)
        )
        if not outside:
            return read
        return read + _operand_bytes(producer) + 2 * byte_count(producer.shape)

    def _begin(self, producer: Instruction) -> None:
        if is_free(producer):
            self._views.add(producer)
            return
        kernel = Kernel(producer, self._limits)
        self.kernels.append(kernel)
        self._homes.setdefault(producer, []).append(kernel)

    def _join(self, producer: Instruction, kernel: Kernel, users: Sequence[Instruction]) -> None:
        kernel.take(producer, users)
        self._homes.setdefault(producer, []).append(kernel)

    def _decide(self, producer: Instruction, kernel: Kernel, refusal: str) -> None:
        saved = 0 if refusal else 2 * byte_count(producer.shape)
        reason = refusal or "its value need not be stored"
        decision = Decision(producer.name, kernel.root.name, not refusal, reason, saved)
        self._journal.decisions.append(decision)


def _operand_bytes(producer: Instruction) -> int:
    operands = dict.fromkeys(producer.operands)
    return sum(byte_count(o.shape) for o in operands if not is_scalar_constant(o))


def _stored_bytes(producer: Instruction, count: int) -> int:
    return _operand_bytes(producer) + byte_count(producer.shape) * (1 + count)
