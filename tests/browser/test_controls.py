"""Every control does what the help says: mouse and keys on real modules."""

import json

import pytest

from tests.browser.conftest import Opened
from tests.browser.window import Window

ATTENTION = "jax/attention.opt"
LOOP = "jax/while_newton"


def first_fusion(window: Window) -> str:
    name: str = window.value(
        "(() => { const m = hlotool.model, c = m.entry;"
        " const n = m.computations[c].size;"
        " for (let i = 0; i < n; i++) if (m.role(c, i) === 'fusion') return m.name(c, i); })()"
    )
    return name


def drawn_name(window: Window, number: int) -> str:
    name: str = window.value(
        f"(() => {{ const [g, i] = hlotool.shown[{number}].split('#');"
        " return hlotool.model.name(hlotool.model.computationOf(g), Number(i)); })()"
    )
    return name


def test_a_click_selects_and_the_panel_says_all(opened: Opened) -> None:
    window = opened(ATTENTION)
    name = first_fusion(window)
    window.click(name)
    assert window.value("hlotool.selectedName") == name
    assert name in window.text("#panel h2")
    headings = window.page.locator("#panel h3").all_text_contents()
    for part in ("Operands", "Users", "Calls", "Data"):
        assert part in [heading.split(" (")[0] for heading in headings]
    assert "bytes accessed" in window.page.locator("#panel dt").all_text_contents()
    assert "value of " in window.text("#panel")
    line = window.value(
        f"hlotool.model.lines[hlotool.model.line(hlotool.model.entry,"
        f" hlotool.model.find('{name}')[0].instruction)].trim()"
    )
    assert line in window.text("#panel pre")
    assert name in window.text("#live")
    box = window.value("document.getElementById('view').getBoundingClientRect()")
    window.page.mouse.click(box["x"] + 3, box["y"] + box["height"] - 3)
    window.settle()
    assert window.value("hlotool.selected") == ""
    assert not window.page.is_visible("#panel")


def test_operands_and_users_are_followed_by_panel_and_arrows(opened: Opened) -> None:
    window = opened("jax/attention")
    window.click(drawn_name(window, 2))
    start = window.value("hlotool.selected")
    window.keys("ArrowDown")
    user = window.value("hlotool.selected")
    assert user != start
    window.keys("ArrowUp")
    assert window.value("hlotool.selected") != user
    window.page.locator("#panel .users .link").first.click()
    window.settle()
    assert window.value("hlotool.selected") != start
    before = window.value("hlotool.selected")
    window.keys("Backspace")
    assert window.value("hlotool.selected") != before
    window.keys("Alt+ArrowRight")
    assert window.value("hlotool.selected") == before


def test_a_fusion_opens_in_place_and_alone(opened: Opened) -> None:
    window = opened(ATTENTION)
    name = first_fusion(window)
    before = window.box(name)
    picture = window.value("hlotool.shown")
    window.double_click(name)
    window.wait("hlotool.open.length === 1")
    window.wait(f"hlotool.shown.length > {len(picture)}")
    after = window.box(name)
    # It grows where it is.
    assert abs(after["x"] - before["x"]) < 40
    assert abs(after["y"] - before["y"]) < 40
    window.keys("Enter")
    window.wait("hlotool.open.length === 0")
    window.settle()
    assert window.value("hlotool.shown") == picture
    window.keys("Shift+Enter")
    window.wait("hlotool.root.includes('/')")
    assert window.page.is_visible("#crumbs")
    window.keys("u")
    window.wait("!hlotool.root.includes('/')")
    window.page.click("#open-all")
    window.wait(f"hlotool.shown.length > {len(picture)}")
    window.keys("x")
    window.wait("hlotool.open.length === 0")


def test_loops_and_branches_open(opened: Opened) -> None:
    for name in (LOOP, "jax/cond_switch.opt", "tf/tf_lstm_while"):
        window = opened(name)
        boxes = window.value("hlotool.stats.nodes")
        window.keys("x")
        window.wait(f"hlotool.stats.nodes > {boxes}")
        assert window.value("hlotool.stats.graphs") > 1


