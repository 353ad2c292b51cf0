import gzip
import json
import shutil
from pathlib import Path

import pytest

from hlotool.cli.driver import hlo_opt, main
from hlotool.graph.html import unpacked

TEXT = """HloModule m
body { p = f32[4] parameter(0)
 c = f32[] constant(2)
 b = f32[4] broadcast(c), dimensions={}
 ROOT r = f32[4] multiply(p, b) }
ENTRY e {
  x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=body
  ROOT n = f32[4] negate(f)
}
"""


@pytest.fixture(name="module")
def _module(tmp_path: Path) -> str:
    path = tmp_path / "m.hlo"
    path.write_text(TEXT)
    return str(path)


def document_of(page: str) -> dict[str, object]:
    return unpacked(page.partition('id="data">')[2].partition("<")[0])


def overlay_of(page: str, name: str) -> dict[str, object]:
    overlays = document_of(page)["overlays"]
    assert isinstance(overlays, list)
    (found,) = (one for one in overlays if one["name"] == name)
    assert isinstance(found, dict)
    return found


def test_without_an_output_a_tree_is_shown(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["graph", module]) == 0
    # The parameter of the fusion is what the fusion takes, and the constant stands with its user.
    assert capsys.readouterr().out.splitlines() == [
        "ENTRY e",
        "├── x  parameter(0)  f32[4]",
        "├── f  fusion: multiply  f32[4]  ← x  4 flop, 32 B",
        "│   └── r  multiply  f32[4]  ← x, 2  4 flop, 48 B  root",
        "└── n  negate  f32[4]  ← f  4 flop, 32 B  root",
    ]


def test_loops_in_a_tree_say_how_often_they_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "loop.hlo"
    path.write_text("""HloModule m
c { a = s32[] parameter(0)
 ROOT l = pred[] custom-call(a), custom_call_target="more" }
b { ROOT d = s32[] parameter(0) }
ENTRY e { n = s32[] parameter(0)
 ROOT w = s32[] while(n), condition=c, body=b, backend_config={"known_trip_count":{"n":"5"}} }
""")
    assert main(["graph", str(path)]) == 0
    assert "w  while \N{MULTIPLICATION SIGN}5  s32[]" in capsys.readouterr().out


