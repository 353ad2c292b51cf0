"""hlo-opt with passes: dumps, reports and flags."""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlotool import parse
from hlotool.cli.driver import hlo_opt
from hlotool.passes.registry import PASSES

TEXT = """HloModule jit_f
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  unused = f32[2] multiply(x, y)
  t = (f32[2], f32[2]) tuple(x, y)
  a = f32[2] get-tuple-element(t), index=0
  ROOT r = f32[2] add(a, y)
}
"""
PASSES_OPTION = "--passes=tuple-simplifier,dce,dce"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    path = tmp_path / "f.hlo"
    path.write_text(TEXT, encoding="utf-8")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_passes_change_what_is_printed(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hlo_opt([str(module), PASSES_OPTION]) == 0
    printed = parse(capsys.readouterr().out)
    assert [one.opcode for one in printed.entry.instructions] == ["parameter", "parameter", "add"]


def test_passes_may_be_given_in_parts(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hlo_opt([str(module), "--passes=tuple-simplifier", "--passes=dce"]) == 0
    assert "tuple" not in capsys.readouterr().out


def test_unknown_pass_is_an_error_of_usage(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hlo_opt([str(module), "--passes=dce,tuple-simplifer"]) == 2
    shown = capsys.readouterr().err
    assert "--passes:1:5: error: unknown pass tuple-simplifer" in shown
    assert "did you mean tuple-simplifier" in shown


@pytest.mark.parametrize("columns", [48, 140])
def test_times_name_passes_and_patterns_in_full(
    columns: int,
    module: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    passes = "--passes=tuple-simplifier,dce,tuple-simplifier"
    assert hlo_opt([str(module), passes, "--time-passes"]) == 0
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    runs = [line for line in lines if line[:1] == ["tuple-simplifier"]]
    assert runs[0][2:] == ["yes", "6", "->", "4", "1"]
    assert runs[1][2:] == ["3"]
    assert runs[2][1:] == ["element_of_tuple", "1"]


def test_list_of_passes_needs_no_module(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert hlo_opt(["--list-passes"]) == 0
    shown = capsys.readouterr().out
    assert all(one.name in shown for one in PASSES)
    assert hlo_opt(["--list-passes", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {one["name"] for one in listed} == {one.name for one in PASSES}
    assert all(one["description"] for one in listed)


def test_no_module_is_an_error_of_usage() -> None:
    assert hlo_opt([PASSES_OPTION]) == 2


def test_times_and_changes_as_json(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--time-passes", "--print-changed", "--json"]
    assert hlo_opt([str(module), PASSES_OPTION, *options]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    changes = [line for line in lines if line["kind"] == "change"]
    assert [line["pass"] for line in changes] == ["tuple-simplifier", "dce"]
    assert any("unused" in line and line.startswith("-") for line in changes[1]["diff"])
    runs = [line for line in lines if line["kind"] == "pass"]
    assert [(line["instructions_before"], line["instructions_after"]) for line in runs] == [
        (6, 4), (4, 3), (3, 3),
    ]  # fmt: skip
    assert runs[0]["patterns"] == {"element_of_tuple": 1}


def test_values_are_checked(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hlo_opt([str(module), PASSES_OPTION, "--check-values", "--verify-each"]) == 0
    assert "results are the same after 2 passes" in capsys.readouterr().err


def test_module_that_cannot_be_evaluated_is_not_called_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(
        'HloModule m\nENTRY e {\n  ROOT c = f32[2] custom-call(), custom_call_target="what"\n}\n'
    )
    assert hlo_opt([str(path), "--passes=dce", "--check-values"]) == 1
    assert "no values were checked" in capsys.readouterr().err


def test_dump_of_every_pass_that_changed(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    options = [f"--xla_dump_to={dump}", "--xla_dump_hlo_pass_re=.*", "--xla_dump_module_metadata"]
    assert hlo_opt([str(module), PASSES_OPTION, *options, "-o", str(tmp_path / "out.hlo")]) == 0
    start = "module_0000.jit_f."
    assert names(dump) == [
        f"{start}0000.transforms_pipeline.after_pipeline-start.before_tuple-simplifier.txt",
        f"{start}0001.transforms_pipeline.after_tuple-simplifier.before_dce.txt",
        f"{start}0002.transforms_pipeline.after_dce.before_dce.txt",
        f"{start}after_optimization.txt",
        f"{start}before_optimization.txt",
        f"{start}debug_options",
        "module_0000.metadata.textproto",
    ]
    assert parse((dump / f"{start}after_optimization.txt").read_text()).name == "jit_f"
    assert 'xla_dump_hlo_pass_re: ".*"' in (dump / f"{start}debug_options").read_text()
    metadata = (dump / "module_0000.metadata.textproto").read_text()
    assert metadata.count("pass_metadata {") == 3
    assert "module_changed: false" in metadata


def test_another_expression_dumps_unchanged_modules_too(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    options = [f"--xla_dump_to={dump}", "--xla_dump_hlo_pass_re=dce"]
    assert hlo_opt([str(module), PASSES_OPTION, *options, "-o", str(tmp_path / "o")]) == 0
    steps = [name for name in names(dump) if re.search(r"\.[0-9]{4}\.", name)]
    assert [name.split("transforms_pipeline.")[1] for name in steps] == [
        "after_tuple-simplifier.before_dce.txt",
        "after_dce.before_dce.txt",
        "after_dce.before_pipeline-end.txt",
    ]


def test_formats_of_dumps(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    options = [
        f"--xla_dump_to={dump}", "--xla_dump_hlo_as_proto", "--xla_dump_compress_protos=true",
        "--xla_dump_hlo_as_dot", "--xla_dump_hlo_as_text", "--noxla_dump_hlo_as_long_text",
    ]  # fmt: skip
    assert hlo_opt([str(module), PASSES_OPTION, *options, "-o", str(tmp_path / "o")]) == 0
    before = [name for name in names(dump) if ".before_" in name]
    assert [name.split("before_optimization")[1] for name in before] == [
        ".dot", ".hlo.pb.gz", ".txt",
    ]  # fmt: skip
    assert b"jit_f" in gzip.decompress((dump / before[1]).read_bytes())
    text = (dump / before[2]).read_text()
    assert "%" not in text
    assert (dump / before[0]).read_text().startswith("digraph")


def test_a_second_run_leaves_the_first_dump_alone(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    command = [str(module), "--passes=dce", f"--xla_dump_to={dump}", "-o", str(tmp_path / "o")]
    assert hlo_opt(command) == 0
    first = {path: path.stat().st_mtime_ns for path in dump.iterdir()}
    assert hlo_opt(command) == 0
    assert all(path.stat().st_mtime_ns == time for path, time in first.items())
    assert sum(name.startswith("module_0001.jit_f.") for name in names(dump)) == len(first)


def test_dumps_without_a_folder_are_framed(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--xla_dump_hlo_pass_re=tuple", "-o", str(tmp_path / "o")]
    assert hlo_opt([str(module), PASSES_OPTION, *options]) == 0
    shown = capsys.readouterr().out
    assert "*** Begin module_0000.jit_f.before_optimization.txt ***\nHloModule" in shown
    assert "*** End module_0000.jit_f.after_optimization.txt ***\n" in shown
    assert hlo_opt([str(module), PASSES_OPTION, "--xla_dump_hlo_as_proto"]) == 2
    assert "name a folder for it with --xla_dump_to" in capsys.readouterr().err


def test_expression_that_matches_nothing_is_told(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hlo_opt([str(module), "--passes=dce", "--xla_dump_hlo_pass_re=fusion"]) == 0
    assert "no pass of the run matches --xla_dump_hlo_pass_re=fusion" in capsys.readouterr().err
    assert hlo_opt([str(module), "--passes=dce", "--xla_dump_hlo_pass_re=("]) == 2
    assert "is no regular expression" in capsys.readouterr().err


def test_only_so_many_modules_are_dumped(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    options = [f"--xla_dump_to={dump}", "--xla_dump_max_hlo_modules=1", "-o", str(tmp_path / "o")]
    assert hlo_opt([str(module), str(module), "--passes=dce", *options]) == 0
    assert {name.split(".")[0] for name in names(dump)} == {"module_0000"}


def test_modules_that_do_not_match_are_not_dumped(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    options = [f"--xla_dump_to={dump}", "--xla_dump_hlo_module_re=other"]
    assert hlo_opt([str(module), "--passes=dce", *options, "-o", str(tmp_path / "o")]) == 0
    assert not dump.exists()


def test_flags_that_mean_nothing_or_are_unknown_are_told(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hlo_opt([str(module), "--passes=dce", "--xla_gpu_autotune_level=0"]) == 0
    assert "--xla_gpu_autotune_level has no effect here" in capsys.readouterr().err
    assert hlo_opt([str(module), "--passes=dce", "--xla_dump_hlo_pas_re=x"]) == 2
    assert "did you mean xla_dump_hlo_pass_re" in capsys.readouterr().err


def test_flags_of_the_environment_and_of_a_file(
    module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    file = tmp_path / "options.txt"
    file.write_text('xla_disable_all_hlo_passes: true\nxla_dump_to: "nowhere"\n')
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path / 'dump'} --xla_unheard_of=1")
    command = [str(module), PASSES_OPTION, f"--debug-options-file={file}"]
    assert hlo_opt(command) == 0
    shown = capsys.readouterr()
    assert "unused" in shown.out
    assert "XLA_FLAGS: unknown flag --xla_unheard_of" in shown.err
    assert (tmp_path / "dump").is_dir()
    assert not (tmp_path / "nowhere").exists()
    assert hlo_opt([*command, "--xla_disable_all_hlo_passes=false"]) == 0
    assert "unused" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flag", "left"),
    [
        ("--xla_disable_hlo_passes=dce", ["parameter", "parameter", "multiply", "add"]),
        ("--xla_enable_hlo_passes_only=dce", ["parameter"] * 2 + ["tuple", "get-tuple-element"]
         + ["add"]),
        ("--xla_run_hlo_passes_starting_from=dce", ["parameter"] * 2
         + ["tuple", "get-tuple-element", "add"]),
        ("--xla_fuel=tuple-simplifier=0", ["parameter"] * 2 + ["tuple", "get-tuple-element"]
         + ["add"]),
    ],
)  # fmt: skip
def test_flags_choose_passes(
    module: Path, flag: str, left: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert hlo_opt([str(module), PASSES_OPTION, flag]) == 0
    printed = parse(capsys.readouterr().out)
    assert [one.opcode for one in printed.entry.instructions] == left


def test_flags_that_exclude_each_other(module: Path) -> None:
    flags = ["--xla_disable_hlo_passes=dce", "--xla_enable_hlo_passes_only=dce"]
    assert hlo_opt([str(module), PASSES_OPTION, *flags]) == 2
    assert hlo_opt([str(module), PASSES_OPTION, "--xla_fuel=dce"]) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_takes_nothing(module: Path, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    assert hlo_opt([str(module), "--passes=dce", f"--xla_dump_to={folder}"]) == 2


def test_file_where_a_folder_should_be(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hlo_opt([str(module), "--passes=dce", f"--xla_dump_to={module}/dump"]) == 2
    assert "cannot make the folder" in capsys.readouterr().err


def test_name_of_a_module_is_no_path_of_a_dump(tmp_path: Path) -> None:
    path = tmp_path / "f.hlo"
    path.write_text(TEXT.replace("jit_f", "a.b-c_" + "x" * 300))
    dump = tmp_path / "dump"
    options = [f"--xla_dump_to={dump}", "-o", str(tmp_path / "o")]
    assert hlo_opt([str(path), "--passes=dce", *options]) == 0
    assert "module_0000.before_optimization.txt" in names(dump)


def test_stage_dot(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hlo_opt([str(module), "--stage=dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph")
    assert hlo_opt([str(module), "--stage=hlo-backend"]) == 2
    assert hlo_opt(["--list-stages"]) == 0
    assert "hlo-backend" in capsys.readouterr().out


@pytest.mark.parametrize(
    "flags",
    [
        ["--passes=fix(dce)", "--xla_disable_hlo_passes=dce"],
        ["--passes=fix(inner(fix(dce))),cse", "--xla_enable_hlo_passes_only=cse"],
    ],
)
def test_fixed_points_of_nothing_are_left_out(module: Path, flags: list[str]) -> None:
    assert hlo_opt([str(module), *flags]) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["--passes=dce # words", "--passes=nonsense"],
        ["--passes=" + "p(" * 300 + "dce" + ")" * 300],
        ["--passes=fix{limit=" + "9" * 5000 + "}(dce)"],
        ["--passes=fix{limit=1,limit=2}(dce)"],
        ["--passes=algsimp{max-rounds=1_0}"],
        ["--passes=dce", "--xla_dump_hlo_pass_re=a{99999999999}"],
        ["--passes=dce", "--xla_dump_hlo_pass_re=" + "(" * 5000 + ")" * 5000],
        ["--passes=dce", "--xla_dump_to"],
    ],
)
def test_odd_options_are_errors_of_usage(module: Path, words: list[str]) -> None:
    assert hlo_opt([str(module), *words]) == 2


def test_lists_of_passes_may_end_with_a_comma(module: Path) -> None:
    assert hlo_opt([str(module), "--passes=dce,", "--passes=dce"]) == 0


def test_names_that_are_no_text_are_dumped(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "d\udcff"
    options = [f"--xla_dump_to={dump}", "--xla_dump_module_metadata", "-o", str(tmp_path / "o")]
    assert hlo_opt([str(module), '--passes="\udcff"(dce)', *options]) == 0
    assert (dump / "module_0000.jit_f.debug_options").is_file()


def test_long_names_are_cut(module: Path, tmp_path: Path) -> None:
    module.write_text(TEXT.replace("ENTRY e", "ENTRY " + "e" * 240))
    dump = tmp_path / "dump"
    options = [f"--xla_dump_to={dump}", "--xla_dump_hlo_pass_re=.", "-o", str(tmp_path / "o")]
    passes = '--passes="' + "x" * 300 + '"(dce)'
    assert hlo_opt([str(module), passes, *options, "--xla_dump_fusion_visualization"]) == 0
    assert max(map(len, names(dump))) == 255
    assert not [name for name in names(dump) if name.startswith(".")]


def test_name_of_a_module_that_looks_like_a_number(module: Path, tmp_path: Path) -> None:
    module.write_text(TEXT.replace("jit_f", "module_1234.x"))
    command = [str(module), "--passes=dce", f"--xla_dump_to={tmp_path / 'd'}", "-o", "/dev/null"]
    assert [hlo_opt(command), hlo_opt(command)] == [0, 0]
    assert {name[:11] for name in names(tmp_path / "d")} == {"module_0000", "module_0001"}


def test_runs_at_once_get_numbers_of_their_own(module: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    command = [
        sys.executable, "-m", "hlotool", "opt", str(module), str(module), "--passes=dce",
        f"--xla_dump_to={dump}", "--xla_dump_module_metadata", "-o", os.devnull,
    ]  # fmt: skip
    runs = [subprocess.Popen(command) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    metadata = [name for name in names(dump) if name.endswith("metadata.textproto")]
    assert metadata == [f"module_{number:04}.metadata.textproto" for number in range(6)]


def test_number_that_another_run_used_and_let_go(
    module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = tmp_path / "dump"
    command = [str(module), "--passes=dce", f"--xla_dump_to={dump}", "-o", "/dev/null"]
    looks: Iterator[list[str]] = iter([[]])
    monkeypatch.setattr(os, "listdir", lambda path, look=os.listdir: next(looks, look(path)))
    dump.mkdir()
    (dump / "module_0000.jit_g.txt").write_text("of another run")
    (dump / ".module_0001.claimed").write_text("")
    assert hlo_opt(command) == 0
    assert {name[:11] for name in names(dump) if name[0] != "."} == {"module_0000", "module_0002"}
    assert (dump / "module_0000.jit_g.txt").read_text() == "of another run"


def test_results_are_not_called_the_same_before_an_error(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passes = ["--passes=dce", "--check-values", f"--xla_dump_to={module}/no"]
    assert hlo_opt([str(module), *passes]) == 2
    assert "results are the same" not in capsys.readouterr().err


def test_blank_flags_of_the_environment_are_none(
    module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "  ")
    assert hlo_opt([str(module), "--passes=dce"]) == 0
    monkeypatch.setenv("XLA_FLAGS", "-")
    assert hlo_opt([str(module), "--passes=dce"]) == 2