def test_search_finds_in_closed_fusions_too(opened: Opened) -> None:
    window = opened(ATTENTION)
    window.keys("/")
    window.page.keyboard.type("op:exponential")
    window.wait("hlotool.hits > 0")
    assert window.page.locator("#found li").count() > 0
    window.page.keyboard.press("Enter")
    window.wait("hlotool.selectedName !== ''")
    window.settle()
    name = window.value("hlotool.selectedName")
    window.wait(f"hlotool.boxNamed({json.dumps(name)}).exact")
    window.keys("Escape", "n", "N")
    assert "hit" in window.text("#hits")
    window.keys("/")
    window.page.fill("#query", "/[/")
    window.wait("document.getElementById('query').classList.contains('wrong')")
    window.page.fill("#query", "shape:f32 /dot|add/")
    window.wait("hlotool.hits > 0")
    window.page.click("#hit-after")
    window.settle()
    assert window.text("#hits") == f"1/{window.value('hlotool.hits')} hits"


def test_the_text_is_linked_both_ways(opened: Opened) -> None:
    window = opened(ATTENTION)
    name = first_fusion(window)
    window.click(name)
    window.page.click("#text-toggle")
    window.page.wait_for_selector("#lines .line.selected")
    assert name in window.text("#lines .line.selected")
    window.page.locator("#lines .line.selected i").first.click()
    window.settle()
    assert window.value("hlotool.selectedName") != name
    window.page.focus("#lines")
    window.page.keyboard.press("ArrowDown")
    window.page.keyboard.press("Enter")
    window.settle()
    chosen = window.value("hlotool.selectedName")
    assert chosen in window.text("#lines .line.selected")
    window.page.focus("#marks")
    window.keys("t")
    assert not window.page.is_visible("#text")


def test_overlays_colour_and_filter(opened: Opened) -> None:
    window = opened(ATTENTION)
    name = first_fusion(window)
    box = window.box(name)
    point = box["x"] + box["width"] - 6, box["y"] + box["height"] / 2
    plain = window.pixel(*point)
    window.page.select_option("#overlay", "bytes")
    window.settle()
    assert window.value("hlotool.overlay") == "bytes"
    coloured = window.pixel(*point)
    assert coloured != plain
    place = window.page.locator("#legend canvas").bounding_box()
    assert place is not None
    window.page.mouse.move(place["x"] + 1, place["y"] + 5)
    window.page.mouse.down()
    window.page.mouse.move(place["x"] + 4, place["y"] + 5, steps=3)
    window.page.mouse.up()
    window.settle()
    assert window.pixel(*point) != coloured
    window.page.click("#legend .link")
    window.settle()
    assert window.pixel(*point) == coloured
    window.keys("v")
    assert window.value("hlotool.overlay") not in {"bytes", ""}


def test_legend_makes_other_categories_pale(opened: Opened) -> None:
    window = opened("jax/attention")
    path = window.value(
        "hlotool.shown.find((p) => hlotool.model.category(hlotool.model.entry,"
        " Number(p.split('#')[1])) === 'elementwise')"
    )
    box = window.value(f"hlotool.box('{path}')")
    point = box["x"] + 4, box["y"] + box["height"] / 2
    before = window.pixel(*point)
    window.page.click("#legend button:has-text('matmul')")
    window.settle()
    assert window.pixel(*point) != before


def before_each(window: Window) -> dict[str, set[str]]:
    """What must run before each instruction of the entry, by their names."""
    found: dict[str, list[str]] = window.value(
        "(() => { const m = hlotool.model, c = m.entry, found = {};"
        " for (let i = 0; i < m.computations[c].size; i++)"
        "  found[m.name(c, i)] = [...m.operandsOf(c, i), ...m.controlBefore(c, i)]"
        "   .map((one) => m.name(c, one));"
        " return found; })()"
    )
    return {name: set(some) for name, some in found.items()}


def needed(before: dict[str, set[str]], name: str) -> set[str]:
    """All that an instruction needs, and itself."""
    found, waiting = {name}, [name]
    while waiting:
        new = before[waiting.pop()] - found
        found |= new
        waiting += new
    return found


SHOWN_ALONE = (
    "(hlotool.picture.view.only || []).map((i) => hlotool.model.name(hlotool.model.entry, i))"
)


def shows_alone(window: Window, names: set[str]) -> None:
    """Waits for a picture of some instructions and nothing else."""
    window.wait(f"(hlotool.picture.view.only || []).length === {len(names)}")
    assert set(window.value(SHOWN_ALONE)) == names


