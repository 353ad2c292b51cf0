"""Calls, loops, branches and fusions: shapes and called signatures."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import ProgramShape, Shape
from hlotool.ir.sharding import ArraySharding
from hlotool.ir.sharding import Domain as ShardingDomain
from hlotool.ops.control_flow import Call, Conditional, Domain, Fusion, OptBarrier, While
from tests.ops.shapes import BF16_2, F32_2, F32_4, PRED, S32, pack, signature

SAME = signature([F32_2], F32_2)
EDGE = ShardingDomain("sharding", ArraySharding("replicated"), ArraySharding("manual"))
HOLDS = signature([F32_2], PRED)


def test_each_opcode_has_its_class() -> None:
    made = {"call": Call, "while": While, "conditional": Conditional, "fusion": Fusion,
            "domain": Domain, "opt-barrier": OptBarrier}  # fmt: skip
    for opcode, op_class in made.items():
        assert OPCODES[opcode] is op_class


def test_call_yields_the_root_of_its_computation() -> None:
    assert Call().infer_shape([F32_2], [signature([F32_2], F32_4)]) == F32_4


@pytest.mark.parametrize(
    ("operands", "words"),
    [
        ([], "call: to_apply takes 1 parameters, 0 are wanted"),
        ([F32_4], r"parameter 0 is f32\[2\], f32\[4\] is wanted"),
        ([BF16_2], r"parameter 0 is f32\[2\], bf16\[2\] is wanted"),
    ],
)
def test_call_wants_parameters_of_the_operands_shapes(
    operands: Sequence[Shape], words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        Call().infer_shape(operands, [SAME])


def test_is_composite_is_printed_behind_the_computation() -> None:
    composite = Call(is_composite=True)
    assert list(composite.written()) == []
    assert list(composite.written(after_calls=True)) == [("is_composite", "true")]
    assert list(Call().written(after_calls=True)) == []


def test_while_yields_its_state() -> None:
    assert [role.name for role in While.roles] == ["condition", "body"]
    assert While().infer_shape([F32_2], [HOLDS, SAME]) == F32_2


@pytest.mark.parametrize(
    ("condition", "body", "words"),
    [
        (SAME, SAME, r"while: condition yields f32\[2\], pred\[\] is wanted"),
        (signature([F32_4], PRED), SAME, r"while: condition: parameter 0 is f32\[4\]"),
        (HOLDS, signature([F32_4], F32_2), r"while: body: parameter 0 is f32\[4\]"),
        (HOLDS, signature([F32_2], F32_4), r"while: body yields f32\[4\], f32\[2\] is wanted"),
        (HOLDS, signature([F32_2], BF16_2), r"while: body: the result is bf16\[2\]"),
        (HOLDS, signature([F32_2] * 2, F32_2), "while: body takes 2 parameters"),
    ],
)
def test_while_wants_one_shape_all_round(
    condition: ProgramShape, body: ProgramShape, words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        While().infer_shape([F32_2], [condition, body])


def test_while_refuses_another_declared_shape() -> None:
    with pytest.raises(ShapeError, match=r"while: shape f32\[4\] is declared"):
        While().check_shape([F32_2], [HOLDS, SAME], F32_4)


def test_conditional_takes_its_roles_from_the_selector() -> None:
    by_flag = Conditional().printed_roles([PRED, F32_2, F32_2])
    by_number = Conditional().printed_roles([S32, F32_2])
    assert [role.name for role in by_flag] == ["true_computation", "false_computation"]
    assert [role.name for role in by_number] == ["branch_computations"]
    assert by_number[0].many


def test_conditional_yields_what_every_branch_yields() -> None:
    wide = signature([F32_4], F32_2)
    assert Conditional().infer_shape([PRED, F32_2, F32_4], [SAME, wide]) == F32_2
    assert Conditional().infer_shape([S32, F32_2], [SAME]) == F32_2


@pytest.mark.parametrize(
    ("operands", "calls", "words"),
    [
        ([PRED, F32_2], [SAME], r"a pred\[\] selects between 2 computations, 1 are given"),
        ([PRED, F32_2, F32_2, F32_2], [SAME] * 3, "3 are given"),
        ([F32_2, F32_2], [SAME], r"the selector is f32\[2\], pred\[\] or s32\[\] is wanted"),
        ([], [], "there is no selector"),
        ([S32, F32_2], [], "there are no branch_computations"),
        ([S32, F32_2], [SAME, SAME], "1 operands follow the selector, 2 are wanted"),
        ([S32, F32_2, F32_4], [SAME, SAME], r"branch 1: parameter 0 is f32\[2\]"),
        (
            [PRED, F32_2, F32_2],
            [SAME, signature([F32_2], F32_4)],
            r"false_computation yields f32\[4\], f32\[2\] is wanted",
        ),
    ],
)
def test_conditional_refuses_what_does_not_fit(
    operands: Sequence[Shape], calls: Sequence[ProgramShape], words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        Conditional().infer_shape(operands, calls)


def test_fusion_checks_computation_and_aliasing() -> None:
    pair = pack(F32_2, F32_4)
    fusion = Fusion(kind="kLoop", output_to_operand_aliasing=(((0,), 0, ()),))
    fusion.check_shape([F32_2], [signature([F32_2], pair)], pair)
    assert list(fusion.written()) == [
        ("kind", "kLoop"),
        ("output_to_operand_aliasing", "{{0}: (0, {})}"),
    ]
    with pytest.raises(ShapeError, match="fusion: calls takes 1 parameters, 2 are wanted"):
        fusion.check_shape([F32_2, F32_2], [signature([F32_2], pair)], pair)


@pytest.mark.parametrize(
    ("aliasing", "words"),
    [
        (((), 1, ()), "names operand 1, there are 1"),
        (((2,), 0, ()), r"output has no index \{2\}"),
        (((0,), 0, (0,)), r"operand 0 has no index \{0\}"),
        (((1,), 0, ()), r"output \{1\} is f32\[4\], f32\[2\] is wanted"),
    ],
)
def test_fusion_refuses_aliasing_of_other_shapes(
    aliasing: tuple[tuple[int, ...], int, tuple[int, ...]], words: str
) -> None:
    pair = pack(F32_2, F32_4)
    fusion = Fusion(kind="kLoop", output_to_operand_aliasing=(aliasing,))
    with pytest.raises(ShapeError, match=words):
        fusion.check_shape([F32_2], [signature([F32_2], pair)], pair)


def test_fusion_kinds_are_known_words() -> None:
    kind = Fusion.readable["kind"].kind
    assert kind.read("kOutput") == "kOutput"
    with pytest.raises(ValueError, match=r"kLop is not one of .* did you mean kLoop"):
        kind.read("kLop")


@pytest.mark.parametrize("op", [Domain(domain=EDGE), OptBarrier()])
def test_identities_yield_their_operand(op: Op) -> None:
    assert op.infer_shape([pack(F32_2, S32)], []) == pack(F32_2, S32)
    with pytest.raises(ShapeError, match="is inferred"):
        op.check_shape([F32_2], [], F32_4)
