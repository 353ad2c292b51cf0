"""The options about how modules are printed: a preset, and single switches that change it."""

from __future__ import annotations

from argparse import BooleanOptionalAction, Namespace
from dataclasses import replace
from typing import Any

from hlotool.cli.arguments import ArgumentParser
from hlotool.ir.op import LargeConstants
from hlotool.text.print_options import PRESETS, PrintOptions, Subcomputations

_SWITCHES = {
    "metadata": "metadata of instructions, and stack tables",
    "backend_config": "backend_config of instructions",
    "control_predecessors": "control-predecessors of instructions",
    "attributes": "attributes of instructions",
    "operand_shapes": "the shape of each operand",
    "operand_names": "the name of each operand",
    "operand_marks": "/*index=5*/ before each fifth operand",
    "compact_operands": "the first four operands only (such text cannot be read again)",
    "result_shape": "the shape of each instruction",
    "layouts": "layouts in shapes",
    "program_shape": "parameters and result of each computation",
    "percent": "%% before names",
    "ids": "names of the module and of computations",
    "canonical_names": "tmp_0, tmp_1, ... in place of the names of instructions",
    "canonical_computations": "computations in the order of the text that was read",
    "listed_groups": "replica groups written out, whatever form they have",
}
"""The print options that are switches, with what each shows."""


def add_print_arguments(parser: ArgumentParser) -> None:
    """Adds `--print-as` and a switch for each single print option."""
    group = parser.add_argument_group("printing")
    group.add_argument(
        "--print-as",
        choices=PRESETS,
        default="default",
        help="the preset that the switches below change (default: default)",
    )
    group.add_argument(
        "--print-large-constants",
        action=BooleanOptionalAction,
        help="constants of more than 10 elements whole, not as {...}",
    )
    for name, what in _SWITCHES.items():
        group.add_argument(f"--{name.replace('_', '-')}", action=BooleanOptionalAction, help=what)
    group.add_argument(
        "--subcomputations",
        choices=[choice.value for choice in Subcomputations],
        help="called computations by name, as bodies in place, or not at all",
    )


def print_options(arguments: Namespace) -> PrintOptions:
    """Returns the print options that the arguments ask for."""
    changes: dict[str, Any] = {name: getattr(arguments, name) for name in _SWITCHES}
    if arguments.print_large_constants is not None:
        whole = arguments.print_large_constants
        changes["large_constants"] = LargeConstants.PRINTED if whole else LargeConstants.ELIDED
    if arguments.subcomputations is not None:
        changes["subcomputations"] = Subcomputations(arguments.subcomputations)
    given = {name: value for name, value in changes.items() if value is not None}
    return replace(PRESETS[arguments.print_as], **given)
