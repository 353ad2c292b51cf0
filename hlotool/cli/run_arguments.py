"""The options of `run-hlo`."""

from __future__ import annotations

import argparse
import threading
from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise

from hlotool.cli.arguments import (
    ArgumentParser,
    add_inputs,
    add_json,
    natural,
    positive,
)
from hlotool.cli.code_arguments import FLOAT_MODES, add_float_mode
from hlotool.cli.platforms import PLATFORMS
from hlotool.cli.run_flags import SPELLINGS
from hlotool.errors import UsageError
from hlotool.evaluation.interpreter.devices import MOST_ITERATIONS

NO_REFERENCE = "none"
_BENCH_SECONDS = 2.0
_ABSENT = {
    "cuda": "nothing here runs on GPUs yet",
    "gpu": "nothing here runs on GPUs yet",
    "rocm": "nothing here runs on GPUs yet",
}
"""Platforms of the reference that are not here, with what to do instead."""
OUTPUTS = ("save_inputs", "outputs", "output_literals_file")
"""The options that name files to write binary data to."""
_OF_ONE_RUN = ("outputs", "save_inputs", "expected")
_OF_COMPARISONS = ("abs_error_bound", "rel_error_bound", "save_mismatch")
_OF_RESULTS = (
    *OUTPUTS, *_OF_COMPARISONS, "expected", "reference_module", "print_literals",
)  # fmt: skip
_OF_WHOLE_MODULES = (
    *OUTPUTS, "inputs", "expected", "print_literals", "save_mismatch",
)  # fmt: skip
_FILES = (
    *OUTPUTS, "inputs", "input_literals_file", "expected", "reference_module", "save_mismatch",
    "xla_python",
)  # fmt: skip


def add_run_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command, which take the reference's spellings too."""
    parser.spellings = _with_seconds
    add_inputs(parser, folders="the .hlo and .hlo.pb files and texts of modules in a dump")
    add_json(parser, "a line of JSON for each run: file, module, status, results, differences")
    parser.add_argument("-q", "--quiet", action="store_true", help="print differences alone")
    _add_platforms(parser.add_argument_group("where it runs"))
    _add_compilation(parser.add_argument_group("compilation, with --platform=cpu"))
    _add_values(parser.add_argument_group("inputs and outputs"))
    _add_comparison(parser.add_argument_group("comparison"))


def _with_seconds(argv: Sequence[str]) -> list[str]:
    """Returns the options in this command's spelling; what follows `--bench` may be a file."""
    words = SPELLINGS.translated(argv)
    for number, (word, following) in enumerate(pairwise(words)):
        if word == "--":
            break
        if word == "--bench" and not following.startswith("-") and not _is_number(following):
            words[number] = f"--bench={_BENCH_SECONDS}"
    return words


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _add_platforms(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--platform", type=_platform, default="interpreter", metavar="NAME",
        help="interpreter (numpy, the default), cpu (compiled through LLVM), or xla (jaxlib's"
        " CPU compiler)",
    )  # fmt: skip
    group.add_argument(
        "--reference-platform", type=_reference, metavar="NAME",
        help="compare with a run on one of these, or with none (default: the interpreter,"
        " or none where it is the platform itself)",
    )  # fmt: skip
    group.add_argument(
        "--num-replicas", type=positive, metavar="N", help="replicas (default: of the module)"
    )
    group.add_argument(
        "--num-partitions", type=positive, metavar="N", help="partitions (default: of the module)"
    )
    group.add_argument(
        "--max-steps", type=positive, default=MOST_ITERATIONS, metavar="N",
        help=f"the most rounds of all loops of a run (default: {MOST_ITERATIONS}); on cpu each loop"
        " is looked at every 16384 rounds",
    )  # fmt: skip
    group.add_argument(
        "--isolate", action="store_true",
        help="run each instruction as a module of its own, equal ones once, and print outcomes",
    )  # fmt: skip
    group.add_argument(
        "--timeout", type=_seconds, default=600.0, metavar="SECONDS",
        help="how long xla may take for a module (default: 600)",
    )  # fmt: skip
    group.add_argument(
        "--xla-python", metavar="PROGRAM",
        help="the Python that has jaxlib (default: the one that runs this)",
    )  # fmt: skip
    group.add_argument(
        "--xla-option", action="append", default=[], metavar="--xla_NAME=VALUE",
        help="an option for XLA, which may also be given as --xla_NAME=VALUE itself",
    )  # fmt: skip


