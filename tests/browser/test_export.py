"""The SVG of a graph: all of it and nothing else, to be put into a paper."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.browser.window import Window

Opened = Callable[..., Window]

ATTENTION = "jax/attention.opt"
SPACE = "{http://www.w3.org/2000/svg}"


def saved(window: Window, key: str) -> ET.Element:
    """Presses a key that saves an SVG, and returns what was saved."""
    with window.page.expect_download() as download:
        window.page.keyboard.press(key)
    assert download.value.suggested_filename.endswith(".svg")
    return parsed(Path(download.value.path()))


def parsed(path: Path) -> ET.Element:
    return ET.fromstring(path.read_text("utf-8"))  # noqa: S314 - the page has just made it


def words(svg: ET.Element) -> list[str]:
    return [text.text or "" for text in svg.iter(f"{SPACE}text")]


def boxes_page(folder: Path, count: int) -> Path:
    """Makes a page over a long row of boxes."""
    lines = ["HloModule boxes", "", "ENTRY main {", "  x0 = f32[8] parameter(0)"]
    lines += [f"  x{n} = f32[8] negate(x{n - 1})" for n in range(1, count + 1)]
    lines += [f"  ROOT r = f32[8] add(x{count}, x1)", "}", ""]
    path = folder / "boxes.html"
    path.write_text(module_page(parse("\n".join(lines))), "utf-8")
    return path


def edges(svg: ET.Element) -> tuple[float, float, float, float]:
    """Returns left, top, right and bottom of what an SVG shows."""
    x, y, width, height = (float(part) for part in svg.get("viewBox", "").split())
    return x, y, x + width, y + height


def test_an_svg_has_all_boxes_and_texts_at_any_zoom(opened: Opened) -> None:
    window = opened("layers", "#&view=graph")
    window.keys("0")
    # From here no text can be read, and most boxes are far below a pixel.
    assert window.value("hlotool.camera.k") < 0.2
    svg = saved(window, "e")
    titles = [one for one in words(svg) if one in {"dot", "tanh", "negate", "exponential", "add"}]
    assert len(titles) == window.value("hlotool.stats.nodes")
    x0, y0, x1, y1 = edges(svg)
    width, height = window.value("[hlotool.picture.width, hlotool.picture.height]")
    assert x1 - x0 <= width + 40
    assert height - 60 <= y1 - y0 <= height + 40
    assert (float(svg.get("width", 0)), float(svg.get("height", 0))) == (x1 - x0, y1 - y0)


def test_an_svg_is_without_marks_of_the_moment_and_light(opened: Opened) -> None:
    window = opened(ATTENTION, color_scheme="dark")
    plain = window.value("hlotool.svg()")
    name = window.value("hlotool.model.name(hlotool.model.entry, "
                        "hlotool.model.computations[hlotool.model.entry].root)")  # fmt: skip
    window.click(name)
    window.page.fill("#query", "fusion")
    window.wait("hlotool.hits > 0")
    assert window.value("hlotool.theme") == "dark"
    assert window.value("hlotool.svg()") == plain
    assert 'fill="#ffffff"' in plain
    assert window.value("hlotool.theme") == "dark"


def test_shift_e_saves_what_the_window_shows(opened: Opened) -> None:
    window = opened("layers", "#&view=graph")
    whole, part = saved(window, "e"), saved(window, "E")
    assert 0 < len(words(part)) < len(words(whole)) / 3
    sight = window.value("(({ x, y, k }) => { const { clientWidth: w, clientHeight: h } ="
                         " document.getElementById('view');"
                         " return [x, y, x + w / k, y + h / k]; })(hlotool.camera)")  # fmt: skip
    x0, y0, x1, y1 = edges(part)
    assert x0 >= sight[0] - 1
    assert y0 >= sight[1] - 1
    assert x1 <= sight[2] + 1
    assert y1 == pytest.approx(sight[3], abs=1)


def test_a_focus_is_saved_alone(opened: Opened) -> None:
    window = opened("layers", "#t3_2")
    all_words = len(words(saved(window, "e")))
    window.keys("c")
    window.wait("Boolean(hlotool.picture.view.only)")
    window.settle()
    assert len(words(saved(window, "e"))) < all_words / 4


def test_of_what_is_too_large_the_part_in_the_window_is_offered(
    opened: Opened, tmp_path: Path
) -> None:
    window = opened(boxes_page(tmp_path, 6000), "#&view=graph")
    window.page.keyboard.press("e")
    window.wait("!document.getElementById('notice').hidden")
    assert re.search(r"6,0\d\d boxes.* 5,000", window.text("#notice span"))
    with window.page.expect_download() as download:
        window.page.click("#notice button")
    part = parsed(Path(download.value.path()))
    assert 0 < len(words(part)) < 1000


def test_an_svg_is_made_in_pieces(opened: Opened, tmp_path: Path) -> None:
    window = opened(boxes_page(tmp_path, 4500), "#&view=graph")
    turns = window.page.evaluate_handle("""() => {
      const seen = { turns: 0, saved: 0 }, make = URL.createObjectURL;
      const turn = () => {
        seen.turns++;
        seen.timer = setTimeout(turn);
      };
      document.addEventListener("keydown", turn, { capture: true, once: true });
      URL.createObjectURL = (blob) => {
        seen.saved = seen.turns;
        return make.call(URL, blob);
      };
      return seen;
    }""")
    saved(window, "e")
    # What else the page had to do was done in between.
    assert turns.evaluate("(seen) => { clearTimeout(seen.timer); return seen.saved; }") >= 4
