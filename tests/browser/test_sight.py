"""What the window shows: at the beginning, when something opens, in small windows, when faded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from hlotool.cli.driver import main
from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.browser.conftest import module_text
from tests.browser.test_timeline import go_to, press, ready
from tests.conftest import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.window import Window

    Opened = Callable[..., Window]

ATTENTION = "jax/attention.opt"
WIDE = 14
"""So many rows stand side by side in the body of the loop."""


def loop() -> str:
    """Returns a module with a loop whose body is wider than a window."""
    lines = ["HloModule loop", "", "body {", "  s = (s32[], f32[8]) parameter(0)"]
    lines += ["  i = s32[] get-tuple-element(s), index=0", "  one = s32[] constant(1)"]
    lines += ["  j = s32[] add(i, one)", "  v = f32[8] get-tuple-element(s), index=1"]
    for row in range(WIDE):
        lines.append(f"  a{row} = f32[8] sine(v)")
        lines.append(f"  b{row} = f32[8] cosine(a{row})")
    names = [f"b{row}" for row in range(WIDE)]
    for number in range(WIDE - 1):
        lines.append(f"  c{number} = f32[8] add({names[0]}, {names[1]})")
        names = [*names[2:], f"c{number}"]
    lines += [f"  ROOT next = (s32[], f32[8]) tuple(j, {names[0]})", "}", ""]
    lines += ["condition {", "  t = (s32[], f32[8]) parameter(0)"]
    lines += ["  k = s32[] get-tuple-element(t), index=0", "  most = s32[] constant(3)"]
    lines += ["  ROOT less = pred[] compare(k, most), direction=LT", "}", "", "ENTRY main {"]
    lines += ["  x = f32[8] parameter(0)", "  zero = s32[] constant(0)", "  y = f32[8] tanh(x)"]
    lines += ["  unused = s32[] constant(7)", "  first = (s32[], f32[8]) tuple(zero, y)"]
    lines += ["  w = (s32[], f32[8]) while(first), condition=condition, body=body"]
    lines += ["  ROOT out = f32[8] get-tuple-element(w), index=1", "}", ""]
    return "\n".join(lines)


def made(folder: Path, text: str) -> Path:
    path = folder / "made.html"
    path.write_text(module_page(parse(text)), "utf-8")
    return path


def place(window: Window, selector: str) -> dict[str, float]:
    found: Any = window.page.locator(selector).bounding_box()
    assert found is not None, selector
    return dict(found)


def settle_long(window: Window) -> None:
    window.page.wait_for_timeout(400)
    window.settle()


@pytest.mark.parametrize("opening", ["double click", "Enter"])
def test_a_loop_that_opens_is_in_sight(opened: Opened, tmp_path: Path, opening: str) -> None:
    window = opened(made(tmp_path, loop()))
    if opening == "Enter":
        window.click("w")
        window.keys("Enter")
    else:
        window.double_click("w")
    window.wait("hlotool.open.length === 1")
    settle_long(window)
    box, view = window.box("w"), place(window, "#view")
    # The panel has come, so less is left of the window, and the loop is wider than that.
    assert view["x"] <= box["x"] <= view["x"] + 20
    assert box["y"] >= view["y"]
    assert box["y"] + box["height"] <= view["y"] + view["height"]
    assert window.value("hlotool.camera.k") == pytest.approx(0.55)
    assert window.is_shown("a0")


def test_what_opens_with_room_around_it_stays_where_it_is(opened: Opened) -> None:
    window = opened("jax/layernorm.opt", viewport={"width": 1900, "height": 1400})
    name = window.value(
        "(({ model: m }) => m.computations[m.entry].callIndex.keys().map((i) => m.name(m.entry, i))"
        ".toArray())(hlotool)"
    )[0]
    window.click(name)
    settle_long(window)
    before, zoom = window.box(name), window.value("hlotool.camera.k")
    window.keys("Enter")
    window.wait("hlotool.open.length === 1")
    settle_long(window)
    after, view = window.box(name), place(window, "#view")
    assert window.value("hlotool.camera.k") == pytest.approx(zoom)
    for at, size in (("x", "width"), ("y", "height")):
        needed = after[size] - (view[at] + view[size] - before[at]) + 12
        assert before[at] - after[at] == pytest.approx(max(0, needed), abs=1.5)


def test_a_link_into_a_fusion_shows_all_around_it(opened: Opened) -> None:
    window = opened(ATTENTION)
    inner = window.value(
        "(({ model: m }) => m.computations.flatMap((c) => m.callersOf(c.number).length"
        " && c.kind === 'fusion' ? [m.name(c.number, c.root)] : []))(hlotool)"
    )[0]
    window = opened(ATTENTION, f"#{inner}", viewport={"width": 1500, "height": 1300})
    assert window.is_shown(inner)
    k, x, y = window.value("[hlotool.camera.k, hlotool.camera.x, hlotool.camera.y]")
    width, height = window.value("[hlotool.picture.width, hlotool.picture.height]")
    view = place(window, "#view")
    assert k >= 0.8
    assert x <= 0
    assert y <= 0
    assert (width - x) * k <= view["width"] + 1
    assert (height - y) * k <= view["height"] + 1


def test_what_does_not_fit_begins_at_its_top_and_full_size(opened: Opened) -> None:
    window = opened("jax/attention", viewport={"width": 1000, "height": 600})
    assert window.value("hlotool.picture.height") > 700
    assert window.value("hlotool.camera.k") == pytest.approx(1)
    tops = window.value("hlotool.shown.map((path) => hlotool.box(path).y)")
    assert 0 < min(tops) - place(window, "#view")["y"] < 30


@pytest.mark.parametrize(("width", "height"), [(1000, 600), (800, 500)])
def test_small_windows_leave_room_for_the_graph(opened: Opened, width: int, height: int) -> None:
    window = opened("layers", "#t3_2", viewport={"width": width, "height": height})
    settle_long(window)
    assert not window.page.is_visible("#outline")
    assert window.page.is_visible("#panel")
    view, foot = place(window, "#view"), place(window, "#foot")
    assert view["width"] >= 0.6 * width
    assert view["height"] >= 0.75 * height
    assert foot["height"] <= 50
    for overlay in ("", "flops"):
        window.page.select_option("#overlay", overlay)
        window.settle()
        # No part of the line lies over another one, and none is beyond the window.
        parts = [place(window, one) for one in ("#legend", "#widths", "#zoom")]
        for number, one in enumerate(parts):
            assert one["x"] + one["width"] <= view["x"] + view["width"] + 1
            for other in parts[number + 1 :]:
                beside = one["x"] + one["width"] <= other["x"] + 1
                assert beside or one["y"] + one["height"] <= other["y"] + 1
    window.keys("t")
    assert place(window, "#text")["height"] <= 0.31 * height
    assert place(window, "#view")["height"] >= 0.4 * height


def light(colour: str) -> float:
    """Returns the relative luminance of `#rrggbb`."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


