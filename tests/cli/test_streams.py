"""Standard streams that are closed or full, and names that begin with a dash."""

import subprocess
import sys
from pathlib import Path

import pytest

GOOD = "HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"


def run(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -m hlotool {words}"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("verify m.hlo >&-", "cannot write standard output: it is closed"),
        ("opt m.hlo >&-", "cannot write standard output: it is closed"),
        ("opt --version >&-", "cannot write standard output: it is closed"),
        ("verify - <&-", "cannot read standard input: it is closed"),
        ("fmt - <&-", "cannot read standard input: it is closed"),
        ("opt --version >/dev/full", "cannot write standard output: no space left on device"),
    ],
)
def test_streams_that_cannot_be_used(tmp_path: Path, words: str, what: str) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    done = run(words, tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert "Traceback" not in done.stderr


def test_names_that_begin_with_a_dash(tmp_path: Path) -> None:
    (tmp_path / "-m.hlo").write_text(GOOD)
    done = run("verify -- -m.hlo", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("./-m.hlo: good")


def test_negative_zero_keeps_its_sign(tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(GOOD.replace("parameter(0)", "constant(-0.0)"))
    assert run("convert m.hlo m.pb", tmp_path).returncode == 0
    assert run("convert m.pb again.hlo", tmp_path).returncode == 0
    assert "constant(-0.0)" in (tmp_path / "again.hlo").read_text()
    assert run("fmt m.hlo", tmp_path).returncode == 0
    assert "constant(-0.0)" in (tmp_path / "m.hlo").read_text()


def test_what_a_proto_leaves_out_is_said(tmp_path: Path) -> None:
    header = "HloModule m, alias_passthrough_params=true"
    (tmp_path / "m.hlo").write_text(GOOD.replace("HloModule m", header))
    done = run("convert m.hlo m.pb", tmp_path)
    assert done.returncode == 0
    assert "a proto has no place for alias_passthrough_params" in done.stderr
