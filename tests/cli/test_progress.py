"""The progress bar: there for people who wait, and for nobody else."""

import sys
import time

import pytest

from hlotool.cli import progress as bar
from hlotool.cli.progress import evaluation_progress, progress


def on_terminal(monkeypatch: pytest.MonkeyPatch, *, errors: bool, output: bool) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: errors)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: output)


def test_shows_how_far_it_is_once_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_terminal(monkeypatch, errors=True, output=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(bar, "PATIENCE_SECONDS", -1.0)
    assert list(progress("abc", "reading")) == ["a", "b", "c"]
    shown = capsys.readouterr()
    assert "reading" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    ("errors", "output", "patience", "items"),
    [(False, False, -1.0, "abc"), (True, True, -1.0, "abc"), (True, False, 60.0, "abc"),
     (True, False, -1.0, "a")],
)  # fmt: skip
def test_is_quiet(
    errors: bool,  # noqa: FBT001  # a parameter of the test
    output: bool,  # noqa: FBT001  # a parameter of the test
    patience: float,
    items: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    on_terminal(monkeypatch, errors=errors, output=output)
    monkeypatch.setattr(bar, "PATIENCE_SECONDS", patience)
    assert list(progress(items, "reading")) == list(items)
    assert capsys.readouterr().err == ""


def test_run_elsewhere_shows_too_once_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_terminal(monkeypatch, errors=True, output=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(bar, "PATIENCE_SECONDS", 0.0)
    with evaluation_progress("[red]m on xla") as observer:
        assert observer is not None
        time.sleep(0.3)
    assert "[red]m on xla" in capsys.readouterr().err


def test_bar_is_the_only_display(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terminal(monkeypatch, errors=True, output=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(bar, "PATIENCE_SECONDS", -1.0)
    for _ in progress("abc", "isolating", output_shows_it=False):
        with evaluation_progress("m") as observer:
            assert observer is None
    with evaluation_progress("m") as observer:
        assert observer is not None