def _add_compilation(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--threads", type=positive, metavar="N",
        help="threads that share the work (default: HLOTOOL_THREADS, or one a core)",
    )  # fmt: skip
    add_float_mode(group)
    group.add_argument(
        "--run-test-hlo-passes", action=argparse.BooleanOptionalAction, default=True,
        help="optimize and fuse before compiling, as --platform=cpu of hlo-opt does",
    )  # fmt: skip
    group.add_argument(
        "--compile-cache", action=argparse.BooleanOptionalAction, default=True,
        help="use compiled modules that are kept on disk, and keep this one",
    )  # fmt: skip
    group.add_argument(
        "--explain-compile", action="store_true",
        help="tell what is compiled, and which instructions are evaluated, and why",
    )  # fmt: skip
    group.add_argument(
        "--bench", type=_duration, nargs="?", const=_BENCH_SECONDS, metavar="SECONDS",
        help="run for so long (default: 2) and show times, rates, and a table of kernels",
    )  # fmt: skip


def _add_values(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--inputs", metavar="FILE",
        help="arguments: .npz (in0, in1, ...), .npy, text of literals, or a proto of literals"
        " (default: those of a snapshot, else generated)",
    )  # fmt: skip
    group.add_argument(
        "--input-literals-file", metavar="FILE", help="the same, as the reference calls it"
    )
    group.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="seeds generated inputs and rng"
    )
    group.add_argument(
        "--iterations", type=positive, default=1, metavar="N",
        help="runs of each module, each with inputs of its own",
    )  # fmt: skip
    group.add_argument(
        "--different-random-seeds", action="store_true",
        help="seed rng with the number of the iteration",
    )  # fmt: skip
    group.add_argument(
        "--use-large-float-range", action="store_true",
        help="generate numbers of the whole range of their types",
    )  # fmt: skip
    group.add_argument(
        "--random-init-input-literals", action=argparse.BooleanOptionalAction, default=True,
        help="generate inputs; otherwise they are zeros",
    )  # fmt: skip
    group.add_argument(
        "--edge-values", action="store_true",
        help="put NaN, infinities, ends of ranges and the like among generated numbers",
    )  # fmt: skip
    group.add_argument("--save-inputs", metavar="FILE.npz", help="write the arguments")
    group.add_argument("--outputs", metavar="FILE.npz", help="write the results as out0, out1, ...")
    group.add_argument(
        "--output-literals-file", metavar="FILE.pb",
        help="write arguments and results as the reference does, as RunHloModuleLiterals",
    )  # fmt: skip
    group.add_argument(
        "--print-literals", action="store_true", help="print arguments and results in full"
    )


def _add_comparison(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--expected", metavar="FILE.npz",
        help="compare with results in a file: out0, out1, ..., as --outputs writes them",
    )  # fmt: skip
    group.add_argument(
        "--reference-module", metavar="FILE",
        help="compare with what another module yields for the same arguments",
    )  # fmt: skip
    bounds = "an element is wrong where it breaks both bounds (default: by type and operations)"
    group.add_argument("--abs-error-bound", type=_bound, metavar="X", help=bounds)
    group.add_argument("--rel-error-bound", type=_bound, metavar="X", help="see above")
    group.add_argument(
        "--save-mismatch", metavar="FOLDER",
        help="where results differ, write module, inputs and both results here",
    )  # fmt: skip


def _platform(word: str) -> str:
    name = word.lower()
    if name in PLATFORMS:
        return name
    hint = f": {_ABSENT[name]}" if name in _ABSENT else ""
    raise argparse.ArgumentTypeError(
        f"there is no platform {word}{hint}; known: {', '.join(PLATFORMS)}"
    )


def _reference(word: str) -> str:
    if not word or word.lower() == NO_REFERENCE:
        return NO_REFERENCE
    return "interpreter" if word.lower() == "default" else _platform(word)


def _bound(word: str) -> float:
    return _number(word, "a bound of 0 or more")


def _seconds(word: str) -> float:
    # More than a thread can wait is for ever.
    return min(_number(word, "a number of seconds"), threading.TIMEOUT_MAX)


def _duration(word: str) -> float:
    found = _number(word, "a number of seconds")
    if found > threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"a number of seconds wanted, {word!r} never ends")
    return found


