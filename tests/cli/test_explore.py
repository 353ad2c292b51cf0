import json
import re
import time
from pathlib import Path

import pytest

from hlotool.cli.driver import main
from hlotool.frontends import dump_history
from hlotool.frontends.dump_directory import DumpFile
from hlotool.frontends.dump_reading import parsed_module
from hlotool.graph.html import unpacked
from hlotool.ir.module import Module

CLUSTERS = "testdata/dumps/clusters"
BEFORE = """HloModule f
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] add(x, x)
  ROOT r = f32[4] negate(x)
}
"""
AFTER = BEFORE.replace("  y = f32[4] add(x, x)\n", "")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    folder.mkdir()
    prefix = folder / "module_0003.jit_f"
    files = {
        "before_optimizations.txt": BEFORE,
        "0000.cleaning.after_dce.before_cse.txt": AFTER,
        "0001.cleaning.after_cse.before_pipeline-end.txt": AFTER,
        "before_optimizations.dot": "digraph {}",
        "debug_options": 'xla_dump_hlo_pass_re: ".*"\n',
    }
    for end, text in files.items():
        Path(f"{prefix}.{end}").write_text(text)
    (folder / "module_0004.jit_g.before_optimizations.txt").write_text(BEFORE)
    return folder


@pytest.mark.parametrize("columns", [40, 140])
def test_tables(
    columns: int, dump: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["explore", str(dump)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("module_0003 jit_f", "module_0004 jit_g", "before_optimizations", "cleaning"):
        assert words in shown
    assert "shown: 5 files" in shown
    assert "not shown: 1 file," in shown
    if columns == 140:
        assert "0000 after dce, before cse" in shown
        assert "drawing 1 a drawing: this page draws the module" in shown


def test_json_names_every_file(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(dump), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {file["path"] for file in found["files"]} == {path.name for path in dump.iterdir()}
    assert all(file["shown"] == (file["why"] is None) for file in found["files"])
    first, second = found["modules"]
    assert (first["number"], first["name"], second["name"]) == (3, "jit_f", "jit_g")
    stage = first["stages"][1]
    assert (stage["pipeline"], stage["after"], stage["before"]) == ("cleaning", "dce", "cse")
    assert "changes" not in first


def test_what_passes_changed(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(dump), "--changes=diff", "--module=jit_f"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["dce", "1", "0", "0", "2"] in [line.split() for line in lines]
    assert [line for line in lines if line.startswith("-")] == [
        "--- before dce",
        "-  %y = f32[4]{0} add(%x, %x)",
    ]
    assert main(["explore", str(dump), "--changes", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["modules"]
    assert [(one["pass"], one["changed"], one["removed"]) for one in first["changes"]] == [
        ("dce", True, 1),
        ("cse", False, 0),
    ]
    assert second["changes"] == []


def test_modules_of_one_title_are_told_apart_by_their_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "module_0003.f.before_optimizations.txt").write_text(BEFORE)
    (tmp_path / "one" / "module_0004.g.before_optimizations.txt").write_text(BEFORE)
    assert main(["explore", str(tmp_path)]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    titles = ["module_0003 f in one", "module_0004 g", "module_0003 f in two"]
    assert [line for line in lines if line.startswith("module_")] == titles
    assert main(["explore", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [module["title"] for module in found["modules"]] == titles
    assert [file["module"] for file in found["files"]] == titles
    assert main(["explore", str(tmp_path), "--changes"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line.startswith("module_")] == titles


def test_a_page_and_changes_read_modules_once(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read: list[str] = []

    def counted(content: bytes, file: DumpFile) -> Module:
        read.append(file.path)
        return parsed_module(content, file)

    monkeypatch.setattr(dump_history, "parsed_module", counted)
    out = tmp_path / "out.html"
    assert main(["explore", str(dump), "-o", str(out), "--changes"]) == 0
    assert len(read) == len(set(read)) == 2
    assert "dce" in capsys.readouterr().out
    assert out.exists()


def test_the_page(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dump / "module_0005.h.before_optimizations.txt").write_text("HloModule </script> h")
    out = tmp_path / "out.html"
    assert main(["explore", str(dump), "-o", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "module_0005.h.before_optimizations.txt: note: not shown: cannot be read" in shown.err
    page = out.read_text()
    found = re.search(r'id="data">\s*([A-Za-z0-9+/=]+)\s*<', page)
    assert found is not None
    document = unpacked(found[1])
    assert len(document["directory"]["modules"]) == 3
    assert len(document["modules"]) == 2, "jit_g is what jit_f began as"


def test_a_page_over_graphs_names_their_modules(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    assert main(["explore", str(root / CLUSTERS), "-o", str(out)]) == 0
    assert out.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere is no directory"),
        (["{empty}"], "there is no file in {empty}"),
        (["{empty}", "--json"], "--xla_dump_to=DIRECTORY"),
        (["{empty}", "-o", "{empty}/out.html"], "hlotool graph module.hlo"),
        (["{unknown}"], "nothing in {unknown} can be shown"),
        (["{unknown}", "-o", "{empty}/out.html"], "2 files: a kind of file that is not known"),
        (["{dump}", "--module=("], "--module is no regular expression"),
        (["{dump}", "--module=zzz"], "matches --module=zzz"),
        (["{dump}", "-o", "-"], "explore writes a page"),
        (["{dump}", "-o", "{dump}/nowhere/out.html"], "cannot write"),
        (["{dump}", "--module-limit=x"], "a number of 0 or more wanted"),
    ],
)
def test_usage_errors(
    words: list[str],
    message: str,
    dump: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    empty, unknown = tmp_path / "empty", tmp_path / "unknown"
    for folder in (empty, unknown):
        folder.mkdir()
    for name in ("a.c", "b.bin"):
        (unknown / name).write_text("x")
    names = {"dump": dump, "empty": empty, "unknown": unknown}
    assert main(["explore", *(word.format(**names) for word in words)]) == 2
    # Messages break where the terminal ends.
    shown = " ".join(capsys.readouterr().err.split())
    assert message.format(**names) in shown
    assert not list(empty.iterdir())


def test_thousands_of_files_are_indexed_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(40):
        for step in range(100):
            name = f"module_{number:04}.jit_f.{step:04}.pipeline.after_a{step}.before_b.txt"
            (tmp_path / name).touch()
    start = time.perf_counter()
    assert main(["explore", str(tmp_path), "--json"]) == 0
    assert time.perf_counter() - start < 5
    found = json.loads(capsys.readouterr().out)
    assert [len(module["stages"]) for module in found["modules"]] == [100] * 40
