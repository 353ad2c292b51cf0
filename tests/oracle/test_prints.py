"""Real modules print byte for byte as the reference prints them, in every preset."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest

from hlotool.ir.module import Module
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module
from tests.conftest import modules_below
from tests.oracle.reference import Answer, ask

pytestmark = pytest.mark.oracle

SHOWN_LINES = 12
WITH_CONSTANTS = {"short-parsable", "long"}
"""The presets that print constants whole: the reference makes up what a text has elided."""


@pytest.fixture(scope="session")
def answers(corpus: Path) -> dict[Path, Answer]:
    return ask(modules_below(corpus))


def has_elided_constant(module: Module) -> bool:
    return any(
        getattr(getattr(instruction.op, "literal", None), "elided", False)
        for instruction in module.instructions()
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_both_print_real_modules_alike(answers: dict[Path, Answer], preset: str) -> None:
    compared = 0
    for path, answer in answers.items():
        assert answer.prints is not None, f"{path}: {answer.error}"
        module = parse(path.read_bytes().decode(), str(path))
        if preset in WITH_CONSTANTS and has_elided_constant(module):
            continue
        ours, theirs = print_module(module, PRESETS[preset]), answer.prints[preset]
        lines = unified_diff(theirs.splitlines(), ours.splitlines(), lineterm="", n=0)
        assert ours == theirs, f"{path}\n" + "\n".join(islice(lines, SHOWN_LINES))
        compared += 1
    assert compared > len(answers) / 2
