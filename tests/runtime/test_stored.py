"""A module that was compiled once is not compiled again, in this process or another one."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hlotool
from hlotool.runtime import compilation
from hlotool.runtime.cache import user_cache
from hlotool.runtime.compilers import compiled_code
from hlotool.runtime.constants import constant_bytes
from hlotool.runtime.llvm import PASSES, host_target
from hlotool.runtime.stored import Compiled, key_of_module, restored, stored
from hlotool.runtime.targets import target_named

TEXT = """
HloModule kept, input_output_alias={ {0}: (0, {}, may-alias) }

larger {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}

ENTRY main {
  x = f32[4]{0} parameter(0)
  c = f32[4]{0} constant({1, -0.0, 1e-45, inf})
  y = f32[4]{0} multiply(x, c)
  low = f32[] constant(-inf)
  m = f32[] reduce(y, low), dimensions={0}, to_apply=larger
  z = c64[4]{0} complex(y, x)
  f = c64[4]{0} fft(z), fft_type=FFT, fft_length={4}
  ROOT t = (f32[4]{0}, f32[], c64[4]{0}) tuple(y, m, f)
}
"""
X = np.array([1, 2, 3, 0.5], np.float32)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HLOTOOL_CACHE_DIR", str(tmp_path))


def made() -> Compiled:
    module = compilation.prepared(hlotool.parse(TEXT))
    target = host_target()
    program = compilation.generated(module, target)
    return Compiled(module, program, (compiled_code(program.text, target, PASSES), b"more"))


def entries() -> list[Path]:
    return [entry.path for entry in user_cache().entries()]


def test_bytes_hold_everything_but_the_text() -> None:
    one = made()
    other = restored(stored(one))
    assert other is not None
    assert other.codes == one.codes
    assert hlotool.print_module(other.module) == hlotool.print_module(one.module)
    for name in ("arguments", "results", "temporary_bytes", "libraries", "shared"):
        assert getattr(other.program, name) == getattr(one.program, name)
    for name in ("constants", "host_calls", "launches"):
        ours, theirs = getattr(one.program, name), getattr(other.program, name)
        assert len(ours) == len(theirs) > 0
    ours, theirs = (list(map(constant_bytes, p.constants)) for p in (one.program, other.program))
    assert ours == theirs


@pytest.mark.parametrize("data", [b"", b"\0" * 8, b"\xff" * 40, b"\x02" + b"\0" * 7 + b"{}"])
def test_other_bytes_are_nothing(data: bytes) -> None:
    assert restored(data) is None


def test_errors_name_lines_of_the_text_that_was_given() -> None:
    text = """HloModule m

ENTRY e {
  x = f32[3] parameter(0)

  ROOT c = f32[3] custom-call(x), custom_call_target="nobody_has_this"
}
"""
    for _ in range(2):
        with pytest.raises(hlotool.UnsupportedError) as found:
            hlotool.compile(text)(np.zeros(3, np.float32))
        assert found.value.location is not None
        assert (found.value.location.line, found.value.location.column) == (6, 8)


def test_second_time_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    first = hlotool.compile(TEXT)
    assert {"passes", "llvm"} <= set(first.timings)

    def never(*_: object, **__: object) -> bytes:
        raise AssertionError("compiled again")

    monkeypatch.setattr(compilation, "CodeMaker", never)
    monkeypatch.setattr(compilation, "prepared", never)
    second = hlotool.compile(TEXT)
    assert not {"passes", "llvm"} & set(second.timings)
    for one, other in zip(first(X), second(X), strict=True):
        np.testing.assert_array_equal(one, other)
    assert second.explain() == first.explain()
    with pytest.raises(AssertionError, match="compiled again"):
        hlotool.compile(TEXT, fp_mode="xla")
    with pytest.raises(AssertionError, match="compiled again"):
        hlotool.compile(TEXT, cache=False)


def test_damaged_entries_are_written_anew() -> None:
    expected = hlotool.compile(TEXT)(X)
    for path in entries():
        path.write_bytes(path.read_bytes()[:-7] + b"changed")
    again = hlotool.compile(TEXT)
    assert "llvm" in again.timings
    for one, other in zip(again(X), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "llvm" not in hlotool.compile(TEXT).timings


def test_key_depends_on_everything() -> None:
    module, target = hlotool.parse(TEXT), host_target()
    other = hlotool.parse(TEXT.replace("1e-45", "3e-45"))
    keys = {
        key_of_module(module, target),
        key_of_module(other, target),
        key_of_module(module, target, "dce"),
        key_of_module(module, target_named("aarch64")),
    }
    assert len(keys) == 4
    assert key_of_module(hlotool.parse(TEXT), target) in keys


SCRIPT = """
import sys, numpy, hlotool
f = hlotool.compile(sys.stdin.read())
print("llvm" in f.timings, *f(numpy.float32([1, 2, 3, 0.5]))[0])
"""


def test_processes_share_it() -> None:
    command = [sys.executable, "-c", SCRIPT]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [process.communicate(TEXT, timeout=300)[0].split() for process in running]
    assert all(process.returncode == 0 for process in running)
    assert len({tuple(words[1:]) for words in said}) == 1
    last = subprocess.run(command, input=TEXT, capture_output=True, text=True, check=True)
    assert last.stdout.split() == ["False", *said[0][1:]]
