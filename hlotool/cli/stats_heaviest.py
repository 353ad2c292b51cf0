"""Which instructions of a module take most of its operations and of its memory traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from hlotool.analysis.cost import is_kernel, running_computations
from hlotool.cli.rendering import printable
from hlotool.cli.tables import fitted_table, terminal_columns
from hlotool.cli.units import byte_text, count_text
from hlotool.graph.model import ModuleGraph
from hlotool.graph.stack_frames import stack_frames

if TYPE_CHECKING:
    from rich.table import Table

    from hlotool.ir.cost import Cost
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module

Heavy = dict[str, int | float | str]
"""An instruction: name, title, the figure under its name, share, shape, source."""

_MOST = 10
_LONGEST_SHAPE = 40


def heaviest(module: Module) -> dict[str, list[Heavy]]:
    """Returns the kernels that take most, by `flops` with transcendentals and by `bytes`.

    Shares are of all kernels of the module, each counted once; `title` is what the box on a
    page says, `source` a place like `model.py:12`, empty where the module does not say it.
    """
    graph = ModuleGraph(module)
    costs = [(one, graph.cost(one)) for one in _kernels(module)]
    return {
        "flops": list(_most(graph, costs, "flops", _operations)),
        "bytes": list(_most(graph, costs, "bytes", _accessed)),
    }


def heaviest_table(name: str, found: Sequence[Heavy]) -> Table:
    """Returns the instructions as a table, as wide as the terminal."""
    rows = [
        [
            count_text(float(one[name]), "flop")
            if name == "flops"
            else byte_text(float(one[name])),
            f"{float(one['share']):.1%}",
            printable(str(one["name"])),
            printable(str(one["title"])),
            _shortened(printable(str(one["shape"]))),
            printable(str(one["source"])),
        ]
        for one in found
    ]
    table = fitted_table(
        [name, "share", "name", "title", "shape", "source"],
        rows,
        {"name", "title", "shape", "source"},
        columns=terminal_columns(),
        goes_first=("title", "source", "shape"),
    )
    # Like the other tables of the command.
    table.box, table.padding, table.pad_edge = None, (0, 2, 0, 0), False
    return table


def _kernels(module: Module) -> Iterator[Instruction]:
    for computation in running_computations(module):
        yield from filter(is_kernel, computation.instructions)


def _operations(cost: Cost) -> int:
    return cost.flops + cost.transcendentals


def _accessed(cost: Cost) -> int:
    return cost.bytes_accessed


def _most(
    graph: ModuleGraph,
    costs: Sequence[tuple[Instruction, Cost]],
    name: str,
    figure: Callable[[Cost], int],
) -> Iterator[Heavy]:
    total = sum(figure(cost) for _, cost in costs)
    ranked = sorted(costs, key=lambda pair: -figure(pair[1]))
    for instruction, cost in ranked[:_MOST]:
        if figure(cost):
            yield {
                "name": instruction.name,
                "title": graph.title(instruction),
                name: figure(cost),
                "share": round(figure(cost) / total, 4),
                "shape": instruction.shape.plain_text,
                "source": _source(graph.module, instruction),
            }


def _source(module: Module, instruction: Instruction) -> str:
    metadata = instruction.annotations.metadata
    if metadata.source_file:
        return f"{PurePath(metadata.source_file).name}:{metadata.source_line}"
    for place, _ in stack_frames(module, metadata.stack_frame_id):
        return PurePath(place).name
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHAPE else f"{text[:_LONGEST_SHAPE]}…"
