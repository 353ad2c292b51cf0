"""The list of a page over a directory: its filter, and what it says of passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlotool.cli.driver import main
from tests.browser.conftest import Opened
from tests.browser.window import Window

CLUSTERS = "testdata/dumps/clusters"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over all states of a module on its way through the passes of CPUs."""
    folder = tmp_path_factory.mktemp("dumped")
    flags = [f"--xla_dump_to={folder / 'dump'}", "--xla_dump_hlo_pass_re=.*", "-o", "/dev/null"]
    module = str(Path(__file__).parents[2] / "docs" / "pictures" / "block.hlo")
    assert main(["opt", module, "--platform=cpu", *flags]) == 0
    assert main(["explore", str(folder / "dump"), "-o", str(folder / "page.html")]) == 0
    return folder / "page.html"


def number_of(window: Window, name: str) -> int:
    number: int = window.value(
        "hlotool.directory.runs[0].passes.findIndex((_, p) =>"
        f" hlotool.directory.runs[0].name(p) === '{name}' && hlotool.directory.runs[0].total(p))"
    )
    assert number >= 0
    return number


def place(window: Window) -> str:
    found: str = window.value("hlotool.directory.place")
    return found


def test_from_the_filter_the_arrow_leads_to_the_first_hit(opened: Opened, page: Path) -> None:
    window = opened(page)
    window.keys("i")
    window.page.keyboard.type("algsimp")
    window.keys("ArrowDown")
    current = window.page.locator("#directory .entry.cursor")
    assert current.inner_text().startswith("algsimp")
    window.keys("Enter")
    assert place(window).endswith(f":0:{number_of(window, 'algsimp')}")


def test_a_filter_shows_headings_with_entries_alone(opened: Opened, page: Path) -> None:
    window = opened(page)
    window.keys("i")
    window.page.keyboard.type("memory")
    kinds = window.value("hlotool.directory.list.shown.map(({ kind, text }) => [kind, text])")
    for (kind, text), (following, _) in zip(kinds, [*kinds[1:], ["end", ""]], strict=True):
        if kind in {"heading", "group"}:
            assert following == "item", text
    items = window.value(
        "hlotool.directory.list.shown.filter(({ kind }) => kind === 'item')"
        ".map(({ text, note, found }) => `${text} ${note} ${found}`)"
    )
    assert items
    assert all("memory" in text.lower() for text in items)


def test_a_pass_that_only_removes_is_shown_before_it(opened: Opened, page: Path) -> None:
    window = opened(page)
    only = window.value(
        "hlotool.directory.runs[0].passes.findIndex(({ counts: [gone, made, changed] }) =>"
        " gone > 0 && made + changed === 0)"
    )
    assert only >= 0
    window.value(f"hlotool.directory.list.open('pass:0:{only}') && null")
    window.wait(f"hlotool.directory.place === 'before:0:{only}'")
    name = window.value(f"hlotool.directory.runs[0].lists({only}).removed[0]")
    (found,) = window.value(f"hlotool.model.find('{name}')")
    path = f"hlotool.model.pathOf({found['computation']}, {found['instruction']})"
    window.wait(f"hlotool.directory.viewer.markOf?.({path}) === 'removed'")
    assert f"Removed ({window.value(f'hlotool.directory.runs[0].counts({only})[0]')})" in (
        window.text("#changes")
    )
    window.keys("r")
    window.wait(f"hlotool.directory.place === 'pass:0:{only}'")


def test_what_a_pass_did_is_listed_and_leads_there(opened: Opened, page: Path) -> None:
    window = opened(page)
    number = number_of(window, "algsimp")
    window.value(f"hlotool.directory.open('pass:0:{number}') && null")
    window.wait("document.querySelectorAll('#changes li').length > 0")
    counts = window.value(f"hlotool.directory.runs[0].counts({number})")
    listed = window.text("#changes")
    for title, count in zip(("Removed", "Added", "Changed"), counts, strict=True):
        assert (f"{title} ({count})" in listed) == (count > 0)
    removed = window.page.locator("#changes details", has_text="Removed").locator("button").first
    name = removed.inner_text()
    removed.click()
    window.wait(f"hlotool.directory.place === 'before:0:{number}'")
    window.wait(f"hlotool.selectedName === '{name}'")


def test_the_last_state_is_no_pass_that_changed_nothing(opened: Opened, page: Path) -> None:
    window = opened(page)
    window.wait("hlotool.directory.place !== ''")
    shown = window.text("#shown")
    assert "cpu_after_optimizations" in shown
    assert "state behind" in shown
    assert "changed nothing" not in shown
    assert "pass " not in shown


def test_lines_begin_with_the_computations(opened: Opened, tmp_path: Path) -> None:
    table = 'FileNames\n1 "{}.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
    table += "1 {{file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}}"
    table += "\n\nStackFrames\n1 {{file_location_id=1 parent_frame_id=1}}\n\n"
    body = "ENTRY main {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] {}(p)"
    body += ', metadata={{op_name="r" stack_frame_id=1}}\n}}\n'
    for number, (file, opcode) in enumerate([("one", "negate"), ("two", "exponential")]):
        name = f"module_0000.m.{number:04}.pipe.after_pass{number}.before_pass{number + 1}.txt"
        text = "HloModule m\n\n" + table.format(file) + body.format(opcode)
        (tmp_path / name).write_text(text)
    assert main(["explore", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 0
    window = opened(tmp_path / "page.html")
    window.keys("D")
    window.wait("hlotool.directory.place.startsWith('compare:')")
    window.wait("document.querySelectorAll('#sheet .line').length > 0")
    assert "tables of source files" in window.text("#sheet")
    assert "one.py" not in window.text("#sheet")
    changed = window.page.locator("#sheet .line.removed, #sheet .line.added").all_inner_texts()
    assert [("negate" in text, "exponential" in text) for text in changed] == [
        (True, False),
        (False, True),
    ]


def test_nodes_of_graphs_are_called_so(opened: Opened, root: Path, tmp_path: Path) -> None:
    assert main(["explore", str(root / CLUSTERS), "-o", str(tmp_path / "page.html")]) == 0
    window = opened(tmp_path / "page.html")
    window.value("hlotool.directory.open('graph:0') && null")
    window.wait("hlotool.directory.place === 'graph:0' && hlotool.model.noun === 'node'")
    window.settle()
    assert "node" in window.text("#counts")
    assert "instruction" not in window.text("#counts")
