"""Modules that run without Python: called from C, in the way the example shows."""

import ctypes
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hlotool
from hlotool.cli.driver import main
from hlotool.errors import UsageError
from hlotool.runtime.ahead_of_time import compiled_ahead, found_linker, linked
from hlotool.runtime.compilation import prepared
from hlotool.runtime.llvm import LoadedCode, host_target
from tests.conftest import ROOT

EXAMPLE = ROOT / "testdata" / "aot"
TARGETS = ("x86-64-v3", "x86-64-v4", "aarch64")


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_example_in_c(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made, header = tmp_path / "predict.so", tmp_path / "predict.h"
    words = ["compile", str(EXAMPLE / "predict.hlo"), "-o", str(made), "--header", str(header)]
    assert main(words) == 0
    shutil.copy(EXAMPLE / "predict.c", tmp_path)
    command = ["cc", "-Wall", "-Wextra", "-Werror", "predict.c", str(made), "-o", "predict"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "predict"], check=True, capture_output=True, text=True)
    x = np.array([[1, 2, 3, 4], [-1, 0.5, 0, 2]], np.float32)
    module = hlotool.load(EXAMPLE / "predict.hlo")
    expected = module.evaluate(x, np.array([0.1, 0.2, 0.3], np.float32))
    np.testing.assert_allclose(np.loadtxt(done.stdout.splitlines()), expected, atol=2e-6)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("target", TARGETS)
def test_object_for_another_processor(target: str, tmp_path: Path) -> None:
    made = tmp_path / "predict.o"
    words = ["compile", str(EXAMPLE / "predict.hlo"), "-o", str(made), f"--target={target}"]
    assert main(words) == 0
    # An ELF file for a 64-bit machine; byte 18 says which.
    data = made.read_bytes()
    assert data[:5] == b"\x7fELF\x02"
    assert data[18] == (183 if target == "aarch64" else 62)


