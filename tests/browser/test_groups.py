"""Boxes chosen together and their sums, widths of lines, values on boxes, loops that turn."""

from pathlib import Path

import pytest

from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.browser.conftest import Opened
from tests.browser.window import Window

CHAIN = """HloModule chain
ENTRY e {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  a = f32[64,64] negate(x)
  b = f32[64,64] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[64,1] slice(b), slice={[0:64], [0:1]}
  t = f32[64,1] tanh(s)
  ROOT r = (f32[64,1], f32[64,64]) tuple(t, b)
}
"""
LOOP = """HloModule loop
turning { c = (s32[]) parameter(0)
 i = s32[] get-tuple-element(c), index=0
 k = s32[] constant(8)
 ROOT l = pred[] compare(i, k), direction=LT }
step { c2 = (s32[]) parameter(0)
 i2 = s32[] get-tuple-element(c2), index=0
 one = s32[] constant(1)
 j = s32[] add(i2, one)
 ROOT out = (s32[]) tuple(j) }
ENTRY e {
  zero = s32[] constant(0)
  n = s32[] parameter(0)
  known = (s32[]) tuple(zero)
  open = (s32[]) tuple(n)
  w = (s32[]) while(known), condition=turning, body=step
  v = (s32[]) while(open), condition=turning, body=step,
    backend_config={"known_trip_count":{"n":"5"}}
  ROOT u = (s32[]) while(open), condition=turning, body=step
}
"""


def page_of(folder: Path, text: str) -> Path:
    path = folder / "page.html"
    path.write_text(module_page(parse(text), {"time": {"a": 3.0, "b": 5.5}}), "utf-8")
    return path


@pytest.fixture
def chain(opened: Opened, tmp_path: Path) -> Window:
    return opened(page_of(tmp_path, CHAIN))


def drag(window: Window, first: str, last: str) -> None:
    """Drags with Shift from above one box to below another one."""
    one, other = window.box(first), window.box(last)
    window.page.keyboard.down("Shift")
    window.page.mouse.move(one["x"] - 12, one["y"] - 8)
    window.page.mouse.down()
    window.page.mouse.move(other["x"], other["y"], steps=3)
    assert window.value("hlotool.area !== null")
    right = max(box["x"] + box["width"] for box in (one, other))
    window.page.mouse.move(right + 6, other["y"] + other["height"] + 3, steps=3)
    window.page.mouse.up()
    window.page.keyboard.up("Shift")
    window.settle()


def chosen(window: Window) -> list[str]:
    names: list[str] = window.value("hlotool.chosen")
    return sorted(names)


def sums(window: Window) -> dict[str, str]:
    terms = window.value(
        "[...document.querySelectorAll('#panel .sums dt')].map(({ dataset }) => dataset.overlay)"
    )
    return dict(zip(terms, window.page.locator("#panel .sums dd b").all_inner_texts(), strict=True))


def test_an_area_chooses_boxes_and_sums_them(chain: Window) -> None:
    camera = chain.value("hlotool.camera")
    drag(chain, "a", "b")
    assert chosen(chain) == ["a", "b"]
    assert chain.value("hlotool.camera") == camera
    assert chain.value("hlotool.area") is None
    assert chain.text("#panel h2 span") == "2 boxes chosen"
    found = sums(chain)
    assert found["time"] == "8.50"
    # Both read and write matrices of 16 KiB, two and three of them.
    assert found["bytes"] == "80 KiB"
    assert found["flops"] == "528 kflop"
    assert "mean 4.25" in chain.text("#panel .sums")
    titles = chain.page.locator("#panel .titles li").all_inner_texts()
    assert [title.split() for title in titles] == [["1", "negate"], ["1", "dot"]]
    assert "2 boxes chosen" in chain.text("#live")
    chain.keys("Escape")
    assert chosen(chain) == []
    assert not chain.page.is_visible("#panel")


def test_boxes_are_chosen_one_by_one(chain: Window) -> None:
    chain.page.keyboard.down("Shift")
    chain.click("a")
    chain.click("t")
    assert chosen(chain) == ["a", "t"]
    chain.click("a")
    chain.page.keyboard.up("Shift")
    assert chosen(chain) == ["t"]
    assert chain.value("hlotool.selected") == ""
    chain.click("b")
    chain.keys("q")
    assert chosen(chain) == ["b", "t"]
    # What is selected is told below the sums.
    assert chain.page.locator("#panel h2").count() == 2
    chain.page.click("#panel [aria-label='Choose none']")
    assert chosen(chain) == []
    assert chain.value("hlotool.selectedName") == "b"


