"""What comes of XLA when it is missing, refuses, crashes or takes for ever: always an error."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hlotool.errors import EvaluationError, HloError, UnsupportedError
from hlotool.evaluation.xla.process import PYTHON_VARIABLE
from hlotool.evaluation.xla.reference import XlaSession, run_under_xla
from hlotool.text.parser import parse

MODULE = "HloModule m\nENTRY e {\n p = f32[2] parameter(0)\n ROOT r = f32[2] negate(p)\n}"
NUMBERS = np.array([1, 2], np.float32)
# Stands in for a Python with jaxlib: what it is called with is -P, the program, the folder.
STAND_IN = (
    "#!{python}\nimport json, os, sys, time\nimport numpy as np\nfolder = sys.argv[3]\n{body}\n"
)


def run(python: str, module: str = MODULE, *arguments: Any, **options: Any) -> Any:
    given = arguments or (NUMBERS,)
    (result,) = run_under_xla(parse(module, "m.hlo"), [given], python=python, **options)
    return result


@pytest.fixture
def stand_in(tmp_path: Path) -> Any:
    def make(body: str) -> str:
        path = tmp_path / "python"
        path.write_text(STAND_IN.format(python=sys.executable, body=body), encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return make


def failure(python: str, **options: Any) -> HloError:
    with pytest.raises(HloError) as caught:
        run(python, **options)
    return caught.value


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script of a POSIX shell")
def test_a_missing_jaxlib_says_how_to_install_it(tmp_path: Path) -> None:
    # A Python with nothing but its own library, whatever is installed beside it.
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    error = failure(str(bare))
    assert isinstance(error, UnsupportedError)
    assert error.message == "the platform xla needs jaxlib: No module named 'jax'"
    assert error.notes[0] == (
        "install it with: pip install 'hlotool[xla]', or '.[xla]' in a checkout"
    )
    assert PYTHON_VARIABLE in error.notes[1]
    assert str(bare) in error.notes[1]


def test_the_python_may_come_from_the_environment(
    stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = stand_in("sys.stderr.write('hlotool: import: none here'); sys.exit(3)")
    monkeypatch.setenv(PYTHON_VARIABLE, python)
    with pytest.raises(UnsupportedError, match="none here") as caught:
        run_under_xla(parse(MODULE), [[NUMBERS]])
    assert caught.value.notes[1].endswith(python)


def test_no_such_python_is_said() -> None:
    error = failure("no-such-python")
    assert error.message == "cannot run XLA with no-such-python: No such file or directory"


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("sys.stderr.write('noise\\nhlotool: compile: UNIMPLEMENTED: no\\n'); sys.exit(4)",
         UnsupportedError, "XLA does not compile the module: UNIMPLEMENTED: no"),
        ("sys.stderr.write('hlotool: run: INTERNAL: bad\\n'); sys.exit(5)",
         EvaluationError, "XLA fails: INTERNAL: bad"),
        ("sys.exit(9)", EvaluationError, "XLA ended with status 9"),
    ],
)  # fmt: skip
def test_what_xla_says_is_repeated(
    stand_in: Any, body: str, kind: type[HloError], message: str
) -> None:
    error = failure(stand_in(body))
    assert type(error) is kind
    assert error.message == message


@pytest.mark.skipif(os.name == "nt", reason="signals end processes on POSIX systems")
def test_a_crash_is_an_error_with_the_check_that_failed(stand_in: Any) -> None:
    check = "F0101 00:00:00 1 shape.cc:1] Check failed: a == b"
    error = failure(
        stand_in(f"print('noise', {check!r}, 'more', sep='\\n', file=sys.stderr)\nos.abort()")
    )
    assert error.message == "XLA crashed with SIGABRT"
    assert error.notes == (check,)


def test_a_long_run_ends(stand_in: Any) -> None:
    error = failure(stand_in("time.sleep(60)"), timeout=0.5)
    assert error.message == "XLA gave no answer within 0.5 s"


ECHO = """
job = json.load(open(folder + "/job.json"))
stored = np.load(folder + "/arguments.npz")
np.savez(folder + "/results.npz", **stored)
json.dump(job["types"], open(folder + "/results.json", "w"))
"""


def test_tuples_are_flat_on_the_way_and_types_keep_their_bits(stand_in: Any) -> None:
    shape = "(bf16[2], (s4[3], c64[], pred[1]))"
    module = f"HloModule m\nENTRY e {{\n ROOT p = {shape} parameter(0)\n}}"
    value = (
        np.array([1.5, -0.0], ml_dtypes.bfloat16),
        (
            np.array([-8, 7, 0], ml_dtypes.int4),
            np.array(1 + 2j, np.complex64),
            np.array([True]),
        ),
    )
    result = run(stand_in(ECHO), module, value)
    for one, other in zip(flat(result), flat(value), strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def flat(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, tuple) else [value]


def test_every_device_has_its_arguments_and_results(stand_in: Any) -> None:
    arguments = [[NUMBERS * device] for device in range(6)]
    results = run_under_xla(parse(MODULE), arguments, 2, 3, python=stand_in(ECHO))
    for (argument,), result in zip(arguments, results, strict=True):
        np.testing.assert_array_equal(argument, result)


def test_options_have_their_types(stand_in: Any, tmp_path: Path) -> None:
    copy = tmp_path / "job.json"
    body = f"{ECHO}\njson.dump(job['options'], open({str(copy)!r}, 'w'))"
    options = ["--xla_a=true", "xla_b=12", "xla_c=word", "xla_d", "xla_e=FALSE"]
    run(stand_in(body), options=options)
    wanted = '{"xla_a": true, "xla_b": 12, "xla_c": "word", "xla_d": true, "xla_e": false}'
    assert copy.read_text(encoding="utf-8") == wanted


MANUAL = """HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
ENTRY e {
  p = f32[2] parameter(0)
  ROOT l = f32[2] custom-call(p), custom_call_target="TARGET"
}"""


@pytest.mark.parametrize(
    ("target", "partitions", "wanted"),
    [
        ("xla.sdy.GlobalToLocalShape", 2, "shardy"),
        ("SPMDFullToShardShape", 2, "gspmd"),
        ("xla.sdy.GlobalToLocalShape", 1, None),
        ("Sharding", 2, None),
    ],
)
def test_a_module_that_is_not_cut_yet_goes_through_a_partitioner(
    stand_in: Any, tmp_path: Path, target: str, partitions: int, wanted: str | None
) -> None:
    copy, text = tmp_path / "job.json", tmp_path / "module.hlo"
    body = f"{ECHO}\nimport shutil"
    body += f"\nshutil.copy(folder + '/job.json', {str(copy)!r})"
    body += f"\nshutil.copy(folder + '/module.hlo', {str(text)!r})"
    module = parse(MANUAL.replace("TARGET", target))
    run_under_xla(module, [[NUMBERS]] * partitions, 1, partitions, python=stand_in(body))
    job = json.loads(copy.read_text(encoding="utf-8"))
    assert (job["partitioner"], job["results"]) == (wanted, [[2]])
    assert ("sdy.mesh" in text.read_text(encoding="utf-8")) == (wanted is not None)


def test_results_of_another_number_are_an_error(stand_in: Any) -> None:
    module = MODULE.replace("f32[2] negate(p)", "(f32[2], f32[2]) tuple(p, p)")
    with pytest.raises(EvaluationError, match="XLA yields 1 arrays"):
        run(stand_in(ECHO), module)


def test_hosts_are_not_there_to_be_waited_for(stand_in: Any) -> None:
    module = "HloModule m\nENTRY e {\n t = token[] after-all()\n"
    module += " ROOT i = (f32[2], token[]) infeed(t)\n}"
    with pytest.raises(UnsupportedError, match=r"m\.hlo:4:7: infeed waits for a host"):
        run_under_xla(parse(module, "m.hlo"), [[]], python=stand_in(ECHO))


def test_tokens_cannot_be_given(stand_in: Any) -> None:
    module = "HloModule m\nENTRY e {\n ROOT t = token[] parameter(0)\n}"
    with pytest.raises(UnsupportedError, match="takes only arrays"):
        run(stand_in(ECHO), module, None)


# Does jobs as the program does, and notes its own number beside each.
PATIENT = """
while folder:
    with np.load(f"{folder}/arguments.npz") as stored:
        np.savez(f"{folder}/results.npz", **{name: stored[name] for name in stored.files})
    json.dump(json.load(open(f"{folder}/job.json"))["types"], open(f"{folder}/results.json", "w"))
    open(__file__ + ".log", "a").write(f"{os.getpid()}\\n")
    print("done", flush=True)
    folder = sys.stdin.readline().strip()
"""


def test_one_process_runs_many_modules_and_another_one_other_devices(stand_in: Any) -> None:
    python = stand_in(PATIENT)
    module = parse(MODULE)
    with XlaSession(python) as session:
        for _ in range(3):
            (result,) = session.run(module, [[NUMBERS]])
            np.testing.assert_array_equal(result, NUMBERS)
        assert len(session.run(module, [[NUMBERS]] * 2, 2, 1)) == 2
    pids = Path(f"{python}.log").read_text(encoding="utf-8").split()
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 1]


def test_a_session_goes_on_after_a_process_that_ends(stand_in: Any, tmp_path: Path) -> None:
    python = stand_in('sys.stderr.write("hlotool: compile: no\\\\n")\nsys.exit(4)')
    with XlaSession(python) as session:
        with pytest.raises(UnsupportedError, match="XLA does not compile the module: no"):
            session.run(parse(MODULE), [[NUMBERS]])
        assert (tmp_path / "python").is_file()
        stand_in(PATIENT)
        (result,) = session.run(parse(MODULE), [[NUMBERS]])
    np.testing.assert_array_equal(result, NUMBERS)
