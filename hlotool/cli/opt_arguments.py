"""The options of `hlo-opt`, in our spelling and the reference's."""

from __future__ import annotations

import argparse
from argparse import Namespace

from hlotool.cli.arguments import (
    ArgumentParser,
    add_inputs,
    add_json,
    add_output,
    add_verify,
    natural,
)
from hlotool.cli.code_arguments import add_code_options
from hlotool.cli.print_arguments import add_print_arguments
from hlotool.cli.spellings import Spellings
from hlotool.errors import UsageError

PLATFORMS = {
    "transforms": "transforms", "cpu": "cpu", "host": "cpu", "gpu": "gpu", "cuda": "gpu",
    "rocm": "gpu",
}  # fmt: skip
"""The platforms by every name that the option takes."""

STAGES = {
    "hlo": "the module after the passes of the platform, or after --passes",
    "hlo-backend": "the module after copies and a schedule were added too (cpu, gpu)",
    "buffer-assignment": "which value lies in which buffer, of the module of hlo-backend",
    "llvm-before-optimizations": "the LLVM IR that is made of the module of hlo-backend (cpu)",
    "llvm": "the LLVM IR after LLVM's passes (cpu)",
    "asm": "the assembly (cpu)",
    "object": "the object file, binary (cpu)",
    "html": "a page to look around in the module, and in what each pass did",
    "dot": "the entry computation as a Graphviz graph",
}
"""What `--stage` can print, and what it is."""
OF_CODE = ("llvm-before-optimizations", "llvm", "asm", "object")
"""The stages of code generation."""
OF_PLATFORMS = ("hlo-backend", "buffer-assignment", *OF_CODE)
"""The stages that need a platform."""

SPELLINGS = Spellings(
    switches=frozenset(
        {
            "list-passes", "list-stages", "emit-proto", "split-input-file", "lenient", "json",
            "verify-each", "check-values", "time-passes", "explain-fusion",
        }
    ),
    values={"print-changed": "diff"},
)  # fmt: skip


def add_opt_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.spellings = SPELLINGS.translated
    add_inputs(parser, are_needed=False)
    add_output(parser)
    add_verify(parser)
    add_json(parser, "errors, and what was asked to be told of passes, as lines of JSON")
    parser.add_argument(
        "--emit-proto", action="store_true", help="print the text form of the module's proto"
    )
    _add_passes(parser.add_argument_group("passes"))
    _add_reports(parser.add_argument_group("what passes do"))
    _add_flags(parser.add_argument_group("flags of the reference"))
    add_print_arguments(parser)


def _add_passes(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--passes", metavar="LIST", action="append",
        help="run these, in order: algsimp{max-rounds=4},fix(cse,dce),fusion",
    )  # fmt: skip
    group.add_argument(
        "--platform", type=_platform, default="transforms", metavar="NAME",
        help="transforms (nothing but --passes, the default), or the passes of cpu or gpu",
    )  # fmt: skip
    group.add_argument(
        "--stage", choices=STAGES, default="hlo", metavar="NAME",
        help="what to print: " + ", ".join(STAGES) + " (default: hlo)",
    )  # fmt: skip
    add_code_options(group)
    group.add_argument("--list-passes", action="store_true", help="list passes with their options")
    group.add_argument("--list-stages", action="store_true", help="list what --stage can print")


def _add_reports(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--verify-each", action="store_true",
        help="verify after each pass, and check what passes say about change",
    )  # fmt: skip
    group.add_argument(
        "--check-values", action="store_true",
        help="evaluate on generated inputs after each pass; name the first that changes results",
    )  # fmt: skip
    group.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="seeds the inputs of --check-values"
    )
    group.add_argument(
        "--time-passes", action="store_true",
        help="a table of passes: time, changes, instructions, uses of each pattern",
    )  # fmt: skip
    group.add_argument(
        "--print-changed", choices=("diff", "names"), metavar="diff|names",
        help="show what each pass changed; without a value diff, with names the passes alone",
    )  # fmt: skip
    group.add_argument(
        "--explain-fusion", action="store_true",
        help="a table of what was fused and what not, and why",
    )  # fmt: skip


def _add_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--xla-option", action="append", default=[], metavar="--xla_NAME=VALUE",
        help="dumps and choice of passes, given as --xla_NAME=VALUE itself; also in XLA_FLAGS",
    )  # fmt: skip
    group.add_argument(
        "--debug-options-file", metavar="FILE", help='flags, a line for each: xla_dump_to: "dump"'
    )


def check_opt_arguments(arguments: Namespace) -> None:
    """Raises `UsageError` for options that do not go together."""
    if not arguments.files and not asks_for_lists(arguments):
        raise UsageError("no module given", notes=("hlo-opt --help lists the options",))
    if arguments.stage in OF_PLATFORMS and arguments.platform == "transforms":
        raise UsageError(
            f"stage {arguments.stage} is one of a platform",
            notes=("name it with --platform=cpu or --platform=gpu",),
        )
    if arguments.stage in OF_CODE and arguments.platform != "cpu":
        raise UsageError(
            f"stage {arguments.stage} is there for --platform=cpu only",
            notes=("for GPUs, hlo, hlo-backend and buffer-assignment are",),
        )
    reports = ("verify_each", "check_values", "time_passes", "print_changed", "explain_fusion")
    asked = [name for name in reports if getattr(arguments, name)]
    if asked and not arguments.passes and arguments.platform == "transforms":
        option = asked[0].replace("_", "-")
        raise UsageError(
            f"--{option} tells of passes, and none are asked for",
            notes=("--platform=cpu runs those of CPUs, --passes=... some",),
        )
    if arguments.emit_proto and arguments.stage not in {"hlo", "hlo-backend"}:
        raise UsageError(f"--emit-proto prints modules, stage {arguments.stage} is none")


def asks_for_lists(arguments: Namespace) -> bool:
    """Whether only a list is wanted, for which no module is needed."""
    return bool(arguments.list_passes or arguments.list_stages)


def asks_for_passes(arguments: Namespace, environment: str | None) -> bool:
    """Whether anything is to be done with a module but printing it."""
    return bool(
        arguments.passes
        or arguments.platform != "transforms"
        or arguments.stage in OF_PLATFORMS
        or arguments.xla_option
        or arguments.debug_options_file
        or environment
    )


def _platform(name: str) -> str:
    found = PLATFORMS.get(name.lower())
    if found is None:
        raise argparse.ArgumentTypeError(
            f"unknown platform {name}; there are transforms, cpu (or host), gpu (or cuda, rocm)"
        )
    return found
