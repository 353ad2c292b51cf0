"""Which instructions of a module take most of its operations and of its memory traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from hlotool.analysis.cost import is_kernel, running_computations
from hlotool.cli.rendering import printable, shortened
from hlotool.cli.tables import fitted_table, terminal_columns
from hlotool.cli.units import byte_text, count_text
from hlotool.graph.model import ModuleGraph
from hlotool.graph.stack_frames import stack_frames

if TYPE_CHECKING:
    from rich.table import Table

    from hlotool.ir.cost import Cost
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module

_MOST = 10
_LONGEST_SHAPE = 40


@dataclass(frozen=True)
class Figure:
    """What instructions are ranked by."""

    name: str
    """As the figures of a whole module are called."""
    column: str
    of: Callable[[Cost], int]
    text: Callable[[float], str]


FIGURES = (
    Figure(
        "flops_and_transcendentals",
        "operations",
        lambda cost: cost.flops + cost.transcendentals,
        lambda value: count_text(value, "flop"),
    ),
    Figure("bytes_accessed", "bytes", lambda cost: cost.bytes_accessed, byte_text),
)


@dataclass(frozen=True)
class Heavy:
    """One of the instructions that take most."""

    name: str
    title: str
    """What its box on a page says."""
    value: int
    share: float
    """Of what all kernels of the module take, each counted once."""
    shape: str
    source: str
    """A place like `model.py:12`; empty where the module does not say it."""

    def fields(self, figure: Figure) -> dict[str, str | int | float]:
        """Returns it for a program, the value under the name of the figure."""
        return {
            "name": self.name,
            "title": self.title,
            figure.name: self.value,
            "share": self.share,
            "shape": self.shape,
            "source": self.source,
        }


def heaviest(module: Module) -> dict[Figure, list[Heavy]]:
    """Returns the kernels that take most, by each of `FIGURES`."""
    graph = ModuleGraph(module)
    costs = [(one, graph.cost(one)) for one in _kernels(module)]
    return {figure: list(_most(graph, costs, figure)) for figure in FIGURES}


def heaviest_table(figure: Figure, found: Sequence[Heavy]) -> Table:
    """Returns the instructions as a table, as wide as the terminal."""
    rows = [
        [
            figure.text(one.value),
            f"{one.share:.1%}",
            printable(one.name),
            printable(one.title),
            shortened(printable(one.shape), _LONGEST_SHAPE),
            printable(one.source),
        ]
        for one in found
    ]
    table = fitted_table(
        [figure.column, "share", "name", "title", "shape", "source"],
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


def _most(
    graph: ModuleGraph, costs: Sequence[tuple[Instruction, Cost]], figure: Figure
) -> Iterator[Heavy]:
    total = sum(figure.of(cost) for _, cost in costs)
    ranked = sorted(costs, key=lambda pair: -figure.of(pair[1]))
    for instruction, cost in ranked[:_MOST]:
        value = figure.of(cost)
        if value:
            yield Heavy(
                instruction.name,
                graph.title(instruction),
                value,
                round(value / total, 4),
                instruction.shape.plain_text,
                _source(graph.module, instruction),
            )


def _source(module: Module, instruction: Instruction) -> str:
    metadata = instruction.annotations.metadata
    if metadata.source_file:
        return f"{PurePath(metadata.source_file).name}:{metadata.source_line}"
    for place, _ in stack_frames(module, metadata.stack_frame_id):
        return PurePath(place).name
    return ""
