"""The page over a directory of dumps: its list, graphs, texts, memory, clusters and files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hlotool.cli.driver import main
from tests.browser.conftest import Opened
from tests.browser.window import Window
from tests.conftest import MODELS, corpus_directory

CLUSTERS = "testdata/dumps/clusters"
SHEET = "#sheet"
Page = Callable[[Path], Path]


@pytest.fixture(scope="module")
def page_over(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Returns the page over a directory, made once."""
    folder = tmp_path_factory.mktemp("directories")

    def made(directory: Path) -> Path:
        path = folder / f"{directory.name}.html"
        if not path.exists():
            assert main(["explore", str(directory), "-o", str(path)]) == 0
        return path

    return made


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of all states of a module on its way through the passes of CPUs."""
    folder = tmp_path_factory.mktemp("dumped") / "dump"
    module = str(MODELS / "jax" / "attention.hlo")
    flags = [f"--xla_dump_to={folder}", "--xla_dump_hlo_pass_re=.*"]
    flags += ["--xla_dump_fusion_visualization", "-o", "/dev/null"]
    assert main(["opt", module, "--platform=cpu", *flags]) == 0
    return folder


def entry(window: Window, text: str) -> None:
    """Clicks on the entry of the list that begins with a text."""
    window.page.locator("#directory .entry", has_text=text).first.click()
    window.settle()


def place(window: Window) -> str:
    found: str = window.value("hlotool.directory.place")
    return found


def changing_pass(window: Window) -> int:
    """Returns the number of a pass that adds, removes and changes something."""
    number: int = window.value(
        "hlotool.directory.data.modules[0].passes.findIndex(({counts}) => counts.every(Boolean))"
    )
    assert number >= 0
    return number


def test_passes_are_shown_with_marks_on_both_sides(
    opened: Opened, page_over: Page, dump: Path
) -> None:
    window = opened(page_over(dump))
    assert window.text("#directory .entry.module").endswith("jit_attention")
    number = changing_pass(window)
    name = window.value(f"hlotool.directory.runs[0].name({number})")
    window.page.locator("#directory .entry", has_text=name).first.click()
    window.wait(f"hlotool.directory.place === 'pass:0:{number}'")
    marks = "new Set(hlotool.shown.map((path) => hlotool.directory.viewer.markOf(path)))"
    window.wait(f"hlotool.directory.viewer.markOf && {marks}.has('added')")
    assert name in window.text("#shown")
    assert not window.value(f"{marks}.has('removed')")
    after = window.value("hlotool.module")
    window.keys("B")
    window.wait(f"hlotool.directory.viewer.markOf && {marks}.has('removed')")
    assert window.value("hlotool.module") != after
    assert not window.value(f"{marks}.has('added')")
    window.keys("B")
    window.wait(f"hlotool.module === {after}")
    window.keys("j")
    assert place(window) not in {f"pass:0:{number}", f"before:0:{number}"}
    window.keys("k")
    assert place(window) == f"pass:0:{number}"


def test_passes_that_changed_nothing_are_folded(
    opened: Opened, page_over: Page, dump: Path
) -> None:
    window = opened(page_over(dump))
    count = "hlotool.directory.list.shown.length"
    before = window.value(count)
    window.page.locator("#directory .entry.more").click()
    assert window.value(count) > before
    assert window.page.locator("#directory .entry.more").count() == 0
    window.page.locator("#directory .entry.module").click()
    assert window.value(count) < before


def test_the_lines_of_a_pass(opened: Opened, page_over: Page, dump: Path) -> None:
    window = opened(page_over(dump))
    window.value(f"hlotool.directory.open('pass:0:{changing_pass(window)}') && null")
    window.wait("hlotool.directory.viewer.markOf")
    window.keys("D")
    lines = window.page.locator(f"{SHEET} .lines .line")
    assert window.page.locator(f"{SHEET} .line.added .sign").first.inner_text() == "+"
    assert (
        window.page.locator(f"{SHEET} .line.removed .sign").first.inner_text() == "\N{MINUS SIGN}"
    )
    assert " change" in window.text(f"{SHEET} .sheet-head")
    window.keys("n")
    assert "1/" in window.text(f"{SHEET} .sheet-head")
    shown = lines.count()
    window.page.locator(f"{SHEET} .gap-row button").first.click()
    assert lines.count() > shown
    window.keys("/")
    window.page.keyboard.type("parameter(")
    window.wait("document.querySelectorAll('#sheet mark').length > 0")
    assert window.page.locator(f"{SHEET} mark").first.inner_text() == "parameter("
    window.keys("Escape", "Escape")
    assert not window.page.is_visible(SHEET)


def test_lines_of_any_two_states_lead_from_one_to_the_other(
    opened: Opened, page_over: Page, dump: Path
) -> None:
    window = opened(page_over(dump))
    wrong = window.value(
        "(() => { const texts = hlotool.directory.viewer.outer.modules.map((m) => m.lines);"
        " const wrong = [];"
        " texts.forEach((one, n) => texts.forEach((other, k) => {"
        "  const rows = Hlo.changeRows(one, other, Hlo.lineEdits(one, other));"
        "  const kept = (kind) => rows.filter((row) => row.kind !== kind).map((row) => row.text);"
        "  const same = rows.filter(({kind}) => kind === 'same').length;"
        "  if (kept('added').join('\\n') !== one.join('\\n')"
        "   || kept('removed').join('\\n') !== other.join('\\n')"
        "   || (n === k && same !== one.length) || same === 0) wrong.push([n, k]); }));"
        " return wrong; })()"
    )
    assert wrong == []
    window.value("hlotool.directory.open('stage:0:0') && null")
    window.page.locator("#shown button", has_text="Lines").click()
    window.wait("hlotool.directory.place.startsWith('compare:0:')")
    before = place(window)
    window.page.locator(f"{SHEET} select").nth(1).select_option(index=1)
    window.wait(f"hlotool.directory.place !== {json.dumps(before)}")
    assert window.page.locator(f"{SHEET} .line").count() > 0


def test_the_list_is_searched_and_used_by_keys(opened: Opened, page_over: Page, dump: Path) -> None:
    window = opened(page_over(dump))
    window.keys("i")
    window.page.keyboard.type("fusion")
    window.wait("document.querySelectorAll('#directory .entry.item').length > 0")
    texts = window.page.locator("#directory .entry.item").all_inner_texts()
    titles = window.page.locator("#directory .entry.item").evaluate_all(
        "(items) => items.map((item) => item.title)"
    )
    assert all(
        "fusion" in f"{text} {title}".lower() for text, title in zip(texts, titles, strict=True)
    )
    window.keys("ArrowDown", "ArrowDown", "Enter")
    assert window.page.locator("#directory .entry.here").count() == 1
    window.page.locator("#directory input").fill("no such thing")
    assert "Nothing here" in window.value(
        "getComputedStyle(document.querySelector('#directory .entries'), '::after').content"
    )
    window.page.locator("#directory input").press("Escape")
    assert window.page.locator("#directory .entry").count() > 5


def test_texts_have_numbers_and_a_search(opened: Opened, page_over: Page, root: Path) -> None:
    window = opened(page_over(root / CLUSTERS))
    entry(window, "ir-no-opt.ll")
    (path,) = (root / CLUSTERS).glob("*ir-no-opt.ll")
    lines = path.read_text().splitlines()
    window.wait("document.querySelectorAll('#sheet .line').length > 0")
    first = window.page.locator(f"{SHEET} .line").nth(1)
    assert first.locator(".number").inner_text() == "2"
    assert first.locator("code").inner_text() == lines[1]
    word = lines[-1].split()[0]
    window.keys("/")
    window.page.keyboard.type(word)
    hits = sum(word.lower() in line.lower() for line in lines)
    assert f"1/{hits} line" in window.text(f"{SHEET} .sheet-head")
    window.page.keyboard.press("Enter")
    if hits > 1:
        assert f"2/{hits} lines" in window.text(f"{SHEET} .sheet-head")
    window.page.keyboard.press("Escape")
    window.keys("Escape")
    assert not window.page.is_visible(SHEET)


def test_memory_over_time(opened: Opened, page_over: Page, root: Path) -> None:
    window = opened(page_over(root / CLUSTERS))
    entry(window, "Memory over time")
    data = window.value("hlotool.directory.data.modules[0].memory")
    said = window.text(f"{SHEET} .said")
    assert said.startswith("Peak, step")
    canvas = window.value("document.querySelector('#sheet canvas').getBoundingClientRect()")
    window.page.mouse.move(canvas["x"] + 70, canvas["y"] + 60)
    assert " 0, " in window.text(f"{SHEET} .said")
    rows = window.page.locator(f"{SHEET} .table-row")
    live = [not row["pale"] for row in rows.evaluate_all(
        "(rows) => rows.map((row) => ({ pale: row.classList.contains('pale') }))")]  # fmt: skip
    starts = sorted(data["values"]["start"])
    assert sum(live) == sum(start == 0 for start in starts)
    window.page.mouse.move(canvas["x"] + canvas["width"] - 20, canvas["y"] + 60)
    assert f" {len(data['steps']) - 1}, " in window.text(f"{SHEET} .said")
    rows.first.hover()
    assert " to " in window.text(f"{SHEET} .said")
    assert window.page.locator(f"{SHEET} .table-row.current").count() == 1
    name = rows.first.locator("button").inner_text()
    assert name in window.text(f"{SHEET} .said")
    window.page.focus(f"{SHEET} canvas")
    window.keys("Home", "ArrowRight")
    assert " 1, " in window.text(f"{SHEET} .said")
    rows.first.locator("button").click()
    window.wait("hlotool.selectedName !== ''")
    assert name.startswith(window.value("hlotool.selectedName"))
    assert not window.page.is_visible(SHEET)


def test_fusion_decisions(opened: Opened, page_over: Page, dump: Path) -> None:
    window = opened(page_over(dump))
    entry(window, "Fusion decisions")
    table = window.page.locator(f"{SHEET} .table-row")
    whole = window.text(f"{SHEET} .sheet-head")
    window.page.locator(f"{SHEET} select").select_option(label="fused")
    assert window.text(f"{SHEET} .sheet-head") != whole or "0 not fused" in whole
    link = table.first.locator("button").first
    name = link.inner_text()
    link.click()
    window.wait("hlotool.selectedName !== '' || !document.getElementById('notice').hidden")
    selected = window.value("hlotool.selectedName")
    assert name == selected or name in window.text("#notice")


def test_clusters_are_boxes_with_a_way_to_their_module(
    opened: Opened, page_over: Page, root: Path
) -> None:
    window = opened(page_over(root / CLUSTERS))
    entry(window, "mark_for_compilation.pbtxt")
    window.wait("hlotool.directory.place === 'graph:1' || hlotool.directory.place === 'graph:0'")
    window.value("hlotool.directory.open('graph:0') && null")
    window.wait("hlotool.model.title === 'mark_for_compilation.pbtxt'")
    window.wait("hlotool.open.length === 2")
    for name in ("c0/exp", "c0/neg", "c1/sum", "print"):
        assert window.is_shown(name), name
    box, inner = (window.box(name) for name in ("cluster_0", "c0/exp"))
    assert box["x"] < inner["x"]
    assert inner["y"] + inner["height"] < box["y"] + box["height"]
    assert window.value("hlotool.overlay") == "cluster"
    chip = window.page.locator("#shown .cluster button").first
    assert "2 nodes" in chip.inner_text()
    chip.click()
    pale = "hlotool.directory.viewer.isPale"
    place_of = (
        "((n) => { const p = hlotool.model.find(n)[0]; return [p.computation, p.instruction]; })"
    )
    assert window.value(f"{pale}(...{place_of}('print'))")
    assert not window.value(f"{pale}(...{place_of}('c0/neg'))")
    chip.click()
    assert window.value(f"{pale} === null")
    window.page.locator("#shown .cluster .link").first.click()
    window.wait("hlotool.directory.place === 'stage:0:0'")
    assert "cluster_0" in window.text("#shown")
    window.page.locator("#shown .link", has_text="from cluster_0").click()
    window.wait("hlotool.directory.place === 'graph:0'")


def test_the_address_leads_back(opened: Opened, page_over: Page, root: Path) -> None:
    window = opened(page_over(root / CLUSTERS), "#&show=memory:0")
    window.wait("!document.getElementById('sheet').hidden")
    assert "Memory over time" in window.text(SHEET)
    entry(window, "All files")
    window.wait("location.hash.includes('show=files')")


def every_file_opens(window: Window, directory: Path) -> None:
    """Checks that the page shows each file, or says why not."""
    listed = window.value("hlotool.directory.files.map(({ path, why }) => [path, why])")
    found = {path.relative_to(directory).as_posix() for path in directory.rglob("*")
             if path.is_file()}  # fmt: skip
    assert {path for path, _ in listed} == found
    hidden = [path for path, why in listed if why >= 0]
    window.page.locator("#directory .entry.module").first.click()
    window.page.locator("#directory .entry", has_text="Not shown, and why").click()
    assert f"{len(hidden)} not shown" in window.text(f"{SHEET} .sheet-head")
    if hidden:
        reason = window.page.locator(f"{SHEET} .table-row").first.inner_text()
        assert len(reason.split("\n")[-1]) > 10
    for number, (path, why) in enumerate(listed):
        if why >= 0:
            continue
        window.value("(hlotool.directory.place = '', null)")
        window.value(f"hlotool.directory.openFile({number}) && null")
        window.wait("hlotool.directory.place !== ''")
        text = "(document.getElementById('sheet').hidden ? document.getElementById('shown')"
        window.wait(f"{text} : document.getElementById('sheet')).textContent.length > 5")
        assert window.errors == [], path


def test_every_file_is_shown_or_says_why(opened: Opened, page_over: Page, root: Path) -> None:
    every_file_opens(opened(page_over(root / CLUSTERS)), root / CLUSTERS)


@pytest.mark.parametrize("name", ["jax_layer", "tf_cluster"])
def test_every_file_of_a_dump_of_the_reference(name: str, opened: Opened, page_over: Page) -> None:
    folder = corpus_directory() / "dumps" / name
    if not folder.is_dir():
        pytest.skip(f"the corpus has no dumps/{name}")
    every_file_opens(opened(page_over(folder)), folder)


def test_nothing_of_a_file_is_run(opened: Opened, page_over: Page, tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    script = "</script><script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'>"
    (folder / "module_0000.f.before_optimizations.txt").write_text(
        "HloModule f\nENTRY e { ROOT p = f32[] parameter(0) }"
    )
    (folder / "module_0000.f.ir-no-opt.ll").write_text(f"; {script}\n" * 3)
    (folder / "graph.pbtxt").write_text(
        f'node {{ name: "{script}" op: "{script}" attr {{ key: "_XlaCluster"'
        f' value {{ s: "{script}" }} }} }}'
    )
    window = opened(page_over(folder))
    entry(window, "ir-no-opt.ll")
    window.wait("document.querySelectorAll('#sheet .line').length === 3")
    entry(window, "graph.pbtxt")
    window.wait("hlotool.model.title === 'graph.pbtxt'")
    assert window.value("window.stolen === undefined")
