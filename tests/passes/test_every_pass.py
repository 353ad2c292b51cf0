"""Every pass keeps its promises on every real module: order, truth, results."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError, HloError, UnsupportedError
from hlotool.evaluation.generation.arguments import generated_arguments
from hlotool.ir.cloning import cloned_module
from hlotool.ir.frame import Value
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.passes.registry import PASSES
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.conftest import ROOT, corpus_directory, modules_below
from tests.passes.checking import changed_by, same_values, values_of

CORPUS = corpus_directory()
CASES = ROOT / "testdata" / "cases"
PATHS = [*modules_below(CORPUS), *sorted(CASES.glob("*.hlo"))]
MODULES = [path for path in PATHS if not path.name.startswith("error_")]

NEW_NUMBERS = {
    "control-flow-flattening": "runs loops of unknown trip counts for a fixed number of rounds",
    "rng-expander": "draws other random numbers than the evaluator's rng",
}
"""Passes whose results differ from the module's own by intent, with the reason."""


class Expected:
    """What a module yields on generated arguments; it is evaluated once for all passes."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.arguments: list[Value] = []
        self.results: list[Value] | None = None
        try:
            self.arguments = list(generated_arguments(module, 7).values)
            self.results = values_of(module, self.arguments)
        except (EvaluationError, UnsupportedError):
            # Such a module is still parsed, changed and verified.
            self.results = None


def faults(one: Pass, expected: Expected) -> Iterator[str]:
    """Yields what is wrong with what a pass makes of a module."""
    module = cloned_module(expected.module)
    journal = Journal(one.name)
    try:
        changed = changed_by(module, one, journal)
    except HloError as error:
        yield f"{one.text}: raises {error}"
        return
    except AssertionError as error:
        yield f"{one.text}: {str(error)[:300]}"
        return
    if not changed or expected.results is None or one.name in NEW_NUMBERS:
        return
    try:
        actual = values_of(module, expected.arguments)
    except (EvaluationError, UnsupportedError) as error:
        yield f"{one.text}: what it makes cannot be evaluated: {error}"
        return
    for words in same_values(expected.module, actual, expected.results, exact=one.is_exact):
        yield f"{one.text}: results differ: {words[:300]}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_pass_keeps_its_promises(path: Path) -> None:
    module = parse(path.read_text(), path.name)
    assert verify(module) == []
    expected = Expected(module)
    assert [fault for one in PASSES for fault in faults(one(), expected)] == []
