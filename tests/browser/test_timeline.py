"""The pass explorer: strip, list, diff and fusion decisions, used by mouse and keys."""

import json

import pytest

from tests.browser.conftest import Opened
from tests.browser.window import Window

RUN = "jax/attention:passes"
DECISIONS = "jax/attention:decisions"


def ready(opened: Opened, name: str = RUN, address: str = "", **settings: object) -> Window:
    window = opened(name, address, **settings)
    window.wait("hlotool.passes && !hlotool.passes.busy")
    # The page begins with the picture in the middle of what the list leaves, some frames later.
    window.page.wait_for_timeout(120)
    window.wait("!hlotool.passes.busy")
    return window


def press(window: Window, *names: str) -> None:
    for name in names:
        window.keys(name)
        window.wait("!hlotool.passes.busy")


def pass_named(window: Window, name: str) -> int:
    number: int = window.value(
        "hlotool.passes.shown.find((p) => hlotool.model && document.querySelector("
        f"`#passes [data-pass='${{p}}'] .name`).textContent === {json.dumps(name)})"
    )
    return number


def go_to(window: Window, name: str) -> int:
    number = pass_named(window, name)
    window.page.click(f"#passes [data-pass='{number}']")
    window.wait(f"hlotool.passes.at === {number} && !hlotool.passes.busy")
    window.settle()
    return number


def mark(window: Window, name: str) -> str:
    """Returns how the box of an instruction is marked."""
    found: str = window.value(f"hlotool.passes.markOf({json.dumps(name)})")
    return found


def decision(window: Window) -> list[str]:
    """Returns the verdict and both instructions of the decision that is shown."""
    parts = ("b", ".producer", ".consumer")
    return [window.text(f"#decision {part}").strip() for part in parts]


def test_it_begins_with_the_last_state_and_what_there_was(opened: Opened) -> None:
    window = ready(opened)
    assert "3 of 54 passes changed the module" in window.text("#timeline .facts")
    assert window.text("#timeline strong") == "After all passes"
    assert window.value("[hlotool.passes.shown.length, hlotool.module]") == [3, -1]
    listed = window.page.locator("#passes .pass .name").all_inner_texts()
    assert listed == ["call-inliner", "algsimp", "fusion"]
    counts = window.page.locator("#passes .pass .removed").all_inner_texts()
    assert [int(text[1:]) for text in counts] == [17, 19, 19]
    assert window.page.is_hidden("#timeline .diff")
    assert window.page.is_hidden("#modules")


def test_j_and_k_step_around_through_what_changed(opened: Opened) -> None:
    window = ready(opened)
    seen = []
    for _ in range(5):
        press(window, "j")
        seen.append(window.text("#timeline strong"))
    assert seen == [
        "Before the passes", "call-inliner", "algsimp", "fusion", "After all passes",
    ]  # fmt: skip
    press(window, "k")
    assert window.text("#timeline strong") == "fusion"
    press(window, "[")
    assert window.text("#timeline strong") == "algsimp"
    press(window, "]")
    assert window.text("#timeline strong") == "fusion"
    window.page.focus("#timeline canvas")
    press(window, "ArrowLeft")
    assert window.text("#timeline strong") == "algsimp"
    press(window, "Home")
    assert window.value("hlotool.passes.at") == -1
    assert window.value("hlotool.module") == 0
    press(window, "End")
    assert window.value("hlotool.passes.at") == 54


