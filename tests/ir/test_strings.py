"""Strings of the text: escapes, quotes, dictionaries that stand bare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.ir.strings import is_dictionary, quote, unquote, write_text_or_dictionary

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"plain"', "plain"),
        (r"'single \"quotes\"'", 'single "quotes"'),
        (r'"\a\b\f\n\r\t\v\\\?\'\""', "\a\b\f\n\r\t\v\\?'\""),
        (r'"\101\60\0601\7"', "A001\7"),
        (r'"\x41\X4a"', "AJ"),
        (r'"\x00000041"', "A"),
        (r'"\u00e9\U0001F600"', "é\U0001f600"),
        (r'"\303\251"', "é"),
        (r'"é\n"', "é\n"),
        ('"a\nb"', "a\nb"),
        (r'"\377"', "\udcff"),
    ],
)
def test_escapes_are_those_of_c(text: str, value: str) -> None:
    assert unquote(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r'"\q"', r"unknown escape \\q"),
        (r'"\8"', r"unknown escape \\8"),
        (r'"\400"', r"escape \\400 is no byte"),
        (r'"\x413"', r"escape \\x413 is no byte"),
        (r'"\x"', r"unknown escape \\x"),
        (r'"\u12"', r"unknown escape \\u"),
        (r'"\ud800"', r"escape \\ud800 is no character"),
        (r'"\U00110000"', r"escape \\U00110000 is no character"),
    ],
)
def test_other_escapes_are_errors(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unquote(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain {x} // y", '"plain {x} // y"'),
        ("\n\r\t\"'\\", r'"\n\r\t\"\'\\"'),
        ("é\x01\x7f", r'"\303\251\001\177"'),
        ("\udcff", r'"\377"'),
    ],
)
def test_quotes_escape_what_is_not_plain(value: str, text: str) -> None:
    assert quote(value) == text


@given(TEXTS)
def test_quoted_text_means_itself(value: str) -> None:
    text = quote(value)
    assert text.isascii()
    assert unquote(text) == value


@pytest.mark.parametrize(
    "value",
    ["{}", "{ x }", '{"a": {"b": "}"}}', r'{"\"}"}', "{'}", "{x // y /* z}", '{"a"\n:1}'],
)
def test_a_run_of_balanced_braces_stands_bare(value: str) -> None:
    assert is_dictionary(value)
    assert write_text_or_dictionary(value) == value


@pytest.mark.parametrize(
    "value",
    ["", "x", "{", "}", "{}{}", "{} ", " {}", '{"}', '{"a}', "{{}", "{}}", '"{}"', "[{}]"],
)
def test_other_text_is_quoted(value: str) -> None:
    assert not is_dictionary(value)
    assert write_text_or_dictionary(value) == quote(value)
