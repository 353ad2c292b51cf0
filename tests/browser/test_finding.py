"""Finding: in other states, by what costs most, what lives at the peak, and why it is a hit."""

import json
from pathlib import Path

import pytest

from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.browser.conftest import Opened
from tests.browser.test_timeline import go_to, press, ready
from tests.browser.window import Window

REPLACED = "replaced:passes"
ATTENTION = "jax/attention.opt"

COSTS = """HloModule costs
body {
  s = f32[8,8] parameter(0)
  ROOT t = f32[8,8] tanh(s), metadata={op_name="net/inner/tanh"}
}
ENTRY e {
  x = f32[8,8] parameter(0)
  y = f32[8,64] parameter(1)
  small = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  large = f32[8,64] dot(small, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  called = f32[8,8] call(small), to_apply=body
  exp.1 = f32[8,8] exponential(called), metadata={op_name="net/second/exp"}
  ROOT r = (f32[8,64], f32[8,8]) tuple(large, exp.1)
}
"""


@pytest.fixture
def costs(opened: Opened, tmp_path: Path) -> Window:
    path = tmp_path / "costs.html"
    path.write_text(module_page(parse(COSTS)), "utf-8")
    return opened(path)


def search(window: Window, text: str) -> None:
    window.page.fill("#query", text)
    window.page.wait_for_timeout(200)


def rows(window: Window) -> list[list[str]]:
    """Returns value, share and the rest of each row of the list of the heaviest."""
    found = window.page.locator("#top li button").all_inner_texts()
    return [row.split("\n") for row in found]


def selected(window: Window) -> str:
    found: str = window.value("hlotool.selectedName")
    return found


def test_a_name_of_another_state_leads_to_the_pass_that_took_it(opened: Opened) -> None:
    window = ready(opened, REPLACED)
    search(window, "gone")
    assert window.text("#hits") == "0 hits, 1 elsewhere"
    assert "gone: removed by algsimp, pass " in window.text("#found")
    window.page.press("#query", "Enter")
    window.wait("hlotool.selectedName === 'gone' && !hlotool.passes.busy")
    assert window.text("#timeline strong") == "algsimp"
    assert window.value("hlotool.passes.side") == "before"
    # There it is a hit like others.
    assert window.text("#hits") == "1 hit"
    search(window, "name:gon op:dot")
    assert window.text("#hits") == "0 hits"


def test_hits_of_other_states_are_reached_by_arrows_and_mouse(opened: Opened) -> None:
    window = ready(opened, REPLACED)
    search(window, "on")
    hits = window.value("hlotool.hits")
    assert hits > 0
    for _ in range(hits + 1):
        window.page.keyboard.press("ArrowDown")
        window.settle()
    chosen = window.page.locator("#found [aria-selected=true]")
    assert chosen.get_attribute("data-other") == "0"
    window.page.keyboard.press("ArrowUp")
    assert chosen.get_attribute("data-hit") == str(hits - 1)
    window.page.locator("#found li", has_text="gone").click()
    window.wait("hlotool.selectedName === 'gone' && !hlotool.passes.busy")


def test_a_step_says_what_became_of_the_selection(opened: Opened) -> None:
    window = ready(opened, REPLACED, "#gone&pass=start")
    assert selected(window) == "gone"
    press(window, "j")
    window.page.wait_for_selector("#notice:visible")
    said = window.text("#notice span")
    assert said.startswith("gone was removed by algsimp, pass ")
    assert said.endswith("; product takes p now")
    assert selected(window) == ""
    window.page.click("#notice button")
    window.wait("hlotool.selectedName === 'gone' && !hlotool.passes.busy")
    entry = window.page.locator("#panel .history li", has_text="algsimp")
    assert "\N{MINUS SIGN}" in entry.inner_text()


def test_a_step_back_says_which_pass_adds_it(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "fusion")
    window.page.click("#passes ul.added .link >> nth=0")
    window.wait("hlotool.selectedName !== '' && !hlotool.passes.busy")
    name = selected(window)
    press(window, "k")
    window.page.wait_for_selector("#notice:visible")
    assert f"{name} was added by fusion, pass " in window.text("#notice")


