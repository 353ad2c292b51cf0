"""The driver: commands, options, exit codes, and what happens when something goes wrong."""

import importlib
import io
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import hlotool
from hlotool.cli import driver
from hlotool.cli.arguments import ArgumentParser
from hlotool.cli.outputs import print_text
from hlotool.cli.report import Report
from hlotool.errors import HloError, UsageError

Action = Callable[[Namespace, Report], int]
Fake = Callable[[Action], None]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes `hlotool fake --levels N FILE...` do what a test wants."""

    def set_action(action: Action) -> None:
        def add_arguments(parser: ArgumentParser) -> None:
            parser.add_argument("--levels", type=int)
            parser.add_argument("--json", action="store_true")
            parser.add_argument("files", nargs="*")

        command = SimpleNamespace(
            OPERANDS="FILE", EXAMPLES="", add_arguments=add_arguments, run=action
        )
        monkeypatch.setitem(sys.modules, "fake_command", command)
        monkeypatch.setitem(driver.COMMANDS, "fake", ("fake_command", "does what a test wants"))

    return set_action


def test_version_names_the_version_of_the_project(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert driver.main(["--version"]) == 0
    assert capsys.readouterr().out == f"hlotool {hlotool.__version__}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert driver.main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, (_, summary) in driver.COMMANDS.items():
        assert f"  {name} " in shown
        assert summary in shown


def test_no_command_shows_the_help_as_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert driver.main([]) == 2
    assert "commands:" in capsys.readouterr().err


@pytest.mark.parametrize("name", driver.COMMANDS)
def test_help_of_every_command_has_examples_that_parse(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, summary = driver.COMMANDS[name]
    assert driver.main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert summary[1:] in " ".join(shown.split())
    command = importlib.import_module(path)
    for line in command.EXAMPLES.splitlines():
        words = line.strip().split("   ")[0].split()
        for sign in ("<", ">", "2>", "|"):
            words = words[: words.index(sign)] if sign in words else words
        assert words[:2] == ["hlotool", name] or words[0] in {f"hlo-{name}", f"{name}-hlo"}
        parser = ArgumentParser(name, "", "", "")
        command.add_arguments(parser)
        parser.parse(words[2:] if words[0] == "hlotool" else words[1:])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ftm"], "hlotool: error: unknown command ftm; did you mean fmt?"),
        (["zzzz"], "hlotool: error: unknown command zzzz"),
        (["--verion"], "hlotool: error: unknown option --verion; did you mean --version?"),
        (
            ["fake", "--lvels=3"],
            "hlotool fake: error: unknown option --lvels; did you mean --levels",
        ),
        (["opt", "--list-paces"], "hlotool opt: error: unknown option --list-paces"),
        (["fake", "-z"], "hlotool fake: error: unknown option -z"),
        (
            ["fake", "--levels", "x"],
            "hlotool fake: error: argument --levels: invalid int value: 'x'",
        ),
        (["fake", "--\x1b[1m"], "hlotool fake: error: unknown option --\\x1b[1m"),
    ],
)
def test_usage_errors(
    words: list[str], message: str, fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(lambda *_: 0)
    assert driver.main(words) == 2
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith(message)
    assert shown[1].startswith("note: hlotool")


def test_options_and_files_stand_in_any_order(fake: Fake) -> None:
    seen = []

    def run(arguments: Namespace, _: Report) -> int:
        seen.append((arguments.files, arguments.levels))
        return 0

    fake(run)
    assert driver.main(["fake", "a", "--levels", "1", "b", "--", "--c"]) == 0
    assert seen == [(["a", "b", "./--c"], 1)]


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (HloError("wrong"), 1, "hlotool fake: error: wrong\n"),
        (UsageError("no such"), 2, "hlotool fake: error: no such\n"),
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 70, "hlotool fake: error: out of memory\n"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_exit_codes(
    error: BaseException, code: int, shown: str, fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*_: object) -> int:
        raise error

    fake(run)
    assert driver.main(["fake"]) == code
    assert capsys.readouterr().err == shown


def test_fault_of_ours_shows_where_and_asks_for_a_report(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*_: object) -> int:
        raise ZeroDivisionError("by \x1b[31m zero")

    fake(run)
    assert driver.main(["fake"]) == 70
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "ZeroDivisionError: by \\x1b[31m zero" in shown
    assert shown.endswith("please report it with the command and the lines above\n")


def test_each_file_has_its_turn_and_the_worst_code_wins(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: Namespace, report: Report) -> int:
        for name in arguments.files:
            with report.errors_of(name):
                if name == "missing":
                    raise UsageError("cannot read")
                if name == "bad":
                    raise HloError("wrong")
                print_text(name)
        return 0

    fake(run)
    assert driver.main(["fake", "a", "bad", "b"]) == 1
    assert driver.main(["fake", "missing", "bad", "c"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "abc"
    wanted = "bad: error: wrong\nmissing: error: cannot read\nbad: error: wrong\n"
    assert shown.err == wanted


def test_json_shows_errors_as_lines_of_json(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    def run(_: Namespace, report: Report) -> int:
        report.error(HloError("wrong"), "m.hlo")
        return report.exit_code

    fake(run)
    assert driver.main(["fake", "--json"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith('{"file": "m.hlo", "line": null')


def test_full_standard_output_is_an_error(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    def run(_: Namespace, report: Report) -> int:
        with report.errors_of("m.hlo"):
            print_text("x" * 10)
        return 0

    fake(run)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Full(), write_through=True))
    assert driver.main(["fake"]) == 2
    shown = capsys.readouterr().err
    assert shown == "hlotool fake: error: cannot write standard output: no space left on device\n"


@pytest.mark.parametrize(
    ("environment", "is_terminal", "coloured"),
    [({}, True, True), ({}, False, False), ({"NO_COLOR": "1"}, True, False),
     ({"NO_COLOR": ""}, True, True), ({"TERM": "dumb"}, True, False)],
)  # fmt: skip
def test_colour_only_where_it_is_wanted(
    environment: dict[str, str],
    is_terminal: bool,  # noqa: FBT001  # a parameter of the test
    coloured: bool,  # noqa: FBT001  # a parameter of the test
    fake: Fake,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(*_: object) -> int:
        raise HloError("wrong")

    fake(run)
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    assert driver.main(["fake"]) == 1
    assert ("\x1b[" in capsys.readouterr().err) is coloured


def test_version_loads_no_heavy_package(root: Path) -> None:
    code = (
        "import sys\n"
        "from hlotool.cli.driver import main\n"
        "main(['--version'])\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
        "print(*sorted(name for name in sys.modules if name.startswith('hlotool.')))\n"
    )
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    _, packages, own = shown.splitlines()
    heavy = {"lark", "numpy", "ml_dtypes", "google", "rich", "dataclasses", "llvmlite"}
    assert not heavy & set(packages.split())
    shared = ("arguments", "driver", "inputs", "outputs", "rendering", "report")
    allowed = {
        "hlotool.cli",
        "hlotool.errors",
        "hlotool.version",
        *[f"hlotool.cli.{name}" for name in shared],
    }
    assert set(own.split()) <= allowed


def test_broken_pipe_is_quiet(root: Path) -> None:
    # The reader ends at once; help is written into a pipe that nobody holds.
    code = "import os, sys\nr, w = os.pipe()\nos.close(r)\nos.dup2(w, 1)\n"
    code += "from hlotool.cli.driver import main\nsys.exit(main(['--help']))\n"
    # Unbuffered, argparse would meet the broken pipe itself and pass over it.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (141, b"")


def test_module_runs_as_a_command(root: Path) -> None:
    command = [sys.executable, "-m", "hlotool", "nonsense"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("hlotool: error: unknown command nonsense")
