"""What the options of all commands share: the parser, and options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

from hlotool.cli.report import Report
from hlotool.errors import UsageError

FORMATS = {
    "hlo": "hlo", "txt": "hlo", "pb": "pb", "hlo.pb": "pb", "pbtxt": "pbtxt", "textproto": "pbtxt",
}  # fmt: skip
"""The formats of module files by each name that options and file names use for them."""
MOST_DIGITS = 18
"""How long the numbers of options may be."""


class Command(Protocol):
    """What the module of a command has."""

    OPERANDS: str
    """The files in the usage line."""
    EXAMPLES: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Adds the options of the command."""

    def run(self, arguments: argparse.Namespace, report: Report) -> int:
        """Does what the command does and returns the exit code."""


class ArgumentParser(argparse.ArgumentParser):
    """A parser of options that raises `UsageError` and knows near names."""

    def __init__(self, program: str, operands: str, description: str, examples: str) -> None:
        super().__init__(
            prog=program,
            usage=f"%(prog)s {operands}",
            description=description,
            epilog=f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.spellings: Callable[[Sequence[str]], list[str]] = list
        """Turns other programs' spellings of options into those of this parser."""

    def error(self, message: str) -> NoReturn:
        """Raises `UsageError`."""
        raise UsageError(message, notes=(f"{self.prog} --help lists the options",))

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Returns the options in `argv`; files and options may stand in any order."""
        words = self.spellings(argv)
        if "--" in words:
            # argparse forgets what `--` says when files and options may stand in any order.
            end = words.index("--")
            words[end:] = [f"./{w}" if w.startswith("-") else w for w in words[end + 1 :]]
        # argparse would first ask for what is missing, and only then see what it does not know.
        for word in words:
            option = word.partition("=")[0]
            if option.startswith("--") and option not in self._option_string_actions:
                options = [name for name in self._option_string_actions if name.startswith("--")]
                self.error(f"unknown option {option}{suggestion(option, options)}")
        known, unknown = self.parse_known_intermixed_args(words)
        if unknown:
            is_option = unknown[0].startswith("-")
            fault = "unknown option" if is_option else "one file too many:"
            self.error(f"{fault} {unknown[0]}")
        return known


def suggestion(word: str, known: Sequence[str]) -> str:
    """Returns `; did you mean a or b?` for known words like `word`, or nothing."""
    # Only a wrong call needs it, and what comes with it is half of the start-up time.
    from hlotool.ir.attribute import near_names

    return near_names(word, known)


def add_inputs(parser: ArgumentParser, *, folders: str = "", are_needed: bool = True) -> None:
    """Adds the files that a command reads; `folders` says what it takes from folders."""
    also = f"; of a folder, {folders} in it" if folders else ""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+" if are_needed else "*",
        help=f"a module, - for standard input{also}",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help="the format of all inputs: hlo, pb or pbtxt (default: by file name, else hlo)",
    )
    add_split(parser)
    add_reading(parser)


def add_split(parser: ArgumentParser) -> None:
    """Adds the switch for files of several modules."""
    parser.add_argument(
        "--split-input-file",
        action="store_true",
        help="the inputs hold several modules each, with lines of // ----- between them",
    )


def add_reading(parser: ArgumentParser) -> None:
    """Adds the options about reading a module."""
    parser.add_argument(
        "--lenient",
        action="store_true",
        help="keep opcodes and attributes that hlotool does not know",
    )


def add_verify(parser: ArgumentParser) -> None:
    """Adds the switch of the verifier."""
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="check what is read against the rules of HLO (on by default)",
    )


def add_json(parser: ArgumentParser, what: str) -> None:
    """Adds `--json`; `what` says what a program gets to read."""
    parser.add_argument("--json", action="store_true", help=what)


def add_output(parser: ArgumentParser) -> None:
    """Adds the file that a command writes."""
    parser.add_argument(
        "-o",
        "--output",
        "--o",
        metavar="FILE",
        default="-",
        help="write here; complete or not at all (default: -, standard output)",
    )


def natural(word: str) -> int:
    """Returns the number of an option, 0 or more."""
    if not word.isdecimal() or len(word) > MOST_DIGITS:
        raise argparse.ArgumentTypeError(_unwanted(word, "0 or more"))
    return int(word)


def positive(word: str) -> int:
    """Returns the number of an option, 1 or more."""
    if not word.isdecimal() or len(word) > MOST_DIGITS or not int(word):
        raise argparse.ArgumentTypeError(_unwanted(word, "1 or more"))
    return int(word)


def _unwanted(word: str, bounds: str) -> str:
    if word.isdecimal() and len(word) > MOST_DIGITS:
        return f"a number of at most {MOST_DIGITS} digits wanted, {word[:40]!r} given"
    return f"a number of {bounds} wanted, {word[:40]!r} given"
