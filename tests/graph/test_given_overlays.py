import pytest

from hlotool.errors import UsageError
from hlotool.graph.given_overlays import read_overlays, unknown_names
from hlotool.text.parser import parse


def test_one_overlay_has_the_name_of_its_file() -> None:
    found = read_overlays('{"%a": 1, "b": "hot", "c": null, "d": true}', "times.json", "times")
    assert found == {"times": {"a": 1, "b": "hot", "c": None, "d": 1}}


def test_several_overlays_by_name() -> None:
    found = read_overlays('{"time": {"a": 1.5}, "kind": {"a": "x"}}', "f.json", "f")
    assert found == {"time": {"a": 1.5}, "kind": {"a": "x"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON: expecting property name"),
        ("[1]", "f.json holds no overlay"),
        ("{}", "f.json holds no overlay"),
        ('{"a": 1, "b": 2, "a": 3}', 'f.json: "a" is there twice'),
        ('{"time": {}}', 'f.json: overlay "time" is empty'),
        ('{"": {"a": 1}}', 'f.json: overlay "" is empty'),
        ("[" * 100_000, "f.json: values nested too deep"),
        ('{"a": 1' + "0" * 5_000 + "}", "f.json: a number with thousands of digits"),
        ('{"a": NaN}', "NaN is no number to show"),
        ('{"a": 1e999}', "a has Infinity, no number and no word"),
        ('{"a": 1' + "0" * 400 + "}", "no number and no word"),
        ('{"a": [1]}', "a has [1], no number and no word"),
        ('{"t": {"a": {}}}', "a has {}, no number and no word"),
        ('{"t": {"a": 1}, "b": 1}', 't has {"a": 1}, no number and no word'),
    ],
)
def test_what_is_no_overlay(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_overlays(text, "f.json", "f")
    assert message in error.value.message
    assert "a file holds" in error.value.notes[0]


def test_names_of_no_instruction() -> None:
    module = parse("HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n")
    assert unknown_names({"t": {"x": 1, "z": 2, "y": 3}}, module) == ["y", "z"]