def test_passes_are_found_by_names_that_they_touched(opened: Opened) -> None:
    window = ready(opened, REPLACED)
    window.page.fill("#passes .find", "gone")
    window.wait("hlotool.passes.shown.length === 1")
    assert window.page.locator("#passes .pass .name").all_inner_texts() == ["algsimp"]
    assert window.page.locator("#passes .touched li").all_inner_texts() == ["\N{MINUS SIGN}gone"]
    window.page.click("#passes .touched .link")
    window.wait("hlotool.selectedName === 'gone' && !hlotool.passes.busy")
    assert window.value("hlotool.passes.side") == "before"


def test_lists_of_passes_have_titles_and_shapes(opened: Opened) -> None:
    window = ready(opened, REPLACED)
    go_to(window, "algsimp")
    row = window.page.locator("#passes ul.removed li", has_text="gone")
    row.locator(".title:not(:empty)").wait_for()
    assert row.locator(".title").inner_text().strip() == "multiply f32[4,8]"


def test_decisions_have_titles(opened: Opened) -> None:
    window = ready(opened, "jax/attention:decisions")
    window.page.locator("#decision .title:not(:empty)").first.wait_for()
    titles = [text.strip() for text in window.page.locator("#decision .title").all_inner_texts()]
    producer = window.page.locator("#decision .producer").inner_text()
    assert window.value(f"Hlo.described(hlotool.model, {json.dumps(producer)})") == titles[0]
    assert titles[0]


def test_the_heaviest_are_listed_with_shares(costs: Window) -> None:
    costs.page.select_option("#overlay", "flops")
    costs.page.click("#legend .top")
    found = rows(costs)
    assert found[0][:2] == ["8.19 kflop", "87.7 %"]
    assert found[0][2].startswith("dot large f32[8,64]")
    # The call is what it calls, so it does not count twice.
    assert [row[2].split()[1] for row in found] == ["large", "small", "t", "exp.1"]
    costs.page.keyboard.press("ArrowDown")
    costs.page.keyboard.press("Enter")
    costs.settle()
    assert selected(costs) == "small"
    costs.page.keyboard.press("Escape")
    assert not costs.page.is_visible("#top")
    assert selected(costs) == "small"


def test_a_key_lists_the_heaviest_without_an_overlay(costs: Window) -> None:
    costs.keys("T")
    assert costs.value("hlotool.overlay") == "flops"
    assert "Most flops and transcendentals" in costs.text("#top")
    costs.page.select_option("#overlay", "bytes")
    assert "Most bytes accessed" in costs.text("#top")
    costs.page.select_option("#overlay", "")
    assert not costs.page.is_visible("#top")


def test_long_lists_come_in_parts(opened: Opened) -> None:
    window = opened("layers", "#&view=graph&overlay=flops")
    window.keys("T")
    assert window.page.locator("#top li").count() == 11
    window.page.click("#top .more")
    assert window.page.locator("#top li").count() == 21


def test_hits_are_ranked_by_the_overlay(costs: Window) -> None:
    costs.page.select_option("#overlay", "flops")
    search(costs, "op:dot")
    assert costs.page.locator("#found .value").all_inner_texts() == ["8.19 kflop", "1.02 kflop"]
    costs.page.press("#query", "Enter")
    costs.settle()
    assert selected(costs) == "large"
    costs.page.select_option("#overlay", "")
    costs.page.wait_for_timeout(200)
    assert costs.page.locator("#found b").all_inner_texts() == ["small", "large"]


def test_what_the_legend_leaves_is_stepped_through(costs: Window) -> None:
    costs.page.select_option("#overlay", "flops")
    place = costs.page.locator("#legend canvas").bounding_box()
    assert place is not None
    costs.page.mouse.move(place["x"] + place["width"] / 10, place["y"] + 5)
    costs.page.mouse.down()
    costs.page.mouse.move(place["x"] + place["width"], place["y"] + 5, steps=3)
    costs.page.mouse.up()
    costs.wait("hlotool.hits === 2")
    costs.page.focus("#marks")
    costs.keys("n")
    assert selected(costs) == "large"
    costs.keys("n")
    assert selected(costs) == "small"
    costs.keys("N")
    assert selected(costs) == "large"
    search(costs, "exp")
    assert costs.text("#hits") == "0 hits"
    search(costs, "")
    costs.page.click("#legend .link")
    costs.wait("hlotool.hits === 0")


