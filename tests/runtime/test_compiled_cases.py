"""Modules that were once compiled wrongly, each the smallest one; their comments say what of."""

from pathlib import Path

import pytest

from hlotool.analysis.verifier import verify
from hlotool.runtime.compilation import compiled
from hlotool.text.parser import parse
from tests.conftest import ROOT
from tests.runtime.fuzzing import WAYS, Way, compared, runs_of

CASES = sorted((ROOT / "testdata" / "compiled").glob("*.hlo"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_module_is_right(path: Path) -> None:
    module = parse(path.read_text(), path.name)
    assert verify(module) == []
    runs = runs_of(module, 1)
    assert len(runs) == 2
    usual = compiled(module, uses_cache=False)
    assert compared(module, usual, runs) == []


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_module_is_right_in_every_way(path: Path, way: Way) -> None:
    module = parse(path.read_text(), path.name)
    runs = runs_of(module, 1)
    assert way(module, runs, compiled(module, uses_cache=False)) == []


def test_every_case_says_what_it_showed() -> None:
    assert [path.name for path in CASES if not path.read_text().startswith("// ")] == []
    assert len(CASES) >= 8
