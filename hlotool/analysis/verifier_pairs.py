"""Checks ops that come in pairs: starts and dones, sends and receives, channels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hlotool.analysis.faults import Faults
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ops.asynchronous import AsyncContinuation, AsyncDone, AsyncStart, AsyncUpdate
from hlotool.ops.collective import (
    AllGatherDone,
    AllGatherStart,
    AllReduceDone,
    AllReduceStart,
)
from hlotool.ops.collective_groups import Collective
from hlotool.ops.host import CopyDone, CopyStart, Recv, RecvDone, Send, SendDone, Transfer
from hlotool.ops.permuting import CollectivePermuteDone, CollectivePermuteStart
from hlotool.ops.tuples import GetTupleElement, Tuple

_STEPS: tuple[tuple[type[Op], type[Op]], ...] = (
    (AsyncStart, AsyncUpdate),
    (AsyncStart, AsyncDone),
    (AsyncUpdate, AsyncUpdate),
    (AsyncUpdate, AsyncDone),
    (AllReduceStart, AllReduceDone),
    (AllGatherStart, AllGatherDone),
    (CollectivePermuteStart, CollectivePermuteDone),
    (CopyStart, CopyDone),
    (Send, SendDone),
    (Recv, RecvDone),
    # A loop may carry what is under way from one round into the next.
    (Send, Tuple),
    (Recv, Tuple),
    (GetTupleElement, SendDone),
    (GetTupleElement, RecvDone),
)
"""The two ops that stand one behind the other while something is under way."""
_CARRIERS = (Tuple, GetTupleElement)
"""What may stand before or behind anything else too."""


def _by_first(pairs: Iterable[tuple[type[Op], type[Op]]]) -> dict[type[Op], list[type[Op]]]:
    found: dict[type[Op], list[type[Op]]] = {}
    for first, second in pairs:
        if first not in _CARRIERS:
            found.setdefault(first, []).append(second)
    return found


_FOLLOWERS = _by_first(_STEPS)
_LEADERS = _by_first((second, first) for first, second in _STEPS)


def check_pairs(module: Module, faults: Faults) -> None:
    """Adds what is wrong with pairs of ops and with channels."""
    channels: dict[int, Instruction] = {}
    hosts: dict[int, Instruction] = {}
    for computation in module.computations:
        begun = []
        for instruction in computation.instructions:
            kind = type(instruction.op)
            if kind in _FOLLOWERS:
                begun.append(instruction)
            if kind in _LEADERS:
                _check_leader(instruction, faults)
            if isinstance(instruction.op, Transfer | Collective):
                _check_channel(instruction, channels, hosts, faults)
        if begun:
            _check_followers(computation, begun, faults)


def _check_leader(instruction: Instruction, faults: Faults) -> None:
    wanted = _LEADERS[type(instruction.op)]
    for operand in instruction.operands[:1]:
        if type(operand.op) not in wanted:
            faults.add(
                instruction,
                f"{instruction.opcode}: operand 0 is the {operand.opcode} {operand.name},"
                f" {_listed(wanted)} is wanted",
            )
        elif isinstance(instruction.op, Transfer) and isinstance(operand.op, Transfer):
            _check_same_transfer(instruction, instruction.op, operand.op, faults)
        elif isinstance(instruction.op, AsyncContinuation):
            _check_same_chain(instruction, instruction.op, faults)


def _check_same_chain(instruction: Instruction, op: AsyncContinuation, faults: Faults) -> None:
    if not instruction.calls and op.async_execution_thread is None:
        return
    begun = instruction
    seen = {begun}
    while isinstance(begun.op, AsyncContinuation) and begun.operands:
        begun = begun.operands[0]
        if begun in seen:
            return
        seen.add(begun)
    if not isinstance(begun.op, AsyncStart):
        return
    if instruction.calls and begun.calls and instruction.calls != begun.calls:
        faults.add(
            instruction,
            f"{op.opcode}: calls {instruction.calls[0].name},"
            f" its start {begun.name} calls {begun.calls[0].name}",
        )
    thread = op.async_execution_thread
    if thread not in (None, begun.op.async_execution_thread):
        faults.add(
            instruction,
            f"{op.opcode}: async_execution_thread is {thread},"
            f" its start {begun.name} has {begun.op.async_execution_thread}",
        )


def _check_same_transfer(
    instruction: Instruction, done: Transfer, begun: Transfer, faults: Faults
) -> None:
    if done.channel_id != begun.channel_id:
        faults.add(
            instruction,
            f"{done.opcode}: channel_id is {_shown(done.channel_id)},"
            f" the {begun.opcode} has {_shown(begun.channel_id)}",
        )
    if done.is_host_transfer is not begun.is_host_transfer:
        faults.add(
            instruction, f"{done.opcode}: is_host_transfer is not that of the {begun.opcode}"
        )


def _shown(channel: int | None) -> str:
    return "absent" if channel is None else str(channel)


def _check_followers(
    computation: Computation, begun: Sequence[Instruction], faults: Faults
) -> None:
    users: dict[Instruction, list[Instruction]] = {instruction: [] for instruction in begun}
    for instruction in computation.instructions:
        for operand in dict.fromkeys(instruction.operands):
            if operand in users:
                users[operand].append(instruction)
    for instruction, found in users.items():
        wanted = _FOLLOWERS[type(instruction.op)]
        if not found and instruction is not computation.root:
            faults.add(instruction, f"{instruction.opcode}: {_listed(wanted)} must follow")
        for user in found:
            if type(user.op) not in wanted:
                faults.add(
                    user,
                    f"{user.opcode}: operand {instruction.name} is from {instruction.opcode},"
                    f" only {_listed(wanted)} can take it",
                )
        if len(found) > 1:
            faults.add(
                instruction,
                f"{instruction.opcode}: {len(found)} instructions take it, one is wanted",
            )


def _check_channel(
    instruction: Instruction,
    channels: dict[int, Instruction],
    hosts: dict[int, Instruction],
    faults: Faults,
) -> None:
    op = instruction.op
    assert isinstance(op, Transfer | Collective)
    channel = op.channel_id
    if channel is None:
        return
    first = channels.setdefault(channel, instruction)
    if isinstance(op, Transfer) is not isinstance(first.op, Transfer):
        faults.add(
            instruction,
            f"{op.opcode}: channel {channel} is that of the {first.opcode} {first.name}",
        )
    if isinstance(op, Send | Recv) and op.is_host_transfer:
        earlier = hosts.setdefault(channel, instruction)
        if earlier is not instruction:
            faults.add(
                instruction,
                f"{op.opcode}: host channel {channel} is that of the {earlier.opcode}"
                f" {earlier.name}",
            )


def _listed(kinds: Sequence[type[Op]]) -> str:
    return " or ".join(kind.opcode for kind in kinds)
