"""The panel of a selection, the tip of a box, scopes, overlays and the fields of a search."""

import json
from pathlib import Path

import pytest

from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.browser.conftest import Opened
from tests.browser.window import Window

ATTENTION = "jax/attention.opt"
TIMES = "\N{MULTIPLICATION SIGN}"

CHAIN = """HloModule chain
ENTRY e {
  x = f32[8,8] parameter(0), sharding={devices=[2,1]<=[2]}
  y = f32[8,8] parameter(1), sharding={replicated}
  a = f32[8,8] negate(x), metadata={op_name="net/first/neg" source_file="/src/one.py" source_line=3}
  b = f32[8,8] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    metadata={op_name="net/first/dot" source_file="/src/two.py" source_line=4}
  c = f32[8,8] tanh(b), metadata={op_name="net/second/tanh" source_file="/src/two.py" source_line=5}
  d = f32[8,8] exponential(c), metadata={op_name="net/second/exp"}
  ROOT r = f32[8,8] add(d, x)
}
"""


@pytest.fixture
def chain(opened: Opened, tmp_path: Path) -> Window:
    return opened(chain_page(tmp_path))


def chain_page(folder: Path) -> Path:
    path = folder / "chain.html"
    given = {"time": {"b": 3.0, "c": 1.0}}
    path.write_text(module_page(parse(CHAIN), given), "utf-8")
    return path


def press(window: Window, text: str) -> None:
    """Presses a button of the panel."""
    window.page.locator("#panel .actions button", has_text=text).click()
    window.settle()


def drawn(window: Window) -> set[str]:
    """Returns the names of the instructions that have boxes."""
    return set(
        window.value(
            "hlotool.shown.map((path) => hlotool.model.name(hlotool.model.computationOf("
            "path.split('#')[0]), Number(path.split('#')[1])))"
        )
    )


def choices(window: Window) -> list[str]:
    found: list[str] = window.page.locator("#overlay option").all_inner_texts()
    return found


def test_near_shows_two_steps_around(chain: Window) -> None:
    chain.click("a")
    press(chain, "Near")
    chain.wait("Boolean(hlotool.picture.view.only)")
    assert {"a", "b", "c"} <= drawn(chain)
    assert "d" not in drawn(chain)
    assert "2 steps" in chain.text("#focus select >> nth=1")
    chain.page.click("#focus button")
    chain.wait("!hlotool.picture.view.only")
    assert "d" in drawn(chain)


def test_hide_leaves_one_out(chain: Window) -> None:
    before = drawn(chain)
    chain.click("c")
    press(chain, "Hide")
    chain.wait("document.getElementById('focus').textContent.includes('1 hidden')")
    assert drawn(chain) == before - {"c"}
    assert chain.value("hlotool.selected") == ""


def test_path_to_waits_for_a_click(chain: Window) -> None:
    chain.click("a")
    press(chain, "Path to")
    assert "click where to" in chain.text("#focus")
    chain.click("c")
    chain.wait("document.getElementById('focus').textContent.startsWith('Paths a \N{EN DASH} c')")
    assert drawn(chain) == {"a", "b", "c"}


def test_copy_puts_the_name_into_the_clipboard(opened: Opened, tmp_path: Path) -> None:
    rights = ["clipboard-read", "clipboard-write"]
    window = opened(chain_page(tmp_path), permissions=rights)
    window.click("c")
    press(window, "Copy name")
    window.wait("document.getElementById('notice').textContent === 'Copied c'")
    assert window.page.evaluate("navigator.clipboard.readText()") == "c"


def test_data_of_the_panel_are_links_to_overlays(chain: Window) -> None:
    chain.click("b")
    for name, label in (("flops", "flops and transcendentals"), ("time", "time")):
        row = chain.page.locator("#panel dl", has=chain.page.locator(f"dt:text-is('{label}')"))
        row.locator(f"dt:text-is('{label}') + dd button").click()
        chain.settle()
        assert chain.value("hlotool.overlay") == name
        assert chain.page.input_value("#overlay") == name


def test_flops_time_and_sharding_colour_boxes(chain: Window) -> None:
    offered = [text.split(" (")[0] for text in choices(chain)]
    assert {"flops and transcendentals", "time", "sharding"} <= set(offered)
    box = chain.box("b")
    point = box["x"] + box["width"] - 5, box["y"] + box["height"] / 2
    seen = [chain.pixel(*point)]
    for name in ("flops", "time"):
        chain.page.select_option("#overlay", name)
        chain.settle()
        assert chain.value("hlotool.overlay") == name
        seen.append(chain.pixel(*point))
        assert seen[-1] != seen[0], name
        assert chain.page.locator("#legend canvas").count() == 1
    chain.page.select_option("#overlay", "sharding")
    texts = chain.page.locator("#legend .kinds button").all_inner_texts()
    assert sorted(texts) == [
        f"{word} {TIMES}1" for word in ("{devices=[2,1]<=[2]}", "{replicated}")
    ]


