"""How errors look: the place of the caret, long lines, odd characters, JSON."""

import json

import pytest

from hlotool.cli.rendering import (
    EXCERPT_COLUMNS,
    excerpt,
    printable,
    printable_lines,
    render,
    render_json,
)
from hlotool.errors import HloError, Location, ParseError, Source, VerificationErrors


def located(text: str, offset: int, message: str = "wrong", *notes: str) -> ParseError:
    return ParseError(message, Location(Source(text, "m.hlo"), offset), notes)


def test_error_with_source_line_caret_and_notes() -> None:
    error = located("one\n  two three\n", 10, "three is too many", "two would do")
    assert render(error, "", colour=False) == (
        "m.hlo:2:7: error: three is too many\n"
        "    2 |   two three\n"
        "      |       ^\n"
        "note: two would do\n"
    )


def test_error_without_place_names_its_subject() -> None:
    assert render(HloError("no"), "m.pb", colour=False) == "m.pb: error: no\n"


def test_error_at_no_place_of_a_text_has_none() -> None:
    error = located("abc", -1)
    assert render(error, "m.hlo", colour=False) == "m.hlo: error: wrong\n"
    assert json.loads(render_json(error, "m.hlo"))["line"] is None


def test_every_verification_error_shows_and_they_are_counted() -> None:
    errors = VerificationErrors([located("abc", 0, "first"), HloError("second")])
    lines = render(errors, "m.hlo", colour=False).splitlines()
    assert lines[0] == "m.hlo:1:1: error: first"
    assert lines[-2:] == ["m.hlo: error: second", "m.hlo: 2 errors"]
    assert render(VerificationErrors([HloError("x")]), "m", colour=False).endswith("m: 1 error\n")


def test_colour_is_only_added_around_the_text() -> None:
    error = located("ab\n", 1, "wrong", "hint")
    coloured = render(error, "", colour=True)
    assert "\x1b[1;31merror:\x1b[0m wrong" in coloured
    plain = coloured
    for code in ("1", "1;31", "1;32", "1;36", "0"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain == render(error, "", colour=False)


@pytest.mark.parametrize(
    ("line", "index", "shown", "caret"),
    [
        ("abc", 0, "abc", 0),
        ("abc", 3, "abc", 3),
        ("", 0, "", 0),
        ("\tab", 1, "    ab", 4),
        ("\t\tab", 3, "        ab", 9),
        ("漢字 x", 3, "漢字 x", 5),
        ("e\u0301x", 2, "e\u0301x", 1),
        ("\x1b[31mx", 5, "\\x1b[31mx", 8),
        ("a\u202eb", 2, "a\\u202eb", 7),
        ("a\ud800b", 2, "a\\ud800b", 7),
    ],
)
def test_caret_stands_under_its_character(line: str, index: int, shown: str, caret: int) -> None:
    assert excerpt(line, index) == (shown, caret)


@pytest.mark.parametrize("index", [0, 1, 40, 99, 100, 150, 1000, 1998, 1999])
@pytest.mark.parametrize("filler", ["x", "漢", "\t", "\x01"])
def test_long_lines_are_cut_around_the_caret(filler: str, index: int) -> None:
    line = filler * index + "Y" + filler * (1999 - index)
    shown, caret = excerpt(line, index)
    width = sum(2 if character == "漢" else 1 for character in shown)
    assert width <= EXCERPT_COLUMNS
    assert shown.count("Y") == 1
    before = shown[: shown.index("Y")]
    assert sum(2 if character == "漢" else 1 for character in before) == caret
    kept = before.removeprefix("...").count({"\t": "    ", "\x01": "\\x01"}.get(filler, filler))
    assert before.startswith("...") is (kept < index)


def test_caret_behind_a_long_line() -> None:
    shown, caret = excerpt("x" * 5000, 5000)
    assert shown.startswith("...x")
    assert caret == len(shown)


def test_line_of_exactly_the_width_is_whole() -> None:
    assert excerpt("x" * EXCERPT_COLUMNS, 3) == ("x" * EXCERPT_COLUMNS, 3)


def test_no_control_character_of_the_input_is_shown() -> None:
    error = located("\x1b]0;title\x07 x\n", 0, "found \x1b[2J and \r\n", "not \x9b1m\u2028")
    error.location.source.name = "bad\x1b[1m.hlo"  # type: ignore[union-attr]  # located
    shown = render(error, "", colour=False)
    assert all(line.isprintable() for line in shown.splitlines())
    assert shown.count("\n") == 4
    assert "found \\x1b[2J and \\r\\n" in shown


def test_long_messages_are_cut_for_people_and_whole_for_programs() -> None:
    error = HloError("m" * 1_000_000)
    assert len(render(error, "f", colour=False)) < 2100
    assert json.loads(render_json(error, "f"))["message"] == error.message


def test_json_has_a_line_for_each_error() -> None:
    errors = VerificationErrors([located("a\nbc", 3, "first", "hint"), HloError("é\n")])
    lines = render_json(errors, "m.hlo").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"file": "m.hlo", "line": 2, "column": 2, "message": "first", "notes": ["hint"]},
        {"file": "m.hlo", "line": None, "column": None, "message": "é\n", "notes": []},
    ]


def test_printable_keeps_what_is_visible() -> None:
    assert printable("a é 漢 \\") == "a é 漢 \\"
    assert printable("a\tb\n") == "a\\tb\\n"
    assert printable_lines("a\tb\n\x1b") == "a\tb\n\\x1b"
    assert printable_lines("é\n") == "é\n"
