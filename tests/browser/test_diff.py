"""The page over two modules: both graphs side by side, linked, with their differences."""

from pathlib import Path

import pytest

from hlotool.analysis.differences import module_differences
from hlotool.graph.difference_data import difference_document
from hlotool.graph.html import page
from hlotool.text.parser import parse
from tests.browser.conftest import Opened, module_text
from tests.browser.window import Window

OLD = module_text("jax/attention.opt")
NEW = OLD.replace("exponential(", "tanh(", 1).replace("constant(-inf)", "constant(-1e30)", 1)


@pytest.fixture
def compared(opened: Opened, tmp_path: Path) -> Window:
    assert OLD != NEW
    return opened(made(tmp_path, OLD, NEW))


def made(folder: Path, old: str, new: str) -> Path:
    one, other = parse(old), parse(new)
    document = difference_document(one, other, module_differences(one, other), ["a.hlo", "b.hlo"])
    path = folder / "diff.html"
    path.write_text(page(document), "utf-8")
    return path


def selected(window: Window) -> list[str]:
    found: list[str] = window.value(
        "hlotool.comparison.viewers.map((v) => v.selected && v.nameOf(v.selected))"
    )
    return found


def screen(window: Window, side: int) -> tuple[float, float]:
    """Returns where the selected box of a side is, from the corner of that side."""
    at = window.value(
        f"(() => {{ const v = hlotool.comparison.viewers[{side}], b = v.selectedBox();"
        " return v.camera.toScreen(b.x, b.y); })()"
    )
    return at["x"], at["y"]


def test_the_list_names_the_differences(compared: Window) -> None:
    compared.wait("hlotool.comparison.isReady")
    head = compared.text("#differences")
    for words in ("a.hlo", "b.hlo", "1 removed", "1 added", "1 changed", "3 differences"):
        assert words in head
    rows = compared.page.locator("#differences .entry.item").all_inner_texts()
    assert [row.split("\n")[0] for row in rows] == ["\N{MINUS SIGN}", "+", "\N{NOT EQUAL TO}"]
    assert "value: -inf -> -1e+30" in rows[2]


def test_n_goes_through_them_and_both_sides_show_the_place(compared: Window) -> None:
    compared.wait("hlotool.comparison.isReady")
    compared.keys("n")
    compared.wait("hlotool.comparison.viewers[0].selected !== ''")
    assert selected(compared)[1] == ""
    assert "only in the old module" in compared.text("#difference")
    marks = (
        "hlotool.comparison.viewers.map((v) => [...new Set([...v.picture.instructionPaths()]"
        ".map((path) => v.markOf(path)))].sort())"
    )
    compared.keys("n")
    compared.wait("hlotool.comparison.viewers[1].selected !== ''")
    compared.wait(f"{marks}[1].includes('added')")
    compared.keys("n")
    compared.wait("hlotool.comparison.viewers.every((v) => v.selected !== '')")
    one, other = selected(compared)
    assert one == other
    detail = compared.text("#difference")
    assert "value: -inf -> -1e+30" in detail
    assert compared.page.locator("#difference .line").count() == 2
    assert compared.page.locator("#difference .removed b").inner_text() == "inf"
    assert compared.value(marks) == [["", "changed", "removed"], ["", "added", "changed"]]
    assert "3/3" in compared.text("#differences")
    compared.keys("N")
    assert "2/3" in compared.text("#differences")
    compared.keys("n", "n")
    assert "1/3" in compared.text("#differences")


BROADCASTS = """HloModule m
ENTRY e {
  p = f32[2,4] parameter(0)
  q = f32[4] parameter(1)
  b = f32[2,4] broadcast(q), dimensions={1}
  c = f32[] constant(1)
  d = f32[2,4] broadcast(c), dimensions={}
  x = f32[2,4] multiply(p, b)
  ROOT y = f32[2,4] subtract(x, d)
}
"""