def test_chosen_boxes_are_ringed_and_shown_alone(chain: Window) -> None:
    box = chain.box("s")
    point = box["x"] - 2, box["y"] + box["height"] / 2
    before = chain.pixel(*point)
    drag(chain, "s", "t")
    place = chain.box("s")
    assert chain.pixel(place["x"] - 2, place["y"] + place["height"] / 2) != before
    chain.page.locator("#panel .actions button", has_text="Alone").click()
    chain.wait("hlotool.shown.length === 2")
    assert "2 instructions alone" in chain.text("#focus")
    chain.page.click("#focus button")
    chain.wait("hlotool.shown.length === 5")
    chain.page.locator("#panel .actions button", has_text="Zoom to").click()
    chain.settle()
    assert chain.value("hlotool.camera.k") == pytest.approx(1.1)


def test_a_closed_cluster_counts_with_what_is_inside(opened: Opened) -> None:
    window = opened("jax/attention.opt")
    window.keys("x")
    window.wait("hlotool.stats.graphs > 1")
    window.keys("0")
    window.choose_all()
    window.wait("hlotool.chosen.length > 0")
    # Whole clusters are one each: nothing of what is inside counts twice.
    entry = window.value("hlotool.shown.filter((path) => !path.includes('/')).length")
    assert window.text("#panel h2 span") == f"{entry} boxes chosen"
    total = window.value(
        "(({ model: m }) => { const { values } = m.overlay('flops');"
        " return values[m.entry].reduce((sum, one) => sum + (one || 0), 0); })(hlotool)"
    )
    assert sums(window)["flops"] == window.value(f"Hlo.readable({total}, 'flop')")


def line_pixels(window: Window, below: str) -> int:
    """Returns how many points of a row above a box are not paper: how wide its line is."""
    box = window.box(below)
    paper = window.pixel(box["x"] - 20, box["y"] - 14)
    xs = range(int(box["x"]), int(box["x"] + box["width"]))
    return sum(window.pixel(x, box["y"] - 14) != paper for x in xs)


def test_lines_are_wide_where_values_are_large(chain: Window) -> None:
    plain = line_pixels(chain, "b")
    assert chain.page.locator("#widths-legend .sample").count() == 0
    chain.page.click("#widths")
    chain.settle()
    assert line_pixels(chain, "b") > plain + 3
    texts = chain.page.locator("#widths-legend .sample").all_inner_texts()
    assert texts == ["≥ 4 KiB", "≥ 512 B", "≥ 64 B", "≥ 4 B", "less"]
    chain.wait("location.hash.includes('lines=bytes')")
    chain.page.reload()
    chain.wait("window.hlotool && hlotool.ready")
    assert chain.page.get_attribute("#widths", "aria-pressed") == "true"
    widths = set(chain.value(
        '[...hlotool.svg().matchAll(/stroke-width="([\\d.]+)"/g)].map((found) => found[1])'
    ))  # fmt: skip
    # From a to b flow 16 KiB, from s to t 256 B.
    assert {"6", "3"} <= widths
    assert "1.2" not in widths
    chain.keys("L")
    assert line_pixels(chain, "b") == plain


def test_boxes_say_the_value_of_the_overlay(chain: Window) -> None:
    assert ">5.50<" not in chain.value("hlotool.svg()")
    chain.page.select_option("#overlay", "time")
    chain.settle()
    drawn = chain.value("hlotool.svg()")
    assert ">5.50<" in drawn
    assert ">3<" in drawn
    # There is nothing to say of a box without a value: its shape stays.
    assert ">f32[64,1]<" in drawn


def test_the_memory_curve_shows_how_long_the_box_under_the_pointer_lives(chain: Window) -> None:
    chain.page.select_option("#overlay", "live memory")
    chain.settle()
    place = chain.page.locator("#curve canvas").bounding_box()
    assert place is not None
    # Near its end the program needs neither s nor what came before.
    point = place["x"] + place["width"] * 0.72, place["y"] + 20
    chain.page.mouse.move(10, 10)
    before = chain.pixel(*point)
    box = chain.box("s")
    chain.page.mouse.move(box["x"] + 20, box["y"] + 8)
    chain.settle()
    assert chain.pixel(*point) != before
    chain.page.mouse.move(box["x"] - 60, box["y"])
    chain.settle()
    assert chain.pixel(*point) == before


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("w", "while \N{MULTIPLICATION SIGN}8 w"),
        ("v", "while \N{MULTIPLICATION SIGN}5 v"),
        ("u", "while u"),
    ],
)
def test_loops_say_how_often_they_turn(
    opened: Opened, tmp_path: Path, name: str, title: str
) -> None:
    window = opened(page_of(tmp_path, LOOP), f"#{name}")
    window.keys("Enter")
    window.wait("hlotool.open.length === 1")
    window.settle()
    assert f">\N{MINUS SIGN} {title}<" in window.value("hlotool.svg()")
