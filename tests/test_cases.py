"""The modules of testdata/cases give the values that their INPUT and RESULT lines say."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hlotool.evaluation.run import evaluate_module
from hlotool.ir.frame import Array
from hlotool.ir.literal import Literal
from hlotool.text.parser import parse
from tests.conftest import ROOT

CASES = ROOT / "testdata" / "cases"
RUNNABLE = [path for path in sorted(CASES.glob("*.hlo")) if not path.name.startswith("error_")]


def values(text: str, word: str) -> Iterator[Array]:
    """Yields the arrays of the lines `// WORD: shape literal`, which may go on below."""
    lines = re.findall(rf"^// {word}: (.*(?:\n//   .*)*)", text, re.MULTILINE)
    for line in lines:
        shape, literal = line.replace("\n//", "").split(" ", 1)
        module = parse(f"HloModule m\nENTRY e {{\n ROOT c = {shape} constant({literal})\n}}")
        found = getattr(module.entry.root.op, "literal")  # noqa: B009  # the checker knows Op alone
        assert isinstance(found, Literal)
        yield found.array()


def test_there_are_cases() -> None:
    assert len(RUNNABLE) >= 20


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_case_gives_its_value(path: Path) -> None:
    text = path.read_text()
    expected = list(values(text, "RESULT"))
    assert expected
    result = evaluate_module(parse(text, path.name), list(values(text, "INPUT")))
    results = result if isinstance(result, tuple) else (result,)
    for found, wanted in zip(results, expected, strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        if found.dtype.kind == "f":
            numbers = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])
