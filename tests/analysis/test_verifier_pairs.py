"""What the verifier says of starts and dones, sends and receives, and channels."""

from __future__ import annotations

import pytest

from hlotool.analysis.verifier import verify
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import TOKEN
from hlotool.ops.host import Recv, RecvDone, Send, SendDone
from hlotool.ops.permuting import AllToAll, CollectivePermute
from hlotool.ops.tuples import GetTupleElement
from tests.analysis.modules import computation, make, messages, module, parameter
from tests.ops.shapes import F32_2, U32, pack

COPYING = pack(F32_2, F32_2, U32)
SENT = pack(F32_2, U32, TOKEN)


def check(*instructions: Instruction) -> list[str]:
    return messages(verify(module(computation("e", *instructions))))


def test_a_start_with_its_done() -> None:
    x = parameter("x")
    start = make("s", "copy-start", x, shape=COPYING)
    assert check(x, start, make("d", "copy-done", start)) == []


def test_a_start_may_be_the_root() -> None:
    x = parameter("x")
    assert check(x, make("s", "copy-start", x, shape=COPYING)) == []


def test_a_start_without_a_done() -> None:
    x = parameter("x")
    start = make("s", "copy-start", x, shape=COPYING)
    assert check(x, start, make("y", "negate", x)) == ["copy-start: copy-done must follow"]


def test_a_start_that_two_take() -> None:
    x = parameter("x")
    start = make("s", "copy-start", x, shape=COPYING)
    one, other = make("d1", "copy-done", start), make("d2", "copy-done", start)
    assert check(x, start, one, other, make("z", "add", one, other)) == [
        "copy-start: 2 instructions take it, one is wanted"
    ]


def test_a_start_that_something_else_takes() -> None:
    x = parameter("x")
    start = make("s", "copy-start", x, shape=COPYING)
    barrier = make("b", "opt-barrier", start, shape=COPYING)
    assert check(x, start, barrier, make("d", "copy-done", barrier)) == [
        "opt-barrier: operand s is from copy-start, only copy-done can take it",
        "copy-done: operand 0 is the opt-barrier b, copy-start is wanted",
    ]


def transfer(channel: int | None, done: int | None, *, host: bool = False) -> list[Instruction]:
    x, token = parameter("x"), parameter("t", 1, TOKEN)
    send = make("s", Send(channel_id=channel, is_host_transfer=host), x, token, shape=SENT)
    return [x, token, send, make("d", SendDone(channel_id=done), send, shape=TOKEN)]


@pytest.mark.parametrize("channel", [None, 0, 7])
def test_a_send_with_its_done(channel: int | None) -> None:
    assert check(*transfer(channel, channel)) == []


def test_a_done_of_another_channel() -> None:
    assert check(*transfer(1, 2)) == ["send-done: channel_id is 2, the send has 1"]
    assert check(*transfer(None, 2)) == ["send-done: channel_id is 2, the send has absent"]


def test_a_done_that_is_no_host_transfer() -> None:
    assert check(*transfer(1, 1, host=True)) == [
        "send-done: is_host_transfer is not that of the send"
    ]


def test_what_is_under_way_may_go_round_a_loop() -> None:
    token = parameter("t", 0, TOKEN)
    carried = parameter("c", 1, pack(SENT))
    inside = make("g", GetTupleElement(index=0), carried, shape=SENT)
    done = make("d", RecvDone(channel_id=1), inside, shape=pack(F32_2, TOKEN))
    again = make("r", Recv(channel_id=1), token, shape=SENT)
    both = make("p", "tuple", again, shape=pack(SENT))
    assert check(token, carried, inside, done, again, both) == []


def test_a_channel_is_for_transfers_or_for_collectives() -> None:
    x, token, send, done = transfer(1, 1)
    moved = make("m", CollectivePermute(channel_id=1, source_target_pairs=((0, 1),)), x)
    assert check(x, token, send, moved, done) == [
        "collective-permute: channel 1 is that of the send s"
    ]


def test_collectives_may_share_a_channel() -> None:
    x = parameter("x")
    one = make("m", CollectivePermute(channel_id=1, source_target_pairs=((0, 1),)), x)
    assert check(x, one, make("n", AllToAll(channel_id=1, dimensions=0), one)) == []


def test_a_host_channel_is_for_one_transfer() -> None:
    x, token = parameter("x"), parameter("t", 1, TOKEN)
    op = Send(channel_id=1, is_host_transfer=True)
    done = SendDone(channel_id=1, is_host_transfer=True)
    sends = [make(name, op, x, token, shape=SENT) for name in ("a", "b")]
    dones = [make(f"{send.name}.done", done, send, shape=TOKEN) for send in sends]
    assert check(x, token, *sends, *dones, make("all", "after-all", *dones, shape=TOKEN)) == [
        "send: host channel 1 is that of the send a"
    ]
