"""Pages that hlo-opt writes: of the passes of a run, and of what was fused."""

from pathlib import Path
from typing import Any

import pytest

from hlotool.cli.driver import hlo_opt, main
from hlotool.graph.html import unpacked
from tests.graph.page_documents import own_entries

TEXT = """HloModule jit_f
ENTRY main.3 {
  x = f32[8] parameter(0)
  unused = f32[8] tanh(x)
  y = f32[8] exponential(x)
  ROOT r = f32[8] negate(y)
}
"""
FUSION = "--xla_dump_fusion_visualization"
HTML = "--xla_dump_hlo_as_html"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    path = tmp_path / "f.hlo"
    path.write_text(TEXT, "utf-8")
    return str(path)


def document(page: str) -> dict[str, Any]:
    """Returns the data of a page."""
    _, _, rest = page.partition('id="data">')
    return unpacked(rest.partition("</script>")[0])


def pages(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.name: document(path.read_text("utf-8")) for path in sorted(folder.glob("*.html"))}


def pass_names(data: dict[str, Any]) -> list[str]:
    return [data["strings"][one["name"]] for one in data["passes"]]


def dumped(module: str, tmp_path: Path, *options: str) -> Path:
    folder = tmp_path / "dump"
    command = [module, f"--xla_dump_to={folder}", "-o", str(tmp_path / "o.hlo"), *options]
    assert hlo_opt(command) == 0
    return folder


def test_stage_html_shows_each_pass(module: str, tmp_path: Path) -> None:
    out = tmp_path / "f.html"
    assert hlo_opt([module, "--passes=dce,cse,fusion", "--stage=html", "-o", str(out)]) == 0
    data = document(out.read_text("utf-8"))
    assert pass_names(data) == ["dce", "cse", "fusion"]
    assert [one["counts"][0] for one in data["passes"]] == [1, 0, 2]
    assert "fusion(" in own_entries(data)["text"]
    assert data["title"] == "jit_f"
    assert len(data["modules"]) == 3


def test_stage_html_without_passes_is_the_module(module: str, tmp_path: Path) -> None:
    out = tmp_path / "f.html"
    assert hlo_opt([module, "--stage=html", "-o", str(out)]) == 0
    assert document(out.read_text("utf-8"))["passes"] == []


def test_stage_html_has_the_passes_of_a_platform(module: str, tmp_path: Path) -> None:
    out = tmp_path / "f.html"
    assert hlo_opt([module, "--platform=cpu", "--stage=html", "-o", str(out)]) == 0
    data = document(out.read_text("utf-8"))
    assert len(data["passes"]) > 40
    # Those behind them, which add copies and a schedule, are of another stage.
    assert "copy-insertion" not in pass_names(data)
    assert data["decisions"]


def test_dumps_as_html_have_one_page_over_the_passes(module: str, tmp_path: Path) -> None:
    folder = dumped(module, tmp_path, "--passes=dce,fusion", HTML)
    found = pages(folder)
    assert list(found) == [
        "module_0000.jit_f.after_optimization.html",
        "module_0000.jit_f.before_optimization.html",
        "module_0000.jit_f.passes.html",
    ]
    assert pass_names(found["module_0000.jit_f.passes.html"]) == ["dce", "fusion"]


def test_dumps_of_a_platform_show_passes_behind_it_too(module: str, tmp_path: Path) -> None:
    folder = dumped(module, tmp_path, "--platform=cpu", HTML)
    names = pass_names(pages(folder)["module_0000.jit_f.passes.html"])
    assert "fusion" in names
    assert "copy-insertion" in names


def test_fusions_are_shown_as_frames(module: str, tmp_path: Path) -> None:
    folder = dumped(module, tmp_path, "--passes=dce,fusion,dce", FUSION)
    (name,) = [path.name for path in folder.glob("*.html")]
    assert name == "main.3.module_0000.jit_f._fusion.html"
    assert (folder / name).with_suffix(".txt").exists()
    data = pages(folder)[name]
    assert data["begin"] == "decisions"
    assert pass_names(data) == ["fusion"]
    strings = data["strings"]
    decided = [(strings[one["producer"]], strings[one["consumer"]]) for one in data["decisions"]]
    assert ("y", "r") in decided
    assert {one["module"] for one in data["decisions"]} == {0}
    assert len(data["modules"]) == 2


def test_there_is_no_page_where_nothing_was_decided(module: str, tmp_path: Path) -> None:
    folder = dumped(module, tmp_path, "--passes=dce", FUSION)
    assert list(folder.glob("*.html")) == []
    assert (folder / "main.3.module_0000.jit_f._fusion.txt").read_text() == ""


def test_explore_reads_decisions_once(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = dumped(
        module, tmp_path, "--passes=dce,fusion", FUSION, HTML, "--xla_dump_hlo_as_text",
        "--xla_dump_hlo_pass_re=.*",
    )  # fmt: skip
    out = tmp_path / "out.html"
    assert main(["explore", str(folder), "-o", str(out)]) == 0
    data = document(out.read_text("utf-8"))
    (found,) = data["directory"]["modules"]
    assert [one["kind"] for one in found["decisions"]] == ["fused"]
    files = {one["path"]: one for one in data["directory"]["files"]}
    page = files["module_0000.jit_f.passes.html"]
    assert data["strings"][page["kind"]] == "page"
    assert "open it in a browser" in data["strings"][page["why"]]
    # The page alone says the same as the text.
    (folder / "main.3.module_0000.jit_f._fusion.txt").unlink()
    assert main(["explore", str(folder), "-o", str(out)]) == 0
    (again,) = document(out.read_text("utf-8"))["directory"]["modules"]
    assert again["decisions"] == found["decisions"]
    capsys.readouterr()