def test_json_says_what_was_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "p.o"
    words = ["compile", str(EXAMPLE / "predict.hlo"), "-o", str(made), "--name=p", "--json"]
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["function"], said["file"]) == ("p", str(made))
    assert said["arguments"] == ["f32[2,4]{1,0}", "f32[3]{0}"]
    assert said["results"] == ["f32[2,3]{1,0}"]
    assert said["scratch_bytes"] >= 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "-"], "compile writes files"),
        (["-o", "p.so", "--target=aarch64"], "needs a linker for it"),
        (["-o", "p.so", "--linker=no-such-linker"], "there is no no-such-linker"),
        (["-o", "p.o", "--name=2"], "is no name of a C function"),
        (["-o", "p.o", "--name="], "is no name of a C function"),
        (["-o", "p.o", "--name=int"], "is no name of a C function"),
        (["-o", "p.o", "--name=memcpy"], "is no name of a C function"),
        (["-o", "p.o", "--header", "p.o"], "files of their own"),
        (["-o", str(EXAMPLE / "predict.hlo")], "files of their own"),
        (["-o", "p.o", "--header="], "compile writes files"),
        (["-o", "p.so", "--linker=true"], "true cannot link"),
        ([str(EXAMPLE / "predict.hlo"), "-o", "p.o"], "compile takes one module"),
        (["-o", "p.o", "--target=x86-64-v2"], "AVX2 and FMA, which begin with x86-64-v3"),
        (["-o", "p.o", "--target=mips"], "is no target"),
        (["-o", "missing/p.o"], "cannot write missing/p.o"),
    ],
)
def test_wrong_use(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compile", str(EXAMPLE / "predict.hlo"), *words]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_linker_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of what is there the first is taken, for another processor by its prefix.
    for name in ("clang", "aarch64-linux-gnu-gcc", "x86_64-linux-gnu-gcc"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\nprintf {name} > $3\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr("hlotool.runtime.ahead_of_time._COMPILERS", ("gcc", "clang"))
    here = host_target()
    monkeypatch.setattr("shutil.which", lambda name: _found_in(tmp_path, name))
    assert found_linker(here, "host") == str(tmp_path / "clang")
    other = "aarch64" if here.architecture == "x86_64" else "x86_64"
    target = replace(here, triple=f"{other}-unknown-linux-gnu")
    assert found_linker(target, other) == str(tmp_path / f"{other}-linux-gnu-gcc")
    (tmp_path / f"{other}-linux-gnu-gcc").unlink()
    with pytest.raises(UsageError, match=f"none of {other}-linux-gnu-gcc, .* is there"):
        found_linker(target, other)


def _found_in(folder: Path, name: str) -> str | None:
    return str(folder / name) if (folder / name).exists() else None


def test_what_a_linker_says_is_passed_on(tmp_path: Path) -> None:
    program = tmp_path / "linker"
    program.write_text("#!/bin/sh\necho first line >&2\necho last line >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(UsageError, match="cannot link: first line") as caught:
        linked(b"", str(program))
    assert caught.value.notes[0] == "last line"


TYPED = """
HloModule typed
ENTRY e {
  t = (s4[5]{0}, (bf16[2]{0}, c64[2]{0}), pred[3]{0}) parameter(0)
  ROOT p = f16[5]{0} parameter(1)
}
"""


def test_header_says_what_arrays_are(tmp_path: Path) -> None:
    source, header = tmp_path / "typed.hlo", tmp_path / "typed.h"
    source.write_text(TYPED)
    words = ["compile", str(source), "-o", str(tmp_path / "t.o"), "--header", str(header)]
    assert main(words) == 0
    said = header.read_text()
    for line in (
        "arguments[0]  s4[5], row-major, 5 bytes of uint8_t (s4 in the lowest 4 bits, the",
        "others mean nothing)  t.0",
        "arguments[1]  bf16[2], row-major, 4 bytes of uint16_t (the bits of bf16)  t.1.0",
        "arguments[2]  c64[2], row-major, 16 bytes of float [2] (real and imaginary part)  t.1.1",
        "arguments[3]  pred[3], row-major, 3 bytes of unsigned char (0 or 1)  t.2",
        "results[0]  f16[5], row-major, 10 bytes of uint16_t (the bits of f16)",
        "it may be NULL where",
        "A result must not overlap an argument",
    ):
        assert line in said


def test_bits_beside_narrow_elements_mean_nothing() -> None:
    module = hlotool.parse(
        "HloModule narrow\nENTRY e { x = s4[2]{0} parameter(0)\n ROOT y = s32[2]{0} convert(x) }"
    )
    made = compiled_ahead(prepared(module), host_target(), "narrow")
    code = LoadedCode([made.code], ["narrow"])
    x, y = np.array([0x0D, 0xFD], np.uint8), np.zeros(2, np.int32)
    tables = [(ctypes.c_void_p * 1)(one.ctypes.data) for one in (x, y)]
    # Neither is there scratch memory.
    assert made.program.temporary_bytes == 0
    assert code.function("narrow", *[ctypes.c_void_p] * 3)(*tables, None) == 0
    assert y.tolist() == [-3, -3]


def test_what_needs_python_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "f.hlo"
    source.write_text(
        "HloModule f\nENTRY main {\n  x = c64[8]{0} parameter(0)\n"
        "  ROOT y = c64[8]{0} fft(x), fft_type=FFT, fft_length={8}\n}\n"
    )
    assert main(["compile", str(source), "-o", str(tmp_path / "f.o")]) == 1
    assert "f cannot run without Python" in capsys.readouterr().err
    assert not (tmp_path / "f.o").exists()


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("name", ["kernel0", "serial", "constants", "hlotool_run"])
def test_functions_named_as_something_inside(name: str, tmp_path: Path) -> None:
    made = tmp_path / "p.so"
    words = ["compile", str(EXAMPLE / "predict.hlo"), "-o", str(made), f"--name={name}"]
    assert main(words) == 0
    x, y = np.ones((2, 4), np.float32), np.ones(3, np.float32)
    result, scratch = np.zeros((2, 3), np.float32), np.zeros(1 << 16, np.uint8)
    tables = [(ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data)]
    tables.append((ctypes.c_void_p * 2)(result.ctypes.data))
    room = scratch.ctypes.data + -scratch.ctypes.data % 64
    assert ctypes.CDLL(str(made))[name](*tables, ctypes.c_void_p(room)) == 0
    expected = hlotool.load(EXAMPLE / "predict.hlo").evaluate(x, y)
    np.testing.assert_allclose(result, expected, atol=2e-6)


@pytest.mark.parametrize("name", ["main", "double", "template", "memset"])
def test_modules_named_as_something_of_c(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "f.hlo"
    source.write_text(f"HloModule {name}\nENTRY e {{ ROOT x = f32[8] parameter(0) }}\n")
    assert main(["compile", str(source), "-o", str(tmp_path / "f.o"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["function"] == f"module_{name}"


def test_modules_of_several_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "f.hlo"
    source.write_text("HloModule f, num_partitions=2\nENTRY e { ROOT p = u32[] partition-id() }\n")
    assert main(["compile", str(source), "-o", str(tmp_path / "f.o")]) == 1
    assert "modules are compiled for one device" in capsys.readouterr().err
