"""The report of a difference: what it says, at any width, and that no name can spoil it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlotool.cli.mismatch_tables import mismatch_text
from hlotool.cli.tables import NARROWEST, WIDEST
from hlotool.evaluation.comparison.compare import Comparison, compare
from hlotool.text.parser import parse

MODULE = """HloModule m

ENTRY main {
  x = f32[28,784] parameter(0)
  w = f32[784,10] parameter(1)
  d = f32[28,10] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[28,10] tanh(d), metadata={op_name="[bold]step[/bold]" source_file="net.py" source_line=3}
  i = s32[4] iota(), iota_dimension=0
  ROOT r = (f32[28,10], s32[4], s32[4]) tuple(t, i, i)
}
"""
NUMBERS = np.arange(4, dtype=np.int32)


def results() -> tuple[Any, Any]:
    expected = np.tanh(np.random.default_rng(0).standard_normal((28, 10))).astype(np.float32)
    actual = expected.copy()
    actual[3, 4] += 0.1
    actual[7, 7] = np.nan
    actual[1, 1] = -actual[1, 1]
    return (actual, NUMBERS, NUMBERS), (expected, NUMBERS[::-1].copy(), NUMBERS)


@pytest.fixture
def comparison() -> Comparison:
    actual, expected = results()
    return compare(parse(MODULE, "module.hlo"), actual, expected)


def test_report_says_what_is_wrong_and_where(comparison: Comparison) -> None:
    text = mismatch_text(comparison, columns=100)
    for said in (
        "result (f32[28,10], s32[4], s32[4]): 7 of 288 elements are wrong (2.43 %)",
        "array {0} f32[28,10]: 3 of 280 elements are wrong (1.07 %)",
        "made by t = f32[28,10] tanh at module.hlo:7:3",
        "for [bold]step[/bold]",
        "source net.py:3",
        "because f32 dot over 784 terms, one of 2 roundings",
        "NaN 1 in actual, 0 in expected; 1 on one side alone",
        "array {1} s32[4]: 4 of 4 elements are wrong (100 %)",
        "s32 must be equal",
        "1 array agreeing: {2}",
    ):
        assert said in " ".join(text.split())
    (row,) = [line for line in text.splitlines() if line.startswith("  [7,7]")]
    assert row.split() == ["[7,7]", "nan", "0.73293966", "inf", "inf", "-"]
    assert "0x7fc00000  0x3f3ba1ef" in text


@pytest.mark.parametrize("columns", [20, NARROWEST, 80, 120, 1000])
def test_no_line_is_wider_than_the_terminal(comparison: Comparison, columns: int) -> None:
    lines = mismatch_text(comparison, columns=columns).splitlines()
    assert max(map(len, lines)) <= max(NARROWEST, min(WIDEST, columns))
    assert all(line == line.rstrip() for line in lines)


def test_histograms_stand_abreast_where_there_is_room(comparison: Comparison) -> None:
    narrow, wide = (mismatch_text(comparison, columns=columns) for columns in (80, 120))
    titles = ("relative error", "|expected|")
    assert not any(all(title in line for title in titles) for line in narrow.splitlines())
    assert any(all(title in line for title in titles) for line in wide.splitlines())


def test_histograms_count_every_element(comparison: Comparison) -> None:
    lines = mismatch_text(comparison, columns=80).splitlines()
    start = next(n for n, line in enumerate(lines) if "relative error" in line)
    rows = []
    for line in lines[start + 1 :]:
        if not line:
            break
        rows.append(line.removeprefix("  ").lstrip("<=> ").split())
    assert sum(int(row[1]) for row in rows) == 280
    assert sum(int(row[2]) for row in rows) == 3


def test_bounds_that_would_do_are_options() -> None:
    expected = np.ones((28, 10), np.float32)
    text = mismatch_text(
        compare(parse(MODULE), (expected * 1.25, NUMBERS, NUMBERS), (expected, NUMBERS, NUMBERS)),
        columns=80,
    )
    assert "    --abs-error-bound=0.3 --rel-error-bound=0\n" in text
    assert "    --abs-error-bound=0 --rel-error-bound=0.3\n" in text


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {"COLUMNS": "33"}])
def test_colour_is_there_only_when_asked_for(
    comparison: Comparison, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    plain = mismatch_text(comparison, columns=80)
    assert "\x1b" not in plain
    coloured = mismatch_text(comparison, columns=80, colour=True)
    assert "\x1b[1;31m" in coloured


def test_names_cannot_command_the_terminal_or_the_markup() -> None:
    text = MODULE.replace("[bold]step[/bold]", "\x1b]0;gone\x07 :smile: [/red]")
    actual, expected = results()
    shown = mismatch_text(compare(parse(text, "a\x1b[31m\nb.hlo"), actual, expected), columns=100)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\\x1b]0;gone\\x07 :smile: [/red]" in shown
    assert "a\\x1b[31m\\nb.hlo:7:3" in shown


def test_a_fault_is_said_alone() -> None:
    module = parse("HloModule m\nENTRY e {\n ROOT p = f32[<=4] parameter(0)\n}")
    sides = np.zeros(2, np.float32), np.zeros(3, np.float32)
    text = mismatch_text(compare(module, *sides), columns=80)
    assert "float32[2] was computed, float32[3] is expected" in text
    assert "worst" not in text


def test_agreement_is_one_line() -> None:
    _, expected = results()
    text = mismatch_text(compare(parse(MODULE), expected, expected), columns=80)
    assert text == "result (f32[28,10], s32[4], s32[4]): all of 288 elements agree\n"
