"""Whatever a text holds, it is a module or an `HloError` with a place in the text."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import HloError
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.text.mutations import mutated

SECONDS = 20
"""After so long a text hangs; the slowest takes a fraction of it."""
SHORT_SEEDS = range(1000)
SEEDS = range(10_000)
PER_TEST = 500


def texts_below(*folders: Path) -> list[str]:
    paths = sorted(path for folder in folders for path in folder.rglob("*.hlo"))
    return [path.read_text(encoding="utf-8") for path in paths]


@contextmanager
def limited(text: str) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"still not done after {SECONDS} s: {text[:2000]!r}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check_error(error: HloError) -> None:
    assert error.message
    # Whatever nobody foresaw has a place too, but nothing should be unforeseen.
    assert not error.message.startswith("cannot be read"), error.message
    assert error.location is not None, error.message
    assert 0 <= error.location.offset <= len(error.location.source.text), error.message


def check(text: str, *, lenient: bool = False) -> bool:
    """Tells whether a text is a module, and requires an error with a place of any other."""
    with limited(text):
        try:
            module = parse(text, lenient=lenient)
        except HloError as error:
            check_error(error)
            return False
        for found in verify(module):
            check_error(found)
        try:
            printed = print_module(module)
        except HloError as error:
            # Metadata is read when it is asked for.
            check_error(error)
            return False
        again = print_module(parse(printed, lenient=lenient))
        # The order of computations and the numbers of frames come from the order in the text,
        # which the first printing may change: in the reference too.
        assert print_module(parse(again, lenient=lenient)) == again
        if module.stack_tables is None:
            assert sorted(again.splitlines()) == sorted(printed.splitlines())
    return True


def check_all(texts: list[str], seeds: range) -> None:
    outcomes = set()
    for seed in seeds:
        text = mutated(texts, seed)
        try:
            outcomes.add(check(text, lenient=seed % 7 == 0))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}\n{text[:4000]}") from error
    # A run in which all or none were right would say nothing.
    assert outcomes == {True, False}


def test_short(root: Path) -> None:
    check_all(texts_below(root / "testdata"), SHORT_SEEDS)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(0, len(SEEDS), PER_TEST))
def test_long(root: Path, corpus: Path, start: int) -> None:
    check_all(texts_below(root / "testdata", corpus), SEEDS[start : start + PER_TEST])
