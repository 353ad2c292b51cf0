"""The text form of protos."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlotool.errors import ParseError
from hlotool.proto.reader import read_module
from hlotool.proto.schema import HloProto, HloSnapshot
from hlotool.proto.text_form import parse_proto, print_proto
from hlotool.proto.writer import write_module
from tests.proto.examples import NAMES, PROTOS, SMALLEST, example


@pytest.mark.parametrize("path", PROTOS, ids=NAMES)
def test_text_form_is_the_same_module(path: Path) -> None:
    data = write_module(read_module(path.read_bytes()))
    text = print_proto(data)
    assert text.startswith("hlo_module {\n  name: ")
    assert parse_proto(text) == data
    assert parse_proto(text.encode()) == data


def test_bare_modules_and_snapshots_are_known() -> None:
    module = example("stack_frames")
    assert read_module(parse_proto(str(module))).name == "stack_frames"
    snapshot = HloSnapshot(hlo=HloProto(hlo_module=module), execution_platform="cpu")
    assert read_module(parse_proto(str(snapshot))).name == "stack_frames"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("hlo_module { name: 3 }", (1, 20), "expected string but found: '3'"),
        ("hlo_module {\n  nme: 'x'\n}", (2, 3), 'message type "HloModuleProto" has no field'),
        ("hlo_module {", (1, 12), "expected"),
        ("name: 'm'\nentry_computation_id: 99999999999999999999", (2, 23), "value out of range"),
        ("hlo_module {\n  computations {\n    instructions {\n      x: 1", (4, 7), "no field"),
    ],
)
def test_fault_is_located(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parse_proto(text, "m.pbtxt")
    location = caught.value.location
    assert location is not None
    assert (location.line, location.column) == place
    assert str(caught.value).startswith(f"m.pbtxt:{place[0]}:{place[1]}: ")


def test_other_faults_are_told() -> None:
    with pytest.raises(ParseError, match="byte 0xff is not valid UTF-8"):
        parse_proto(b"name: '\xff'")
    shape = "tuple_shapes {" * 2000 + "}" * 2000
    with pytest.raises(ParseError, match="messages are nested too deeply"):
        parse_proto(f"hlo_module {{ host_program_shape {{ result {{ {shape} }} }} }}")
    with pytest.raises(ParseError, match="this is no HLO proto, or one that is cut off"):
        print_proto(SMALLEST[:-1])
