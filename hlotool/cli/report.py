"""Where commands report errors, and what those make of the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from hlotool.cli.outputs import FatalUsageError, print_error
from hlotool.cli.rendering import WARNING, printable, render, render_json
from hlotool.errors import EvaluationError, HloError, UsageError

if TYPE_CHECKING:
    from hlotool.ir.module import Module

_COLOURS = {
    "+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m", "@": "\x1b[36m",
}  # fmt: skip
"""Those of lines in differences, by their marks."""
_RESET = "\x1b[0m"
GOOD = 0
WRONG = 1
"""A module is wrong, or results differ."""
USAGE = 2
"""Options or files that cannot be used."""


class Report:
    """Shows errors on standard error as they are found; `exit_code` is that of the worst.

    `json` shows each error as a line of JSON.
    """

    def __init__(self, program: str, *, json: bool = False) -> None:
        self.program = program
        self.json = json
        self.exit_code = GOOD

    def error(self, error: HloError, subject: str = "") -> None:
        """Shows an error; `subject` names the file it is about, if it has no location."""
        self.count(error)
        subject = subject or self.program
        if self.json:
            shown = render_json(error, subject)
        else:
            shown = render(error, subject, colour=is_colourful(sys.stderr))
        # On a terminal, what was printed before the error should stand before it.
        if sys.stdout is not None:
            sys.stdout.flush()
        print_error(shown)

    def warnings(self, module: Module, subject: str) -> None:
        """Shows what reading a module left out; that changes no exit code, and no JSON."""
        if not self.json:
            for warning in module.warnings:
                colour = is_colourful(sys.stderr)
                print_error(render(warning, subject, colour=colour, severity=WARNING))

    def note(self, text: str, subject: str) -> None:
        """Shows a remark, if there is one, unless errors are shown for a program."""
        if text and not self.json:
            print_error(f"{printable(subject)}: note: {printable(text)}\n")

    def count(self, error: HloError) -> None:
        """Lets an error that is shown otherwise have its say in the exit code."""
        code = USAGE if isinstance(error, UsageError) else WRONG
        self.exit_code = max(self.exit_code, code)

    @contextmanager
    def errors_of(self, subject: str) -> Iterator[None]:
        """Reports an error that ends the block, so that the next file has its turn.

        An error that every other file would meet too goes on to end the command.
        """
        try:
            yield
        except FatalUsageError:
            raise
        except HloError as error:
            self.error(error, subject)
        except MemoryError:
            self.error(EvaluationError("out of memory"), subject)


def coloured(line: str, mark: str, stream: TextIO | None) -> str:
    """Returns a line of a difference in the colour of its mark, where a stream shows colours."""
    colour = _COLOURS.get(mark) if is_colourful(stream) else None
    return f"{colour}{line}{_RESET}" if colour else line


def is_colourful(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that shows colours, and NO_COLOR does not forbid them."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()
