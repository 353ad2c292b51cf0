"""Stages that repeat, folded and unfolded: button, key, double click, jumps, address."""

from tests.browser.conftest import LAYERS, PER_LAYER, Opened
from tests.browser.window import Window

GRAPH = "#view=graph"


def fold_of(window: Window) -> dict[str, float]:
    """Returns where the one box of a fold is in the window."""
    found: dict[str, float] = window.value(
        "(({ picture: { root: graph }, camera: { x, y, k } }) => {"
        " const stage = graph.stages.find(({ folded }) => folded), { geometry } = stage;"
        " const { left, top } = document.getElementById('marks').getBoundingClientRect();"
        " return { x: left + (stage.x + geometry.x[0] - x) * k,"
        "  y: top + (stage.y + geometry.y[0] - y) * k, first: stage.number, last: stage.last }; })"
        "(hlotool)"
    )
    return found


def to_fold(window: Window) -> dict[str, float]:
    """Brings the fold into the middle of the window, at reading size."""
    window.keys("1")
    box = fold_of(window)
    window.page.mouse.move(700, 400)
    window.page.mouse.wheel(box["x"] - 650, box["y"] - 400)
    window.settle()
    return fold_of(window)


def folded(opened: Opened) -> Window:
    window = opened("layers", GRAPH)
    window.wait("!document.getElementById('fold-toggle').hidden")
    window.page.click("#fold-toggle")
    window.wait("hlotool.folded.length === 1")
    window.wait(f"hlotool.stats.nodes < {LAYERS * PER_LAYER // 2}")
    window.settle()
    return window


def test_repeats_fold_and_unfold(opened: Opened) -> None:
    window = folded(opened)
    assert window.page.locator("#fold-toggle").inner_text() == "Unfold"
    few = window.value("hlotool.stats.nodes")
    times = window.value("hlotool.folded[0][3]")
    to_fold(window)
    drawn = window.value("hlotool.svg()")
    assert f">the same \N{MULTIPLICATION SIGN}{times}<" in drawn
    stages = window.value("hlotool.folded[0][2] - hlotool.folded[0][1] + 1")
    assert f">{stages} stages, " in drawn
    window.keys("z")
    window.wait("hlotool.folded.length === 0")
    window.wait(f"hlotool.stats.nodes > {few} + 100")
    assert window.page.locator("#fold-toggle").inner_text() == "Fold repeats"
    window.keys("Backspace")
    window.wait("hlotool.folded.length === 1")
    window.wait(f"hlotool.stats.nodes === {few}")


def test_a_double_click_unfolds(opened: Opened) -> None:
    window = folded(opened)
    box = to_fold(window)
    window.page.mouse.move(box["x"] + 20, box["y"] + 8)
    window.wait("document.getElementById('tip').textContent.includes('unfolds')")
    window.page.mouse.dblclick(box["x"] + 20, box["y"] + 8)
    window.wait("hlotool.folded.length === 0")
    window.wait(f"hlotool.stats.nodes > {LAYERS * PER_LAYER - 10}")


def test_what_one_goes_to_is_unfolded(opened: Opened) -> None:
    window = folded(opened)
    window.page.goto(f"{window.page.url.split('#')[0]}#d30")
    window.wait("hlotool.selectedName === 'd30'")
    window.wait("hlotool.folded.length === 0")
    window.wait("hlotool.boxNamed('d30').exact")


def test_enter_unfolds_what_the_selection_is_in(opened: Opened) -> None:
    window = opened("layers", "#d30&view=graph")
    window.wait("hlotool.selectedName === 'd30'")
    window.page.focus("#marks")
    window.keys("z")
    window.wait("hlotool.folded.length === 1")
    window.wait("!hlotool.boxNamed('d30').exact")
    window.keys("Enter")
    window.wait("hlotool.folded.length === 0")
    window.wait("hlotool.boxNamed('d30').exact")


def test_the_address_keeps_folds(opened: Opened) -> None:
    window = folded(opened)
    few = window.value("hlotool.stats.nodes")
    window.wait("location.hash.includes('fold=')")
    window.page.reload()
    window.wait("window.hlotool && hlotool.ready")
    assert window.value("hlotool.stats.nodes") == few
    assert window.page.locator("#fold-toggle").inner_text() == "Unfold"


def test_a_fold_counts_whole_in_the_overview_and_in_sums(opened: Opened) -> None:
    window = folded(opened)
    boxes = window.value("hlotool.picture.root.nodeOf.filter((node) => node >= 0).length")
    assert boxes == LAYERS * PER_LAYER + 1
    window.keys("o")
    assert f"{boxes} boxes" in window.text("#overview p")
    window.keys("o", "0")
    window.choose_all()
    window.wait(f"hlotool.chosen.length === {boxes}")


def test_where_nothing_repeats_there_is_nothing_to_fold(opened: Opened) -> None:
    window = opened("jax/layernorm.opt")
    assert window.page.is_hidden("#fold-toggle")
    window.keys("z")
    assert window.text("#notice") == "Nothing here repeats in a row."
    assert window.value("hlotool.folded") == []
