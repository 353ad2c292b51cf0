"""What the pass explorer draws into the graph: ghosts of what is gone, reasons at edges."""

from tests.browser.conftest import Opened
from tests.browser.test_timeline import go_to, press, ready

NAMES = "hlotool.passes.ghosts.map(({ name }) => name)"


def test_what_a_pass_removed_stays_as_a_ghost_for_one_step(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "call-inliner")
    press(window, "j")
    assert window.text("#timeline strong") == "algsimp"
    window.wait("hlotool.passes.ghosts.length > 0")
    names = window.value(NAMES)
    removed = window.page.locator("#passes ul.removed .link").all_inner_texts()
    assert set(names) <= set(removed)
    for name in names:
        assert window.value(f"hlotool.model.find('{name}')") == []
    title = window.value(
        f"(({{ passes, model }}) => {{ const m = passes.model(1), [p] = m.find('{names[0]}');"
        " return m.titleText(p.computation, p.instruction); })(hlotool)"
    )
    window.keys("0")
    assert f">\N{MINUS SIGN} {title[:4]}" in window.value("hlotool.svg()")
    press(window, "j")
    assert not set(window.value(NAMES)) & set(names)
    press(window, "k", "r")
    # Before the pass these are boxes like others.
    assert window.value("hlotool.passes.ghosts") == []
    assert window.is_shown(names[0])


def test_ghosts_hide_no_box_and_no_other_ghost(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    window.wait("hlotool.passes.ghosts.length > 0")
    overlapping = window.value("""(() => {
      const { picture, passes: { ghosts: boxes } } = hlotool;
      const all = [...boxes, ...[...picture.instructionPaths()].map((path) => picture.find(path))];
      return boxes.flatMap((one) => all.filter((other) => other !== one && one.x < other.x + other.w
        && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h)
        .map(() => one.name));
    })()""")
    assert overlapping == []


def test_ghosts_go_and_come_by_button_and_key(opened: Opened) -> None:
    window = ready(opened)
    # From the end the state before has to be laid out first.
    go_to(window, "algsimp")
    window.wait("hlotool.passes.ghosts.length > 0")
    button = window.page.locator("#timeline button:text-is('Ghosts')")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    window.wait("hlotool.passes.ghosts.length === 0")
    assert button.get_attribute("aria-pressed") == "false"
    go_to(window, "call-inliner")
    window.page.wait_for_timeout(300)
    assert window.value("hlotool.passes.ghosts") == []
    press(window, "G")
    window.wait("hlotool.passes.ghosts.length > 0")
    press(window, "x")
    window.wait("hlotool.passes.ghosts.length > 0")
    go_to(window, "fusion")
    window.page.wait_for_timeout(300)
    # What was fused is not lost.
    assert window.value("hlotool.passes.ghosts") == []
    press(window, "G")
    window.wait("document.getElementById('notice').textContent.startsWith('No box is gone')")


def test_the_reason_of_a_decision_stands_at_the_edge(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "fusion")
    press(window, "J")
    drawn = window.value("hlotool.svg()")
    assert ">✗ not fused:" in drawn
    note = window.value("hlotool.passes.note")
    assert note["text"] == "✗ not fused: dot_general.3 reads its elements many times"
    assert note["mark"] == "removed"
    assert note["lines"] > 0
    press(window, "J")
    note = window.value("hlotool.passes.note")
    assert note["text"].startswith("✓ fused")
    assert note["text"].endswith("saves 36 KiB")
    assert note["mark"] == "added"
    press(window, "r")
    assert window.value("hlotool.passes.note") is None
    assert "fused:" not in window.value("hlotool.svg()")


def test_the_panel_lists_what_passes_did_to_the_selection(opened: Opened) -> None:
    window = ready(opened)
    go_to(window, "algsimp")
    name = window.page.locator("#passes ul.added .link").first.inner_text()
    window.page.locator("#passes ul.added .link").first.click()
    window.wait(f"hlotool.selectedName === '{name}'")
    row = window.page.locator("#panel .history li", has_text="algsimp")
    row.wait_for()
    assert row.first.inner_text().split()[:3] == ["+", "algsimp", "pass"]
    go_to(window, "fusion")
    press(window, "k")
    window.page.locator("#panel .history .link", has_text="algsimp").first.click()
    window.wait("!hlotool.passes.busy")
    assert window.text("#timeline strong") == "algsimp"