def test_only_what_is_drawn_in_a_box_marks_it(opened: Opened, tmp_path: Path) -> None:
    changed = BROADCASTS.replace("constant(1)", "constant(2)")
    changed = changed.replace("  b =", "  n = f32[4] negate(q)\n  b =").replace(
        "broadcast(q)", "broadcast(n)"
    )
    window = opened(made(tmp_path, BROADCASTS, changed))
    window.wait("hlotool.comparison.isReady")
    window.wait("hlotool.comparison.viewers[1].markOf !== null")
    marks = window.value(
        "Object.fromEntries(((v) => [...v.picture.instructionPaths()].map((path) =>"
        " [v.nameOf(path), v.markOf(path)]))(hlotool.comparison.viewers[1]))"
    )
    assert marks == {"n": "added", "b": "changed", "x": "", "y": "changed"}


def test_a_box_selected_on_one_side_is_selected_on_the_other(compared: Window) -> None:
    compared.wait("hlotool.comparison.isReady")
    path = compared.value("hlotool.shown[2]")
    name = compared.value(f"hlotool.comparison.viewers[0].nameOf({path!r})")
    compared.click(name)
    compared.wait("hlotool.comparison.viewers[1].selected !== ''")
    assert selected(compared) == [name, name]
    compared.settle()
    left, right = screen(compared, 0), screen(compared, 1)
    assert left == pytest.approx(right, abs=2)
    compared.keys("+")
    compared.settle()
    assert screen(compared, 0) == pytest.approx(screen(compared, 1), abs=2)
    assert screen(compared, 0) != pytest.approx(left, abs=2)
    compared.page.locator("#differences button", has_text="Linked").click()
    before = screen(compared, 1)
    compared.page.focus("#marks")
    compared.keys("-")
    compared.settle()
    assert screen(compared, 1) == pytest.approx(before, abs=2)


def test_the_other_side_has_mouse_and_keys_too(compared: Window) -> None:
    compared.wait("hlotool.comparison.isReady")
    compared.settle()
    at = compared.value(
        "(() => { const v = hlotool.comparison.viewers[1];"
        " const path = [...v.picture.instructionPaths()].find((one) => v.canOpen(one));"
        " const b = v.picture.find(path), { x, y } = v.camera.toScreen(b.x, b.y);"
        " const { left, top } = document.querySelector('#other-view').getBoundingClientRect();"
        " return { x: left + x + 12, y: top + y + 8 }; })()"
    )
    compared.page.mouse.click(at["x"], at["y"])
    compared.wait("hlotool.comparison.viewers.every((v) => v.selected !== '')")
    one, other = selected(compared)
    assert one == other
    compared.keys("Enter")
    # What is opened on one side is opened on the other.
    compared.wait("hlotool.comparison.viewers.every((v) => v.open.size === 1)")
    compared.keys("Enter")
    compared.wait("hlotool.comparison.viewers.every((v) => v.open.size === 0)")
    compared.keys("ArrowDown")
    compared.wait(f"hlotool.comparison.viewers[1].nameOf("
                  f"hlotool.comparison.viewers[1].selected) !== {other!r}")  # fmt: skip


def test_equal_parts_are_pale_unless_told_not_to(compared: Window) -> None:
    compared.wait("hlotool.comparison.isReady")
    pale = "hlotool.comparison.viewers.map((v) => v.isPale !== null)"
    assert compared.value(pale) == [True, True]
    switch = compared.page.locator("#differences button", has_text="Fade equal")
    for overlay in ("bytes", "live memory", ""):
        compared.page.select_option("#overlay", overlay)
        assert switch.get_attribute("aria-pressed") == "true"
        assert compared.value(pale) == [True, True]
    switch.click()
    assert compared.value(pale) == [False, False]
    compared.page.select_option("#overlay", index=1)
    assert compared.value(pale) == [False, False]
    names = "hlotool.comparison.viewers.map((v) => v.overlay.name)"
    assert len(set(compared.value(names))) == 1