TITLED = re.compile(
    r'<path d="[^"]*" fill="(#\w{6})"/>\n<path [^>]*fill="none"[^>]*/>\n'
    r'(?:<(?:path|rect) [^>]*/>\n)*<text [^>]*fill="(#\w{6})" font-weight="600">'
)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_told_from_faded_boxes(opened: Opened, theme: str) -> None:
    window = opened("layers", f"#&view=graph&overlay=flops&theme={theme}")
    strong = TITLED.findall(window.value("hlotool.svg()"))
    histogram = window.page.locator("#legend canvas").bounding_box()
    assert histogram is not None
    x, y = histogram["x"], histogram["y"] + 10
    window.page.mouse.move(x + 1, y)
    window.page.mouse.down()
    window.page.mouse.move(x + 60, y)
    window.page.mouse.up()
    window.settle()
    faded = TITLED.findall(window.value("hlotool.svg()"))
    assert len(faded) == len(strong) > 100
    changed = {pair for pair in faded if pair not in strong}
    assert changed
    for fill, text in {*strong, *changed}:
        one, other = sorted((light(fill), light(text)))
        assert (other + 0.05) / (one + 0.05) >= 3


def test_the_selection_does_not_fade(opened: Opened) -> None:
    window = opened("layers", "#&view=graph")

    def corner(name: str) -> tuple[int, int, int]:
        box = window.box(name)
        return window.pixel(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)

    plain = corner("t0_0")
    assert corner("t0_1") == plain
    window.page.locator("#legend button", has_text="matmul").click()
    window.settle()
    assert corner("t0_0") != plain
    window.click("t0_0")
    settle_long(window)
    assert corner("t0_0") == plain
    assert corner("t0_1") != plain


