"""The parameters of custom calls, in JSON and as attributes of MLIR."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.ops.custom_calls.configuration import read_configuration


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", {}),
        ("{}", {}),
        ('{"gemm": {"alpha": 1.5, "dims": ["0"]}}', {"gemm": {"alpha": 1.5, "dims": ["0"]}}),
        ("{uplo = 76 : ui8, low = -1 : i32}", {"uplo": 76, "low": -1}),
        ("{scale = 1.5e-3 : f32, bits = 0xFF : i32}", {"scale": 0.0015, "bits": 255}),
        ("{fast, slow = false, quick = true}", {"fast": True, "slow": False, "quick": True}),
        ('{name = "a\\"b", "odd name" = 1 : i64}', {"name": 'a"b', "odd name": 1}),
        ("{sizes = [1, 2 : i64], more = array<i64: 3, 4>}", {"sizes": [1, 2], "more": [3, 4]}),
        ("{none = array<i64>, inner = {a = 1 : i8}}", {"none": [], "inner": {"a": 1}}),
        ("{kind = #stablehlo<precision HIGH>}", {"kind": "#stablehlo<precisionHIGH>"}),
        ("{values = 1 : tensor<2xf32>, last = 2 : i8}", {"values": 1, "last": 2}),
        ('{path = "\\5Ca"}', {"path": "\\a"}),
    ],
)
def test_a_text_is_read(text: str, wanted: dict[str, Any]) -> None:
    assert read_configuration(text) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "a dictionary is wanted"),
        ("{a = }", "a value is wanted"),
        ("{a = 1", "the end"),
        ("{a = 1 b = 2}", "a comma is wanted, b found"),
        ("{1 = 2}", "a name is wanted, 1 found"),
        ("{a = 1} {", "stands behind the end"),
        ("{a = ?}", "neither JSON nor attributes"),
        ("{a = [1 2]}", "a comma is wanted, 2 found"),
    ],
)
def test_another_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_configuration(text)


VALUES = st.recursive(
    st.integers(-(2**40), 2**40) | st.booleans() | st.text('ab\\" {}<>,=', max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex("[a-z]{1,4}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)


def attribute(value: Any) -> str:
    """Writes a value as an attribute."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {attribute(v)}" for name, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(attribute, value)) + "]"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value} : i64"
    return json.dumps(value)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.dictionaries(st.from_regex("[a-z]{1,4}", fullmatch=True), VALUES, max_size=3))
def test_both_forms_say_the_same(value: dict[str, Any]) -> None:
    assert read_configuration(json.dumps(value)) == value
    assert read_configuration(attribute(value)) == value
