"""The wheel: what is in it, and that it works where there is no checkout."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest

MODULE = "HloModule m\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n"
# What it needs is loaded when it is evaluated: its family of custom calls, and scipy.
CUSTOM_CALL = (
    "HloModule svd\nENTRY e {\n  p = f32[3,3] parameter(0)\n"
    '  ROOT c = (f32[3,3], s32[]) custom-call(p), custom_call_target="lapack_spotrf_ffi",\n'
    "    api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}\n}\n"
)
START = "import sys; from hlotool.cli.driver import {name}; sys.exit({name}(sys.argv[1:]))"


def run(*command: str, cwd: Path, **environment: str) -> str:
    """Runs a command and returns its output; fails with its messages where it fails."""
    ended = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def build(checkout: Path, target: str, folder: Path) -> Path:
    """Builds a wheel or an sdist of `checkout` into `folder` and returns it."""
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder), cwd=checkout)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(root, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that an installation of the wheel would have on its path."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_the_package_and_nothing_else(root: Path, wheel: Path) -> None:
    names = files_of(wheel)
    wanted = {f"hlotool/grammars/{path.name}" for path in (root / "grammars").iterdir()}
    wanted |= {
        path.relative_to(root).as_posix()
        for path in (root / "hlotool").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "hlotool/py.typed" in wanted
    assert "hlotool/grammars/hlo.lark" in wanted
    extra = {name for name in names - wanted if ".dist-info/" not in name}
    assert wanted <= names, f"left out: {sorted(wanted - names)}"
    assert not extra, f"not wanted: {sorted(extra)}"


def test_wheel_declares_the_commands(wheel: Path) -> None:
    (entry_points,) = (n for n in files_of(wheel) if n.endswith(".dist-info/entry_points.txt"))
    parser = ConfigParser()
    with zipfile.ZipFile(wheel) as archive:
        parser.read_string(archive.read(entry_points).decode())
    assert {"hlotool", "hlo-opt", "run-hlo"} <= set(parser["console_scripts"])


def test_sdist_makes_the_same_wheel(root: Path, wheel: Path, tmp_path: Path) -> None:
    source = build(root, "sdist", tmp_path / "sdist")
    with tarfile.open(source) as archive:
        # Python 3.11.3 and before know no filters.
        options: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path / "source", **options)
    (checkout,) = (tmp_path / "source").iterdir()
    again = build(checkout, "wheel", tmp_path / "wheel")
    assert files_of(again) == files_of(wheel)


def test_unpacked_wheel_reads_and_prints(unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(MODULE, encoding="utf-8")
    path = {"PYTHONPATH": str(unpacked)}
    where = "import hlotool; print(hlotool.__file__)"
    assert run(sys.executable, "-c", where, cwd=tmp_path, **path).startswith(str(unpacked))
    start = START.format(name="hlo_opt")
    printed = run(sys.executable, "-c", start, "m.hlo", cwd=tmp_path, **path)
    assert "ROOT %p = f32[2]{0} parameter(0)" in printed


@pytest.mark.slow
def test_wheel_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "clean", with_pip=True, symlinks=True)
    programs = tmp_path / "clean" / "bin"
    python = str(programs / "python")
    run(python, "-m", "pip", "install", "--quiet", str(wheel), cwd=tmp_path)
    (tmp_path / "m.hlo").write_text(MODULE, encoding="utf-8")
    opt, tool = str(programs / "hlo-opt"), str(programs / "hlotool")
    assert "ROOT %p = f32[2]{0} parameter(0)" in run(opt, "m.hlo", cwd=tmp_path)
    run(tool, "convert", "m.hlo", "-o", "m.hlo.pb", cwd=tmp_path)
    assert "ROOT %p = f32[2]{0} parameter(0)" in run(opt, "m.hlo.pb", cwd=tmp_path)
    one, other = (run(tool, "fingerprint", name, cwd=tmp_path) for name in ("m.hlo", "m.hlo.pb"))
    assert one.split()[0] == other.split()[0]
    (tmp_path / "svd.hlo").write_text(CUSTOM_CALL, encoding="utf-8")
    ran = run(str(programs / "run-hlo"), "m.hlo", "svd.hlo", cwd=tmp_path)
    assert "2 runs: 2 ran" in ran
