"""Matrix decompositions and batch normalization."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import Op
from hlotool.ops.decomposition import (
    BatchNormGrad,
    BatchNormInference,
    BatchNormTraining,
    Cholesky,
    TriangularSolve,
)
from hlotool.text.parser import parse, parse_shape
from hlotool.text.printer import print_module

RIGHT = TriangularSolve(transpose_a="NO_TRANSPOSE")
LEFT = TriangularSolve(left_side=True, transpose_a="ADJOINT")


def infer(op: Op, operands: str) -> str:
    return op.infer_shape([parse_shape(text) for text in operands.split()], []).text


@pytest.mark.parametrize(
    ("op", "operands", "shape"),
    [
        (Cholesky(), "f32[2,5,5]{0,1,2}", "f32[2,5,5]{0,1,2}"),
        (Cholesky(lower=True), "c64[<=5,5]", "c64[<=5,5]{1,0}"),
        (LEFT, "f32[2,5,5] f32[2,5,3]{0,1,2}", "f32[2,5,3]{0,1,2}"),
        (RIGHT, "f32[2,5,5] f32[2,3,5]", "f32[2,3,5]{2,1,0}"),
        (RIGHT, "f32[<=2,5,5] f32[2,3,5]", "f32[2,3,5]{2,1,0}"),
        (
            BatchNormTraining(0.1, 2),
            "f32[2,3,4]{0,1,2} f32[4] f32[4]",
            "(f32[2,3,4]{0,1,2}, f32[4]{0}, f32[4]{0})",
        ),
        (
            BatchNormTraining(0.1, 1),
            "bf16[2,<=4] f32[4] f32[4]",
            "(bf16[2,<=4]{1,0}, bf16[<=4]{0}, bf16[<=4]{0})",
        ),
        (
            BatchNormInference(0.1, 1),
            "f32[2,4]{0,1} f32[4] f32[4] bf16[4] f32[4]",
            "f32[2,4]{0,1}",
        ),
        (
            BatchNormGrad(0.1, 0),
            "f32[4,2]{0,1} f32[4] f32[4] f32[4] f32[4,2]",
            "(f32[4,2]{0,1}, f32[4]{0}, f32[4]{0})",
        ),
    ],
)
def test_shapes(op: Op, operands: str, shape: str) -> None:
    assert infer(op, operands) == shape


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        (Cholesky(), "f32[2,5,4]", r"operand 0 is f32\[2,5,4\], square matrices are wanted"),
        (Cholesky(), "f32[5]", "square matrices are wanted"),
        (Cholesky(), "s32[5,5]", r"cholesky: operand 0 is s32\[5,5\]"),
        (LEFT, "f32[2,5,4] f32[2,5,3]", "operand 0 .* square matrices are wanted"),
        (LEFT, "f32[5,5] f64[5,3]", r"element type and rank of f32\[5,5\] are wanted"),
        (LEFT, "f32[2,5,5] f32[5,3]", r"element type and rank of f32\[2,5,5\] are wanted"),
        (LEFT, "f32[2,5,5] f32[3,5,3]", r"the batch dimensions of f32\[2,5,5\] are wanted"),
        (LEFT, "f32[5,5] f32[3,5]", "size 5 in dimension 0 is wanted"),
        (RIGHT, "f32[5,5] f32[5,3]", "size 5 in dimension 1 is wanted"),
        (TriangularSolve(), "f32[5,5] f32[3,5]", "transpose_a is unset, one of NO_TRANSPOSE,"),
        (BatchNormTraining(0.1, 3), "f32[2,4] f32[4] f32[4]", "feature_index 3 is out of range"),
        (BatchNormTraining(0.1, -1), "f32[2,4] f32[4] f32[4]", "feature_index -1 is out of range"),
        (BatchNormTraining(0.1, 0), "f32[] f32[4] f32[4]", "out of range for rank 0"),
        (BatchNormTraining(0.1, 1), "f32[2,4] f32[3] f32[4]", "operand 1 is .* the 4 features"),
        (BatchNormTraining(0.1, 1), "f32[2,4] f32[4] f32[4,1]", "operand 2 is .* the 4 features"),
        (BatchNormTraining(0.1, 1), "s32[2,4] s32[4] s32[4]", r"operand 0 is s32\[2,4\]"),
        (BatchNormInference(0.1, 1), "f32[2,4] f32[4] f32[4] f32[4] f32[2]", "operand 4 is"),
        (
            BatchNormGrad(0.1, 1),
            "f32[2,4] f32[4] f32[4] f32[4] f32[3,4]",
            r"operand 4 is f32\[3,4\], the dimensions of f32\[2,4\] are wanted",
        ),
    ],
)
def test_operands_that_do_not_fit(op: Op, operands: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(op, operands)


def test_moments_may_be_wider_than_the_operand() -> None:
    operands = [parse_shape(text) for text in ("bf16[2,4]", "f32[4]", "f32[4]")]
    declared = parse_shape("(bf16[2,4], f32[4], f32[4])")
    BatchNormTraining(0.1, 1).check_shape(operands, [], declared)


@pytest.mark.parametrize(
    ("opcode", "count", "given", "printed"),
    [
        ("cholesky", 1, ", lower=true", ", lower=true"),
        ("cholesky", 1, ", lower=false", ""),
        (
            "triangular-solve",
            2,
            ", transpose_a=TRANSPOSE, unit_diagonal=true, lower=false, left_side=true",
            ", left_side=true, unit_diagonal=true, transpose_a=TRANSPOSE",
        ),
        ("triangular-solve", 2, ", transpose_a=TRANSPOSE_INVALID", ""),
        (
            "batch-norm-training",
            3,
            ", feature_index=1, epsilon=0.00123456789",
            ", epsilon=0.00123457, feature_index=1",
        ),
    ],
)
def test_print_order(opcode: str, count: int, given: str, printed: str) -> None:
    names = ["%a", "%b", "%c"][:count]
    operands = ", ".join(f"f32[5,5] {name}" for name in names)
    module = parse(f"%r = f32[5,5] {opcode}({operands}){given}")
    assert f"{opcode}({', '.join(names)}){printed}\n" in print_module(module)
