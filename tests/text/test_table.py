"""The stored table of the parser."""

from typing import Any

import hlotool.ops  # noqa: F401  # the start rules come from the opcodes
from hlotool.text.grammar import (
    GRAMMAR_FILES,
    OUTSIDE_RULES,
    PIPELINE_GRAMMAR,
    grammar_folder,
    start_rules,
)
from hlotool.text.reader import Reader
from hlotool.text.table import _build, make_lark, read_table


def test_stored_table_is_current() -> None:
    assert read_table() is not None, "the grammar has changed: run make table"


def test_stored_table_reads_as_the_grammar_does() -> None:
    reader = Reader()
    stored, built = make_lark(reader), _build(reader)
    assert len(_states(stored)) == len(_states(built))
    assert [t.name for t in stored.terminals] == [t.name for t in built.terminals]
    assert stored.options.start == built.options.start == start_rules()


def test_grammar_files_are_all_used() -> None:
    names = {item.name for item in grammar_folder().iterdir() if item.name.endswith(".lark")}
    assert names == {*GRAMMAR_FILES, PIPELINE_GRAMMAR}


def test_literals_have_no_rule() -> None:
    assert not OUTSIDE_RULES & set(start_rules())


def _states(parser: Any) -> dict[Any, Any]:
    states: dict[Any, Any] = parser.parser.parser._parse_table.states
    return states
