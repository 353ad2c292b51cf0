"""Prints modules, byte for byte as the reference prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.errors import UnsupportedError
from hlotool.ir.order import computation_order, fused_computations
from hlotool.text.async_sugar import hidden_computations
from hlotool.text.instruction_printer import INDENT, InstructionPrinter
from hlotool.text.print_options import PrintOptions, Subcomputations

if TYPE_CHECKING:
    from hlotool.ir.computation import Computation
    from hlotool.ir.module import Module

DEFAULT = PrintOptions()
MOST_LEVELS = 100
"""How deep bodies are written in bodies."""
MOST_LINES = 10_000_000
"""How many instructions are written where bodies stand in place of names."""


def print_module(module: Module, options: PrintOptions = DEFAULT) -> str:
    """Returns the text of a module, ending with an empty line.

    Raises `UnsupportedError` where bodies are to be written out in place and that would take
    more than a text can hold: computations that call each other can make it grow without bound.
    """
    if options.subcomputations is Subcomputations.BODIES:
        _check_growth(module)
    margin = INDENT * options.indent
    parts = [margin, print_head(module, options)]
    printer = InstructionPrinter(module, options)
    unscheduled = fused_computations(module) if module.is_scheduled else set(module.computations)
    hidden = hidden_computations(module)
    in_order = options.canonical_computations
    for computation in module.computations if in_order else computation_order(module):
        if computation in hidden:
            continue
        entry = "ENTRY " if computation is module.entry else ""
        text = print_computation(
            computation, printer, margin, in_text_order=computation not in unscheduled
        )
        parts += [margin, entry, text, "\n\n"]
    return "".join(parts)


def print_head(module: Module, options: PrintOptions = DEFAULT) -> str:
    """Returns what stands in front of the computations: the header, and tables of stack frames."""
    name = module.name if options.ids else ""
    written = [f"{field}={text}" for field, text in module.header.written()]
    header = "HloModule " + ", ".join([name, *written]) + module.header.unknown + "\n\n"
    if module.stack_tables and options.metadata:
        return f"{header}{module.stack_tables.text()}\n"
    return header


def print_computation(
    computation: Computation,
    printer: InstructionPrinter,
    margin: str = "",
    *,
    in_text_order: bool,
) -> str:
    """Returns the text of a computation without `ENTRY`, up to its closing brace and thread.

    `margin` stands in front of every line but the first.
    """
    lines = [print_opening(computation, printer)]
    lines += printer.lines(computation, margin + INDENT, in_text_order=in_text_order)
    lines.append(margin + printer.closing(computation))
    return "\n".join(lines)


def _check_growth(module: Module) -> None:
    depths: dict[Computation, int] = {}
    lines: dict[Computation, int] = {}
    for computation in computation_order(module):
        called = [called for i in computation.instructions for called in i.calls]
        depths[computation] = 1 + max((depths.get(one, 0) for one in called), default=0)
        lines[computation] = len(computation.instructions) + sum(lines.get(c, 0) for c in called)
    if max(depths.values()) > MOST_LEVELS:
        raise UnsupportedError(
            f"computations call each other over {max(depths.values())} levels, bodies in place"
            f" are written for {MOST_LEVELS}"
        )
    if sum(lines.values()) > MOST_LINES:
        raise UnsupportedError(
            f"with bodies in place the module has {sum(lines.values())} instructions, at most"
            f" {MOST_LINES} are written"
        )


def print_opening(computation: Computation, printer: InstructionPrinter) -> str:
    """Returns the first line of a computation without `ENTRY`."""
    options = printer.options
    percent = "%" if options.percent else ""
    name = f"{percent}{computation.name} " if options.ids else percent
    return name + printer.opening(computation)
