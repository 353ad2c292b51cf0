"""The modules of testdata/cases and testdata/differences give what their RESULT lines say."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.ir.frame import Array, Value
from hlotool.ir.literal import Literal
from hlotool.text.parser import parse
from tests.conftest import ROOT

CASES = ROOT / "testdata" / "cases"
DIFFERENCES = ROOT / "testdata" / "differences"
RUNNABLE = [
    path
    for path in [*sorted(CASES.glob("*.hlo")), *sorted(DIFFERENCES.glob("*.hlo"))]
    if not path.name.startswith("error_")
]


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
    assert len(RUNNABLE) >= 70


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_case_gives_its_value(path: Path) -> None:
    text = path.read_text()
    expected = list(values(text, "RESULT"))
    assert expected
    module = parse(text, path.name)
    replicas = module.header.replica_count
    given = [list(values(text, "INPUT"))] * replicas
    for result in evaluate_on_devices(module, given, replicas, 1):
        results = result if isinstance(result, tuple) else (result,)
        check(results, expected)


def check(results: Sequence[Value], expected: list[Array]) -> None:
    for actual, wanted in zip(results, expected, strict=True):
        assert isinstance(actual, np.ndarray)
        assert actual.dtype == wanted.dtype
        for found, number in zip(parts(actual), parts(wanted), strict=True):
            np.testing.assert_array_equal(found, number)
            if number.dtype == np.float64:
                signs = np.signbit(found) == np.signbit(number)
                assert (signs | np.isnan(number)).all()


def parts(array: Array) -> list[Array]:
    """Returns the parts of numbers in f64, which also says which zeros are negative."""
    if array.dtype.kind == "c":
        return [array.real.astype(np.float64), array.imag.astype(np.float64)]
    return [array] if array.dtype.kind in "biu" else [array.astype(np.float64)]
