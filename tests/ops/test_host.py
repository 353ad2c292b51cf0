"""Tokens, transfers and asynchronous copies: shapes and what is printed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import TOKEN, Shape
from hlotool.ops.host import (
    AddDependency,
    AfterAll,
    CopyDone,
    CopyStart,
    Infeed,
    Outfeed,
    Recv,
    RecvDone,
    Send,
    SendDone,
)
from tests.ops.shapes import F32_2, F32_4, S32, U32, pack

SENT = pack(F32_2, U32, TOKEN)


def test_each_opcode_has_its_class() -> None:
    for op_class in (AfterAll, AddDependency, Infeed, Outfeed, Send, SendDone, Recv, RecvDone,
                     CopyStart, CopyDone):  # fmt: skip
        assert OPCODES[op_class.opcode] is op_class


@pytest.mark.parametrize(
    ("op", "operands", "declared"),
    [
        (AfterAll(), [], TOKEN),
        (AfterAll(), [TOKEN, TOKEN], TOKEN),
        (AddDependency(), [F32_2, TOKEN], F32_2),
        (Infeed(), [TOKEN], pack(F32_2, TOKEN)),
        (Infeed(), [TOKEN], pack(pack(F32_2, S32), TOKEN)),
        (Outfeed(), [F32_2, TOKEN], TOKEN),
        (Outfeed(outfeed_shape=F32_2), [F32_2, TOKEN], TOKEN),
        (Send(), [F32_2, TOKEN], SENT),
        (SendDone(), [SENT], TOKEN),
        (Recv(), [TOKEN], SENT),
        (RecvDone(), [SENT], pack(F32_2, TOKEN)),
        (CopyStart(), [F32_2], pack(F32_2, F32_2, U32)),
        (CopyDone(), [pack(F32_2, F32_2, U32)], F32_2),
    ],
)
def test_shapes_that_fit(op: Op, operands: Sequence[Shape], declared: Shape) -> None:
    op.check_shape(operands, [], declared)


@pytest.mark.parametrize(
    ("op", "operands", "declared", "words"),
    [
        (AfterAll(), [], F32_2, r"after-all: shape f32\[2\] is declared, token\[\] is inferred"),
        (AddDependency(), [F32_2, F32_2], F32_2, "add-dependency: operand 1 is f32"),
        (Infeed(), [F32_2], pack(F32_2, TOKEN), "infeed: operand 0 is f32"),
        (Infeed(), [TOKEN], F32_2, r"infeed: shape is f32\[2\], \(data, token\[\]\) is wanted"),
        (Infeed(), [TOKEN], pack(F32_2, F32_2), r"infeed: shape is \(f32\[2\], f32\[2\]\)"),
        (Outfeed(), [F32_2, F32_2], TOKEN, "outfeed: operand 1 is f32"),
        (Outfeed(), [F32_2, TOKEN], F32_2, r"outfeed: shape f32\[2\] is declared"),
        (Outfeed(outfeed_shape=F32_4), [F32_2, TOKEN], TOKEN, r"outfeed_shape is f32\[4\]"),
        (Send(), [F32_2, TOKEN], pack(F32_4, U32, TOKEN), r"\(f32\[2\], u32\[\], token\[\]\) is"),
        (Send(), [F32_2, S32], SENT, r"send: operand 1 is s32\[\]"),
        (SendDone(), [F32_2], TOKEN, r"send-done: operand 0 is f32\[2\]"),
        (Recv(), [S32], SENT, r"recv: operand 0 is s32\[\]"),
        (Recv(), [TOKEN], pack(F32_2, TOKEN), r"recv: shape is \(f32\[2\], token\[\]\)"),
        (Recv(), [TOKEN], pack(F32_2, S32, TOKEN), r"recv: element 1 of the shape is s32\[\]"),
        (RecvDone(), [SENT], F32_2, "recv-done: shape"),
        (CopyStart(), [F32_2], F32_2, r"copy-start: shape is f32\[2\]"),
        (CopyStart(), [F32_2], pack(F32_4, F32_2, U32), "copy-start: shape: the destination"),
        (CopyStart(), [F32_2], pack(F32_2, F32_4, U32), "copy-start: shape: the source"),
        (CopyDone(), [F32_2], F32_2, r"copy-done: operand 0 is f32\[2\], a copy-start is wanted"),
    ],
)
def test_shapes_that_do_not_fit(
    op: Op, operands: Sequence[Shape], declared: Shape, words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        op.check_shape(operands, [], declared)


def test_outfeed_shape_is_always_printed() -> None:
    plain = Outfeed(outfeed_config="c").adapted([F32_2, TOKEN], TOKEN)
    given = Outfeed(outfeed_shape=F32_4).adapted([F32_2, TOKEN], TOKEN)
    assert list(plain.written()) == [("outfeed_shape", "f32[2]{0}"), ("outfeed_config", '"c"')]
    assert list(given.written()) == [("outfeed_shape", "f32[4]{0}")]


def test_attributes_print_in_order_and_zero_is_no_default() -> None:
    send = Send(is_host_transfer=True, channel_id=0)
    assert list(send.written()) == [("channel_id", "0"), ("is_host_transfer", "true")]
    assert list(Recv().written()) == []
    prefetch = CopyStart(cross_program_prefetch_index=0)
    assert list(prefetch.written()) == [("cross_program_prefetch_index", "0")]


def test_what_must_stay_without_users() -> None:
    kept: set[type[Op]] = {Infeed, Outfeed, Send, SendDone, Recv, RecvDone}
    others: set[type[Op]] = {AfterAll, AddDependency, CopyStart, CopyDone}
    for op_class in kept | others:
        assert op_class.has_side_effect is (op_class in kept)