def test_cones_paths_and_hidden_boxes(opened: Opened) -> None:
    window = opened("jax/attention")
    boxes = window.value("hlotool.stats.nodes")
    last = drawn_name(window, boxes - 1)
    first = drawn_name(window, 0)
    middle = drawn_name(window, boxes // 2)
    window.page.goto(f"{window.page.url.split('#')[0]}#{middle}")
    window.wait(f"hlotool.selectedName === '{middle}'")
    window.page.focus("#marks")
    window.keys("c")
    before = before_each(window)
    needs, near = needed(before, middle), {middle, *before[middle]}
    assert 1 < len(near) < len(needs) < len(before)
    shows_alone(window, needs)
    assert window.value("hlotool.stats.nodes") < boxes
    assert middle in window.text("#focus")
    window.page.select_option("#focus select >> nth=1", "1")
    shows_alone(window, near)
    assert f"{len(near)} instructions" in window.text("#focus")
    window.page.click("#focus button")
    window.wait(f"hlotool.stats.nodes === {boxes}")
    window.page.focus("#marks")
    window.keys("h")
    window.wait(f"hlotool.stats.nodes === {boxes - 1}")
    window.keys("Escape")
    window.wait(f"hlotool.stats.nodes === {boxes}")
    window.page.goto(f"{window.page.url.split('#')[0]}#{first}")
    window.wait(f"hlotool.selectedName === '{first}'")
    window.page.focus("#marks")
    window.keys("p", "0")
    assert "click where to" in window.text("#focus")
    window.click(last)
    window.wait("document.getElementById('focus').textContent.startsWith('Paths')")
    shows_alone(window, {one for one in needed(before, last) if first in needed(before, one)})


def test_moving_and_zooming(opened: Opened) -> None:
    window = opened(ATTENTION)
    window.page.mouse.move(500, 400)
    start = window.value("hlotool.camera")
    window.page.mouse.wheel(0, 120)
    window.settle()
    moved = window.value("hlotool.camera")
    assert moved["y"] > start["y"]
    window.page.keyboard.down("Control")
    window.page.mouse.wheel(0, -100)
    window.page.keyboard.up("Control")
    window.settle()
    assert window.value("hlotool.camera.k") > start["k"]
    before = window.value("hlotool.camera")
    window.page.mouse.move(500, 700)
    window.page.mouse.down()
    window.page.mouse.move(440, 660, steps=4)
    window.page.mouse.up()
    after = window.value("hlotool.camera")
    assert after["x"] > before["x"]
    assert after["y"] > before["y"]
    for key, axis, sign in (("w", "y", -1), ("s", "y", 1), ("a", "x", -1), ("d", "x", 1)):
        before = window.value("hlotool.camera")
        window.keys(key)
        assert sign * (window.value("hlotool.camera")[axis] - before[axis]) > 0
    window.keys("1")
    assert window.value("hlotool.camera.k") == pytest.approx(0.85)
    window.page.click("[data-zoom=in]")
    assert window.value("hlotool.camera.k") > 0.85
    window.keys("-", "0", "Home", "PageDown", "PageUp")
    strip = window.page.locator("#strip").bounding_box()
    assert strip is not None
    window.keys("+", "+", "+", "+")
    before = window.value("hlotool.camera")
    window.page.mouse.click(strip["x"] + 40, strip["y"] + 5)
    assert window.value("hlotool.camera") != before


def test_the_address_leads_back(opened: Opened) -> None:
    window = opened(ATTENTION)
    name = first_fusion(window)
    window.double_click(name)
    window.wait("hlotool.open.length === 1")
    window.page.select_option("#overlay", "bytes")
    window.wait("location.hash.includes('overlay=bytes')")
    window.wait("location.hash.includes('open=')")
    camera, picture = window.value("hlotool.camera"), window.value("hlotool.shown")
    window.page.reload()
    window.wait("Boolean(window.hlotool && hlotool.ready)")
    assert window.value("hlotool.selectedName") == name
    assert window.value("hlotool.overlay") == "bytes"
    assert window.value("hlotool.shown") == picture
    assert window.value("hlotool.camera.k") == pytest.approx(camera["k"], rel=0.01)
    assert abs(window.value("hlotool.camera.y") - camera["y"]) < 2


def test_a_name_in_the_address_opens_what_it_is_in(opened: Opened) -> None:
    window = opened(ATTENTION)
    inner = window.value(
        "(() => { const m = hlotool.model;"
        " const one = m.search('op:exponential').find((p) => p.computation !== m.entry);"
        " return m.name(one.computation, one.instruction); })()"
    )
    other = opened(ATTENTION, f"#{inner}")
    assert other.value("hlotool.selectedName") == inner
    assert other.is_shown(inner)


def test_the_help_lists_every_key_and_each_is_bound(opened: Opened) -> None:
    window = opened(ATTENTION)
    window.keys("?")
    assert window.page.is_visible("#help")
    shown = window.page.locator("#help kbd").all_inner_texts()
    spelled = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}
    for key in window.value("hlotool.keys"):
        text = "+".join(spelled.get(part, part) for part in key.split("+")) if key != "+" else key
        assert text.replace("Escape", "Esc") in shown
    window.page.click("#help button")
    assert not window.page.is_visible("#help")
    for key in window.value("hlotool.keys"):
        if key not in {"e", "?"}:
            window.keys(key)


