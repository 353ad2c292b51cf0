import base64
import gzip
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest

from hlotool.cli.driver import main
from hlotool.frontends import dump_history
from hlotool.frontends.directory_data import Limits, directory_document
from hlotool.frontends.directory_texts import MemoryTable
from hlotool.frontends.dump_directory import DumpDirectory, DumpFile, dump_directory
from hlotool.frontends.dump_history import DumpStates
from hlotool.frontends.dump_names import BUFFERS, LIVE_RANGES
from hlotool.frontends.dump_reading import module_content
from hlotool.graph.html import packed, unpacked
from hlotool.graph.numbering import Strings
from hlotool.proto.writer import write_module
from hlotool.text.parser import parse
from tests.conftest import corpus_directory
from tests.graph.page_documents import own_entries

MODULE = """HloModule m
ENTRY e {
  x = f32[8,16] parameter(0)
  y = f32[16,8] transpose(x), dimensions={1,0}
  z = f32[8,16] transpose(y), dimensions={1,0}
  a = f32[8,16] exponential(z)
  ROOT b = f32[8,16] negate(a)
}
"""
CLUSTERS = "testdata/dumps/clusters"


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns what `hlo-opt` dumps of a small module, in all formats."""
    folder = tmp_path_factory.mktemp("dumped")
    (folder / "m.hlo").write_text(MODULE)
    flags = [
        "--xla_dump_hlo_pass_re=.*", "--xla_dump_hlo_as_text", "--xla_dump_hlo_as_proto",
        "--xla_dump_hlo_as_dot", "--xla_dump_fusion_visualization", "--xla_dump_module_metadata",
        f"--xla_dump_to={folder / 'dump'}",
    ]  # fmt: skip
    assert main(["opt", str(folder / "m.hlo"), "--platform=cpu", "-o", "/dev/null", *flags]) == 0
    return folder / "dump"


def document(folder: Path, limits: Limits | None = None) -> dict[str, Any]:
    made = directory_document(dump_directory(str(folder)), limits)
    assert unpacked(packed(made)) == made
    return made


def state(made: dict[str, Any], number: int) -> dict[str, Any]:
    return {**made, **own_entries(made, number)}


def reasons(made: dict[str, Any]) -> dict[str, str]:
    strings = made["strings"]
    return {
        file["path"]: strings[file["why"]]
        for file in made["directory"]["files"]
        if file["why"] >= 0
    }


def check_every_file_is_shown_or_says_why(made: dict[str, Any]) -> None:
    directory = made["directory"]
    shown = {row["file"] for row in directory["texts"]}
    for graph in directory["graphs"]:
        shown |= set(graph["files"])
    for module in directory["modules"]:
        shown |= {stage["file"] for stage in module["stages"] if stage["module"] >= 0}
        shown |= set(module["decided"])
    said = {number for number, file in enumerate(directory["files"]) if file["why"] >= 0}
    assert shown.isdisjoint(said)
    assert shown | said == set(range(len(directory["files"])))


def test_our_own_dump(dumped: Path) -> None:
    made = document(dumped)
    check_every_file_is_shown_or_says_why(made)
    strings = made["strings"]
    (module,) = made["directory"]["modules"]
    assert made["title"] == "dump"
    assert module["title"] == "module_0000 m"
    first, last = (state(made, module["stages"][n]["module"]) for n in (0, -1))
    assert made["modules"].count(None) == 1, "the document itself is not there twice"
    assert last["title"] == "m"
    assert "transpose" in first["text"]
    assert "kLoop" in last["text"]
    assert made["titles"][0] == "module_0000 m, before_optimizations"
    assert len(made["titles"]) == len(made["modules"])
    changed = {strings[one["name"]]: one for one in module["passes"] if one["changed"]}
    assert changed["algsimp"]["counts"] == [2, 0, 1]
    assert changed["algsimp"]["milliseconds"] > 0
    assert changed["algsimp"]["alone"]
    first_decision, end = changed["fusion"]["decisions"]
    decided = module["decisions"][first_decision:end]
    assert ("a", "b", "fused") in {
        (strings[one["producer"]], strings[one["consumer"]], one["kind"]) for one in decided
    }
    memory = module["memory"]
    assert memory["module"] == module["stages"][-1]["module"]
    assert max(memory["values"]["end"]) == len(memory["steps"])
    assert sum(memory["curve"]) == 2 * 8 * 16 * 4, "at the end the input and the result are live"
    texts = {strings[row["title"]]: row for row in made["directory"]["texts"]}
    code = texts["ir-no-opt.ll"]
    assert (
        zlib.decompress(base64.b64decode(code["data"])).decode()
        == (dumped / "module_0000.m.ir-no-opt.ll").read_text()
    )
    assert not code["cut"]


def test_edits_make_one_text_of_the_other(dumped: Path) -> None:
    made = document(dumped)
    (module,) = made["directory"]["modules"]
    texts = [state(made, n)["text"].split("\n") for n in range(len(made["modules"]))]
    edited = 0
    for one in module["passes"]:
        before, after = texts[one["before"]], texts[one["after"]]
        lines: list[str] = []
        start = 0
        for equal, taken, given in zip(*[iter(one["edits"])] * 3, strict=True):
            lines += before[start : start + equal]
            lines += after[len(lines) : len(lines) + given]
            start += equal + taken
        assert lines + before[start:] == after
        edited += bool(one["edits"])
    assert edited >= 2


def test_a_dump_with_graphs(root: Path) -> None:
    made = document(root / CLUSTERS)
    check_every_file_is_shown_or_says_why(made)
    strings = made["strings"]
    directory = made["directory"]
    graph, function = directory["graphs"]
    clusters = [(strings[one["name"]], one["module"]) for one in graph["clusters"]]
    assert clusters == [("cluster_0", 0), ("cluster_1", -1)]
    assert strings[function["function"]] == "cluster_1"
    assert [made["titles"][one["document"]] for one in (graph, function)] == [
        "mark_for_compilation.pbtxt",
        "mark_for_compilation.pbtxt, cluster_1",
    ]
    (module,) = directory["modules"]
    # One pass of the dump changed nothing, and its stage is the same state.
    assert [stage["module"] for stage in module["stages"]] == [0, 0, 1]
    assert [one["alone"] for one in module["passes"]] == [0, 0]
    assert [one["pass"] for one in module["decisions"]] == [-1, -1]
    assert module["memory"]["curve"] == [32, 32]
    assert not reasons(made)


def test_graphs_alone(root: Path, tmp_path: Path) -> None:
    shutil.copy(root / CLUSTERS / "mark_for_compilation.pbtxt", tmp_path)
    made = document(tmp_path)
    check_every_file_is_shown_or_says_why(made)
    documents = [graph["document"] for graph in made["directory"]["graphs"]]
    assert documents == [0, 1]
    assert all(made["modules"][number] is not None for number in documents)
    assert own_entries(made)["title"] == "nothing", "the page itself shows an empty module"


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "module_0000.f.before_optimizations.txt").write_text("HloModule f\nENTRY e {")
    (tmp_path / "module_0000.f.cpu_after_optimizations.txt").write_bytes(b"HloModule \xff")
    (tmp_path / "module_0001.g.before_optimizations.hlo.pb.gz").write_bytes(b"\x1f\x8bno")
    (tmp_path / "module_0002.h.before_optimizations.hlo.pb").write_bytes(b"\xff\xff")
    (tmp_path / "module_0001.g._fusion.html").write_text("<html></html>")
    (tmp_path / "graph.pbtxt").write_text("no graph")
    made = document(tmp_path)
    check_every_file_is_shown_or_says_why(made)
    found = reasons(made)
    assert len(found) == 6
    assert all(why.startswith("cannot be read: ") for why in found.values()), found
    assert made["modules"] == []
    assert own_entries(made)["computations"], "the page shows an empty module"


def test_protos_are_read(tmp_path: Path) -> None:
    data = write_module(parse(MODULE))
    (tmp_path / "module_0000.f.before_optimizations.hlo.pb").write_bytes(data)
    (tmp_path / "module_0001.g.before_optimizations.hlo.pb.gz").write_bytes(gzip.compress(data))
    made = document(tmp_path)
    check_every_file_is_shown_or_says_why(made)
    assert [module["stages"][0]["module"] for module in made["directory"]["modules"]] == [0, 1]
    assert not reasons(made)


def test_limits(dumped: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    shutil.copytree(dumped, folder)
    whole = document(folder)
    size = (folder / "module_0000.m.before_optimizations.txt").stat().st_size
    made = document(folder, Limits(modules=4 * size, text=100))
    check_every_file_is_shown_or_says_why(made)
    assert 2 <= len(made["modules"]) < len(whole["modules"])
    (module,) = made["directory"]["modules"]
    assert module["stages"][0]["module"] >= 0
    assert module["stages"][-1]["module"] >= 0, "the last stage comes before those between passes"
    assert any("--module-limit" in why for why in reasons(made).values())
    rows = made["directory"]["texts"]
    assert any(row["cut"] for row in rows)
    for row in rows:
        text = zlib.decompress(base64.b64decode(row["data"]))
        assert len(text) <= 100
        assert row["cut"] == (len(text) < row["size"])


def test_what_is_over_the_limit_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = MODULE + "// " + "x" * 1000 + "\n"
    texts = {"0000.f": MODULE, "0001.g": large, "0002.h": MODULE}
    for name, text in texts.items():
        (tmp_path / f"module_{name}.before_optimizations.txt").write_text(text)
    read: list[str] = []

    def counted(directory: DumpDirectory, file: DumpFile) -> bytes:
        read.append(file.path[7:11])
        return module_content(directory, file)

    monkeypatch.setattr(dump_history, "module_content", counted)
    directory = dump_directory(str(tmp_path))
    states = DumpStates(directory, len(MODULE) + 10)
    assert read == ["0000", "0002"]
    assert [states.number(module.stages[0]) for module in directory.modules] == [0, -1, 0]
    assert "--module-limit" in directory.modules[1].files[0].why


def test_memory_has_a_limit_for_all_modules(dumped: Path, tmp_path: Path) -> None:
    shutil.copytree(dumped, tmp_path / "a")
    shutil.copytree(dumped, tmp_path / "b")
    directory = dump_directory(str(tmp_path))
    one, other = directory.modules
    size = sum(file.size for kind in (BUFFERS, LIVE_RANGES) for file in one.of_kind(kind)[:1])
    for limit, count in ((2 * size, 2), (2 * size - 1, 1), (size - 1, 0)):
        directory.remarks.clear()
        table = MemoryTable(directory, Strings(), limit)
        made = [table.entry(module) for module in (one, other)]
        assert [entry is not None for entry in made] == [count > 0, count > 1]
        assert len(directory.remarks) == 2 - count
        assert all("no memory over time" in words for _, words in directory.remarks)


@pytest.mark.parametrize("name", ["jax_layer", "tf_cluster"])
def test_dumps_of_the_reference(name: str) -> None:
    folder = corpus_directory() / "dumps" / name
    if not folder.is_dir():
        pytest.skip(f"the corpus has no dumps/{name}")
    made = document(folder)
    check_every_file_is_shown_or_says_why(made)
    for path, why in reasons(made).items():
        assert not why.startswith("cannot be read"), path
    for module in made["directory"]["modules"]:
        assert all(stage["module"] >= 0 for stage in module["stages"])
        assert any(one["changed"] for one in module["passes"])
        assert module["memory"]["curve"]
    linked = [c["module"] for graph in made["directory"]["graphs"] for c in graph["clusters"]]
    assert linked == ([0, 0] if name == "tf_cluster" else [])
