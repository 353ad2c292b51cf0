"""What passes do when they may rewrite nothing, or only once."""

from pathlib import Path

import pytest

from hlotool.analysis.verifier import verify
from hlotool.passes.pass_base import Pass
from hlotool.passes.registry import PASSES
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.golden import TESTDATA

CASES = [
    (one, path) for one in PASSES for path in sorted((TESTDATA / "passes" / one.name).glob("*.hlo"))
]


def test_every_pass_has_a_golden_file() -> None:
    assert {one for one, _ in CASES} == set(PASSES)


@pytest.mark.parametrize(("one", "path"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_without_fuel_nothing_changes(one: type[Pass], path: Path) -> None:
    module = parse(path.read_text(encoding="utf-8"))
    before = print_module(module)
    assert not one().run(module, Journal(one.name, Fuel({one.name: 0})))
    assert print_module(module) == before


@pytest.mark.parametrize(("one", "path"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_with_fuel_for_one_the_module_is_whole(one: type[Pass], path: Path) -> None:
    module = parse(path.read_text(encoding="utf-8"))
    journal = Journal(one.name, Fuel({one.name: 1}))
    changed = one().run(module, journal)
    assert changed == (sum(journal.hits.values()) == 1)
    assert [str(error) for error in verify(module)] == []
