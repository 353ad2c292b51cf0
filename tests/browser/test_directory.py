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
    window.keys("r")
    window.wait(f"hlotool.directory.viewer.markOf && {marks}.has('removed')")
    assert window.value("hlotool.module") != after
    assert not window.value(f"{marks}.has('added')")
    window.keys("r")
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
    kinds = window.value("hlotool.directory.data.modules[0].decisions.map(({ kind }) => kind)")
    fused = kinds.count("fused")
    assert 0 < fused < len(kinds)
    assert f"{fused} fused, {len(kinds) - fused} not fused" in window.text(f"{SHEET} .sheet-head")
    for choice, count in (("fused", fused), ("not fused", len(kinds) - fused)):
        window.page.locator(f"{SHEET} select").select_option(label=choice)
        assert f"{count} of {len(kinds)}" in window.text(f"{SHEET} .sheet-head")
        assert table.first.get_attribute("aria-setsize") == str(count)
        assert table.first.inner_text().split("\n")[0].endswith(choice)
    verdict, link = (table.first.locator("button").nth(number) for number in (0, 1))
    name = link.inner_text()
    link.click()
    window.wait(f"hlotool.selectedName === {json.dumps(name)}")
    assert not window.page.is_visible(SHEET)
    entry(window, "Fusion decisions")
    verdict.click()
    # The reason stands at the edge, in the graph.
    window.wait("hlotool.directory.viewer.edgeNote !== null")
    note = window.value("hlotool.directory.viewer.edgeNote.text")
    assert note == "✗ not fused: dot_general.3 reads its elements many times"
    assert not window.page.is_visible(SHEET)
    marks = "hlotool.shown.map((path) => hlotool.directory.viewer.markOf(path))"
    assert {"operand", "user"} <= set(window.value(marks))


def test_what_a_pass_removed_stays_as_a_ghost(opened: Opened, page_over: Page, dump: Path) -> None:
    window = opened(page_over(dump))
    number = window.value(
        "hlotool.directory.runs[0].passes.findIndex((_, p) =>"
        " hlotool.directory.runs[0].name(p) === 'algsimp')"
    )
    window.value(f"hlotool.directory.open('pass:0:{number}') && null")
    window.wait("hlotool.directory.ghosts.boxes.length > 0")
    removed = window.value(f"hlotool.directory.runs[0].lists({number}).removed")
    names = window.value("hlotool.directory.ghosts.boxes.map(({ name }) => name)")
    assert set(names) <= set(removed)
    window.keys("G")
    window.wait("hlotool.directory.ghosts.boxes.length === 0")
    window.keys("G")
    window.wait("hlotool.directory.ghosts.boxes.length > 0")
    window.keys("r")
    window.wait(f"hlotool.directory.place === 'before:0:{number}'")
    window.wait("hlotool.directory.ghosts.boxes.length === 0")


def test_clusters_are_boxes_with_a_way_to_their_module(
    opened: Opened, page_over: Page, root: Path
) -> None:
    window = opened(page_over(root / CLUSTERS))
    entry(window, "mark_for_compilation.pbtxt")
    window.wait("hlotool.directory.place === 'graph:0'")
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
    chip.click()
    window.page.locator("#shown .cluster .link").first.click()
    window.wait("hlotool.directory.place === 'stage:0:0'")
    # Nothing in the module is faded for what was chosen in the graph.
    window.wait(f"hlotool.directory._moving === null && {pale} === null")
    assert "cluster_0" in window.text("#shown")
    window.page.locator("#shown .link", has_text="from cluster_0").click()
    window.wait("hlotool.directory.place === 'graph:0'")


def test_the_address_leads_back(opened: Opened, page_over: Page, root: Path) -> None:
    window = opened(page_over(root / CLUSTERS), "#&show=memory:0")
    window.wait("!document.getElementById('sheet').hidden")
    assert "Memory over time" in window.text(SHEET)
    entry(window, "All files")
    window.wait("location.hash.includes('show=files')")


@pytest.mark.parametrize(
    "wrong",
    [
        "compare:0:0:1:99", "compare:9:0:1:0", "compare:0:0:99", "compare:0:1:0:0", "__proto__:0",
        "constructor", "stage:99:0", "stage:0:99", "pass:0:99", "pass:9:0", "before:0",
        "text:999", "text:-1", "text:", "graph:99", "memory:9", "decisions:9", "files:0", "nothing",
    ],
)  # fmt: skip
def test_an_address_that_names_nothing_leads_to_the_start(
    wrong: str, opened: Opened, page_over: Page, root: Path
) -> None:
    window = opened(page_over(root / CLUSTERS), f"#&show={wrong}")
    first = window.value("hlotool.directory.first")
    assert first.startswith("pass:0:")
    window.wait(f"hlotool.directory.place === {json.dumps(first)}")
    window.wait(f"location.hash.includes({json.dumps(f'show={first}')})")
    assert "pass " in window.text("#shown")
    window.page.evaluate("(show) => { location.hash = `#&show=${show}`; }", "files")
    window.wait("hlotool.directory.place === 'files'")
    window.page.evaluate("(show) => { location.hash = `#&show=${show}`; }", wrong)
    window.wait(f"hlotool.directory.place === {json.dumps(first)}")
    window.wait("document.getElementById('sheet').hidden")


