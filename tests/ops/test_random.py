"""Random numbers."""

from __future__ import annotations

import pytest

from hlotool.errors import ParseError, ShapeError
from hlotool.ir.op import Op
from hlotool.ops.random import Rng, RngBitGenerator, RngGetAndUpdateState
from hlotool.text.parser import parse, parse_shape
from hlotool.text.printer import print_module

PHILOX = RngBitGenerator("rng_philox")
THREE_FRY = RngBitGenerator("rng_three_fry")
DEFAULT = RngBitGenerator("rng_default")


def check(op: Op, operands: str, declared: str) -> None:
    op.check_shape([parse_shape(text) for text in operands.split()], [], parse_shape(declared))


@pytest.mark.parametrize(
    ("op", "operands", "declared"),
    [
        (Rng("rng_uniform"), "f32[] f32[]", "f32[3,4]"),
        (Rng("rng_uniform"), "s32[] s32[]", "s32[3]"),
        (Rng("rng_uniform"), "pred[] pred[]", "pred[]"),
        (Rng("rng_normal"), "bf16[] bf16[]", "f32[3]"),
        (PHILOX, "u64[2]", "(u64[2], u32[3])"),
        (PHILOX, "u64[3]", "(u64[3], s8[3])"),
        (THREE_FRY, "u64[2]", "(u64[2], u64[])"),
        (DEFAULT, "u64[2]", "(u64[2], u32[3])"),
        (DEFAULT, "u32[4]", "(u32[4], u32[3])"),
        (DEFAULT, "u64[2]", "u32[3]"),
        (RngGetAndUpdateState(4096), "", "u64[2]"),
    ],
)
def test_shapes_that_fit(op: Op, operands: str, declared: str) -> None:
    check(op, operands, declared)


@pytest.mark.parametrize(
    ("op", "operands", "declared", "words"),
    [
        (Rng("rng_uniform"), "f32[1] f32[]", "f32[3]", "rng: operand 0 is .* a scalar is wanted"),
        (Rng("rng_uniform"), "c64[] c64[]", "c64[3]", r"operand 0 is c64\[\]"),
        (Rng("rng_normal"), "s32[] s32[]", "s32[3]", r"operand 0 is s32\[\]"),
        (Rng("rng_uniform"), "f32[] s32[]", "f32[3]", r"operand 1 .* result f32\[3\] is wanted"),
        (Rng("rng_uniform"), "f32[] f32[]", "(f32[3])", "the result is .* an array is wanted"),
        (PHILOX, "u64[4]", "(u64[4], u32[3])", r"rng_philox u64\[2\] or u64\[3\] is wanted"),
        (THREE_FRY, "u64[3]", "(u64[3], u32[3])", r"for rng_three_fry u64\[2\] is wanted"),
        (THREE_FRY, "u32[2]", "(u32[2], u32[3])", r"for rng_three_fry u64\[2\] is wanted"),
        (THREE_FRY, "u64[]", "(u64[], u32[3])", r"for rng_three_fry u64\[2\] is wanted"),
        (DEFAULT, "f32[2]", "(f32[2], u32[3])", r"operand 0 is f32\[2\]"),
        (DEFAULT, "u64[2]", "(u64[3], u32[3])", r"result 0 is u64\[3\], u64\[2\] is wanted"),
        (DEFAULT, "u64[2]", "(u64[2])", "a state and an array are wanted"),
        (DEFAULT, "u64[2]", "(u64[2], f32[3])", r"the array of bits is f32\[3\]"),
        (DEFAULT, "u64[2]", "(u64[2], token[])", "the array of bits is .* an array is wanted"),
        (RngGetAndUpdateState(1), "", "u64[3]", r"u64\[3\] is declared, u64\[2\] is inferred"),
    ],
)
def test_shapes_that_do_not_fit(op: Op, operands: str, declared: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        check(op, operands, declared)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("rng(f32[] %a, f32[] %b), distribution=RNG_NORMAL",
         "rng(%a, %b), distribution=rng_normal"),
        ("rng-bit-generator(u64[2] %a), algorithm=RNG_PHILOX",
         "rng-bit-generator(%a), algorithm=rng_philox"),
        ("rng-get-and-update-state(), delta=-1",) * 2,
    ],
)  # fmt: skip
def test_words_in_any_case(given: str, printed: str) -> None:
    assert f"u64[2]{{0}} {printed}\n" in print_module(parse(f"%r = u64[2] {given}"))


@pytest.mark.parametrize(
    "call",
    ["rng(f32[] %a, f32[] %b), distribution=rng_uniform", "rng-get-and-update-state(), delta=1"],
)
def test_shapes_must_be_written_out(call: str) -> None:
    with pytest.raises(ParseError, match="write it out"):
        parse(f"%r = {call}")


def test_hidden_state_is_a_side_effect() -> None:
    assert Rng.has_side_effect
    assert RngGetAndUpdateState.has_side_effect
    assert not RngBitGenerator.has_side_effect