def test_changed_instructions_are_marked_on_both_sides(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    assert window.page.get_attribute("[data-side=after]", "aria-pressed") == "true"
    added = window.page.locator("#passes ul.added .link").all_inner_texts()
    removed = window.page.locator("#passes ul.removed .link").all_inner_texts()
    changed = window.page.locator("#passes ul.changed .link").all_inner_texts()
    assert (len(removed), len(added), len(changed)) == (19, 3, 6)
    assert {mark(window, name) for name in added} == {"added"}
    assert {mark(window, name) for name in changed} == {"changed"}
    assert window.value(f"hlotool.model.find({json.dumps(removed[0])}).length") == 0
    press(window, "r")
    assert window.page.get_attribute("[data-side=before]", "aria-pressed") == "true"
    assert {mark(window, name) for name in removed} == {"removed"}
    assert window.value(f"hlotool.model.find({json.dumps(added[0])}).length") == 0
    # A name in the list leads to the side where the instruction is.
    window.page.click("#passes ul.added .link >> nth=0")
    window.wait("hlotool.passes.side === 'after' && !hlotool.passes.busy")
    window.wait(f"hlotool.selectedName === {json.dumps(added[0])}")
    window.page.click("#timeline [data-side=before]")
    window.wait("hlotool.passes.side === 'before' && !hlotool.passes.busy")


def test_marks_are_in_the_text_too(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    name = window.page.inner_text("#passes ul.added .link >> nth=0")
    window.page.click("#passes ul.added .link >> nth=0")
    press(window, "t")
    assert f"%{name} =" in window.text("#lines .line.added.selected")
    press(window, "r")
    assert window.page.locator("#lines .line.added").count() == 0
    assert window.page.locator("#lines .line.removed, #lines .line.changed").count() > 0


def test_a_mark_is_drawn_around_the_box(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    # Constants that were changed have no box, but stand in that of their user.
    listed = window.page.locator("#passes ul.changed .link").all_inner_texts()
    name = next(one for one in listed if window.is_shown(one))
    window.page.click(f"#passes ul.changed .link[data-name='{name}']")
    window.wait(f"hlotool.selectedName === {json.dumps(name)}")
    window.keys("Escape")
    box = window.box(name)
    zoom = window.value("hlotool.camera.k")
    red, green, blue = window.pixel(box["x"] + 9 * zoom, box["y"] - 3 * zoom)
    assert red > blue + 60, "amber above the box"
    assert red > 100 > blue
    assert green > blue


def test_the_selection_stays_where_it_is_on_the_screen(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    window.keys("0")
    window.click("dot_general.3")
    assert window.value("hlotool.selectedName") == "dot_general.3"
    # The panel that has opened has taken room; only from then on things stay.
    before = window.box("dot_general.3")
    press(window, "r")
    after = window.box("dot_general.3")
    assert window.value("hlotool.selectedName") == "dot_general.3"
    assert abs(before["x"] - after["x"]) < 3
    assert abs(before["y"] - after["y"]) < 3
    press(window, "k")
    assert window.value("hlotool.selectedName") == "dot_general.3"
    press(window, "j", "j")
    # An instruction that has vanished is selected again where it is back.
    assert window.value("hlotool.passes.at") == pass_named(window, "fusion")
    assert window.value("hlotool.selectedName") == "dot_general.3"
    press(window, "k", "k", "k")
    assert window.text("#timeline strong") == "Before the passes"
    press(window, "j", "j")
    assert window.value("hlotool.selectedName") == "dot_general.3"


def test_the_diff_leads_to_the_graph(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    texts = window.page.locator("#timeline .row.removed").all_inner_texts()
    assert any("broadcast" in text for text in texts)
    assert window.page.locator("#timeline .row mark").count() > 0
    row = window.page.locator("#timeline .row.removed").first
    name = row.inner_text().split("%")[1].split(" ")[0]
    row.click()
    window.wait("hlotool.passes.side === 'before' && !hlotool.passes.busy")
    window.wait(f"hlotool.selectedName === {json.dumps(name)}")
    assert "selected" in (row.get_attribute("class") or "")
    high = window.page.locator("#timeline .diff").bounding_box()
    assert high is not None
    window.page.focus("#timeline .split")
    press(window, "ArrowUp", "ArrowUp")
    higher = window.page.locator("#timeline .diff").bounding_box()
    assert higher is not None
    assert higher["height"] > high["height"] + 20
    press(window, "D")
    assert window.page.is_hidden("#timeline .diff")
    window.page.click("#timeline button:text-is('Diff')")
    assert window.page.is_visible("#timeline .diff")


def test_passes_are_found_by_name_and_unchanged_ones_shown(opened: Opened) -> None:
    window = ready(opened)
    assert window.page.locator("#passes .pass.idle").count() == 0
    window.page.check("#passes input[type=checkbox]")
    assert window.value("hlotool.passes.shown.length") == 54
    assert window.page.locator("#passes .pass.idle").count() == 51
    window.page.fill("#passes .find", "DCE")
    assert set(window.page.locator("#passes .pass .name").all_inner_texts()) == {"dce"}
    window.page.press("#passes .find", "Enter")
    window.wait("!hlotool.passes.busy")
    assert window.text("#timeline strong") == "dce"
    assert "changed nothing" in window.text("#timeline .facts")
    assert "left the text as it was" in str(
        window.page.get_attribute("#timeline .diff", "data-words")
    )
    window.page.fill("#passes .find", "nothing like it")
    assert "No pass has this" in window.text("#passes")
    window.page.press("#passes .find", "Escape")
    assert window.page.locator("#passes .pass.idle").count() == 51
    window.page.uncheck("#passes input[type=checkbox]")
    window.page.click("#timeline button:text-is('Passes')")
    assert window.page.is_hidden("#passes")


def test_ticks_are_chosen_and_named_by_the_mouse(opened: Opened) -> None:
    window = ready(opened)
    strip = window.page.locator("#timeline canvas").bounding_box()
    assert strip is not None
    middle = strip["x"] + 26 + 1.5 * 84, strip["y"] + 30
    window.page.mouse.move(*middle)
    assert window.text("#timeline .tip").startswith("algsimp · \N{MINUS SIGN}19 +3 ≠6")
    window.page.mouse.click(*middle)
    window.wait("!hlotool.passes.busy")
    assert window.text("#timeline strong") == "algsimp"
    window.page.mouse.down()
    window.page.mouse.move(middle[0] + 84, middle[1])
    window.page.mouse.up()
    window.wait("!hlotool.passes.busy")
    assert window.text("#timeline strong") == "fusion"
    assert "fusion" in str(window.page.get_attribute("#timeline canvas", "aria-valuetext"))


def test_next_change_goes_from_mark_to_mark(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    seen = []
    for _ in range(2):
        press(window, "g")
        seen.append(window.value("hlotool.selectedName"))
    window.page.click("#timeline button:text-is('Next change')")
    window.settle()
    seen.append(window.value("hlotool.selectedName"))
    assert len(set(seen)) == 3
    assert {mark(window, name) for name in seen} <= {"added", "changed"}


def test_decisions_have_a_frame_each(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "fusion")
    assert window.page.locator("#passes .frame").count() == 16
    press(window, "J")
    assert window.text("#decision").endswith("dot_general.3 reads its elements many times")
    assert decision(window) == ["Not fused:", "div.11", "dot_general.3"]
    assert window.value("hlotool.passes.side") == "before"
    assert mark(window, "div.11") == "operand"
    assert mark(window, "dot_general.3") == "user"
    view = window.page.locator("#view").bounding_box()
    assert view is not None
    for name in ("div.11", "dot_general.3"):
        box = window.box(name)
        assert view["x"] <= box["x"]
        assert box["x"] + box["width"] <= view["x"] + view["width"]
        assert view["y"] <= box["y"]
        assert box["y"] + box["height"] <= view["y"] + view["height"]
    press(window, "J")
    assert decision(window) == ["Fused:", "div.10", "div.11"]
    assert "saves 36 KiB" in window.text("#decision")
    assert window.text("#timeline .decisions") == "Decision 2 of 16"
    press(window, "K", "K")
    assert window.text("#timeline .decisions") == "Decision 16 of 16"
    window.page.click("#passes [data-frame='4']")
    window.wait("hlotool.passes.frame === 4 && !hlotool.passes.busy")
    window.page.click("#decision [aria-label='Next decision (J)']")
    window.wait("hlotool.passes.frame === 5 && !hlotool.passes.busy")
    press(window, "r")
    assert window.page.is_hidden("#decision")


def test_the_panel_tells_what_was_decided_about_the_selection(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "fusion")
    window.page.click("#passes ul.removed .link[data-name='div.10']")
    window.wait("hlotool.selectedName === 'div.10'")
    window.page.wait_for_selector("#panel .decision")
    about = window.page.locator("#panel li", has=window.page.locator(".decision")).first
    assert "div.10 broadcast f32[2,4,24,24] → div.11 divide" in about.inner_text()
    window.page.click("#panel .decision >> nth=0")
    window.wait("hlotool.passes.frame >= 0 && !hlotool.passes.busy")
    assert "div.10" in window.text("#decision")


def test_the_list_keeps_the_focus(opened: Opened) -> None:
    window = ready(opened)
    number = pass_named(window, "algsimp")
    window.page.focus(f"#passes [data-pass='{number}']")
    press(window, "Enter")
    assert window.text("#timeline strong") == "algsimp"
    assert window.value("document.activeElement.dataset.pass") == str(number)


def test_a_page_of_decisions_begins_with_the_first(opened: Opened) -> None:
    window = ready(opened, DECISIONS)
    assert window.value("hlotool.passes.frame") == 0
    assert window.page.is_visible("#decision")
    assert window.page.locator("#passes .pass .name").all_inner_texts() == ["fusion"]


def test_the_address_holds_pass_side_and_decision(opened: Opened) -> None:
    window = ready(opened)
    number = go_to(window, "algsimp")
    press(window, "r")
    window.wait(f"location.hash.includes('pass={number}&side=before')")
    window.page.reload()
    window.wait("window.hlotool && hlotool.ready && hlotool.passes && !hlotool.passes.busy")
    window.wait(f"hlotool.passes.at === {number} && hlotool.passes.side === 'before'")
    window.wait("hlotool.module === 1")
    window.page.evaluate("location.hash = 'frame=3'")
    window.wait("hlotool.passes.frame === 3 && !hlotool.passes.busy")
    window.page.evaluate("location.hash = 'dot_general.3&pass=start'")
    window.wait("hlotool.passes.at === -1 && hlotool.selectedName === 'dot_general.3'")
    other = ready(opened, RUN, f"#dot_general.3&pass={number}&diff=0")
    other.wait(f"hlotool.passes.at === {number} && hlotool.selectedName === 'dot_general.3'")
    assert other.page.is_hidden("#timeline .diff")


def test_an_address_with_a_place_stays_there(opened: Opened) -> None:
    window = ready(opened, RUN, "#module=2&at=-100,-200,1.5&pass=11")
    window.wait("hlotool.passes.at === 11 && hlotool.module === 2")
    window.settle()
    found = window.value("[hlotool.camera.x, hlotool.camera.y, hlotool.camera.k]")
    assert found == [-100, -200, 1.5]


def test_back_brings_the_pass_back(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    go_to(window, "fusion")
    press(window, "Backspace")
    window.wait("hlotool.module === 2")
    assert window.text("#timeline strong") == "algsimp"


def test_fast_steps_end_with_the_last(opened: Opened) -> None:
    window = ready(opened)
    for _ in range(3):
        window.page.keyboard.press("j")
    window.wait("!hlotool.passes.busy && hlotool.module === 2")
    assert window.text("#timeline strong") == "algsimp"
    name = window.page.inner_text("#passes ul.added .link >> nth=0")
    window.wait(f"hlotool.passes.markOf({json.dumps(name)}) === 'added'")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_into_small_windows(opened: Opened, scheme: str) -> None:
    window = ready(
        opened, "jax/mlp_train_step_sgd:passes",
        viewport={"width": 800, "height": 600}, color_scheme=scheme,
    )  # fmt: skip
    assert window.page.is_hidden("#passes")
    press(window, "k")
    assert window.value("document.documentElement.scrollWidth") == 800
    view = window.page.locator("#view").bounding_box()
    assert view is not None
    assert view["height"] > 120
    for button in window.page.locator("#timeline button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 800


def test_a_page_without_passes_has_no_timeline(opened: Opened) -> None:
    window = opened("jax/attention")
    assert window.page.is_hidden("#timeline")
    assert window.page.locator("#passes").count() == 0
    assert "j" not in window.value("hlotool.keys")


def test_the_diff_has_each_line_that_differs_once_and_in_order(opened: Opened) -> None:
    window = ready(opened, "jax/mlp_train_step_sgd:passes")
    wrong = window.value("""(() => {
      const { run } = hlotool.passes, wrong = [];
      for (const { before, after, edits, name } of run.passes) {
        const [old, now] = [before, after].map((n) => hlotool.passes.model(n).lines);
        const rows = Hlo.rowsOfDiff(old, now, edits);
        const lines = (kind, side) => rows.filter((row) => row.kind === kind)
          .map((row) => row[side]).join();
        const wanted = [[], []];
        for (let at = 0; at < edits.length; at += 4) {
          for (let line = edits[at]; line < edits[at + 1]; line++) wanted[0].push(line);
          for (let line = edits[at + 2]; line < edits[at + 3]; line++) wanted[1].push(line);
        }
        const isRight = lines("removed", "before") === wanted[0].join()
          && lines("added", "after") === wanted[1].join()
          && rows.every((row) => row.kind !== "same" || old[row.before] === now[row.after])
          && (edits.length > 0 || rows.length === 0);
        if (!isRight) wrong.push(run.text(name));
      }
      return wrong;
    })()""")
    assert wrong == []
