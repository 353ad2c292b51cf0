"""Modules as Graphviz graphs: the entry computation, with the bodies of fusions inside boxes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import graphviz

from hlotool.graph.families import Family, family_of
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.ir.shape import ArrayShape

_LONGEST_LINE = 60
_FONT = {"fontname": "sans-serif", "fontsize": "11"}
_COLOURS = {
    Family.SOURCE: ("#f5f5f5", "#9e9e9e"),
    Family.ELEMENTWISE: ("#fff8c4", "#c9a400"),
    Family.MOVEMENT: ("#dcedd5", "#4f8f3b"),
    Family.REDUCTION: ("#e6dbf4", "#7e57c2"),
    Family.CONTRACTION: ("#cfe2f8", "#1565c0"),
    Family.CONTROL: ("#fbdcc4", "#c65d00"),
    Family.COLLECTIVE: ("#f8cfdd", "#ad1457"),
    Family.OTHER: ("#ffffff", "#616161"),
}
"""Fill and border of a node by the family of its op."""


def module_dot(module: Module, title: str = "") -> str:
    """Returns the graph of the entry computation as DOT text.

    Fusions are boxes around their bodies; other called computations are named in the node that
    calls them. Scalar constants stand in the nodes of their users. `title` is shown on top, by
    default the name of the module.
    """
    graph = graphviz.Digraph(module.name, graph_attr={"rankdir": "TB", "compound": "true", **_FONT})
    graph.attr(label=graphviz.escape(title or module.name), labelloc="t")
    graph.attr("node", shape="box", style="filled,rounded", **_FONT)
    graph.attr("edge", fontname=_FONT["fontname"], fontsize="9", color="#616161")
    _Drawing(graph).draw(module.entry, graph)
    return str(graph.source)


class _Drawing:
    """Draws computations into one graph; nodes have numbers, since names may be in two bodies."""

    def __init__(self, graph: graphviz.Digraph) -> None:
        self._graph = graph
        self._nodes: dict[Instruction, str] = {}
        self._numbers = count()

    def draw(self, computation: Computation, inside: graphviz.Digraph) -> None:
        """Draws the instructions of a computation, and edges to what they take."""
        for instruction in computation.instructions:
            if _is_label(instruction):
                continue
            if instruction.op.is_fusion:
                self._draw_fusion(instruction, inside)
            else:
                self._draw_node(instruction, inside)
                self._draw_edges(instruction, instruction.operands, self._nodes[instruction])

    def _draw_node(self, instruction: Instruction, inside: graphviz.Digraph) -> None:
        name = f"n{next(self._numbers)}"
        self._nodes[instruction] = name
        fill, border = _COLOURS[family_of(instruction.op)]
        inside.node(
            name,
            label="\\n".join(graphviz.escape(line) for line in _lines(instruction)),
            tooltip=graphviz.escape(instruction.name),
            fillcolor=fill,
            color=border,
            penwidth="2.5" if instruction.is_root else "1",
        )

    def _draw_fusion(self, fusion: Instruction, inside: graphviz.Digraph) -> None:
        (body,) = fusion.calls
        # A module that was not verified may have too few of either.
        arguments = dict(zip(body.parameters, fusion.operands, strict=False))
        with inside.subgraph(name=f"cluster_{next(self._numbers)}") as box:
            box.attr(
                label=graphviz.escape(f"{fusion.name} {fusion.shape.plain_text}"),
                style="rounded,filled",
                color="#9e9e9e",
                fillcolor="#fafafa",
            )
            for instruction in body.instructions:
                if instruction not in arguments and not _is_label(instruction):
                    self._draw_node(instruction, box)
        for instruction in body.instructions:
            if instruction in self._nodes:
                taken = [arguments.get(operand, operand) for operand in instruction.operands]
                self._draw_edges(instruction, taken, self._nodes[instruction])
        # A fusion that yields a parameter has no node of its own for it.
        root = arguments.get(body.root, body.root)
        if root not in self._nodes:
            self._draw_node(root, inside)
        self._nodes[fusion] = self._nodes[root]

    def _draw_edges(
        self, instruction: Instruction, taken: Iterable[Instruction], name: str
    ) -> None:
        for source in taken:
            if source in self._nodes:
                self._graph.edge(self._nodes[source], name, label=_edge_label(source))
        for predecessor in instruction.control_predecessors:
            if predecessor in self._nodes:
                self._graph.edge(self._nodes[predecessor], name, style="dotted", color="#c62828")


def _is_label(instruction: Instruction) -> bool:
    """Whether an instruction is shown inside the nodes of its users: a scalar constant."""
    shape = instruction.shape
    is_scalar = isinstance(shape, ArrayShape) and shape.is_scalar
    return is_scalar and instruction.op.payload_needs_shape and not instruction.is_root


def _lines(instruction: Instruction) -> list[str]:
    op = instruction.op
    head = op.opcode
    if op.payload is not None:
        head += f"({op.payload_text(LargeConstants.ELIDED)})"
    lines = [head, instruction.name, instruction.shape.text]
    lines += [f"{name}={text}" for name, text in op.written()]
    lines += [f"calls {computation.name}" for computation in instruction.calls]
    for number, operand in enumerate(instruction.operands):
        if _is_label(operand):
            value = operand.op.payload_text(LargeConstants.ELIDED)
            lines.append(f"operand {number} = {operand.shape.plain_text} {value}")
    return [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..." for line in lines]


def _edge_label(source: Instruction) -> str:
    return str(graphviz.escape(source.shape.plain_text)) if source.shape.is_array else ""
