"""The dot family."""

from __future__ import annotations

from typing import Any

import pytest

from hlotool.errors import ParseError, ShapeError
from hlotool.ir.op import Op
from hlotool.ops.contraction import (
    SPARSITY,
    Contraction,
    Dot,
    RaggedDot,
    ScaledDot,
    SparseDimension,
)
from hlotool.text.parser import parse, parse_shape
from hlotool.text.printer import print_module

MATRICES: dict[str, Any] = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
BATCHED: dict[str, Any] = {
    "lhs_batch_dims": (0,), "lhs_contracting_dims": (2,),
    "rhs_batch_dims": (0,), "rhs_contracting_dims": (1,),
}  # fmt: skip


def infer(op: Op, operands: str) -> str:
    return op.infer_shape([parse_shape(text) for text in operands.split()], []).text


def check(op: Op, operands: str, declared: str) -> None:
    op.check_shape([parse_shape(text) for text in operands.split()], [], parse_shape(declared))


@pytest.mark.parametrize(
    ("op", "operands", "shape"),
    [
        (Dot(**MATRICES), "f32[2,3]{0,1} f32[3,4]{0,1}", "f32[2,4]{1,0}"),
        (Dot(**BATCHED), "f32[5,2,3] f32[5,3,4]", "f32[5,2,4]{2,1,0}"),
        (Dot(), "f32[2,3] f32[3,4]", "f32[2,3,3,4]{3,2,1,0}"),
        (Dot(), "f32[] f32[3]", "f32[3]{0}"),
        (Dot(**BATCHED), "f32[<=5,2,<=3] f32[5,3,<=4]", "f32[<=5,2,<=4]{2,1,0}"),
        (Dot(**BATCHED), "f32[?,2,?] f32[5,3,4]", "f32[?,2,4]{2,1,0}"),
        (
            Dot(lhs_batch_dims=(2, 0), lhs_contracting_dims=(3,), rhs_batch_dims=(0, 3),
                rhs_contracting_dims=(1,)),
            "f32[5,2,7,3] f32[7,3,4,5]",
            "f32[7,5,2,4]{3,2,1,0}",
        ),
    ],
)  # fmt: skip
def test_dot(op: Dot, operands: str, shape: str) -> None:
    assert infer(op, operands) == shape


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ("s8", "s8", "s8"),
        ("s8", "s32", "s32"),
        ("s8", "u8", "s8"),
        ("f16", "bf16", "bf16"),
        ("bf16", "f16", "bf16"),
        ("f8e4m3fn", "f8e5m2", "f8e5m2"),
        ("s32", "f32", "f32"),
        ("f32", "c64", "c64"),
        ("pred", "pred", "pred"),
    ],
)
def test_products_are_of_the_wider_type(lhs: str, rhs: str, result: str) -> None:
    assert infer(Dot(**MATRICES), f"{lhs}[2,3] {rhs}[3,4]") == f"{result}[2,4]{{1,0}}"


@pytest.mark.parametrize(
    ("operand", "declared"),
    [("s8", "s32"), ("s8", "f32"), ("f32", "bf16"), ("f8e4m3fn", "f32"), ("c64", "c128")],
)
def test_sums_may_be_declared_in_another_type(operand: str, declared: str) -> None:
    check(Dot(**MATRICES), f"{operand}[2,3] {operand}[3,4]", f"{declared}[2,4]")