def test_a_tree_of_the_top_level_and_of_few_lines(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tree.txt"
    assert main(["graph", module, "--top-level", "-o", str(out)]) == 0
    assert "multiply  f32[4]  ← x, 2" not in out.read_text()
    assert main(["graph", module, "--max-nodes=1", "-o", str(out)]) == 0
    assert [line[4:10] for line in out.read_text().splitlines()] == ["Y e", "x  par", "… 2 mo"]
    assert "not shown: 2 instructions" in capsys.readouterr().err


def test_a_page_by_the_name_of_the_output(module: str, tmp_path: Path) -> None:
    out = tmp_path / "m.html"
    assert main(["graph", module, "-o", str(out)]) == 0
    page = out.read_text()
    assert page.startswith("<!doctype html>")
    assert document_of(page)["title"] == "m"


def test_a_page_with_overlays(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times, kinds = tmp_path / "times.json", tmp_path / "kinds.json"
    times.write_text('{"x": 1, "%n": 2.5, "gone": 3}')
    kinds.write_text('{"who": {"x": "me"}, "times": {"f": 7}}')
    options = ["--format=html", f"--overlay={times}", f"--overlay={kinds}"]
    assert main(["graph", module, *options]) == 0
    captured = capsys.readouterr()
    assert "1 name is of no instruction: gone" in captured.err
    assert overlay_of(captured.out, "times")["values"] == [[None] * 4, [1, 7, 2.5]]
    assert overlay_of(captured.out, "who")["kind"] == "categorical"


@pytest.mark.parametrize("text", ['{"x": 1}', '{"bytes": {"x": 1}}'])
def test_an_overlay_of_the_page_stays_alone_with_its_name(
    text: str, module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, out = tmp_path / "bytes.json", tmp_path / "out.html"
    given.write_text(text)
    assert main(["graph", module, f"--overlay={given}", "-o", str(out)]) == 2
    shown = capsys.readouterr().err
    assert "pages have an overlay bytes of their own" in shown
    assert 'rename the file, or write {"my bytes": {...}}' in shown
    assert not out.exists()


def test_statistics_of_a_profile_have_a_name_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(
        TEXT.replace("negate(f)", "negate(f), statistics={visualizing_index=0,flops=3}")
    )
    assert main(["graph", str(path), "--format=html"]) == 0
    page = capsys.readouterr().out
    assert overlay_of(page, "profile: flops")["values"] == [[None] * 4, [None, None, 3]]
    assert overlay_of(page, "flops")["values"] == [[None, None, None, 4], [None, 4, 4]]


def test_times_and_frames_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(
        "HloModule m\n\n"
        'FileNames\n1 "src/model.py"\n\nFunctionNames\n1 "step"\n2 "main"\n\n'
        "FileLocations\n1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=2"
        " end_column=9}\n2 {file_name_id=1 function_name_id=2 line=40 end_line=40 column=2"
        " end_column=9}\n\nStackFrames\n1 {file_location_id=2 parent_frame_id=1}\n"
        "2 {file_location_id=1 parent_frame_id=2}\n\n"
        "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT n = f32[4] negate(x),"
        " metadata={stack_frame_id=2}, statistics={visualizing_index=0,milliseconds=1.5}\n}\n"
    )
    assert main(["graph", str(path), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["computations"]
    x, n = entry["nodes"]
    assert (x["statistics"], x["frames"]) == ({}, [])
    assert n["statistics"] == {"milliseconds": 1.5}
    assert n["frames"] == [
        {"place": "src/model.py:12", "function": "step"},
        {"place": "src/model.py:40", "function": "main"},
    ]


@pytest.mark.parametrize("suffix", ["dot", "gv"])
def test_a_dot_file(suffix: str, module: str, tmp_path: Path) -> None:
    out = tmp_path / f"m.{suffix}"
    assert main(["graph", module, "-o", str(out)]) == 0
    assert out.read_text().startswith("digraph")


@pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot is not installed")
@pytest.mark.parametrize(
    ("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_a_picture(suffix: str, start: bytes, module: str, tmp_path: Path) -> None:
    out = tmp_path / f"m.{suffix}"
    assert main(["graph", module, "--around=f", "--radius=1", "-o", str(out)]) == 0
    assert out.read_bytes().startswith(start)


def test_without_graphviz_nothing_is_written(
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", "")
    out = tmp_path / "m.svg"
    assert main(["graph", module, "-o", str(out)]) == 2
    assert "apt install graphviz" in capsys.readouterr().err
    assert not out.exists()


def test_the_model_as_json(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", module, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["module"], found["entry"]) == ("m", "e")
    body, entry = found["computations"]
    assert (body["kind"], body["root"]) == ("fusion", "r")
    fusion = entry["nodes"][1]
    assert fusion["calls"] == [{"part": "calls", "kind": "fusion", "computation": "body"}]
    assert fusion["operands"] == ["x"]
    assert (fusion["flops"], fusion["bytes"], fusion["line"]) == (4, 16, 12)
    assert fusion["category"] == "elementwise"
    assert [node["folded"] for node in body["nodes"]] == [False, True, True, False]


def test_a_part_of_the_model_as_json(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", module, "--json", "--all-paths", "x", "f"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["computations"]
    assert [node["name"] for node in entry["nodes"]] == ["x", "f"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "m.xyz"], "the name of m.xyz speaks of no format"),
        (["--around=g"], "the module has no instruction g"),
        (["--around=f", "--all-paths", "x", "n"], "--around and --all-paths are given"),
        (["--radius=1"], "--radius is given without --around"),
        (["--format=html", "--around=f"], "a page holds the whole module"),
        (["--format=html", "--color-by=sharding"], "a page holds the whole module"),
        (["--format=dot", "--overlay=x.json"], "--overlay is for pages"),
        (["--format=html", "--overlay=none.json"], "cannot read none.json"),
        (["-o", "nowhere/m.html"], "cannot write nowhere/m.html"),
        (["--format=dto"], "invalid choice"),
        (["--format=html", "-o", "m.hlo"], "m.hlo would be written over what is read"),
        (["more.hlo"], "one file too many: more.hlo"),
        (["--around=f", "--radius=" + "9" * 20], "a number of at most 18 digits wanted"),
    ],
)
def test_what_cannot_be(
    options: list[str],
    message: str,
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["graph", module, *options]) == 2
    assert message in capsys.readouterr().err


def test_two_overlays_may_not_say_the_same(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text('{"time": {"f": 1}}')
    given = [f"--overlay={tmp_path}/{name}.json" for name in ("one", "two")]
    assert main(["graph", module, "-o", str(tmp_path / "m.html"), *given]) == 2
    assert "two files of --overlay say what time is of f" in capsys.readouterr().err


def test_what_is_too_deep_to_be_open_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies = "".join(
        f"c{n} {{ p{n} = f32[] parameter(0)\n ROOT r{n} = f32[] call(p{n}), to_apply=c{n - 1} }}\n"
        for n in range(1, 15)
    )
    path = tmp_path / "deep.hlo"
    path.write_text(
        f"HloModule m\nc0 {{ p = f32[] parameter(0)\n ROOT r = f32[] negate(p) }}\n{bodies}"
        "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT y = f32[] call(x), to_apply=c14\n}\n"
    )
    assert main(["graph", str(path)]) == 0
    assert "--computation=c2 shows it" in capsys.readouterr().err
    assert main(["graph", str(path), "--computation=c11"]) == 0
    assert not capsys.readouterr().err


def test_a_packed_module(module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", module, "-o", str(tmp_path / "m.pb")]) == 0
    for name in ("m.hlo", "m.pb"):
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        assert main(["graph", str(packed)]) == 0
        assert "fusion: multiply" in capsys.readouterr().out
        packed.write_bytes(packed.read_bytes()[:-9])
        assert main(["graph", str(packed)]) == 1
        assert "ends before what it holds does" in capsys.readouterr().err


def test_a_wrong_module(tmp_path: Path) -> None:
    path = tmp_path / "bad.hlo"
    path.write_text(TEXT.replace("negate(f)", "negate(f, f)"))
    out = tmp_path / "m.html"
    assert main(["graph", str(path), "-o", str(out)]) == 1
    assert not out.exists()


def test_control_characters_of_names_reach_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(
        "HloModule m\nENTRY e {\n  ROOT c = f32[4] custom-call(),"
        ' custom_call_target="a\\033[31m"\n}\n'
    )
    assert main(["graph", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_stage_html(module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "m.html"
    assert hlo_opt([module, "--passes=dce", "--stage=html", "-o", str(out)]) == 0
    assert document_of(out.read_text())["title"] == "m"
    assert hlo_opt([module, module, "--stage=html", "-o", str(out)]) == 2
    assert "a page holds one module, and there are several" in capsys.readouterr().err


def test_dumps_as_html(module: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    options = [f"--xla_dump_to={dump}", "--xla_dump_hlo_as_html", "-o", str(tmp_path / "o")]
    assert hlo_opt([module, "--passes=dce", *options]) == 0
    pages = sorted(dump.glob("*.html"))
    assert [path.name.split(".m.")[1] for path in pages] == [
        "after_optimization.html", "before_optimization.html", "passes.html",
    ]  # fmt: skip
    assert document_of(pages[1].read_text())["title"] == pages[1].name.removesuffix(".html")