def test_outline_and_theme(opened: Opened) -> None:
    window = opened(LOOP)
    window.keys("b")
    was = window.page.is_visible("#outline")
    window.page.click("#outline-toggle")
    assert window.page.is_visible("#outline") is not was
    if was:
        window.page.click("#outline-toggle")
    body = window.page.locator("#outline .computations button").nth(1)
    body.click()
    window.wait("hlotool.root !== String(hlotool.model.entry)")
    theme = window.value("hlotool.theme")
    window.page.click("#theme")
    assert window.value("hlotool.theme") != theme
    window.keys("l")
    assert window.value("hlotool.theme") == theme


def test_several_modules_in_one_page(opened: Opened) -> None:
    window = opened(f"{ATTENTION}+{LOOP}")
    title = window.text("#title")
    window.keys("m")
    window.wait("hlotool.module === 0")
    window.wait(f"document.getElementById('title').textContent !== {json.dumps(title)}")
    window.page.select_option("#modules", "-1")
    window.wait(f"document.getElementById('title').textContent === {json.dumps(title)}")


def test_memory_is_a_curve_over_the_program(opened: Opened) -> None:
    window = opened(ATTENTION, "#overlay=live memory&view=graph")
    assert window.value("hlotool.overlay") == "live memory"
    place = window.page.locator("#curve canvas").bounding_box()
    assert place is not None
    box = window.box(drawn_name(window, 0))
    point = box["x"] + box["width"] - 6, box["y"] + box["height"] / 2
    before = window.pixel(*point)
    # At the end of the program what came first is not needed any more.
    window.page.mouse.move(place["x"] + place["width"] - 9, place["y"] + 40)
    window.settle()
    assert window.pixel(*point) != before
    window.page.mouse.move(place["x"] + 100, place["y"] - 100)
    window.settle()
    assert window.pixel(*point) == before
    window.page.mouse.click(place["x"] + place["width"] / 2, place["y"] + 40)
    window.settle()
    assert window.value("hlotool.selectedName") != ""


def test_two_fingers_zoom(opened: Opened) -> None:
    window = opened(ATTENTION, has_touch=True)
    session = window.page.context.new_cdp_session(window.page)
    before = window.value("hlotool.camera.k")

    def touch(kind: str, apart: int) -> None:
        points = [{"x": 600 - apart, "y": 400, "id": 0}, {"x": 600 + apart, "y": 400, "id": 1}]
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [] if kind == "touchEnd" else points},
        )

    touch("touchStart", 40)
    for apart in (50, 60, 70, 80):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    window.settle()
    assert window.value("hlotool.camera.k") > 1.5 * before


def test_far_operands_and_users_are_portals_to_click_on(opened: Opened) -> None:
    window = opened("layers", "#r")
    box, zoom = window.box("r"), window.value("hlotool.camera.k")
    # The first row of the box is the operand from far above.
    window.page.mouse.click(box["x"] + 25, box["y"] + 41 * zoom)
    window.wait("hlotool.selectedName === 'd0'")
    window.settle()
    window.keys("Escape")
    box = window.box("d0")
    window.page.mouse.click(
        box["x"] + box["width"] - 12 * zoom, box["y"] + box["height"] + 9 * zoom
    )
    window.wait("hlotool.selectedName === 'd0'")
    assert "r" in window.page.locator("#panel .users .link").all_inner_texts()


def test_the_text_is_reached_without_a_mouse(opened: Opened) -> None:
    window = opened(ATTENTION)
    window.page.keyboard.press("Tab")
    assert window.value("document.activeElement.id") == "skip"
    window.page.keyboard.press("Enter")
    assert window.value("document.activeElement.id") == "lines"
    count = window.value("hlotool.model.lines.findIndex((line) => line.includes('ENTRY'))")
    for _ in range(3):
        window.page.keyboard.press("PageDown")
    while window.value("Number(document.querySelector('.line.current').dataset.line)") <= count:
        window.page.keyboard.press("ArrowDown")
    window.page.keyboard.press("Enter")
    window.wait("hlotool.selected !== ''")
    assert window.value("hlotool.selectedName") in window.text("#live")