@pytest.mark.parametrize(
    ("operand", "declared"),
    [
        ("s32", "s8[2,4]"),
        ("f32", "s32[2,4]"),
        ("c64", "f32[2,4]"),
        ("c128", "c64[2,4]"),
        ("f32", "f32[4,2]"),
        ("f32", "(f32[2,4])"),
    ],
)
def test_sums_cannot_be_declared_so(operand: str, declared: str) -> None:
    with pytest.raises(ShapeError, match=r"is declared, .* is inferred"):
        check(Dot(**MATRICES), f"{operand}[2,3] {operand}[3,4]", declared)


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        (
            Dot(**MATRICES),
            "f32[2,3] f32[4,3]",
            r"dimension 1 of lhs f32\[2,3\] has size 3, 0 of rhs f32\[4,3\] has size 4",
        ),
        (Dot(**BATCHED), "f32[5,2,3] f32[6,3,4]", "batch dimension 0 of lhs .* has size 5, 0 of"),
        (Dot(lhs_contracting_dims=(1,)), "f32[2,3] f32[3]", "lhs has 1 contracting dimensions"),
        (Dot(lhs_batch_dims=(1,)), "f32[2,3] f32[3]", "lhs has 1 batch dimensions, rhs has 0"),
        (
            Dot(lhs_batch_dims=(0,), lhs_contracting_dims=(0,)),
            "f32[5] f32[5]",
            r"dot: lhs batch and contracting dimensions \{0,0\} are not distinct",
        ),
        (Dot(rhs_contracting_dims=(7,)), "f32[5] f32[5]", r"rhs .* 7 is out of range for rank 1"),
        (Dot(**MATRICES), "f32[2,3] (f32[3])", r"operand 1 is \(f32\[3\]\), an array is wanted"),
        (Dot(**MATRICES), "f32[2,3] f32[3] u16[1]", "3 operands are given, 2 are wanted"),
    ],
)
def test_dot_refuses(op: Dot, operands: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(op, operands)


def test_dot_prints_contracting_dimensions_always() -> None:
    assert list(Dot().written()) == [
        ("lhs_contracting_dims", "{}"),
        ("rhs_contracting_dims", "{}"),
    ]
    op = Dot(**BATCHED, operand_precision=("high", "default"), algorithm="dot_tf32_tf32_f32")
    assert list(op.written()) == [
        ("lhs_batch_dims", "{0}"), ("lhs_contracting_dims", "{2}"),
        ("rhs_batch_dims", "{0}"), ("rhs_contracting_dims", "{1}"),
        ("operand_precision", "{high,default}"), ("algorithm", "dot_tf32_tf32_f32"),
    ]  # fmt: skip


LEFT = SparseDimension(0, 1, 2, 4)
RIGHT = SparseDimension(1, 0, 1, 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [("L.1@2:4", (LEFT,)), ("R.0@1:2", (RIGHT,)), ("L.1@2:4_R.0@1:2", (LEFT, RIGHT))],
)
def test_sparsity_as_text(text: str, value: tuple[SparseDimension, ...]) -> None:
    assert SPARSITY.read(text) == value
    assert SPARSITY.write(value) == text


@pytest.mark.parametrize("text", ["L.1@2", "M.1@2:4", "L.1@5:4", "L.1@0:4", "L.1@2:4_L.0@2:4"])
def test_sparsity_that_means_nothing(text: str) -> None:
    with pytest.raises(ValueError, match=r"[LM]\.1@"):
        SPARSITY.read(text)


def test_sparse_operands_count_with_their_zeros() -> None:
    op = Dot(**MATRICES, sparsity=(LEFT,))
    assert infer(op, "bf16[8,16] bf16[32,4] u16[8,2]") == "bf16[8,4]{1,0}"
    both = Dot(**MATRICES, sparsity=(LEFT, RIGHT))
    assert infer(both, "bf16[8,16] bf16[16,4] u16[8,2] u16[2,4]") == "bf16[8,4]{1,0}"


@pytest.mark.parametrize(
    ("operands", "words"),
    [
        ("f32[8,16] f32[32,4]", "2 operands are given, 3 are wanted"),
        ("f32[8,16] f32[16,4] u16[8,2]", "contracting dimension 1 of lhs .* has size 32"),
        ("f32[8,15] f32[30,4] u16[8,2]", "a multiple of 2 in sparse dimension 1 is wanted"),
        ("f32[8,16] f32[32,4] s32[8,2]", "operand 2 is .* positions of type u16 are wanted"),
        ("f32[8] f32[32,4] u16[8,2]", "sparsity of operand 0: 1 is out of range for rank 1"),
    ],
)
def test_sparse_operands_that_do_not_fit(operands: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(Dot(**MATRICES, sparsity=(LEFT,)), operands)


FREE = RaggedDot(
    lhs_contracting_dims=(1,), rhs_contracting_dims=(1,), lhs_ragged_dims=(0,), rhs_group_dims=(0,)
)
FREE_IN_BATCH = RaggedDot(
    lhs_batch_dims=(1,), lhs_contracting_dims=(3,), rhs_batch_dims=(1,),
    rhs_contracting_dims=(2,), lhs_ragged_dims=(2,), rhs_group_dims=(0,),
)  # fmt: skip
CONTRACTING = RaggedDot(**MATRICES, lhs_ragged_dims=(1,))
TWO_BATCHES: dict[str, Any] = {
    "lhs_batch_dims": (0, 1), "lhs_contracting_dims": (2, 4),
    "rhs_batch_dims": (0, 1), "rhs_contracting_dims": (2, 3),
}  # fmt: skip


@pytest.mark.parametrize(
    ("op", "operands", "shape"),
    [
        (FREE, "f32[6,4] f32[3,4,5] s32[3]", "f32[6,5]{1,0}"),
        (FREE, "bf16[<=6,4] f32[3,4,<=5] s64[3]", "f32[<=6,<=5]{1,0}"),
        (FREE_IN_BATCH, "f32[7,2,8,6] f32[3,2,6,5] s32[2,7,3]", "f32[2,7,8,5]{3,2,1,0}"),
        (FREE_IN_BATCH, "f32[7,2,8,6] f32[3,2,6,5] s32[3]", "f32[2,7,8,5]{3,2,1,0}"),
        (CONTRACTING, "f32[8,6] f32[6,5] s32[3]", "f32[3,8,5]{2,1,0}"),
        (CONTRACTING, "f32[8,6] f32[6,5] s32[<=3]", "f32[<=3,8,5]{2,1,0}"),
        (
            RaggedDot(**TWO_BATCHES, lhs_ragged_dims=(4,)),
            "f32[2,2,5,8,6] f32[2,2,5,6,5] s32[2,2,5,3]",
            "f32[3,2,2,8,5]{4,3,2,1,0}",
        ),
        (
            RaggedDot(**TWO_BATCHES, lhs_ragged_dims=(1,)),
            "f32[2,7,5,8,6] f32[2,7,5,6,5] s32[2,3]",
            "f32[2,7,8,5]{3,2,1,0}",
        ),
        (
            RaggedDot(**BATCHED, lhs_ragged_dims=(0,)),
            "f32[2,8,6] f32[2,6,5] s32[3]",
            "f32[2,8,5]{2,1,0}",
        ),
    ],
)
def test_ragged_dot(op: RaggedDot, operands: str, shape: str) -> None:
    assert infer(op, operands) == shape


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        (FREE, "f32[6,4] f32[3,4,5] s32[4]", "4 groups in dimension 0 are wanted"),
        (FREE, "f32[6,4] f32[3,4,5] f32[3]", r"ragged-dot: operand 2 is f32\[3\]"),
        (FREE, "f32[6,4] f32[3,4,5] s32[]", r"operand 2 is s32\[\], dimensions \[groups\] are"),
        (FREE_IN_BATCH, "f32[7,2,8,6] f32[3,2,6,5] s32[7,2,3]", r"\[2,7,groups\] are wanted"),
        (RaggedDot(**BATCHED, lhs_ragged_dims=(0,)), "f32[2,8,6] f32[2,6,5] s32[2,3]",
         r"dimensions \[groups\] are wanted"),
        (FREE.replace(lhs_ragged_dims=()), "f32[6,4] f32[3,4,5] s32[3]",
         "0 ragged dimensions of lhs are given, 1 is wanted"),
        (FREE.replace(lhs_ragged_dims=(2,)), "f32[6,4] f32[3,4,5] s32[3]",
         "lhs ragged dimension 2 is out of range for rank 2"),
        (FREE.replace(rhs_group_dims=()), "f32[6,4] f32[3,4,5] s32[3]",
         "0 group dimensions of rhs are given, with a free ragged dimension 1 are wanted"),
        (FREE.replace(rhs_group_dims=(1,)), "f32[6,4] f32[3,4,5] s32[3]", "are not distinct"),
        (FREE.replace(rhs_group_dims=(5,)), "f32[6,4] f32[3,4,5] s32[3]", "5 is out of range"),
        (CONTRACTING.replace(rhs_group_dims=(1,)), "f32[8,6] f32[6,5] s32[3]",
         "with a batch or contracting ragged dimension 0 are wanted"),
    ],
)  # fmt: skip
def test_ragged_dot_refuses(op: RaggedDot, operands: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(op, operands)


@pytest.mark.parametrize(
    "operands",
    [
        "f8e4m3fn[2,32] f8e4m3fn[32,4] f8e8m0fnu[2,1] f8e8m0fnu[1,4]",
        "bf16[2,64] f8e5m2[64,4] bf16[] f8e8m0fnu[2,4]",
    ],
)
def test_scaled_dot(operands: str) -> None:
    check(ScaledDot(**MATRICES), operands, "f32[2,4]")


@pytest.mark.parametrize(
    ("operands", "words"),
    [
        ("f32[2,32] f32[32,4] f32[2,3] f32[]", "operand 2 is .* divide those of f32"),
        ("f32[2,32] f32[32,4] f32[] f32[4]", "operand 3 is .* a scalar or dimensions that"),
        ("f32[2,32] f32[32,4] f32[2,0] f32[]", "operand 2 is"),
        ("f32[2,32] f32[31,4] f32[] f32[]", "scaled-dot: contracting dimension 1"),
    ],
)
def test_scaled_dot_refuses(operands: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        check(ScaledDot(**MATRICES), operands, "f32[2,4]")


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("", ""),
        (", operand_precision={default,default}", ""),
        (", operand_precision={}", ""),
        (", operand_precision={HIGH,Default}", ", operand_precision={high,default}"),
        (", operand_precision={packed_nibble,packed_nibble}",) * 2,
        (", algorithm=unset", ""),
        (", algorithm=DOT_BF16_BF16_F32_X3", ", algorithm=dot_bf16_bf16_f32_x3"),
        (", lhs_batch_dims={}", ""),
    ],
)
def test_hints_are_printed_where_they_say_something(given: str, printed: str) -> None:
    dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    module = parse(f"%r = f32[2,4] dot(f32[2,3] %a, f32[3,4] %b), {dims}{given}")
    assert f"dot(%a, %b), {dims}{printed}\n" in print_module(module)


def test_sparsity_of_older_dumps_comes_back() -> None:
    call = (
        "dot(%a, %b, %c), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
        " operand_precision={high,high}, sparsity=L.1@2:4"
    )
    given = call.replace("%a, %b, %c", "f32[2,4] %a, f32[8,4] %b, u16[2,1] %c")
    assert f"{call}\n" in print_module(parse(f"%r = f32[2,4] {given}"))


def test_unknown_algorithms_are_named() -> None:
    with pytest.raises(ParseError, match=r"did you mean .*dot_f32_f32_f32"):
        parse("%r = f32[] dot(f32[] %a, f32[] %b), algorithm=dot_f32_f32_f33")


def test_free_dimensions_are_the_others() -> None:
    op: Contraction = Dot(**BATCHED)
    assert op.lhs_free_dimensions(4) == [1, 3]
    assert op.rhs_free_dimensions(3) == [2]
