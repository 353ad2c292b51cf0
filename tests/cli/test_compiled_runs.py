"""`run-hlo --platform=cpu`, and the stages of code generation of `hlo-opt`."""

import json
import time
from pathlib import Path

import pytest

from hlotool.cli.cpu_session import CpuSession
from hlotool.cli.driver import main
from hlotool.cli.opt_arguments import OF_CODE
from hlotool.ir.module import Module
from hlotool.runtime.executable import Executable

TEXT = """
HloModule small

ENTRY main {
  x = f32[64,32]{1,0} parameter(0)
  y = f32[32,16]{1,0} parameter(1)
  p = f32[64,16]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,16]{1,0} tanh(p)
  z = c64[64,16]{1,0} complex(t, p)
  f = c64[64,16]{1,0} fft(z), fft_type=FFT, fft_length={16}
  ROOT r = (f32[64,16]{1,0}, c64[64,16]{1,0}) tuple(t, f)
}
"""


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "small.hlo"
    path.write_text(TEXT)
    return str(path)


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("more", [[], ["--threads=2"], ["--fp-mode=xla"], ["--no-compile-cache"]])
def test_agrees_with_the_interpreter(
    module: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", module, "--platform=cpu", *more]) == 0
    assert "cpu and interpreter agree in 2,048 elements" in capsys.readouterr().out


def test_without_passes(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", module, "--platform=cpu", "--run_test_hlo_passes=false", "--explain-compile"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "kernels are launched" in out
    assert "agree" in out


def test_as_a_reference(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", module, "--reference-platform=cpu"]) == 0
    assert "interpreter and cpu agree" in capsys.readouterr().out


def test_isolated(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", module, "--platform=cpu", "--isolate", "--json"]) == 0
    found = {line["instruction"]: line["status"] for line in lines_of(capsys)}
    assert found == {"p": "agree", "t": "agree", "z": "agree", "f": "agree"}


def test_what_is_evaluated_is_told(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", module, "--platform=cpu", "--explain-compile", "--json"]) == 0
    told, ran = lines_of(capsys)
    assert [call["opcode"] for call in told["evaluated"]] == ["fft"]  # type: ignore[attr-defined]
    assert ran["status"] == "agree"


def test_bench(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", module, "--platform=cpu", "--bench=0.05", "--threads=1"]
    assert main([*words, "--json"]) == 0
    (found,) = lines_of(capsys)
    assert (found["file"], found["module"]) == (module, "small")
    kernels = found["kernels"]
    assert isinstance(kernels, list)
    assert {kernel["calls"] for kernel in kernels} == {1.0}
    assert all(kernel["seconds"] > 0 for kernel in kernels)
    assert found["flops"] >= 2 * 64 * 32 * 16  # type: ignore[operator]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "runs: median" in out
    assert "GFLOP/s" in out
    assert "times are the best of" in out
    assert "OpenBLAS" in out
    assert "1 instruction is evaluated by the host" in out
    # Nothing says from which line a kernel comes.
    assert "source" not in out


def test_times_of_kernels_are_the_best(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "--platform=cpu", "--threads=1", "--json", "--bench", module]
    assert main(words) == 0
    (found,) = lines_of(capsys)
    kernels = found["kernels"]
    assert isinstance(kernels, list)
    for kernel in kernels:
        assert 0 < kernel["seconds"] <= kernel["mean_seconds"]
    total = sum(kernel["seconds"] for kernel in kernels)
    assert found["kernel_seconds"] == pytest.approx(total)
    assert found["profiled_runs"] >= 5  # type: ignore[operator]


@pytest.mark.parametrize("columns", [40, 80])
def test_kernels_can_be_told_apart(
    module: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "a_kernel_with_a_name_that_takes_most_of_a_line"
    text = TEXT.replace("p = f32", f"{long}.1 = f32").replace("(p)", f"({long}.1)")
    text = text.replace("(t, p)", f"(t, {long}.1)")
    Path(module).write_text(text)
    monkeypatch.setenv("COLUMNS", str(columns))
    words = ["run", module, "--platform=cpu", "--bench=0", "--no-run-test-hlo-passes"]
    assert main(words) == 0
    table = [line for line in capsys.readouterr().out.splitlines() if line[:1] in "│┃┏└"]
    assert max(map(len, table)) <= columns
    assert long + ".1" in "".join(line[1:].split("│")[0].strip() for line in table)
    assert any(unit in "".join(table) for unit in (" ns", " us"))


def test_time_of_a_run_has_no_compilation(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = CpuSession.compiled

    def slow(self: CpuSession, module: Module, *, profile: bool = False) -> Executable:
        time.sleep(2)
        return compiled(self, module, profile=profile)

    monkeypatch.setattr(CpuSession, "compiled", slow)
    assert main(["run", module, "--platform=cpu", "--json"]) == 0
    (ran,) = lines_of(capsys)
    assert ran["seconds"] < 2  # type: ignore[operator]


def test_code_names_its_instructions(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXT.replace("p = f32", "a.p-q = f32").replace("(p)", "(a.p-q)")
    Path(module).write_text(text.replace("(t, p)", "(t, a.p-q)"))
    for stage in ("llvm", "asm"):
        words = ["opt", module, "--platform=cpu", f"--stage={stage}"]
        assert main(words) == 0
        assert "kernel0.a.p-q" in (out := capsys.readouterr().out)
        assert ('source_filename = "small"' if stage == "llvm" else '"small"') in out


def test_code_says_which_values_it_lacks(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(module).write_text("HloModule m\nENTRY e { ROOT c = f32[20] constant({...}) }\n")
    assert main(["opt", module, "--platform=cpu", "--stage=llvm"]) == 0
    assert "; the value of c is left out of the text" in capsys.readouterr().out


def test_why_results_may_differ(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = str(tmp_path / "out.npz")
    assert main(["run", module, "--outputs", expected, "--seed=1"]) == 0
    capsys.readouterr()
    words = ["run", module, "--platform=cpu", "--expected", expected, "--fp-mode=xla"]
    assert main(words) == 1
    err = capsys.readouterr().err
    assert "the arguments were made up from seed 0" in err
    assert "takes denormals as zero" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threads=2"], "--threads is for --platform=cpu"),
        (["--bench"], "--bench is for --platform=cpu"),
        (["--platform=cpu", "--bench", "--isolate"], "--isolate runs each instruction alone"),
        (["--platform=cpu", "--threads=0"], "a number of 1 or more wanted"),
        (["--platform=cpu", "--fp-mode=loose"], "--fp-mode"),
        (["--platform=cpu", "--bench=-1"], "a number of seconds wanted"),
        (["--platform=cpu", "--bench=inf"], "'inf' never ends"),
        (["--platform=cpu", "--bench", "--outputs=o.npz"], "--bench shows times alone"),
        (["--platform=cpu", "--bench", "--iterations=2"], "--iterations is for runs with results"),
        (["--platform=cpu", "--bench", "--reference-platform=xla"], "--bench shows times alone"),
        (["--fp-mode=xla"], "--fp-mode is for --platform=cpu"),
    ],
)
def test_wrong_use(
    module: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", module, *words]) == 2
    assert message in capsys.readouterr().err


def test_several_devices_are_for_the_interpreter(
    module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--bench=0"]):
        assert main(["run", module, "--platform=cpu", "--num-replicas=2", *more]) == 1
        assert "--platform=interpreter runs several" in capsys.readouterr().err


def test_endless_loops_are_not_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "endless.hlo"
    path.write_text(
        "HloModule endless\n"
        "go { p = s32[] parameter(0)\n ROOT on = pred[] constant(true) }\n"
        "same { ROOT p = s32[] parameter(0) }\n"
        "ENTRY main { x = s32[] parameter(0)\n"
        " ROOT w = s32[] while(x), condition=go, body=same }\n"
    )
    words = ["run", str(path), "--platform=cpu", "--bench=0", "--max-steps=1000"]
    assert main(words) == 1
    err = capsys.readouterr().err
    assert "endless.hlo:6:7: error: w: loops have run 16384 rounds and go on" in err
    assert "allow more with --max-steps" in err


@pytest.mark.parametrize(
    ("stage", "word"),
    [
        ("llvm-before-optimizations", "define i32 @hlotool_run(ptr %context"),
        ("llvm", "target triple"),
        ("asm", "hlotool_run:"),
    ],
)
def test_stages(module: str, stage: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", module, "--platform=cpu", f"--stage={stage}"]) == 0
    assert word in capsys.readouterr().out


def test_object_file(module: str, tmp_path: Path) -> None:
    made = tmp_path / "small.o"
    words = ["opt", module, "--platform=cpu", "--stage=object", "-o", str(made)]
    assert main([*words, "--target=aarch64"]) == 0
    assert made.read_bytes()[:4] == b"\x7fELF"


def test_object_file_of_one_module(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "small.o"
    words = ["opt", module, module, "--platform=cpu", "--stage=object", "-o", str(made)]
    assert main(words) == 2
    assert "an object file holds one module" in capsys.readouterr().err
    assert not made.exists()


@pytest.mark.parametrize("stage", OF_CODE)
def test_stages_are_of_cpus(module: str, stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", module, "--platform=gpu", f"--stage={stage}"]) == 2
    assert f"stage {stage} is there for --platform=cpu only" in capsys.readouterr().err


def test_dumps_have_the_code(module: str, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    words = ["opt", module, "--platform=cpu", "-o", str(tmp_path / "out.hlo")]
    assert main([*words, f"--xla_dump_to={folder}"]) == 0
    names = {path.name for path in folder.iterdir()}
    assert {
        "module_0000.small.ir-no-opt.ll",
        "module_0000.small.ir-with-opt.ll",
        "module_0000.small.obj-file.o",
        "module_0000.small.cpu_after_optimizations-buffer-assignment.txt",
        "module_0000.small.cpu_after_optimizations-memory-usage-report.txt",
    } <= names
    assert (folder / "module_0000.small.obj-file.o").read_bytes()[:4] == b"\x7fELF"
