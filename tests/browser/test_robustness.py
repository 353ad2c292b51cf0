"""What a page does when it is hurried, handed old links, or asked for what takes too long."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.browser.conftest import Opened
from tests.browser.window import Window

if TYPE_CHECKING:
    from pathlib import Path

RUN = "jax/attention:passes"
# Curves that are drawn, and strokes of paths that they are put into.
COUNTED = """() => {
  window.curves = window.strokes = 0;
  const drawing = CanvasRenderingContext2D.prototype, { bezierCurveTo, stroke } = drawing;
  drawing.bezierCurveTo = function (...at) { window.curves++; bezierCurveTo.apply(this, at); };
  drawing.stroke = function (...at) { window.strokes++; stroke.apply(this, at); };
}
"""
EARLY = ["ArrowDown", "ArrowLeft", "Home", "Enter", *"0xe1fcphzovum"]


def ready(opened: Opened, address: str = "") -> Window:
    window = opened(RUN, address)
    window.wait("hlotool.passes && !hlotool.passes.busy")
    window.page.wait_for_timeout(120)
    window.wait("!hlotool.passes.busy")
    return window


def go_to(window: Window, address: str) -> None:
    """Has another address in a page that is open."""
    window.page.evaluate(f"location.hash = {address!r}")
    window.page.wait_for_timeout(500)
    window.settle()


def notice(window: Window) -> str:
    window.wait("!document.querySelector('#notice').hidden")
    return window.text("#notice")


def state(window: Window) -> Any:
    return window.value(
        "[hlotool.root, hlotool.module, hlotool.open, hlotool.selectedName, hlotool.overlay,"
        " hlotool.theme]"
    )


def test_keys_before_the_first_picture_do_nothing(opened: Opened) -> None:
    window = opened("jax/attention")
    window.page.reload(wait_until="commit")
    for key in EARLY:
        window.page.keyboard.press(key)
    window.wait("Boolean(window.hlotool && hlotool.ready)")
    assert window.errors == []


def test_what_is_selected_while_a_state_is_laid_out_is_selected_in_it(opened: Opened) -> None:
    window = ready(opened, "#&pass=0")
    for key in ("j", "k", "J", "j"):
        x, y = 500, 250
        window.page.keyboard.press(key)
        window.page.mouse.click(x, y)
        window.page.keyboard.press("ArrowLeft")
        window.page.keyboard.press("c")
        window.wait("!hlotool.passes.busy")
    window.settle()
    assert window.errors == []


@pytest.mark.parametrize("name", ["jax/attention", RUN, "jax/attention:decisions", "layers"])
def test_keys_and_clicks_without_a_pause_raise_nothing(opened: Opened, name: str) -> None:
    window, chance = opened(name), random.Random(7)  # noqa: S311
    keys = [key for key in window.value("hlotool.keys") if key not in "eE"]
    for turn in range(150):
        what = chance.choice([*keys, *["click"] * 8, *["double"] * 4, "wheel", "hash"])
        x, y = chance.randrange(1280), chance.randrange(800)
        if what == "click":
            window.page.mouse.click(x, y)
        elif what == "double":
            window.page.mouse.dblclick(x, y)
        elif what == "wheel":
            window.page.mouse.wheel(x - 640, y - 400)
        elif what == "hash":
            hashes = ["#&open=*", "#&pass=1", "#&at=1e7,1e7,1", "#dot.3", "#&module=1", "#"]
            window.page.evaluate(f"location.hash = {chance.choice(hashes)!r}")
        else:
            window.page.keyboard.press({" ": "Space"}.get(what, what))
        assert window.errors == [], (turn, what)
    window.page.wait_for_timeout(500)
    assert window.errors == []


def test_the_help_has_the_keyboard_for_itself(opened: Opened) -> None:
    window = opened("jax/attention")
    window.keys("ArrowDown")
    selected = window.value("hlotool.selected")
    assert selected != ""
    for key in ("Escape", "?"):
        window.keys("?")
        assert window.page.is_visible("#help")
        window.keys("ArrowDown", key)
        assert window.page.is_hidden("#help")
        assert window.value("hlotool.selected") == selected


def test_escape_leaves_a_part_of_the_graph_before_it_deselects(opened: Opened) -> None:
    window = opened("jax/attention")
    window.keys("ArrowDown", "c")
    selected = window.value("hlotool.selected")
    assert window.page.is_visible("#focus")
    window.keys("Escape")
    assert window.page.is_hidden("#focus")
    assert window.value("hlotool.selected") == selected


def test_a_path_ends_where_enter_is_pressed(opened: Opened) -> None:
    window = opened("layers")
    go_to(window, "#d0")
    window.keys("p", "ArrowDown", "ArrowDown")
    assert "Enter" in window.text("#focus")
    end = window.value("hlotool.selectedName")
    window.keys("Enter")
    assert window.text("#focus").startswith("Paths d0 ")
    assert f" {end}: " in window.text("#focus")


def test_a_path_ends_at_a_hit_of_the_search(opened: Opened) -> None:
    window = opened("layers", "#d0")
    window.keys("p", "/")
    window.page.keyboard.insert_text("name:t1_3")
    window.wait("hlotool.hits === 1")
    window.keys("Enter")
    assert window.text("#focus").startswith("Paths d0 ")
    assert " t1_3: " in window.text("#focus")
    assert window.page.is_hidden("#found")


def test_the_list_of_hits_closes_when_one_is_gone_to(opened: Opened) -> None:
    window = opened("jax/attention")
    window.keys("/")
    window.page.keyboard.insert_text("dot")
    window.wait("hlotool.hits > 0 && !document.querySelector('#found').hidden")
    window.keys("Enter")
    assert window.page.is_hidden("#found")
    assert window.value("hlotool.selected") != ""


def test_another_address_shows_what_it_shows_when_the_page_begins(opened: Opened) -> None:
    fresh = opened("jax/attention", "#&overlay=flops&theme=dark&open=*&q=dot&text=1&lines=bytes")
    window = opened("jax/attention")
    fresh.settle()
    address = fresh.value("location.hash")
    go_to(window, address)
    assert state(window) == state(fresh)
    assert window.page.is_visible("#text")
    assert window.value("hlotool.hits") == fresh.value("hlotool.hits") > 0
    go_to(window, "#")
    assert state(window)[4:] == ["", "light"]
    assert window.page.is_hidden("#text")
    assert window.value("hlotool.hits") == 0


def test_an_address_of_a_pass_shows_it_in_an_open_page(opened: Opened) -> None:
    window = ready(opened)
    last = window.value("hlotool.module")
    go_to(window, "#&pass=0&side=before")
    window.wait("hlotool.passes.at === 0 && !hlotool.passes.busy")
    assert window.value("hlotool.passes.side") == "before"
    assert window.value("hlotool.module") != last
    go_to(window, "#")
    window.wait("!hlotool.passes.busy")
    assert window.value("[hlotool.module, hlotool.passes.at]") == window.value(
        f"[{last}, hlotool.passes.run.length]"
    )


def test_the_way_back_of_the_browser_leads_to_the_pass_before(opened: Opened) -> None:
    window = ready(opened)
    window.keys("j")
    window.page.wait_for_timeout(600)
    window.keys("j")
    window.page.wait_for_timeout(600)
    at = window.value("hlotool.passes.at")
    window.page.evaluate("history.back()")
    window.wait("hlotool.passes.at === -1 && !hlotool.passes.busy")
    window.page.wait_for_timeout(600)
    window.page.evaluate("history.forward()")
    window.wait(f"hlotool.passes.at === {at} && !hlotool.passes.busy")


@pytest.mark.parametrize("at", ["-9e6,-9e6,1", "1e9,1e9,4", "0,0,-5", "1e308,1e308,1e308"])
def test_an_address_that_looks_beside_the_graph_shows_the_graph(opened: Opened, at: str) -> None:
    window = opened("jax/attention", f"#&at={at}")
    x, y, k = (window.value(f"hlotool.camera.{one}") for one in "xyk")
    box = window.value("[hlotool.picture.width, hlotool.picture.height]")
    assert x < box[0]
    assert y < box[1]
    assert x + 1280 / k > 0
    assert y + 800 / k > 0
    found = window.value(
        "hlotool.shown.map((path) => hlotool.box(path)).filter(({ x, y, width, height }) =>"
        " x < 1280 && y < 800 && x + width > 0 && y + height > 0).length"
    )
    assert found > 0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("#nosuchname", "no instruction nosuchname"),
        ("#&overlay=nosuch", "no overlay nosuch"),
        ("#&module=99", "no module 99"),
        ("#&root=nosuch", "no graph nosuch"),
    ],
)
def test_an_address_says_what_of_it_is_not_here(opened: Opened, address: str, said: str) -> None:
    window = opened("jax/attention", address)
    assert said in notice(window)
    other = opened("jax/attention")
    assert other.page.is_hidden("#notice")
    go_to(other, address)
    assert said in notice(other)


def test_an_expression_that_takes_too_long_is_given_up(opened: Opened) -> None:
    window = opened("layers")
    window.keys("/")
    window.page.keyboard.insert_text("/((\\w+\\.?)*)*[$]{3}zzz$/")
    window.page.evaluate("window.longTasks.length = 0")
    window.wait("document.querySelector('#hits').textContent === 'takes too long'")
    assert max((length for _, length in window.value("window.longTasks")), default=0) < 900
    window.page.fill("#query", "/^t1_[34]$/")
    window.wait("hlotool.hits === 2")
    assert window.text("#hits") == "2 hits"
    window.keys("Enter")
    assert window.value("hlotool.selectedName") == "t1_3"


def test_of_very_many_long_lines_some_are_drawn(opened: Opened, tmp_path: Path) -> None:
    count = 6000
    names = ", ".join(f"n{number}" for number in range(count))
    lines = [f"  n{number} = f32[4] negate(p)" for number in range(count)]
    shapes = ", ".join(["f32[4]"] * count)
    result = f"  ROOT r = ({shapes}) tuple({names})"
    head = ["HloModule wide", "", "ENTRY main {", "  p = f32[4] parameter(0)"]
    text = "\n".join([*head, *lines, result, "}", ""])
    page = tmp_path / "wide.html"
    page.write_text(module_page(parse(text)), "utf-8")
    window = opened(page, "#r")
    window.settle()
    window.page.evaluate(COUNTED)
    window.page.mouse.click(5, 700)
    window.value("window.curves = window.strokes = 0")
    window.keys("+")
    curves, strokes = window.value("[window.curves, window.strokes]")
    assert 0 < curves <= count / 2
    assert strokes > curves / 400