def test_files_may_be_opened_faster_than_they_are_drawn(
    opened: Opened, page_over: Page, dump: Path
) -> None:
    window = opened(page_over(dump))
    count = window.value("hlotool.directory.data.modules[0].passes.length")
    for pause in (0, 1, 5):
        for number in [*range(count), *reversed(range(count)), count - 1]:
            for side in ("before", "pass"):
                window.value(f"hlotool.directory.open('{side}:0:{number}') && null")
            window.page.wait_for_timeout(pause)
        after = window.value(f"hlotool.directory.runs[0].passes[{count - 1}].after")
        outer = window.value("hlotool.directory._outer")
        window.wait(f"hlotool.directory.viewer.shownModule === {-1 if after == outer else after}")
        window.wait("hlotool.directory._moving === null")
        assert place(window) == f"pass:0:{count - 1}"
        assert window.value("hlotool.root === String(hlotool.model.entry)")


def test_two_places_of_one_state_have_their_own_marks(
    opened: Opened, page_over: Page, dump: Path
) -> None:
    window = opened(page_over(dump))
    changed = "passes.map(({ before, after }, p) => [p, before, after])"
    passes = window.value(f"hlotool.directory.runs[0].{changed}")
    of_state = [
        (one, other)
        for one, start, state in passes
        for other, begin, end in passes
        if state == begin and start != state and begin != end
        and window.value(f"hlotool.directory.runs[0].counts({one})[1] > 0")
        and window.value(f"hlotool.directory.runs[0].counts({other})[0] > 0")
    ]  # fmt: skip
    one, other = of_state[0]
    window.value("hlotool.directory.open('stage:0:0') && null")
    window.wait("hlotool.directory._moving === null && hlotool.directory.place === 'stage:0:0'")
    window.value(
        f"(hlotool.directory.open('pass:0:{one}'), hlotool.directory.open('before:0:{other}'), 0)"
    )
    marks = "new Set(hlotool.shown.map((path) => hlotool.directory.viewer.markOf(path)))"
    window.wait("hlotool.directory._moving === null")
    window.wait(f"hlotool.directory.viewer.markOf && {marks}.has('removed')")
    assert not window.value(f"{marks}.has('added')")
    assert place(window) == f"before:0:{other}"


def test_long_lists_of_steps_and_lines(opened: Opened, page_over: Page, root: Path) -> None:
    window = opened(page_over(root / CLUSTERS))
    # Bytes that no whole number of 32 bits holds, at more steps than a call has arguments.
    use = (
        "new Hlo.memory.MemoryUse({ module: 0, allocations: [], steps: Array(200000).fill(0),"
        " curve: Array(200000).fill(1e9).fill(-1, 150000), values: { name: [], allocation: [] } },"
        " [''])"
    )
    assert window.value(f"((use) => [use.peak, use.curve[use.peak]])({use})") == [149999, 1.5e14]
    rows = "Array.from({ length: 200000 }, (_, n) => ({ kind: n < 2 ? 'added' : 'same',"
    rows += " before: n, after: n, text: `line ${n}` }))"
    window.page.evaluate(
        f"hlotool.directory._putSheet(new Hlo.LinesSheet({{ label: 'long', isDifference: true,"
        f" head: [], rows: {rows} }}))"
    )
    window.page.locator(f"{SHEET} .gap-row button").click()
    window.wait("document.querySelectorAll('#sheet .line').length > 6")
    assert window.page.locator(f"{SHEET} .line").first.get_attribute("aria-setsize") == "200000"


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


def test_a_directory_of_texts_says_nothing_of_graphs(
    opened: Opened, page_over: Page, tmp_path: Path
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "notes.txt").write_text("one\ntwo\n")
    window = opened(page_over(folder))
    assert window.text("#title") == "texts"
    assert "notes.txt" in window.text("#sheet")
    for selector in ("#counts", "#search", "#open-all", "#text-toggle"):
        assert not window.page.is_visible(selector), selector
    window.keys("Escape")
    assert window.page.is_visible("#sheet"), "there is no graph to go back to"
    window.page.locator("#directory .entry", has_text="notes.txt").click()
    window.wait("hlotool.directory.place === 'text:0'")
    window.wait("document.querySelectorAll('#sheet .line').length === 2")
    assert window.page.locator("#sheet button", has_text="\N{LEFTWARDS ARROW}").count() == 0
