"""Messages of the parser: in words of the language, at the place that is wrong."""

import re
from pathlib import Path

import pytest

from hlotool.errors import HloError
from hlotool.text.expectations import GROUPS, WORDS, describe
from hlotool.text.parser import parse
from hlotool.text.reader import reader

PROPER = ("HloModule", "FunctionNames")
LINE = re.compile(r"^// CHECK: \S+:(\d+):(\d+): error: (.*)$", re.MULTILINE)


def terminals() -> set[str]:
    return set(reader().lexer._by_name) - {"SPACE", "COMMENT"}


def message(text: str) -> str:
    with pytest.raises(HloError) as caught:
        parse(text)
    return str(caught.value)


def body(text: str) -> str:
    return f"HloModule m\n\nENTRY e {{\n  a = f32[4] parameter(0)\n{text}\n}}\n"


def test_every_terminal_has_words() -> None:
    assert terminals() <= WORDS.keys()


def test_words_are_not_names_of_the_grammar() -> None:
    names = {name for name in terminals() if name not in {"ENTRY", "ROOT"}}
    said = [*WORDS.values(), *(word for _, word in GROUPS)]
    assert not [word for word in said if names & set(re.findall(r"[A-Z_]{2,}", word))]


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (set(), "nothing more"),
        ({"COMMA"}, "','"),
        ({"RPAR", "COMMA"}, "')' or ','"),
        ({"NAME", "PERCENT_NAME", "ROOT", "INSTRUCTION", "RBRACE"}, "an instruction or '}'"),
        (
            {"STRING", "SINGLE_STRING", "INT", "TRUE", "FALSE"},
            "a string, an integer, false or true",
        ),
        ({"ARRAY", "TYPE", "BUFFER", "LPAR", "RPAR"}, "a shape or ')'"),
    ],
)
def test_descriptions(expected: set[str], words: str) -> None:
    assert describe(expected) == words
    assert describe(sorted(expected, reverse=True)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # What comes next is said, and not what only a longer text could have.
        ("  ROOT r = f32[4] add(a a)", "5:25: ')' or ',' expected, found 'a'"),
        ("  ROOT r = f32[4] add(a", "6:1: ')' or ',' expected, found '}'"),
        ("  ROOT r = f32[4] add(a, a);", "5:28: an instruction, ',' or '}' expected, found ';'"),
        # A run of instructions has an empty text as a token.
        ("  b\n  ROOT c = f32[4] negate(a)", "6:3: '=' expected, found 'ROOT'"),
        ("  b = f32[4] fusion(a), kind=\n  ROOT c = f32[4] negate(a)", "6:3: kind: "),
        # The place of what no token has is that of the instruction.
        ("  ROOT r = f32[4] negate(f32[4])", "5:32: the name of an operand expected"),
    ],
)
def test_places(text: str, words: str) -> None:
    assert f":{words}" in message(body(text))


@pytest.mark.parametrize("indent", ["", "  "])
@pytest.mark.parametrize("following", ["", "\n\nk {\n  ROOT x = f32[] parameter(0)\n}\n"])
@pytest.mark.parametrize(
    "value",
    [
        'metadata={op_name="f"',
        'metadata={op_name="{"',
        "sharding={replicated",
        'backend_config={"x": {"y": 1}',
        'frontend_attributes={x="}"',
    ],
)
def test_a_value_that_takes_the_closing_brace(value: str, following: str, indent: str) -> None:
    line = f"  ROOT r = f32[4]{{0}} negate(a), {value}"
    text = f"HloModule m\n\n{indent}ENTRY e {{\n  a = f32[4] parameter(0)\n{line}\n{indent}}}"
    column = line.index("={") + 2
    place = f"<string>:5:{column}: nothing closes this '{{' before the '}}' of line 6"
    assert message(text + following).startswith(place)


def test_a_value_over_lines_is_no_such_value() -> None:
    text = body('  ROOT r = f32[4] negate(a), backend_config={\n    "x": 1\n  }')
    words = "<string>:7:4: '}' expected, found the end of the text: computation e, begun in line 3"
    assert message(text.removesuffix("}\n")).startswith(words)


def test_golden_errors_say_one_thing_each(root: Path) -> None:
    count = 0
    for path in sorted((root / "testdata" / "errors").glob("*.hlo")):
        for _, _, words in LINE.findall(path.read_text(encoding="utf-8")):
            assert "cannot be read" not in words, path
            assert not words[:1].isupper() or words.startswith(PROPER), path
            assert not words.endswith("."), path
            count += 1
    assert count > 150