def test_what_lives_at_the_peak_is_listed(opened: Opened) -> None:
    window = opened(ATTENTION, "#&overlay=live memory&view=graph")
    window.page.click("#legend button:text-is('Peak values')")
    data = "hlotool.model.overlay('live memory')"
    peak = window.value(f"Math.max(...{data}.values[hlotool.model.entry].map((one) => one || 0))")
    said = window.value(f"Hlo.readable({peak}, 'B')")
    assert f"{said} at " in window.text("#top")
    values = window.value(f"Hlo.living({data}.peak).found.map(({{ value }}) => value)")
    assert sum(values) == peak
    assert values == sorted(values, reverse=True)
    window.page.click("#top li:first-child button")
    window.settle()
    assert selected(window) in window.text("#top li:first-child")


def test_a_value_has_its_size_as_an_overlay(costs: Window) -> None:
    costs.page.select_option("#overlay", "output bytes")
    costs.keys("T")
    assert [row[2].split()[1] for row in rows(costs)][:2] == ["y", "large"]
    assert rows(costs)[0][0] == "2 KiB"


def test_hits_have_titles_and_say_why(costs: Window) -> None:
    search(costs, "second")
    assert costs.text("#found .what") == "exp.1 exponential f32[8,8] op_name: net/second/exp"
    search(costs, "exponential")
    assert costs.text("#found .what") == "exp.1 exponential f32[8,8]"
    search(costs, "/inner.tanh/")
    assert costs.text("#found .what").endswith("in body, op_name: net/inner/tanh")


def test_boxes_have_names_when_wished(costs: Window) -> None:
    path, before = costs.value("[hlotool.shown[0], hlotool.box(hlotool.shown[0]).width]")
    assert ">dot<" in costs.value("hlotool.svg()")
    costs.page.click("#names-toggle")
    costs.wait("hlotool.svg().includes('large dot')")
    assert costs.page.get_attribute("#names-toggle", "aria-pressed") == "true"
    assert "exp.1 exponential" in costs.value("hlotool.svg()")
    assert costs.value(f"hlotool.box('{path}').width") >= before
    costs.page.wait_for_timeout(500)
    assert "names=1" in costs.value("location.hash")
    costs.page.reload()
    costs.wait("window.hlotool && hlotool.ready && hlotool.svg().includes('large dot')")
    costs.keys("M")
    costs.wait("!hlotool.svg().includes('large dot')")


def test_counts_and_units_say_what_they_are(opened: Opened) -> None:
    window = opened(ATTENTION, "#&view=graph&overlay=buffer")
    texts = window.page.locator("#legend .kinds button").all_inner_texts()
    assert texts
    assert all("\N{MULTIPLICATION SIGN}" in text for text in texts)
    options = window.page.locator("#overlay option").all_inner_texts()
    assert "flops and transcendentals (flop)" in options
    assert "bytes accessed (B)" in options


def test_without_workers_expressions_say_how_far_they_looked(
    opened: Opened, tmp_path: Path
) -> None:
    scope = "layer/" * 100 + "end"
    path = tmp_path / "long.html"
    path.write_text(
        module_page(
            parse(
                "HloModule long\n\nENTRY main {\n  a = f32[2] parameter(0)\n"
                f'  ROOT b = f32[2] negate(a), metadata={{op_name="{scope}"}}\n}}\n'
            )
        ),
        "utf-8",
    )
    window = opened(path)
    said = "document.getElementById('hits').textContent"
    window.page.fill("#query", "/layer.*end/")
    window.wait(f"{said} === '1 hit'")
    window.page.add_init_script("delete window.Worker;")
    window.page.reload()
    window.wait("Boolean(window.hlotool && hlotool.ready)")
    window.page.fill("#query", "/layer.*end/")
    window.wait(f"{said} === '0 hits in the first 400 characters'")
    window.page.fill("#query", "op:negate")
    window.wait(f"{said} === '1 hit'")
