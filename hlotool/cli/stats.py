"""`hlotool stats`: prints what modules consist of, what they cost, and how far they are fused."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hlotool.analysis.deepest_chain import deepest_chain
from hlotool.analysis.fusion_report import FusionReport, fusion_report
from hlotool.cli.arguments import ArgumentParser, add_inputs, add_json, add_verify
from hlotool.cli.modules import inputs
from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.report import Report
from hlotool.cli.stats_heaviest import Figure, Heavy, heaviest, heaviest_table
from hlotool.cli.tables import print_drawn
from hlotool.ir.cost import byte_count, element_count
from hlotool.ops.source import Constant

if TYPE_CHECKING:
    from rich.table import Table

    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module

OPERANDS = "FILE ..."
EXAMPLES = """\
  hlotool stats module.hlo           opcodes, kernels, operations, bytes, fusion rate
  hlotool stats before.hlo after.hlo two modules side by side
  hlotool stats --json *.hlo         a line of JSON for each module
"""

_MOST_ABREAST = 4
"""How many modules stand side by side; of more each has a table of its own."""
_MOST_CONSTANTS = 5


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_inputs(parser, folders="the .hlo and .hlo.pb files and texts of modules in a dump")
    add_verify(parser)
    add_json(parser, "a line of JSON for each module")


@dataclass(frozen=True)
class _Statistics:
    """What is shown of one module."""

    file: str
    module: str
    figures: dict[str, int | float]
    opcodes: dict[str, int]
    constants: list[dict[str, int | str]]
    """The largest ones: name, shape, bytes."""
    heaviest: dict[Figure, list[Heavy]]
    """The instructions that take most."""

    @property
    def title(self) -> str:
        """The file and the name of the module, as a terminal may show them."""
        return printable(f"{self.file}: module {self.module}")


def run(arguments: Namespace, report: Report) -> int:
    """Prints the figures of each module, those of a few side by side."""
    found: list[_Statistics] = []
    for unread in inputs(arguments, report, folders=True):
        with report.errors_of(unread.name):
            module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
            report.warnings(module, unread.name)
            one = _statistics(unread.name, module)
            if arguments.json:
                print_text(json.dumps(_fields(one)) + "\n")
            else:
                found.append(one)
    if len(found) <= _MOST_ABREAST:
        _print(found)
    else:
        for one in found:
            _print([one])
    return report.exit_code


def _statistics(name: str, module: Module) -> _Statistics:
    return _Statistics(
        name,
        module.name,
        _figures(module),
        _opcodes(module),
        _largest_constants(module),
        heaviest(module),
    )


def _fields(one: _Statistics) -> dict[str, object]:
    lists: dict[str, object] = {"opcodes": one.opcodes, "largest_constants": one.constants}
    for figure, found in one.heaviest.items():
        lists[f"heaviest_by_{figure.name}"] = [heavy.fields(figure) for heavy in found]
    return {"file": one.file, "module": one.module, **one.figures, **lists}


def _print(abreast: Sequence[_Statistics]) -> None:
    """Draws the figures and opcodes of modules in columns next to each other."""
    from rich.text import Text

    if not abreast:
        return
    for number, one in enumerate(abreast, 1):
        mark = f"{number}  " if len(abreast) > 1 else ""
        print_drawn(Text(mark + one.title, "bold", overflow="fold"))
    names = dict.fromkeys(opcode for one in abreast for opcode in one.opcodes)
    opcodes = {
        printable(opcode): [f"{one.opcodes.get(opcode, 0):,}" for one in abreast]
        for opcode in sorted(names, key=lambda o: (-max(m.opcodes.get(o, 0) for m in abreast), o))
    }
    figures = {
        _words(name): [_shown(one.figures[name]) for one in abreast] for name in abreast[0].figures
    }
    print_drawn(_table(figures, len(abreast)), Text("opcodes", "bold"), _table(opcodes, 0))
    for number, one in enumerate(abreast, 1):
        whose = f" of {number}" if len(abreast) > 1 else ""
        for figure, found in one.heaviest.items():
            if found:
                title = f"heaviest instructions{whose}, by {_words(figure.name)}"
                print_drawn(Text(title, "bold"), heaviest_table(figure, found))
        if one.constants:
            rows = {
                printable(str(array["name"])): [f"{array['bytes']:,}", str(array["shape"])]
                for array in one.constants
            }
            print_drawn(Text(f"largest constants{whose}, bytes", "bold"), _table(rows, 0))


def _words(name: str) -> str:
    return name.replace("_", " ")


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
        "flops_and_transcendentals": cost.flops + cost.transcendentals,
        "bytes_read": cost.bytes_read,
        "bytes_written": cost.bytes_written,
        "bytes_accessed": cost.bytes_accessed,
        "bytes_saved": found.bytes_saved,
        "outside_fusions": found.outside,
        "fusion_rate": round(found.rate, 4),
        "deepest_chain": deepest_chain(module),
        "constant_bytes": sum(byte_count(one.shape) for one in _constants(module)),
    }


def _constants(module: Module) -> list[Instruction]:
    return [one for one in module.instructions() if isinstance(one.op, Constant)]


def _largest_constants(module: Module) -> list[dict[str, int | str]]:
    """Returns the largest arrays that the module holds, scalars aside."""
    arrays = [one for one in _constants(module) if element_count(one.shape) > 1]
    arrays.sort(key=lambda one: -byte_count(one.shape))
    return [
        {"name": one.name, "shape": one.shape.text, "bytes": byte_count(one.shape)}
        for one in arrays[:_MOST_CONSTANTS]
    ]


def _opcodes(module: Module) -> dict[str, int]:
    counts = Counter(instruction.opcode for instruction in module.instructions())
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.1%}"


def _table(rows: Mapping[str, Sequence[str]], numbered: int) -> Table:
    """Returns a table of names and their values; more than one column has a number on top."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=numbered > 1)
    table.add_column(no_wrap=True)
    for number in range(1, max((len(values) for values in rows.values()), default=1) + 1):
        table.add_column(str(number), justify="right", no_wrap=True)
    for name, values in rows.items():
        table.add_row(Text(name), *map(Text, values))
    return table
