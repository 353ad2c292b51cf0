"""Runs the `// RUN:` lines of golden files inside this process.

A line means what it means to LLVM's lit: `%s` is the file, `%S` its folder, `%t` a path of its
own for temporary files, `|`, `&&`, `<`, `>`, `2>` and `2>&1` are the shell's, and `not` wants
its command to fail. Lines that follow a `\\` continue the one before. The programs are the
project's own scripts, `filecheck`, `cat` and `diff`. No process is started, so that coverage
and debuggers see into a command.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import io
import re
import shlex
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import filecheck.main

ROOT = Path(__file__).resolve().parent.parent
TESTDATA = ROOT / "testdata"

RUN_LINE = re.compile(r"//\s*RUN:\s*(.*?)\s*$")
CHECK_LINE = re.compile(r"//\s*[A-Z][A-Z0-9-]*?(?:-NEXT|-SAME|-DAG|-LABEL)?:\s?(.*)$")
SHELL_WORDS = frozenset({"|", "&&", "<", ">", ">&"})

FAULT = 70
"""The exit status of a command that has a fault of its own, which `not` does not excuse."""

Program = Callable[[list[str]], int]


class GoldenError(AssertionError):
    """A golden file whose RUN line fails or cannot be run."""


@dataclass(frozen=True)
class RunLine:
    """One command line of a golden file; `number` is its line in the file, counted from 1."""

    path: Path
    number: int
    command: str

    def __str__(self) -> str:
        return f"{self.path}:{self.number}: RUN: {self.command}"


@dataclass
class Command:
    """One program of a pipeline, with where its streams go."""

    words: list[str] = field(default_factory=list)
    input: Path | None = None
    output: Path | None = None
    errors: Path | None = None
    joins_errors: bool = False


@dataclass(frozen=True)
class Result:
    """What a program left behind: exit status, output and messages."""

    status: int
    output: bytes
    messages: str


def golden_files(folder: Path = TESTDATA) -> list[Path]:
    """Returns the files below `folder` that have a RUN line, in the order of their names."""
    return [path for path in sorted(folder.rglob("*.hlo")) if run_lines(path)]


def run_lines(path: Path) -> list[RunLine]:
    """Returns the RUN lines of a file, continued lines joined."""
    found: list[RunLine] = []
    continues = False
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = RUN_LINE.search(text)
        if match is None:
            continue
        command = match[1].removesuffix("\\")
        if continues:
            last = found.pop()
            found.append(RunLine(path, last.number, f"{last.command} {command}"))
        else:
            found.append(RunLine(path, number, command))
        continues = match[1].endswith("\\")
    return found


def run_file(path: Path, folder: Path) -> None:
    """Runs every RUN line of a file; raises `GoldenError` at the first that fails.

    Temporary files (`%t`) go to `folder`.
    """
    lines = run_lines(path)
    if not lines:
        raise GoldenError(f"{path}: no RUN line")
    for line in lines:
        for pipeline in _pipelines(line, folder):
            _run_pipeline(line, pipeline)


def _pipelines(line: RunLine, folder: Path) -> Iterator[list[Command]]:
    """Yields the pipelines that `&&` joins, each as its commands."""
    pipeline = [Command()]
    words = iter(_words(line, folder))
    for word in words:
        command = pipeline[-1]
        if word == "&&":
            yield pipeline
            pipeline = [Command()]
        elif word == "|":
            pipeline.append(Command())
        elif word in SHELL_WORDS:
            _redirect(line, command, word, next(words, ""))
        else:
            command.words.append(word)
    yield pipeline


def _words(line: RunLine, folder: Path) -> list[str]:
    lexer = shlex.shlex(line.command, posix=True, punctuation_chars="|<>&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    values = {
        "%s": str(line.path),
        "%S": str(line.path.parent),
        "%t": str(folder / f"{line.path.name}.tmp"),
        "%%": "%",
    }
    return [re.sub("%[sSt%]", lambda match: values[match[0]], word) for word in lexer]


def _redirect(line: RunLine, command: Command, sign: str, target: str) -> None:
    # The shell glues the number of a stream to the sign; the lexer hands both over in turn.
    stream = command.words.pop() if command.words[-1:] == ["2"] else ""
    match (stream, sign):
        case ("2", ">&") if target == "1":
            command.joins_errors = True
        case ("2", ">"):
            command.errors = Path(target)
        case ("", ">"):
            command.output = Path(target)
        case ("", "<"):
            command.input = Path(target)
        case _:
            raise GoldenError(f"{line}\nredirection {stream}{sign}{target} is not known here")


def _run_pipeline(line: RunLine, pipeline: Sequence[Command]) -> None:
    piped = b""
    for command in pipeline:
        given = command.input.read_bytes() if command.input else piped
        try:
            result = _run_command(command, given)
        except GoldenError as error:
            raise GoldenError(f"{line}\n{error}") from error
        if command.output:
            command.output.write_bytes(result.output)
        if command.errors:
            command.errors.write_text(result.messages, encoding="utf-8")
        if result.status:
            raise GoldenError(_report(line, command, given, result))
        piped = b"" if command.output else result.output


def _run_command(command: Command, given: bytes) -> Result:
    words = list(command.words)
    wants_failure = False
    while words[:1] == ["not"]:
        wants_failure = not wants_failure
        del words[0]
    if not words:
        raise GoldenError("a command is missing")
    result = _call(words, given, joins_errors=command.joins_errors)
    if not wants_failure or result.status == FAULT:
        return result
    return Result(0 if result.status else 1, result.output, result.messages)


def _call(words: Sequence[str], given: bytes, *, joins_errors: bool) -> Result:
    program = _programs().get(words[0])
    if program is None:
        raise GoldenError(f"no program {words[0]}; known are {', '.join(sorted(_programs()))}")
    standard_input = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    errors = output if joins_errors else io.TextIOWrapper(io.BytesIO(), write_through=True)
    with (
        mock.patch.object(sys, "stdin", standard_input),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        status = _status(program, words)
    messages = "" if joins_errors else _content(errors).decode("utf-8", "replace")
    return Result(status, _content(output), messages)


def _status(program: Program, words: Sequence[str]) -> int:
    try:
        return program(list(words[1:]))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except GoldenError:
        raise
    except Exception as error:
        # Whatever `not` says: a command that raises is broken.
        raise GoldenError(f"{words[0]} raised\n{traceback.format_exc()}") from error


def _content(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


@functools.cache
def _programs() -> dict[str, Program]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    scripts = pyproject["project"]["scripts"]
    own = {name: functools.partial(_script, target) for name, target in scripts.items()}
    return {**own, "filecheck": _filecheck, "FileCheck": _filecheck, "cat": _cat, "diff": _diff}


def _script(target: str, words: list[str]) -> int:
    module, _, function = target.partition(":")
    status = getattr(importlib.import_module(module), function)(words)
    assert isinstance(status, int), f"{target} returned {status!r}, an exit status is wanted"
    return status


def _filecheck(words: list[str]) -> int:
    filecheck.main.main(["filecheck", *words])
    raise GoldenError("filecheck was called without a file that holds the checks")


def _cat(words: list[str]) -> int:
    for name in words:
        sys.stdout.buffer.write(Path(name).read_bytes())
    return 0


def _diff(words: list[str]) -> int:
    first, second = (Path(word).read_bytes() for word in words)
    sys.stdout.write(_unified(_lines(first), _lines(second), *words))
    return int(first != second)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _unified(first: Sequence[str], second: Sequence[str], one: str, other: str) -> str:
    return "".join(f"{row}\n" for row in difflib.unified_diff(first, second, one, other, "", ""))


def _report(line: RunLine, command: Command, given: bytes, result: Result) -> str:
    parts = [str(line), f"{shlex.join(command.words)}: status {result.status}", result.messages]
    if command.words[0].lower() == "filecheck":
        checks = line.path.read_text(encoding="utf-8").splitlines()
        wanted = [
            match[1]
            for text in checks
            if (match := CHECK_LINE.search(text)) and not RUN_LINE.search(text)
        ]
        parts.append(_unified(wanted, _lines(given), "checks", "output"))
    else:
        parts.append(result.output.decode("utf-8", "replace"))
    return "\n".join(part for part in parts if part)
