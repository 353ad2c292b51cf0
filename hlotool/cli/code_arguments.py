"""Options of commands that make machine code: for which processor, how numbers are treated."""

from __future__ import annotations

import argparse
from argparse import Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlotool.codegen.target import Target

HOST = "host"
FLOAT_MODES = ("strict", "xla", "fast")


def add_code_options(group: argparse._ArgumentGroup) -> None:
    """Adds `--target` and `--fp-mode`."""
    group.add_argument(
        "--target", default=HOST, metavar="NAME",
        help="the processor that code is made for: host (this one, the default), x86-64-v3,"
        " x86-64-v4, aarch64, or a triple with a processor behind a comma:"
        " aarch64-linux-gnu,neoverse-n1",
    )  # fmt: skip
    add_float_mode(group)


def add_float_mode(group: argparse._ArgumentGroup) -> None:
    """Adds `--fp-mode`."""
    group.add_argument(
        "--fp-mode", choices=FLOAT_MODES, default="strict", metavar="MODE",
        help="floating-point numbers: strict (IEEE 754, the default), xla (denormals are zero,"
        " products join sums), fast (sums in any order, too)",
    )  # fmt: skip


def target_of(arguments: Namespace) -> Target:
    """Returns the target that the options name; raises `UsageError` for what is none."""
    from hlotool.codegen.target import FloatMode
    from hlotool.runtime.targets import target_named

    return target_named(arguments.target, FloatMode(arguments.fp_mode))
