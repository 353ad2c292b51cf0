"""Prints modules, byte for byte as the reference prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir.order import computation_order, fused_computations
from hlotool.text.async_sugar import hidden_computations
from hlotool.text.instruction_printer import INDENT, InstructionPrinter, thread_text
from hlotool.text.print_options import PrintOptions

if TYPE_CHECKING:
    from hlotool.ir.computation import Computation
    from hlotool.ir.module import Module

DEFAULT = PrintOptions()


def print_module(module: Module, options: PrintOptions = DEFAULT) -> str:
    """Returns the text of a module, ending with an empty line."""
    parts = [_header(module, options), "\n\n"]
    if module.stack_tables and options.metadata:
        parts += [module.stack_tables.text(), "\n"]
    printer = InstructionPrinter(module, options)
    unscheduled = fused_computations(module) if module.is_scheduled else set(module.computations)
    margin = INDENT * options.indent
    hidden = hidden_computations(module)
    for computation in computation_order(module):
        if computation in hidden:
            continue
        entry = "ENTRY " if computation is module.entry else ""
        text = print_computation(computation, printer, in_text_order=computation not in unscheduled)
        parts += [_indented(entry + text, margin), "\n\n"]
    return "".join(parts)


def print_computation(
    computation: Computation, printer: InstructionPrinter, *, in_text_order: bool
) -> str:
    """Returns the text of a computation without `ENTRY`, up to its closing brace and thread."""
    lines = [_head(computation, printer.options) + "{"]
    lines += printer.lines(computation, INDENT, in_text_order=in_text_order)
    lines.append("}" + thread_text(computation))
    return "\n".join(lines)


def _head(computation: Computation, options: PrintOptions) -> str:
    name = ""
    if options.ids:
        name = f"%{computation.name} " if options.percent else f"{computation.name} "
    if not options.program_shape:
        return name
    parameters = [
        f"{parameter.name}: {parameter.shape.plain_text}" for parameter in computation.parameters
    ]
    return f"{name}({', '.join(parameters)}) -> {computation.root.shape.plain_text} "


def _header(module: Module, options: PrintOptions) -> str:
    name = module.name if options.ids else ""
    written = [f"{field}={text}" for field, text in module.header.written()]
    return "HloModule " + ", ".join([name, *written])


def _indented(text: str, margin: str) -> str:
    if not margin:
        return text
    return "\n".join(margin + line if line else line for line in text.split("\n"))
