import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hlotool.cli.driver import main, run_hlo
from hlotool.cli.mismatch_files import save_mismatch
from hlotool.ir.literal import Literal
from hlotool.proto.snapshots import Snapshot, write_snapshot
from hlotool.text.parser import parse
from tests.conftest import MODELS

ADD = """HloModule sum
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = f32[3] add(x, y)
}
"""
LOOP = """HloModule endless
again {
  n = s32[] parameter(0)
  ROOT yes = pred[] constant(true)
}
step {
  n = s32[] parameter(0)
  ROOT m = s32[] negate(n)
}
ENTRY e {
  n = s32[] parameter(0)
  ROOT w = s32[] while(n), condition=again, body=step
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "sum.hlo"
    path.write_text(ADD)
    return path


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    path = tmp_path / "in.npz"
    np.savez(path, in0=np.array([1, 2, 3], np.float32), in1=np.array([10, 20, 30], np.float32))
    return path


def test_results_are_shown(module: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_hlo([str(module), f"--inputs={inputs}"]) == 0
    out, err = capsys.readouterr()
    assert "sum: ran on interpreter" in out
    assert "result: f32[3]{0} {11, 22, 33}" in out
    assert not err


def test_hlotool_run_is_run_hlo(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(module)]) == 0
    assert "sum: ran on interpreter" in capsys.readouterr().out


def test_outputs_and_inputs_are_written_and_read_again(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, out = tmp_path / "made.npz", tmp_path / "out.npz"
    assert run_hlo([str(module), "--seed=7", f"--save-inputs={made}", f"--outputs={out}"]) == 0
    x, y = (np.load(made)[name] for name in ("in0", "in1"))
    np.testing.assert_array_equal(np.load(out)["out0"], x + y)
    assert run_hlo([str(module), f"--inputs={made}", f"--expected={out}"]) == 0
    assert "agree in 3 elements" in capsys.readouterr().out


def test_difference_is_reported_and_saved(
    module: Path, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, saved = tmp_path / "expected.npz", tmp_path / "saved"
    np.savez(expected, out0=np.array([11, 22.5, 33], np.float32))
    words = [str(module), f"--inputs={inputs}", f"--expected={expected}"]
    assert run_hlo([*words, f"--save-mismatch={saved}"]) == 1
    out = capsys.readouterr().out
    assert "1 of 3 elements is wrong" in out
    assert "z = f32[3] add" in out
    # A long path is folded.
    assert f"{module}:5:8" in "".join(out.split())
    np.testing.assert_array_equal(np.load(saved / "sum.1.actual.npz")["out0"], [11, 22, 33])
    np.testing.assert_array_equal(np.load(saved / "sum.1.in.npz")["in0"], [1, 2, 3])
    assert parse((saved / "sum.1.hlo").read_text()).name == "sum"


def test_name_of_a_module_is_no_path(tmp_path: Path) -> None:
    module = parse(ADD)
    module.name = "../../evil"
    value = np.array([1], np.float32)
    stem = save_mismatch(str(tmp_path / "saved"), module, 1, [value], value, value)
    assert Path(stem).parent == tmp_path / "saved"
    assert sorted(file.parent for file in tmp_path.rglob("*evil*")) == [tmp_path / "saved"] * 4


def test_bounds_of_the_user_count(module: Path, inputs: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected.npz"
    np.savez(expected, out0=np.array([11, 22.01, 33], np.float32))
    words = [str(module), f"--inputs={inputs}", f"--expected={expected}"]
    assert run_hlo(words) == 1
    assert run_hlo([*words, "--abs-error-bound=0.1"]) == 0
    assert run_hlo([*words, "--rel_error_bound=1e-6", "--abs_error_bound=0.1"]) == 0


def test_another_module_is_the_reference(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.hlo"
    other.write_text(ADD.replace("add(x, y)", "add(y, x)"))
    assert run_hlo([str(module), f"--reference-module={other}"]) == 0
    other.write_text(ADD.replace("add(x, y)", "subtract(x, y)"))
    assert run_hlo([str(module), f"--reference-module={other}"]) == 1
    other.write_text(
        ADD.replace(
            "ROOT z = f32[3] add(x, y)", "ROOT z = f32[6] concatenate(x, y), dimensions={0}"
        )
    )
    assert run_hlo([str(module), f"--reference-module={other}"]) == 2
    assert "sum in" in capsys.readouterr().err


def test_missing_jaxlib_ends_the_command_at_once(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(module)] * 3
    assert run_hlo([*words, "--reference-platform=xla", "--xla-python=/no/python"]) == 2
    assert capsys.readouterr().err.count("cannot run XLA with /no/python") == 1


def test_json_has_a_line_for_each_run(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(module), "--json", "--iterations=3", "--reference-platform=interpreter"]
    assert run_hlo(words) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["iteration"], line["status"]) for line in lines] == [
        (0, "agree"), (1, "agree"), (2, "agree"),
    ]  # fmt: skip
    (found,) = lines[0]["results"]
    assert found[0]["shape"] == "f32[3]"
    assert -2 <= found[0]["low"] <= found[0]["mean"] <= found[0]["high"] <= 2


def test_iterations_have_inputs_of_their_own(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_hlo([str(module), "--iterations=2", "--print-literals"]) == 0
    results = [line for line in capsys.readouterr().out.splitlines() if "result" in line]
    assert len(set(results)) == 2


def test_tally_of_several_modules(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "many.hlo"
    other.write_text(f"{ADD}// -----\n{ADD}")
    assert run_hlo([str(module), str(other), "--split-input-file"]) == 0
    assert capsys.readouterr().out.endswith("3 runs: 3 ran\n")


def test_snapshot_brings_its_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.pb"
    literals = tuple(map(Literal.from_array, np.array([[1, 2, 3], [4, 5, 6]], np.float32)))
    path.write_bytes(write_snapshot(Snapshot(parse(ADD), literals)))
    assert run_hlo([str(path)]) == 0
    assert "{5, 7, 9}" in capsys.readouterr().out


def test_isolated_instructions_make_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    path = MODELS / "jax" / "while_newton.hlo"
    assert run_hlo([str(path), "--isolate", "--reference-platform=interpreter"]) == 0
    out = capsys.readouterr().out
    assert "by instruction" in out
    assert "agree" in out


def test_isolated_instructions_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    path = MODELS / "jax" / "attention.hlo"
    assert run_hlo([str(path), "--isolate", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["status"] for line in lines} == {"ran"}
    assert "dot" in {line["opcode"] for line in lines}


def test_endless_loop_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "loop.hlo"
    path.write_text(LOOP)
    assert run_hlo([str(path), "--max-steps=100"]) == 1
    err = capsys.readouterr().err
    assert f"{path}:12:8: error: " in err
    assert "--max-steps" in err


def test_calls_that_double_at_every_level_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "calls.hlo"
    levels = "".join(
        f"level{n} {{\n  x = s32[] parameter(0)\n  a = s32[] call(x), to_apply=level{n - 1}\n"
        f"  b = s32[] call(a), to_apply=level{n - 1}\n  ROOT s = s32[] add(a, b)\n}}\n"
        for n in range(1, 40)
    )
    path.write_text(
        "HloModule calls\nlevel0 {\n  x = s32[] parameter(0)\n  ROOT y = s32[] negate(x)\n}\n"
        f"{levels}ENTRY e {{\n  x = s32[] parameter(0)\n"
        "  ROOT y = s32[] call(x), to_apply=level39\n}\n"
    )
    assert run_hlo([str(path), "--max-steps=100"]) == 1
    assert "computations have been called 400 times" in capsys.readouterr().err


def test_parameter_that_is_too_large_leaves_the_next_file_its_turn(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "huge.hlo"
    path.write_text(
        "HloModule huge\nENTRY e {\n  ROOT p = f32[9223372036854775807] parameter(0)\n}"
    )
    assert run_hlo([str(path), str(module)]) == 1
    out, err = capsys.readouterr()
    assert f"{path}:3:8: error: out of memory for the value of p" in err
    assert "sum: ran" in out


def test_program_that_is_no_python(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(module), "--reference-platform=xla", "--xla-python=true", "--timeout=inf"]
    assert run_hlo(words) == 1
    assert "true has left no results of XLA" in capsys.readouterr().err


def test_nothing_to_isolate_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plain.hlo"
    path.write_text("HloModule plain\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n")
    assert run_hlo([str(path), "--isolate"]) == 0
    assert "there is no instruction to run alone" in capsys.readouterr().err


def test_signal_to_end_ends_in_order(tmp_path: Path, root: Path) -> None:
    path = tmp_path / "loop.hlo"
    path.write_text(LOOP)
    command = [sys.executable, "-m", "hlotool", "run", str(path), "--max-steps=1000000000"]
    process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.terminate()
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 143
    assert not said


def test_devices(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "who.hlo"
    path.write_text("HloModule who\nENTRY e {\n  ROOT r = u32[] partition-id()\n}\n")
    assert run_hlo([str(path), "--num-partitions=3"]) == 0
    out = capsys.readouterr().out
    assert "device 2:\n  result: u32[] 2\n" in out


def test_results_of_devices_are_written_and_compared_with(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, out = tmp_path / "who.hlo", tmp_path / "out.npz"
    path.write_text("HloModule who\nENTRY e {\n  ROOT r = u32[] partition-id()\n}\n")
    assert run_hlo([str(path), "--num-partitions=3", f"--outputs={out}"]) == 0
    assert [int(np.load(out)[f"out{n}"]) for n in range(3)] == [0, 1, 2]
    assert run_hlo([str(path), "--num-partitions=3", f"--expected={out}"]) == 0
    np.savez(out, out0=np.array(1, np.uint32))
    capsys.readouterr()
    assert run_hlo([str(path), "--num-partitions=3", f"--expected={out}"]) == 1
    shown = capsys.readouterr().out
    assert "device 0:" in shown
    assert "device 1:" not in shown


def test_edge_values(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(module), "--edge-values", "--print-literals", "--iterations=20"]
    assert run_hlo(words) == 0
    out = capsys.readouterr().out
    assert "nan" in out
    assert "inf" in out


def test_constants_that_the_text_leaves_out_are_made_up_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "elided.hlo"
    path.write_text("HloModule m\nENTRY e {\n  ROOT c = f32[20] constant({...})\n}\n")
    assert run_hlo([str(path)]) == 0
    out, err = capsys.readouterr()
    assert "from 0." in out
    assert "1 constant is left out" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--platform=cuda"], "there is no platform cuda"),
        (["--iterations=0"], "a number of 1 or more wanted"),
        (["--inputs=a.npz", "--input_literals_file=b.npz"], "the same: give one"),
        (["--expected=a.npz", "--reference-platform=xla"], "both say what is right"),
        (["--xla_cpu_enable_fast_math=true"], "nothing runs there"),
        (["--isolate", "--outputs=o.npz"], "--isolate takes it apart"),
        (["--expected="], "--expected is given without a name"),
        (["--inputs="], "--inputs is given without a name"),
        (["--outputs=-"], "not to standard output"),
        (["--xla-option="], "--xla_NAME=VALUE"),
        (["--seed=" + "9" * 5000], "a number of at most 18 digits wanted"),
        (["--num-replicas=1000000"], "at most 1024 devices"),
        (["--abs-error-bound=1"], "nothing is compared"),
        (["--rel-error-bound=0"], "nothing is compared"),
        (["--isolate", "--print-literals"], "--isolate takes it apart"),
        (["--save-mismatch=d"], "nothing is compared"),
        (["--reference-module=m.hlo", "--expected=e.npz"], "exclude each other"),
        (["--isolate", "--iterations=2"], "leave --iterations out"),
        (["--edge-values", "--use_large_float_range"], "exclude each other"),
        (["--iterations=2", "--outputs=o.npz"], "--iterations asks for several"),
        (["--outputs=/no/such/folder/o.npz"], "cannot write"),
        (["--inputs=/no/such/file.npz"], "cannot read /no/such/file.npz"),
        (["--run_reference_hlo_passes=true"], "the reference is run as it is"),
        (["--plattform=xla"], "did you mean --platform"),
    ],
)
def test_usage_errors(
    words: list[str], said: str, module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_hlo([str(module), *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"in0": np.zeros(3, "f4")}, "in1"),
        ({"in0": np.zeros(3, "f4"), "in1": np.zeros(4, "f4")}, "float32[4]"),
        ({"in0": np.zeros(3, "f4"), "in1": np.zeros(3, "i4")}, "int32[3]"),
    ],
)
def test_inputs_that_do_not_fit(
    arrays: dict[str, np.ndarray], said: str, module: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path, out = tmp_path / "bad.npz", tmp_path / "out.npz"
    np.savez(path, allow_pickle=False, **arrays)
    assert run_hlo([str(module), f"--inputs={path}", f"--outputs={out}"]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_corrupt_inputs(
    module: Path, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(inputs.read_bytes()[:200])
    assert run_hlo([str(module), f"--inputs={broken}"]) == 2
    assert "broken.npz" in capsys.readouterr().err
