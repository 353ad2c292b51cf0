"""`hlotool stats`: prints what modules consist of, what they cost, and how far they are fused."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from typing import TYPE_CHECKING

from hlotool.analysis.fusion_report import FusionReport, fusion_report
from hlotool.cli.arguments import ArgumentParser, add_inputs, add_json, add_verify
from hlotool.cli.modules import inputs
from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.report import Report
from hlotool.cli.tables import print_drawn

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hlotool.ir.module import Module

OPERANDS = "FILE ..."
EXAMPLES = """\
  hlotool stats module.hlo           opcodes, kernels, operations, bytes, fusion rate
  hlotool stats --json *.hlo         a line of JSON for each module
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_inputs(parser, folders="the .hlo and .hlo.pb files and texts of modules in a dump")
    add_verify(parser)
    add_json(parser, "a line of JSON for each module")


def run(arguments: Namespace, report: Report) -> int:
    """Prints the figures of each module."""
    for unread in inputs(arguments, report, folders=True):
        with report.errors_of(unread.name):
            module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
            report.warnings(module, unread.name)
            figures, opcodes = _figures(module), _opcodes(module)
            if arguments.json:
                fields = {"file": unread.name, "module": module.name, **figures}
                print_text(json.dumps({**fields, "opcodes": opcodes}) + "\n")
            else:
                title = printable(f"{unread.name}: module {module.name}")
                shown = {printable(opcode): f"{count:,}" for opcode, count in opcodes.items()}
                print_drawn(*_titled(title, _shown(figures)), *_titled("opcodes", shown))
    return report.exit_code


def _figures(module: Module) -> dict[str, int | float]:
    found: FusionReport = fusion_report(module)
    cost = found.cost
    return {
        "computations": len(module.computations),
        "instructions": sum(1 for _ in module.instructions()),
        "kernels": found.kernels,
        "fusions": found.fusions,
        "flops": cost.flops,
        "transcendentals": cost.transcendentals,
        "bytes_read": cost.bytes_read,
        "bytes_written": cost.bytes_written,
        "bytes_accessed": cost.bytes_accessed,
        "bytes_saved": found.bytes_saved,
        "outside_fusions": found.outside,
        "fusion_rate": round(found.rate, 4),
    }


def _opcodes(module: Module) -> dict[str, int]:
    counts = Counter(instruction.opcode for instruction in module.instructions())
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _shown(figures: dict[str, int | float]) -> dict[str, str]:
    return {
        name.replace("_", " "): f"{value:.1%}" if isinstance(value, float) else f"{value:,}"
        for name, value in figures.items()
    }


def _titled(title: str, rows: dict[str, str]) -> tuple[Text, Table]:
    """Returns a line and a table; the line is no part of it, since names of files are long."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for row in rows.items():
        table.add_row(*map(Text, row))
    return Text(title, "bold", overflow="fold"), table