def _number(word: str, what: str) -> float:
    try:
        found = float(word)
    except ValueError:
        found = -1.0
    if not found >= 0:
        raise argparse.ArgumentTypeError(f"{what} wanted, {word!r} given")
    return found


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _refuse(
    arguments: Namespace, names: Sequence[str], why: str, notes: Sequence[str] = ()
) -> None:
    for name in names:
        given = getattr(arguments, name)
        # A bound of 0 is given too.
        if given is not None and given is not False:
            raise UsageError(f"{_spelled(name)} {why}", notes=notes)


def _check_comparison(arguments: Namespace) -> None:
    if arguments.reference_module and (arguments.expected or arguments.isolate):
        other = "expected" if arguments.expected else "isolate"
        raise UsageError(f"--reference-module and --{other} exclude each other")
    if not arguments.expected and arguments.reference_platform == NO_REFERENCE:
        hint = "--reference-platform, --reference-module or --expected say with what"
        _refuse(arguments, _OF_COMPARISONS, "is for comparisons, and nothing is compared", (hint,))


def _check_files(arguments: Namespace) -> None:
    for name in _FILES:
        # As an unset variable of a shell leaves it; running without would look like success.
        if getattr(arguments, name) == "":
            raise UsageError(f"{_spelled(name)} is given without a name")
    for name in OUTPUTS:
        if getattr(arguments, name) == "-":
            raise UsageError(f"{_spelled(name)} writes a binary file, not to standard output")
    for option in arguments.xla_option:
        if not option.removeprefix("--").startswith(("xla_", "noxla_")):
            raise UsageError(
                f"--xla-option wants an option as --xla_NAME=VALUE, {option!r} is none"
            )


def _check_compilation(arguments: Namespace) -> None:
    if "cpu" not in (arguments.platform, arguments.reference_platform):
        why = "is for --platform=cpu, and nothing is compiled"
        _refuse(arguments, ("threads", "explain_compile", "bench"), why)
        if arguments.fp_mode != FLOAT_MODES[0]:
            raise UsageError(f"--fp-mode {why}")
    if arguments.bench is not None:
        if arguments.platform != "cpu":
            raise UsageError("--bench measures --platform=cpu")
        if arguments.reference_platform == "interpreter":
            arguments.reference_platform = NO_REFERENCE
        _refuse(arguments, ("isolate",), "runs each instruction alone, and --bench all at once")
        _refuse(arguments, _OF_RESULTS, "is about results, and --bench shows times alone")
        if arguments.reference_platform != NO_REFERENCE or arguments.iterations > 1:
            option = "iterations" if arguments.iterations > 1 else "reference-platform"
            raise UsageError(f"--{option} is for runs with results, and --bench shows times alone")


def check_run_arguments(arguments: Namespace) -> None:
    """Raises `UsageError` for options that contradict one another."""
    _check_files(arguments)
    if arguments.inputs and arguments.input_literals_file:
        raise UsageError("--inputs and --input-literals-file are the same: give one of them")
    arguments.inputs = arguments.inputs or arguments.input_literals_file
    if arguments.reference_platform is None:
        has_module = arguments.reference_module is not None
        is_alone = (arguments.platform == "interpreter" and not has_module) or arguments.expected
        arguments.reference_platform = NO_REFERENCE if is_alone else "interpreter"
    if arguments.expected and arguments.reference_platform != NO_REFERENCE:
        raise UsageError("--expected and --reference-platform both say what is right: give one")
    _check_comparison(arguments)
    if arguments.xla_option and "xla" not in (arguments.platform, arguments.reference_platform):
        raise UsageError(
            f"{arguments.xla_option[0]} is an option of XLA, and nothing runs there",
            notes=(
                "--platform=xla or --reference-platform=xla runs the module under XLA",
                "hlo-opt --platform=cpu --xla_dump_to=FOLDER dumps what our compiler makes",
            ),
        )
    _check_compilation(arguments)
    if arguments.isolate:
        why = "is for a whole module, and --isolate takes it apart"
        _refuse(arguments, _OF_WHOLE_MODULES, why)
    if arguments.iterations > 1:
        _refuse(arguments, _OF_ONE_RUN, "is for one run, and --iterations asks for several")
    if arguments.isolate and arguments.iterations > 1:
        raise UsageError("--isolate runs each instruction once: leave --iterations out")
    if arguments.edge_values and arguments.use_large_float_range:
        raise UsageError("--edge-values and --use-large-float-range exclude each other")
