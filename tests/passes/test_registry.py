"""The table of passes, and what is said of them."""

import pytest

from hlotool.errors import UsageError
from hlotool.passes.pass_base import Pass, options_of
from hlotool.passes.reference import pass_reference
from hlotool.passes.registry import BY_NAME, PASSES, pass_named
from tests.conftest import ROOT

EXAMPLES = ROOT / "testdata" / "passes"


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(PASSES)


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.name)
def test_every_pass_says_what_it_does_and_shows_it(one: type[Pass]) -> None:
    first = (one.__doc__ or "").splitlines()[0]
    assert first.endswith(".")
    assert all(option.words for option in options_of(one))
    assert one().name == one.name
    examples = sorted((EXAMPLES / one.name).glob("*.hlo"))
    assert examples, f"testdata/passes/{one.name} has no example"
    assert any(f"--passes={one.name}" in path.read_text() for path in examples)


def test_an_unknown_pass_is_an_error_with_near_names() -> None:
    with pytest.raises(UsageError, match="unknown pass algsim; did you mean algsimp"):
        pass_named("algsim")


def test_reference_is_that_of_the_code() -> None:
    text = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    assert text == pass_reference(EXAMPLES), "make reference renews it"


def test_every_folder_of_examples_is_that_of_a_pass() -> None:
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders <= set(BY_NAME)