def test_a_constant_nobody_uses_shows_its_value(opened: Opened, tmp_path: Path) -> None:
    window = opened(made(tmp_path, loop()))
    assert ">constant 7<" in window.value("hlotool.svg()")


NAMED = """HloModule named

ENTRY main {
  a_0___blocks___0___g1__.1 = f32[4] parameter(0)
  a_0___blocks___0___g2__.1 = f32[4] parameter(1)
  of_a_very_long_name_that_ends_in_one = f32[4] parameter(2)
  of_a_very_long_name_that_ends_in_two = f32[4] parameter(3)
  b = f32[4] add(a_0___blocks___0___g1__.1, a_0___blocks___0___g2__.1)
  c = f32[4] add(b, of_a_very_long_name_that_ends_in_one)
  ROOT t = (f32[4], f32[4], f32[4]) tuple(c, of_a_very_long_name_that_ends_in_two, b)
}
"""


def test_chips_tell_arguments_apart(opened: Opened, tmp_path: Path) -> None:
    drawn = opened(made(tmp_path, NAMED)).value("hlotool.svg()")
    assert ">blocks.0.g1 f32[4]<" in drawn
    assert ">blocks.0.g2 f32[4]<" in drawn
    # Where there is no room for all of a name, its end is what stays.
    assert re.search(r">[a-z_]+…[a-z_]*_in_one f32\[4\]<", drawn)
    assert re.search(r">#1 ← [a-z_]+…?[a-z_]*_in_two f32\[4\]<", drawn)


def test_names_use_the_room_that_their_boxes_have(opened: Opened, tmp_path: Path) -> None:
    wide = NAMED.replace("f32[4] add(b, of", "f32[4] add(b, of").replace(
        "ROOT t = (f32[4], f32[4], f32[4]) tuple(c, of_a_very_long_name_that_ends_in_two, b)",
        "ROOT r = f32[4] custom-call(c, of_a_very_long_name_that_ends_in_two),"
        ' custom_call_target="a_target_with_a_name_that_is_so_long"',
    )
    drawn = opened(made(tmp_path, wide)).value("hlotool.svg()")
    assert ">of_a_very_long_name_that_ends_in_two f32[4]<" in drawn
    assert ">of_a_very_long_name_that_ends_in_one f32[4]<" not in drawn


def scoped_layers() -> str:
    """Returns the big module with op_names: those of a layer begin with its number."""

    def named(line: str) -> str:
        found = re.match(r"  (?:d|t|x)(\d+)\S* = .*? (\w+)\(", line)
        if found is None or "parameter" in line:
            return line
        layer = int(found[1]) - (line.startswith("  x"))
        return f'{line}, metadata={{op_name="net/layer{layer}/{found[2]}"}}'

    return "\n".join(named(line) for line in module_text("layers").split("\n"))


def test_cards_say_what_op_names_say(opened: Opened, tmp_path: Path) -> None:
    window = opened(made(tmp_path, scoped_layers()))
    titles = window.page.locator("#overview .card b").all_inner_texts()
    assert any(re.match("layer\\d+ \N{EN DASH} layer\\d+: ", title) for title in titles), titles
    assert "for the 603 instructions of main" in window.text("#overview > p")


def test_the_first_screen_keeps_the_keys_that_move(opened: Opened) -> None:
    window = opened("layers")
    cards = window.page.locator("#overview .card").count()
    assert cards > 2
    before = window.value("hlotool.camera")
    tops = "[...document.querySelectorAll('#overview .card')].map((one) => one.offsetTop)"
    focused = "[...document.querySelectorAll('#overview .card')].indexOf(document.activeElement)"
    offsets = window.value(tops)
    below = next(n for n, top in enumerate(offsets) if top > offsets[1])
    for key, wanted in (("ArrowRight", 0), ("ArrowRight", 1), ("ArrowDown", below), ("Home", 0)):
        window.keys(key)
        assert window.page.is_visible("#overview")
        assert window.value(focused) == wanted
    window.keys("s", "0")
    assert window.value("hlotool.camera") == before
    assert window.value("hlotool.selected") == ""
    window.keys("Home", "Enter")
    assert not window.page.is_visible("#overview")


