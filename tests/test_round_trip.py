"""Every text of the project: what is printed reads as the same module and prints the same.

A text is also read in three ways that must agree: with coarse terminals first, through the
grammar's fine rules alone, and in a form where the two alternate. lark's own contextual lexer
cannot be a further way: the terminals that the grammar only declares, runs of balanced brackets,
are no regular expressions.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlotool.analysis.isomorphism import equal_modules
from hlotool.ir.module import Module
from hlotool.text.lexer import CoarseFirstLexer
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module
from tests.conftest import ROOT, modules_below

TESTDATA = ROOT / "testdata"
SPLIT_INPUT = "// -----"
WITHOUT_MODULE = {"errors"}
"""Folders whose texts are wrong on purpose."""


def texts() -> list[Path]:
    """Returns the files below testdata that hold one module each."""
    return [
        path
        for path in modules_below(TESTDATA)
        if not WITHOUT_MODULE & set(path.relative_to(TESTDATA).parts)
        and not path.stem.startswith("error_")
        and "not hlo" not in (text := path.read_text(encoding="utf-8"))
        and SPLIT_INPUT not in text
    ]


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def check_prints(text: str, preset: str) -> None:
    """Checks that printing is stable, and loses nothing but what the preset leaves out."""
    options = PRESETS[preset]
    module = parse(text)
    once = print_module(module, options)
    again = parse(once)
    twice = print_module(again, options)
    # Stack frames are numbered in the order of the text that was read: a print may renumber.
    assert print_module(parse(twice), options) == twice
    if module.stack_tables is None or not options.metadata:
        assert twice == once
    if preset == "long":
        assert equal_modules(module, again) is None


def without_coarse_terminals(text: str, monkeypatch: pytest.MonkeyPatch) -> Module:
    with monkeypatch.context() as patch:
        patch.setattr(CoarseFirstLexer, "uses_coarse", False)
        return parse(text)


def alternating(text: str) -> str:
    """Returns the text with every third instruction in a form that no printer writes."""
    lines = text.split("\n")
    lines[::3] = [re.sub(r"^(\s*(?:ROOT )?%?[\w.-]+) = ", r"\1 =\n", line) for line in lines[::3]]
    return "\n".join(lines)


def check_ways_of_reading(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(text)
    assert equal_modules(module, without_coarse_terminals(text, monkeypatch)) is None
    assert equal_modules(module, parse(alternating(text))) is None


def test_there_are_texts() -> None:
    assert len(texts()) > 30


@pytest.mark.parametrize("preset", ["default", "short-parsable", "long"])
@pytest.mark.parametrize("path", texts(), ids=lambda path: str(path.relative_to(TESTDATA)))
def test_a_print_reads_as_what_was_printed(path: Path, preset: str) -> None:
    check_prints(read(path), preset)


@pytest.mark.parametrize("path", texts(), ids=lambda path: str(path.relative_to(TESTDATA)))
def test_all_ways_of_reading_agree(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_ways_of_reading(read(path), monkeypatch)


def test_alternating_changes_a_text() -> None:
    text = "a = f32[] parameter(0)\n  ROOT %b = f32[] negate(a)\n\n  ROOT %b = f32[] negate(a)"
    assert alternating(text) == (
        "a =\nf32[] parameter(0)\n  ROOT %b = f32[] negate(a)\n\n  ROOT %b =\nf32[] negate(a)"
    )


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "short-parsable", "long"])
def test_a_print_of_a_real_module_reads_as_it(corpus_module: Path, preset: str) -> None:
    check_prints(read(corpus_module), preset)


@pytest.mark.slow
def test_all_ways_of_reading_a_real_module_agree(
    corpus_module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_ways_of_reading(read(corpus_module), monkeypatch)
