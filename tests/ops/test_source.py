"""Parameters, constants, iota and device numbers."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.attribute import INTEGER
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.literal import LITERAL, Literal
from hlotool.ir.shape import TOKEN, ArrayShape, Layout, Shape
from hlotool.ops.source import Constant, Iota, Parameter, PartitionId, ReplicaId
from tests.ops.shapes import F32, F32_2, F32_4, U32, array, pack


def test_parameter_has_any_shape() -> None:
    parameter = Parameter(3)
    assert parameter.parameter_number == parameter.number == 3
    for shape in (F32_2, TOKEN, pack(F32, pack())):
        parameter.check_shape([], [], shape)
    assert Parameter.payload is INTEGER
    with pytest.raises(ShapeError, match="parameter: number -1 is negative"):
        Parameter(-1).check_shape([], [], F32)


def test_replication_is_told_of_each_array() -> None:
    parameter = Parameter(0, parameter_replication=(True, False))
    parameter.check_shape([], [], pack(F32, pack(F32_2)))
    with pytest.raises(ShapeError, match="parameter_replication: 2 given, 1 wanted"):
        parameter.check_shape([], [], F32)


def test_payload_is_no_attribute() -> None:
    assert list(Parameter(3).written()) == []
    replicated = Parameter(3, parameter_replication=(True, False))
    assert list(replicated.written()) == [("parameter_replication", "{true,false}")]
    assert list(Constant(Literal(F32, bytes(4))).written()) == []


def test_constant_has_the_shape_of_its_literal() -> None:
    constant = Constant(Literal(F32_2, bytes(8)))
    assert Constant.payload is LITERAL
    assert Constant.payload_needs_shape
    assert constant.infer_shape([], []) == F32_2
    other_layout = ArrayShape(ELEMENT_TYPES["f32"], [2], Layout([0], memory_space=1))
    constant.check_shape([], [], other_layout)
    words = r"constant: shape f32\[4\] is declared, f32\[2\] is inferred"
    with pytest.raises(ShapeError, match=words):
        constant.check_shape([], [], F32_4)


@pytest.mark.parametrize(
    ("dimension", "shape", "words"),
    [
        (1, F32_2, "iota: iota_dimension 1 is out of range for rank 1"),
        (0, F32, "iota: iota_dimension 0 is out of range for rank 0"),
        (0, array("pred", 2), r"iota: result is pred\[2\], elements wanted: signed, unsigned"),
        (0, TOKEN, r"iota: result is token\[\], an array is wanted"),
    ],
)
def test_iotas_that_do_not_fit(dimension: int, shape: Shape, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        Iota(dimension).check_shape([], [], shape)


def test_iota_counts_in_any_number() -> None:
    for element_type in ("s4", "u64", "bf16", "c64"):
        Iota(1).check_shape([], [], array(element_type, 2, 3))
    assert not Iota.infers_shape
    assert list(Iota(1).written()) == [("iota_dimension", "1")]


def test_device_numbers_are_unsigned() -> None:
    for op in (ReplicaId(), PartitionId()):
        assert op.infer_shape([], []) == U32
        with pytest.raises(ShapeError, match=r"shape s32\[\] is declared, u32\[\] is inferred"):
            op.check_shape([], [], array("s32"))