def test_equal_modules(opened: Opened, tmp_path: Path) -> None:
    window = opened(made(tmp_path, OLD, OLD))
    window.wait("hlotool.comparison.isReady")
    assert "The same graph" in window.text("#differences")
    assert "no difference" in window.text("#differences")
    window.keys("n")
    assert selected(window) == ["", ""]


def test_computations_without_a_partner_are_listed_whole(opened: Opened, tmp_path: Path) -> None:
    old = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] negate(x)\n}\n"
    new = (
        "HloModule m\nf {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n"
        "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] call(x), to_apply=f\n}\n"
    )
    window = opened(made(tmp_path, old, new))
    window.wait("hlotool.comparison.isReady")
    assert "+ f" in window.text("#differences")
    count = window.page.locator("#differences .entry.item").count()
    for number in range(count):
        window.keys("n")
        assert f"{number + 1}/{count}" in window.text("#differences")
        assert any(selected(window))


def cameras(window: Window) -> list[dict[str, float]]:
    found: list[dict[str, float]] = window.value(
        "hlotool.comparison.viewers.map(({ camera: { x, y, k } }) => ({ x, y, k }))"
    )
    return found


def test_both_sides_begin_aligned_below_what_they_are_called(
    opened: Opened, tmp_path: Path
) -> None:
    window = opened(made(tmp_path, module_text("jax/attention"), OLD))
    window.wait("hlotool.comparison.isReady")
    old, new = cameras(window)
    assert old["k"] == new["k"]
    # Of these two no box is the same, so what is first stands equally high.
    pair = window.value("hlotool.comparison._firstPair()")
    if pair is None:
        assert old["y"] == pytest.approx(new["y"])
    captions = window.page.locator(".sides .caption")
    assert [text.split(" ")[0] for text in captions.all_inner_texts()] == ["old", "new"]
    assert "boxes" in captions.nth(1).inner_text()
    for number, side in enumerate(("#view", "#other-view")):
        caption = captions.nth(number).bounding_box()
        view = window.page.locator(side).bounding_box()
        assert caption is not None
        assert view is not None
        assert caption["y"] + caption["height"] <= view["y"] + 1
        assert caption["x"] == pytest.approx(view["x"], abs=3)


def test_what_both_sides_have_begins_at_the_same_place(compared: Window) -> None:
    compared.wait("hlotool.comparison.isReady")
    first, second = compared.value(
        "((c) => c.viewers.map(({ picture, camera }, side) => {"
        " const box = picture.find(c._firstPair()[side]);"
        " return camera.toScreen(box.x, box.y); }))(hlotool.comparison)"
    )
    assert first["x"] == pytest.approx(second["x"], abs=0.5)
    assert first["y"] == pytest.approx(second["y"], abs=0.5)


def test_the_lines_of_the_selection_cover_no_box(compared: Window) -> None:
    compared.wait("hlotool.comparison.isReady")
    height = "document.getElementById('other-view').clientHeight"
    before = compared.value(height)
    assert "shows both lines here" in compared.text("#difference")
    compared.keys("n")
    assert compared.page.locator("#difference .line").count() > 0
    assert compared.value(height) == before


def test_all_is_opened_on_both_sides(opened: Opened, tmp_path: Path) -> None:
    # The old module has nothing to open, the new one has.
    window = opened(made(tmp_path, module_text("jax/attention"), OLD))
    window.wait("hlotool.comparison.isReady")
    count = "hlotool.comparison.viewers[1].open.size"
    window.wait("!document.getElementById('open-all').disabled")
    assert window.value(count) == 0
    window.keys("x")
    window.wait(f"{count} > 0")
    window.wait("document.getElementById('open-all').textContent === 'Close all'")
    window.page.click("#open-all")
    window.wait(f"{count} === 0")
    window.wait("document.getElementById('open-all').textContent === 'Open all'")
