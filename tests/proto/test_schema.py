"""The schema: its compiled form, and that real messages have nothing beyond it."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.proto.compile_schema import DESCRIPTOR, SCHEMA, compile_schema
from hlotool.proto.schema import HloModuleProto, HloProto, LiteralProto, enumeration
from hlotool.proto.text_form import print_proto
from tests.proto.examples import NAMES, PROTOS, bare, unknown_fields

NAN_WITH_PAYLOAD = 0x7F800001


def test_compiled_schema_is_that_of_the_source(tmp_path: Path) -> None:
    made = tmp_path / "made.desc"
    compile_schema(made)
    fresh, kept = (
        descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
        for path in (made, DESCRIPTOR)
    )
    assert fresh == kept, "hlo.desc is out of date: python -m hlotool.proto.compile_schema"
    assert [file.name for file in kept.file] == [SCHEMA.name]


def test_field_numbers_and_names_are_used_once() -> None:
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTOR.read_bytes()).file
    messages = list(file.message_type)
    for message in messages:
        messages += message.nested_type
        numbers = [field.number for field in message.field]
        assert len(set(numbers)) == len(numbers)
    assert len(messages) > 60


def test_every_element_type_has_a_number_and_a_literal_field() -> None:
    numbers = enumeration("PrimitiveType")
    fields = LiteralProto.DESCRIPTOR.fields_by_name
    for name in ELEMENT_TYPES:
        assert name.upper() in numbers
        assert f"{name}s" in fields


def test_literals_keep_bits_that_numbers_lose() -> None:
    literal = LiteralProto(f32s=[NAN_WITH_PAYLOAD])
    assert list(LiteralProto.FromString(literal.SerializeToString()).f32s) == [NAN_WITH_PAYLOAD]


def test_text_form_shows_numbers() -> None:
    proto = HloProto()
    computation = proto.hlo_module.computations.add()
    computation.instructions.add().literal.f32s.append(0x3F800000)
    assert "f32s: 1" in print_proto(proto.SerializeToString())


@pytest.mark.parametrize("path", PROTOS, ids=NAMES)
def test_examples_have_no_unknown_fields(path: Path) -> None:
    assert unknown_fields(HloModuleProto.FromString(path.read_bytes())) == []


def test_dumps_have_no_unknown_fields(corpus: Path) -> None:
    for path in sorted(corpus.rglob("*.hlo.pb")):
        data = path.read_bytes()
        assert unknown_fields(HloProto.FromString(data)) == [], path.name
        assert bare(data).computations, path.name


def test_unknown_fields_are_found() -> None:
    message = HloProto.FromString(b"\x0a\x03\x98\x06\x01\x78\x01")
    assert unknown_fields(message) == [".15", ".hlo_module.99"]
