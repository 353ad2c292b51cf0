"""Start, update and done of a computation that runs beside others."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import OPCODES
from hlotool.ir.shape import Shape
from hlotool.ops.asynchronous import AsyncDone, AsyncStart, AsyncUpdate
from tests.ops.shapes import BF16_2, F32_2, F32_4, U32, pack, signature

WRAPPED = signature([F32_2], F32_4)
STARTED = pack(pack(F32_2), F32_4, U32)


def test_each_opcode_has_its_class() -> None:
    assert OPCODES["async-start"] is AsyncStart
    assert OPCODES["async-update"] is AsyncUpdate
    assert OPCODES["async-done"] is AsyncDone


def test_a_chain_fits() -> None:
    AsyncStart().check_shape([F32_2], [WRAPPED], STARTED)
    AsyncUpdate().check_shape([STARTED], [], STARTED)
    AsyncDone().check_shape([STARTED], [], F32_4)


def test_contexts_may_be_missing() -> None:
    AsyncStart().check_shape([F32_2], [WRAPPED], pack(pack(F32_2), F32_4))


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (F32_4, r"async-start: shape is f32\[4\], \(\(operands\), result, contexts\) is wanted"),
        (pack(pack(F32_2)), "result, contexts"),
        (pack(F32_2, F32_4), "result, contexts"),
        (pack(pack(F32_4), F32_4), r"async-start: shape: parameter 0 is f32\[4\]"),
        (pack(pack(F32_2, F32_2), F32_4), "async-start: shape takes 2 parameters, 1 are wanted"),
        (pack(pack(F32_2), F32_2), r"async-start: calls yields f32\[4\], f32\[2\] is wanted"),
    ],
)
def test_a_start_of_another_shape_is_refused(declared: Shape, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        AsyncStart().check_shape([F32_2], [WRAPPED], declared)


def test_a_start_of_another_computation_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"async-start: calls: parameter 0 is bf16\[2\]"):
        AsyncStart().check_shape([F32_2], [signature([BF16_2], F32_4)], STARTED)


def test_update_and_done_follow_the_start() -> None:
    with pytest.raises(ShapeError, match="async-update: shape"):
        AsyncUpdate().check_shape([STARTED], [], F32_4)
    with pytest.raises(ShapeError, match=r"async-update: operand 0 is f32\[4\]"):
        AsyncUpdate().check_shape([F32_4], [], F32_4)
    with pytest.raises(ShapeError, match=r"async-done: shape f32\[2\] is declared"):
        AsyncDone().check_shape([STARTED], [], F32_2)


def test_only_the_start_prints_attributes() -> None:
    start = AsyncStart(async_execution_thread="t", output_to_operand_aliasing=(((), 0, ()),))
    assert list(start.written()) == [
        ("async_execution_thread", '"t"'),
        ("output_to_operand_aliasing", "{{}: (0, {})}"),
    ]
    assert list(AsyncStart(async_execution_thread="main").written()) == []
    assert list(AsyncDone(async_execution_thread="t").written()) == []
    assert AsyncUpdate().printed_roles([STARTED]) == ()
