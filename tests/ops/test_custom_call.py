"""Custom calls: attributes, layout constraints, aliasing."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import OPCODES
from hlotool.ir.shape import Shape
from hlotool.ops.custom_call import CustomCall
from tests.ops.shapes import F32_2, F32_4, pack


def test_the_opcode_takes_any_operands_and_any_shape() -> None:
    assert OPCODES["custom-call"] is CustomCall
    CustomCall(custom_call_target="x").check_shape([F32_2, F32_4], [], pack(F32_4))


def test_the_target_must_be_given() -> None:
    with pytest.raises(TypeError, match="custom_call_target is missing"):
        CustomCall(api_version="API_VERSION_TYPED_FFI")


def test_attributes_print_in_order() -> None:
    call = CustomCall(
        api_version="API_VERSION_TYPED_FFI",
        schedule="SCHEDULE_EARLIEST",
        output_to_operand_aliasing=(((), 0, ()),),
        custom_call_has_side_effect=True,
        operand_layout_constraints=(F32_2,),
        custom_call_target="t",
        padding_type="PADDING_SAME",
        operand_precision=("high",),
        batch_group_count=3,
        feature_group_count=2,
    )
    assert list(call.written()) == [
        ("feature_group_count", "2"),
        ("batch_group_count", "3"),
        ("operand_precision", "{high}"),
        ("padding_type", "PADDING_SAME"),
        ("custom_call_target", '"t"'),
        ("operand_layout_constraints", "{f32[2]{0}}"),
        ("custom_call_has_side_effect", "true"),
        ("output_to_operand_aliasing", "{{}: (0, {})}"),
        ("schedule", "SCHEDULE_EARLIEST"),
        ("api_version", "API_VERSION_TYPED_FFI"),
    ]


def test_defaults_are_not_printed_but_an_empty_list_of_constraints_is() -> None:
    plain = CustomCall(custom_call_target="t")
    empty = plain.replace(operand_layout_constraints=())
    assert list(plain.written()) == [("custom_call_target", '"t"')]
    assert list(empty.written())[1:] == [("operand_layout_constraints", "{}")]


def test_default_precisions_are_dropped() -> None:
    def adapted(*precision: str) -> CustomCall:
        call = CustomCall(custom_call_target="t", operand_precision=precision)
        return call.adapted([F32_2], F32_2)

    assert adapted("default", "default").operand_precision == ()
    assert adapted("default", "high").operand_precision == ("default", "high")


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ((), "operand_layout_constraints: 0 given, 1 wanted"),
        ((F32_2, F32_2), ": 2 given, 1 wanted"),
        ((F32_4,), r"entry 0 is f32\[4\], f32\[2\] is wanted"),
    ],
)
def test_layout_constraints_are_the_operands_shapes(
    constraints: tuple[Shape, ...], words: str
) -> None:
    call = CustomCall(custom_call_target="t", operand_layout_constraints=constraints)
    with pytest.raises(ShapeError, match=words):
        call.check_shape([F32_2], [], F32_2)


def test_aliasing_is_of_one_shape() -> None:
    call = CustomCall(custom_call_target="t", output_to_operand_aliasing=(((0,), 1, ()),))
    call.check_shape([F32_4, F32_2], [], pack(F32_2))
    with pytest.raises(ShapeError, match=r"custom-call: output_to_operand_aliasing: output \{0\}"):
        call.check_shape([F32_2, F32_4], [], pack(F32_2))


def test_a_call_says_itself_whether_it_must_stay() -> None:
    assert not CustomCall(custom_call_target="t").has_side_effect
    assert CustomCall(custom_call_target="t", custom_call_has_side_effect=True).has_side_effect


def test_an_unspecified_version_is_refused() -> None:
    kind = CustomCall.readable["api_version"].kind
    with pytest.raises(ValueError, match="API_VERSION_UNSPECIFIED is not one of"):
        kind.read("API_VERSION_UNSPECIFIED")
