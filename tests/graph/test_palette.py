import re

import pytest

import hlotool.ops  # noqa: F401 - it enters the opcodes
from hlotool.graph.palette import (
    DARK,
    LEGEND,
    LIGHT,
    SHORT_LEGEND,
    Theme,
    category_entries,
    contrast,
    mixed,
    style,
)
from hlotool.ir.appearance import Category
from hlotool.ir.op import OPCODES

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


@pytest.mark.parametrize("opcode", sorted(OPCODES))
def test_every_opcode_has_a_category(opcode: str) -> None:
    assert isinstance(OPCODES[opcode].category, Category)


def test_every_category_has_opcodes() -> None:
    assert {op.category for op in OPCODES.values()} == set(Category)


@THEMES
def test_every_category_has_its_colours(theme: Theme) -> None:
    assert set(theme.tints) == set(LEGEND) == set(SHORT_LEGEND) == set(Category)
    fills = {tint.fill for tint in theme.tints.values()}
    assert len(fills) == len(Category)


def test_pages_are_told_what_legends_say() -> None:
    found = category_entries()
    assert found["categories"] == [category.value for category in Category]
    assert dict(zip(Category, found["legend"], strict=True)) == LEGEND
    assert dict(zip(Category, found["shortLegend"], strict=True)) == SHORT_LEGEND


@THEMES
def test_colours_can_be_told_from_what_is_under_them(theme: Theme) -> None:
    paper = theme.named["paper"]
    least = 11 if theme is LIGHT else 8
    for tint in theme.tints.values():
        assert contrast(tint.fill, tint.text) >= least, tint
        assert contrast(tint.line, paper) >= 3, tint
    for name, colour in theme.named.items():
        if name not in {"paper", "surface", "border"}:
            assert contrast(colour, paper) >= 3, name
    for name in ("ink", "quiet"):
        assert contrast(theme.named[name], theme.named["surface"]) >= 4.5, name
    for colour in theme.kinds:
        assert contrast(colour, paper) >= 3, colour


@THEMES
def test_a_sequence_goes_steadily_away_from_the_paper(theme: Theme) -> None:
    steps = [contrast(colour, theme.named["paper"]) for colour in theme.sequence]
    assert steps == sorted(steps)
    assert steps[-1] > 3 * steps[0]


def test_both_themes_have_the_same_properties() -> None:
    rules = re.findall(r"\{(--[^{}]*)\}", style())
    names = [re.findall(r"--([a-z0-9-]+):#[0-9a-f]{6};", rule) for rule in rules]
    assert len(names) == 3
    assert names[0] == names[1] == names[2]
    assert {f"{category.value}-fill" for category in Category} <= set(names[0])
    assert {"paper", "sequence-0", "kind-11"} <= set(names[0])


def test_contrast_and_mixture() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert mixed("#000000", "#ff8000", 0.5) == "#804000"
