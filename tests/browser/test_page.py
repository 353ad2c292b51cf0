"""The page opens anywhere: by itself, in light and dark, small and large, whatever the names."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hlotool.graph.palette import DARK, LIGHT
from hlotool.ir.appearance import Category
from tests.browser.conftest import Opened

ATTENTION = "jax/attention.opt"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "ratio"), [(900, 1), (1600, 2)])
def test_it_opens_with_everything_in_place(
    opened: Opened, scheme: str, width: int, ratio: int
) -> None:
    window = opened(
        ATTENTION,
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        device_scale_factor=ratio,
    )
    assert window.value("hlotool.theme") == scheme
    assert window.value("hlotool.stats.layouter") == "worker"
    assert window.text("#title") == window.value("hlotool.model.title")
    count = window.value("hlotool.model.instructions")
    assert str(count) in window.text("#counts") or width < 1100
    # The page itself never scrolls, however narrow it is.
    assert window.value("document.documentElement.scrollWidth") == width
    for path in window.value("hlotool.shown"):
        assert window.value(f"hlotool.box('{path}').width") > 0


@pytest.mark.parametrize(("scheme", "theme"), [("light", LIGHT), ("dark", DARK)])
def test_a_box_has_the_colour_of_its_category(opened: Opened, scheme: str, theme: object) -> None:
    window = opened("jax/attention", color_scheme=scheme)
    tints = theme.tints  # type: ignore[attr-defined]
    opcodes = {"dot": Category.CONTRACTION, "exponential": Category.ELEMENTWISE}
    for opcode, category in opcodes.items():
        path = window.value(
            "hlotool.shown.find((path) => hlotool.model.opcode("
            f"hlotool.model.entry, Number(path.split('#')[1])) === '{opcode}')"
        )
        window.page.goto(f"{window.page.url.split('#')[0]}#at=0,0,1")
        window.page.reload()
        window.wait("Boolean(window.hlotool && hlotool.ready)")
        name = window.value(f"hlotool.model.name(hlotool.model.entry, {path.split('#')[1]})")
        window.page.goto(f"{window.page.url.split('#')[0]}#{name}")
        window.wait(f"hlotool.selectedName === '{name}'")
        window.settle()
        box = window.box(name)
        # Right of the title, above the lower edge: nothing but the fill is there.
        found = window.pixel(box["x"] + box["width"] - 5, box["y"] + box["height"] / 2)
        fill = tints[category].fill
        wanted = tuple(int(fill[at : at + 2], 16) for at in (1, 3, 5))
        assert all(abs(a - b) <= 3 for a, b in zip(found, wanted, strict=True)), (opcode, found)


def test_names_from_a_module_stay_text(opened: Opened) -> None:
    window = opened("names", "#r")
    assert window.value("window.stolen === undefined")
    assert "three" in window.text("#panel")
    window.keys("t")
    window.click("a")
    assert "<img" in window.text("#panel")
    assert window.value("document.images.length") == 0


def test_a_page_of_another_version_says_so(
    opened: Opened, page_of: Callable[[str], Path], tmp_path: Path
) -> None:
    text = page_of("names").read_text("utf-8")
    other = tmp_path / "other.html"
    other.write_text(re.sub(r"const VERSION = \d+", "const VERSION = 99", text), "utf-8")
    window = opened("names")
    window.page.goto(other.as_uri())
    window.page.wait_for_selector("#starting:not([hidden])")
    window.wait("document.getElementById('starting').textContent.includes('version')")
    assert "make the page again" in window.text("#starting")
    window.errors.clear()


def test_without_workers_the_page_lays_out_itself(opened: Opened) -> None:
    window = opened("names")
    window.page.add_init_script("delete window.Worker;")
    window.page.reload()
    window.wait("Boolean(window.hlotool && hlotool.ready)")
    assert window.value("hlotool.stats.layouter") == "page"
    assert window.is_shown("r")


def test_svg_and_print_hold_what_is_in_sight(opened: Opened) -> None:
    window = opened(ATTENTION)
    svg = window.value("hlotool.svg()")
    assert svg.startswith("<svg")
    assert svg.count("<text") >= window.value("hlotool.stats.drawn")
    with window.page.expect_download() as download:
        window.keys("e")
    saved = Path(download.value.path()).read_text("utf-8")
    assert re.search(r"<path [^>]*d=\"M", saved)
    assert download.value.suggested_filename.endswith(".svg")
    window.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert window.page.locator("#print svg text").count() > 0
    window.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert window.page.locator("#print svg").count() == 0


def test_a_big_module_begins_with_its_stages(opened: Opened) -> None:
    window = opened("layers")
    assert window.page.is_visible("#overview")
    assert "stages" in window.text("#overview > p")
    assert "\u00d7" in window.text("#overview .times")
    cards = window.page.locator("#overview .card")
    assert 1 <= cards.count() < 12
    cards.nth(0).click()
    window.settle()
    assert not window.page.is_visible("#overview")
    assert window.value("hlotool.camera.k") >= 0.5
    assert window.value("hlotool.stats.drawn") > 0
    window.keys("o")
    assert window.page.is_visible("#overview")
    window.keys("Escape")
    assert not window.page.is_visible("#overview")


def test_reduced_motion_jumps(opened: Opened) -> None:
    window = opened(ATTENTION, reduced_motion="reduce")
    window.page.keyboard.press("0")
    assert window.value("hlotool.camera.moving") is False
