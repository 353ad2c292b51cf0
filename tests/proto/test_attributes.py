"""The table of attributes: complete, without leftovers, and each form reads what it writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.errors import ParseError
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.record import Field
from hlotool.proto.attributes import FORMS, OWN_FORMS, call_order, forms, read_op, write_op
from hlotool.proto.forms import NOT_STORED, Form, shortest_decimal
from hlotool.proto.reader import read_module
from hlotool.proto.schema import HloInstructionProto
from hlotool.proto.shapes import write_shape
from tests.proto.examples import PROTOS


def all_fields() -> list[tuple[type[Op], Field]]:
    return [(op_class, field) for op_class in OPCODES.values() for field in op_class.fields]


def example_instructions() -> Iterator[Instruction]:
    for path in PROTOS:
        yield from read_module(path.read_bytes()).instructions()


def test_every_attribute_has_a_form() -> None:
    missing = [
        f"{op_class.opcode}.{field.name}"
        for op_class, field in all_fields()
        if f"{op_class.opcode}.{field.name}" not in OWN_FORMS and field.name not in FORMS
    ]
    assert missing == []


def test_every_form_has_an_attribute() -> None:
    own = {f"{op_class.opcode}.{field.name}" for op_class, field in all_fields()}
    assert set(OWN_FORMS) <= own
    shared = {
        field.name
        for op_class, field in all_fields()
        if f"{op_class.opcode}.{field.name}" not in OWN_FORMS
    }
    assert set(FORMS) == shared


def test_examples_have_every_attribute_with_another_value_than_the_default() -> None:
    ops = [instruction.op for instruction in example_instructions()]
    seen = {
        field.name
        for op in ops
        for field in op.fields
        if field.is_required or getattr(op, field.name) != field.default
    }
    stored = {
        field.name
        for op_class in OPCODES.values()
        for field, form in forms(op_class)
        if form is not NOT_STORED
    }
    # Older dots alone have sparsity, and no message of today has a place for it.
    assert stored - seen == {"sparsity"}


def test_op_is_the_same_when_written_and_read() -> None:
    for instruction in example_instructions():
        operands = [operand.shape for operand in instruction.operands]
        proto = HloInstructionProto()
        write_shape(proto.shape, instruction.shape)
        write_op(proto, instruction.op, operands)
        assert proto.opcode == instruction.opcode
        found = read_op(type(instruction.op), proto).adapted(operands, instruction.shape)
        assert found == instruction.op, instruction


def test_sizes_of_several_slices_are_told_apart() -> None:
    op_class = OPCODES["collective-permute"]
    op = op_class(source_target_pairs=((0, 1),), slice_sizes=((2, 4), (1, 3), (7, 7)))
    proto = HloInstructionProto()
    proto.shape.dimensions.extend([8, 8])
    write_op(proto, op, [])
    assert read_op(op_class, proto) == op
    proto.ClearField("shape")
    for rank in (2, 1, 3):
        proto.shape.tuple_shapes.add().dimensions.extend([9] * rank)
    found: Any = read_op(op_class, proto)
    assert found.slice_sizes == ((2, 4), (1,), (3, 7, 7))
    proto.shape.tuple_shapes.pop()
    with pytest.raises(ParseError, match="6 slice sizes do not fit ranks"):
        read_op(op_class, proto)


def test_only_a_while_calls_in_another_order() -> None:
    assert call_order(OPCODES["while"](), 2) == (1, 0)
    assert call_order(OPCODES["conditional"](), 3) == (0, 1, 2)


@pytest.mark.parametrize("value", [0.001, 1e-5, 0.1, 16777217.0, 1.17549435e-38, 3.4e38])
def test_shortest_decimal_has_the_same_bits(value: float) -> None:
    stored = HloInstructionProto(epsilon=value).epsilon
    found = shortest_decimal(stored)
    assert HloInstructionProto(epsilon=found).epsilon == stored
    assert len(repr(found)) <= len(repr(stored))


def test_forms_are_values() -> None:
    assert NOT_STORED.read(None) is None
    assert all(isinstance(form, Form) for form in [*FORMS.values(), *OWN_FORMS.values()])