def test_open_all_leaves_the_first_screen(opened: Opened, tmp_path: Path) -> None:
    text = (
        scoped_layers()
        .replace("ENTRY main {", f"{INNER}\nENTRY main {{")
        .replace(
            "ROOT r = f32[8,8] add(x60, d0)",
            "u = f32[8,8] call(x60), to_apply=inner\n  ROOT r = f32[8,8] add(u, d0)",
        )
    )
    window = opened(made(tmp_path, text))
    assert window.page.is_visible("#overview")
    window.keys("x")
    window.wait("hlotool.open.length === 1")
    assert not window.page.is_visible("#overview")


INNER = """
inner {
  q = f32[8,8] parameter(0)
  ROOT n = f32[8,8] negate(q)
}
"""


def test_the_histogram_says_what_its_scale_is(opened: Opened) -> None:
    window = opened("layers", "#&view=graph&overlay=flops")
    title = window.page.get_attribute("#legend canvas", "title") or ""
    assert "Heights: how many instructions" in title
    assert ("logarithmic" in title) == ("log" in window.text("#legend").split())


def test_the_next_change_is_first_one_that_is_seen(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "fusion")
    marked = "hlotool.shown.filter((path) => hlotool.passes.markOf(hlotool.model.name("
    marked += (
        "hlotool.model.computationOf(path.split('#')[0]), Number(path.split('#')[1]))) !== '')"
    )
    boxes = window.value(marked)
    assert boxes
    seen = []
    for _ in boxes:
        press(window, "g")
        seen.append(window.value("hlotool.selected"))
    assert sorted(seen) == sorted(boxes)
    # What was fused is in a box that is closed; that comes later.
    press(window, "g")
    assert window.value("hlotool.selected") not in boxes


def test_the_panel_says_once_and_early_where_an_instruction_is_from(opened: Opened) -> None:
    window = opened(ATTENTION)
    name = window.value(
        "(({ model: m }) => m.computations.flatMap(({ number: c, size }) =>"
        " Array.from({ length: size }, (_, i) => [m.name(c, i), m.framesOf(c, i),"
        " m.operandsOf(c, i).length])))(hlotool)"
        ".find(([, frames, operands]) => frames.length > 1 && operands > 0)[0]"
    )
    window = opened(ATTENTION, f"#{name}")
    window.wait("document.querySelector('#panel h2') !== null")
    titles = [title.lower() for title in window.page.locator("#panel h3").all_inner_texts()]
    order = [next(n for n, title in enumerate(titles) if title.startswith(one))
             for one in ("line", "stack frames", "operand", "data")]  # fmt: skip
    assert order == sorted(order)
    assert "source" not in window.page.locator("#panel dt").all_inner_texts()


def test_entries_keep_the_ends_that_tell_them_apart(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    text = (MODELS / "jax" / "attention.hlo").read_text("utf-8")
    (folder / "module_0000.jit_f.before_optimizations.txt").write_text(text, "utf-8")
    for when in ("pre", "post"):
        name = f"module_0000.jit_f.a_kernel_with_a_long_name-{when}-optimization.mlir"
        (folder / name).write_text("module {}\n", "utf-8")
    path = tmp_path / "list.html"
    assert main(["explore", str(folder), "-o", str(path)]) == 0
    window = opened(path)
    ends = window.page.locator("#directory .two-ends > :nth-child(2)", has_text=".mlir")
    texts = ends.all_inner_texts()
    assert any("post-optimization" in one for one in texts), texts
    assert any("pre-optimization" in one for one in texts), texts
    for number in range(ends.count()):
        end = ends.nth(number).bounding_box()
        row = window.page.locator("#directory").bounding_box()
        assert end is not None
        assert row is not None
        assert end["x"] >= row["x"]
        assert end["x"] + end["width"] <= row["x"] + row["width"]
