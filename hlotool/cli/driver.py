"""The command line: finds the command, and turns whatever it raises into lines and exit codes.

Exit codes: 0 good; 1 a module is wrong or results differ; 2 options or files that cannot be
used; 70 a fault of hlotool itself; 130 interrupted; 141 nobody reads the output any more;
143 terminated.
"""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from importlib import import_module
from typing import NoReturn, cast

from hlotool.cli.arguments import ArgumentParser, Command, suggestion
from hlotool.cli.outputs import discard_output, flush_output, print_error, print_text
from hlotool.cli.rendering import printable_lines
from hlotool.cli.report import GOOD, USAGE, Report
from hlotool.errors import HloError, UsageError
from hlotool.version import __version__

FAULT = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

COMMANDS = {
    "opt": ("hlotool.cli.opt", "run passes over modules and print them (the same as hlo-opt)"),
    "run": ("hlotool.cli.run", "run modules and compare what they yield (the same as run-hlo)"),
    "fmt": ("hlotool.cli.fmt", "format HLO files in place, keeping their comments"),
    "verify": ("hlotool.cli.verify", "check modules against the rules of HLO"),
    "convert": ("hlotool.cli.convert", "convert a module between text and protos"),
    "cache": ("hlotool.cli.cache", "show and clear the compiled modules that are kept on disk"),
    "compile": ("hlotool.cli.compile", "make a shared object of a module, for C programs"),
    "diff": ("hlotool.cli.diff", "tell what is added, removed and changed between two modules"),
    "explore": ("hlotool.cli.explore", "show what is in a directory of dumps"),
    "graph": ("hlotool.cli.graph", "show a module as a page, a picture or a tree"),
    "fingerprint": ("hlotool.cli.fingerprint", "tell whether modules are the same but for names"),
    "stats": ("hlotool.cli.stats", "count opcodes, kernels, operations, bytes, and what is fused"),
}
"""The module and the summary of each command; a module is imported when its command is called."""

_EXAMPLES = """\
  hlotool opt module.hlo                      print a module as it is understood
  hlotool opt module.hlo --platform=cpu       simplify and fuse a module
  hlotool diff before.hlo after.hlo           tell what changed
  hlotool graph module.hlo -o module.html     make a page to look around in it
  hlotool run module.hlo                      run a module on generated inputs
  hlotool fmt --check *.hlo                   tell which files are not well formatted
  hlotool convert module.hlo.pb module.hlo    make a proto readable
  hlotool COMMAND --help                      the options of a command
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `hlotool` with these arguments, those of the process by default."""
    words = list(sys.argv[1:] if argv is None else argv)
    report = Report("hlotool")
    return _guarded(report, lambda: _dispatch(words, report))


def hlo_opt(argv: Sequence[str] | None = None) -> int:
    """Runs `hlo-opt`, which is `hlotool opt`."""
    words = list(sys.argv[1:] if argv is None else argv)
    report = Report("hlo-opt")
    return _guarded(report, lambda: _run("opt", words, report))


def run_hlo(argv: Sequence[str] | None = None) -> int:
    """Runs `run-hlo`, which is `hlotool run`."""
    words = list(sys.argv[1:] if argv is None else argv)
    report = Report("run-hlo")
    return _guarded(report, lambda: _run("run", words, report))


def _dispatch(words: Sequence[str], report: Report) -> int:
    if not words:
        print_error(_overview().format_help())
        return USAGE
    name = words[0]
    if name in COMMANDS:
        report.program = f"hlotool {name}"
        return _run(name, words[1:], report)
    if name.startswith("-"):
        _overview().parse(words)
    near = suggestion(name, list(COMMANDS))
    raise UsageError(f"unknown command {name}{near}", notes=("hlotool --help lists the commands",))


def _overview() -> ArgumentParser:
    width = max(map(len, COMMANDS))
    listed = "".join(f"  {name:{width}}  {summary}\n" for name, (_, summary) in COMMANDS.items())
    parser = ArgumentParser(
        "hlotool",
        "COMMAND ...",
        "Reads, checks, optimizes, compares, converts and runs HLO modules.\n\n"
        f"commands:\n{listed}",
        _EXAMPLES,
    )
    _add_version(parser)
    return parser


def _add_version(parser: ArgumentParser) -> None:
    parser.add_argument("--version", action="version", version=f"hlotool {__version__}")


def _run(name: str, words: Sequence[str], report: Report) -> int:
    if "--version" in words:
        # Answered before the command is imported, which takes longer than all of this.
        print_text(f"hlotool {__version__}\n")
        return GOOD
    path, summary = COMMANDS[name]
    command = cast("Command", import_module(path))
    # A command says nothing of its other name where it is called by that.
    summary = summary.removesuffix(f" (the same as {report.program})")
    description = f"{summary[0].upper()}{summary[1:]}."
    operands = f"[OPTION ...] {command.OPERANDS}"
    parser = ArgumentParser(report.program, operands, description, command.EXAMPLES)
    command.add_arguments(parser)
    _add_version(parser)
    # Whoever asks for JSON wants errors of usage in it too.
    report.json = "--json" in words
    return command.run(parser.parse(words), report)


def _guarded(report: Report, action: Callable[[], int]) -> int:
    """Does `action` and returns the exit code; no exception leaves here."""
    try:
        with _orderly_end():
            return _reported(report, action)
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        print_error(f"{report.program}: error: out of memory\n")
    except Exception:  # noqa: BLE001  # whatever it is, it is our fault and is shown whole
        print_error(printable_lines(_traceback()))
        print_error(
            f"{report.program}: this is a fault of hlotool, not of your input; please report it"
            " with the command and the lines above\n"
        )
    return FAULT


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Lets a signal to end leave nothing behind: no child process, no temporary file."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    # Windows has no signal for a terminal that goes away.
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # What is ignored, as under nohup, stays so.
    before = {number: signal.getsignal(number) for number in ends}
    taken = [number for number in ends if before[number] is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _traceback() -> str:
    # The interpreter can show one by itself; importing traceback would slow every start.
    shown = io.StringIO()
    with redirect_stderr(shown):
        sys.__excepthook__(*cast("tuple[type[BaseException], BaseException, None]", sys.exc_info()))
    return shown.getvalue()


def _reported(report: Report, action: Callable[[], int]) -> int:
    try:
        code = action()
        flush_output()
    except HloError as error:
        report.error(error)
        code = report.exit_code
    except SystemExit as end:
        # How argparse ends after --help and --version.
        flush_output()
        code = end.code if isinstance(end.code, int) else GOOD
    return max(code, report.exit_code)