def test_the_tip_says_what_the_box_is(chain: Window) -> None:
    chain.page.select_option("#overlay", "time")
    box = chain.box("b")
    chain.page.mouse.move(box["x"] + 30, box["y"] + 8)
    chain.wait("!document.getElementById('tip').hidden")
    tip = chain.text("#tip")
    for words in ("b", "dot f32[8,8]", "net/first/dot", "time: 3"):
        assert words in tip
    place = chain.value("document.getElementById('view').getBoundingClientRect()")
    chain.page.mouse.move(place["x"] + 3, place["y"] + place["height"] - 3)
    chain.wait("document.getElementById('tip').hidden")


def test_stack_frames_stand_in_the_panel(opened: Opened) -> None:
    window = opened(ATTENTION)
    framed = (
        "(({ model: m }) => m.computations.flatMap(({ number: c, size }) =>"
        " Array.from({ length: size }, (_, i) => [m.name(c, i), m.framesOf(c, i)])))(hlotool)"
        ".find(([, frames]) => frames.length > 1)"
    )
    name, frames = window.value(framed)
    window.page.goto(f"{window.page.url.split('#')[0]}#{name}")
    window.wait(f"hlotool.selectedName === {json.dumps(name)}")
    window.wait("document.querySelector('#panel h2') !== null")
    title = window.page.locator("#panel h3", has_text="Stack frames")
    more = title.locator("+ ol .link")
    if more.count() > 0:
        more.click()
    shown = title.locator("+ ol li .what").all_inner_texts()
    assert shown == frames
    assert all(".py:" in frame for frame in frames)


def test_the_text_can_be_made_higher(chain: Window) -> None:
    chain.keys("t")
    height = "document.getElementById('text').clientHeight"
    before = chain.value(height)
    place = chain.page.locator("#text-split").bounding_box()
    assert place is not None
    x, y = place["x"] + 200, place["y"] + place["height"] / 2
    chain.page.mouse.move(x, y)
    chain.page.mouse.down()
    chain.page.mouse.move(x, y - 60, steps=4)
    chain.page.mouse.up()
    dragged = chain.value(height)
    assert dragged == pytest.approx(before + 60, abs=8)
    chain.page.focus("#text-split")
    chain.page.keyboard.press("ArrowDown")
    assert chain.value(height) == pytest.approx(dragged - 24, abs=2)
    for _ in range(40):
        chain.page.keyboard.press("ArrowUp")
    # Some of the picture always stays.
    assert chain.value("document.getElementById('view').clientHeight") > 100


def colour(window: Window, name: str) -> tuple[int, int, int]:
    """Returns the colour of the box of an instruction, right of its title."""
    window.settle()
    box = window.box(name)
    return window.pixel(box["x"] + box["width"] - 5, box["y"] + box["height"] / 2)


def test_a_scope_stays_chosen_whatever_else_is_faded(chain: Window) -> None:
    if not chain.page.is_visible("#outline"):
        chain.page.click("#outline-toggle")
    usual = {name: colour(chain, name) for name in "ad"}
    chain.page.select_option("#outline .scopes", "net/second")
    assert colour(chain, "d") == usual["d"]
    assert colour(chain, "a") != usual["a"]
    chain.page.select_option("#overlay", "live memory")
    faded = colour(chain, "a")
    place = chain.page.locator("#curve canvas").bounding_box()
    assert place is not None
    chain.page.mouse.move(place["x"] + place["width"] - 9, place["y"] + 40)
    chain.page.mouse.move(place["x"] + 100, place["y"] - 100)
    # Away from the curve, both the overlay and the scope hold again.
    assert colour(chain, "a") == faded
    assert chain.page.input_value("#outline .scopes") == "net/second"
    chain.page.select_option("#overlay", "")
    assert colour(chain, "a") != usual["a"]
    chain.page.select_option("#outline .scopes", "")
    assert {name: colour(chain, name) for name in "ad"} == usual


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("source:one.py", ["a"]),
        ("source:two.py", ["b", "c"]),
        ("scope:net/second", ["c", "d"]),
        ("scope:first source:two", ["b"]),
        ("source:second", []),
    ],
)
def test_fields_of_a_search(chain: Window, query: str, found: list[str]) -> None:
    chain.page.fill("#query", query)
    chain.page.keyboard.press("Enter")
    chain.wait(f"hlotool.hits === {len(found)}")
    if not found:
        assert chain.text("#hits") == "0 hits"
        return
    names = [chain.value("hlotool.selectedName")]
    for _ in found[1:]:
        chain.page.keyboard.press("Enter")
        chain.settle()
        names.append(chain.value("hlotool.selectedName"))
    assert names == found
