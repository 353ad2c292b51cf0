"""Modules as Graphviz graphs: fusions, loops, branches and calls as boxes around their bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import count

import graphviz

from hlotool.graph.arguments import Arguments
from hlotool.graph.colours import ByCategory, Colours
from hlotool.graph.model import Called, ModuleGraph, called_by, is_folded, unrepeated
from hlotool.graph.palette import LIGHT, Tint
from hlotool.graph.selection import DEEPEST, Choice, Selection, selected
from hlotool.ir.appearance import Drawn
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants

WHOLE = Choice(most_nodes=5_000)
"""What a graph shows if nothing else is asked for."""
_LONGEST_LINE = 60
_FONT = {"fontname": "Helvetica,Arial,sans-serif", "fontsize": "11"}
_MOST_ALIKE = 4
"""How many edges there are from one box to one other."""
_MOST_LINES = 12
"""How many constants have a line in the box of their user."""
_MANY = 150
"""From how many boxes on the time of Graphviz is limited, and labels of edges are tooltips."""
_FAST = {"nslimit": "0.5", "nslimit1": "0.5", "mclimit": "0.1", "splines": "polyline"}
_PASSED_ON = frozenset({Drawn.FUSION, Drawn.CALL})
"""What has nodes of its own neither for the parameters of its body nor for its result."""
_NEUTRAL = LIGHT.named


def module_dot(module: Module, title: str = "", choice: Choice = WHOLE) -> str:
    """Returns a graph of what is chosen as DOT text, by default of the whole entry.

    `title` is shown on top, by default the name of the module. Constants stand in the nodes of
    their users. Of more than `most_nodes` boxes some are closed, then some left out, and the
    graph says how many. Raises `UsageError` for names that the module does not have.
    """
    graph = ModuleGraph(module)
    return graph_dot(
        graph, selected(graph, choice), choice, ByCategory(graph), title or module.name
    )


def graph_dot(
    graph: ModuleGraph, selection: Selection, choice: Choice, colours: Colours, title: str
) -> str:
    """Returns the graph of a selection as DOT text."""
    drawing = _Drawing(graph, selection, choice, colours)
    drawing.draw(selection.instructions, drawing.dot, 0)
    if drawing.boxes > _MANY:
        drawing = _Drawing(graph, selection, choice, colours, labels_edges=False)
        drawing.dot.attr(**_FAST)
        drawing.draw(selection.instructions, drawing.dot, 0)
    if selection.left_out:
        drawing.dot.node("more", label=f"… {selection.left_out:,} more", style="dashed")
    drawing.dot.attr(label=_heading(title, colours.legend()), labelloc="t")
    return str(drawing.dot.source)


class _Drawing:
    """Draws into one graph; nodes have numbers, since a body may be drawn for several callers."""

    def __init__(
        self,
        graph: ModuleGraph,
        selection: Selection,
        choice: Choice,
        colours: Colours,
        *,
        labels_edges: bool = True,
    ) -> None:
        self.dot = graphviz.Digraph(
            "module", graph_attr={"rankdir": "TB", "compound": "true", **_FONT}
        )
        self.dot.attr("node", shape="box", style="filled,rounded", **_FONT)
        self.dot.attr(
            "edge", fontname=_FONT["fontname"], fontsize="9", color=_NEUTRAL["edge"],
            arrowsize="0.7",
        )  # fmt: skip
        self._graph = graph
        self._selection = selection
        self._shown = set(selection.instructions)
        self._colours = colours
        self._closed = choice.top_level
        self._labels_edges = labels_edges
        self.boxes = 0
        """How many boxes there are so far, of bodies too."""
        boxes = sum(not is_folded(one) for one in selection.instructions)
        most = boxes if choice.most_nodes is None else choice.most_nodes
        self._left = None if choice.most_nodes is None else max(0, most - boxes)
        self._nodes: dict[Instruction, str] = {}
        self._arguments = Arguments()
        self._numbers = count()

    def draw(
        self, instructions: Sequence[Instruction], inside: graphviz.Digraph, depth: int
    ) -> None:
        """Draws the instructions of a computation, and edges to what they take."""
        for instruction in instructions:
            if instruction in self._arguments or is_folded(instruction):
                continue
            bodies = self._opened(instruction, depth)
            if not bodies:
                self._draw_node(instruction, inside, is_closed=True)
                self._draw_edges(instruction)
            elif instruction.op.drawn in _PASSED_ON:
                self._draw_passed_on(instruction, bodies[0], inside, depth)
            else:
                self._draw_around(instruction, bodies, inside, depth)

    def _opened(self, instruction: Instruction, depth: int) -> list[Called]:
        """Returns the computations that are drawn inside; none where it stays closed."""
        if self._closed or not instruction.calls or depth >= DEEPEST:
            return []
        bodies = [called for called in called_by(instruction) if called.is_inside]
        size = sum(
            not is_folded(one) for called in bodies for one in called.computation.instructions
        )
        if self._left is not None:
            if size > self._left:
                return []
            self._left -= size
        return bodies

    def _draw_passed_on(
        self, caller: Instruction, called: Called, inside: graphviz.Digraph, depth: int
    ) -> None:
        """Draws a body whose parameters are what the caller takes, and its root the caller."""
        body = called.computation
        with self._arguments.passed(caller, body):
            with inside.subgraph(name=f"cluster_{next(self._numbers)}") as box:
                self._frame(box, caller, f"{caller.name}  {caller.shape.plain_text}")
                if caller in self._selection.marked:
                    box.attr(color=_NEUTRAL["operand"], penwidth="3")
                self.draw(self._graph.instructions(body), box, depth + 1)
            # A body that yields a parameter or a constant has no node of its own for it.
            root = self._arguments.meant(body.root)
            if root not in self._nodes:
                self._draw_node(root, inside)
            self._nodes[caller] = self._nodes[root]
            self._draw_control(caller)

    def _draw_around(
        self, caller: Instruction, bodies: Iterable[Called], inside: graphviz.Digraph, depth: int
    ) -> None:
        """Draws bodies side by side, with nodes for what they are given and what comes out."""
        with inside.subgraph(name=f"cluster_{next(self._numbers)}") as box:
            self._frame(box, caller, f"{self._graph.title(caller)}  {caller.name}")
            self._draw_node(caller, box)
            for number, called in enumerate(bodies):
                body = called.computation
                with box.subgraph(name=f"cluster_{next(self._numbers)}") as part:
                    self._frame(part, caller, f"{called.part}: {body.name}")
                    self.draw(self._graph.instructions(body), part, depth + 1)
                self._join(caller, called, number)
        self._draw_control(caller)

    def _join(self, caller: Instruction, called: Called, number: int) -> None:
        """Draws what a body takes and where its result goes.

        The one operand of a loop goes to both bodies; each branch of a conditional has an
        operand of its own, behind the one that chooses.
        """
        operands = [self._arguments.meant(operand) for operand in caller.operands]
        given = operands if len(operands) == 1 else operands[number + 1 : number + 2]
        ends = [(source, one) for source in given for one in called.computation.parameters]
        ends.append((called.computation.root, caller))
        if len(operands) > 1 and number == 0:
            ends.append((operands[0], caller))
        for source, target in ends:
            if source in self._nodes and target in self._nodes:
                self._draw_edge(source, self._nodes[target])

    def _frame(self, box: graphviz.Digraph, caller: Instruction, label: str) -> None:
        box.attr(
            label=_escaped(_cut(label)),
            style="rounded,filled",
            color=self._colours.tint(caller).line,
            fillcolor=_NEUTRAL["surface"],
            labeljust="l",
        )

    def _draw_node(
        self, instruction: Instruction, inside: graphviz.Digraph, *, is_closed: bool = False
    ) -> None:
        name = f"n{next(self._numbers)}"
        self._nodes[instruction] = name
        self.boxes += 1
        tint = self._colours.tint(instruction)
        is_cut = self._selection.is_part and self._has_hidden(instruction)
        is_marked = instruction in self._selection.marked
        lines = self._lines(instruction, called_by(instruction) if is_closed else ())
        width = "3" if is_marked else "2.5" if instruction.is_root else "1"
        inside.node(
            name,
            label=_escaped(*lines),
            tooltip=_escaped(*_notes(instruction)),
            fillcolor=tint.fill,
            color=_NEUTRAL["operand"] if is_marked else tint.line,
            fontcolor=tint.text,
            penwidth=width,
            style="filled,rounded,dashed" if is_cut else "filled,rounded",
            peripheries="2" if instruction.op.is_fusion else "1",
        )

    def _has_hidden(self, instruction: Instruction) -> bool:
        """Whether a selection has left out neighbours of an instruction."""
        if instruction.parent is not self._selection.computation:
            return False
        return any(
            other not in self._shown
            for other in (*instruction.operands, *instruction.users)
            if not is_folded(other)
        )

    def _draw_edges(self, instruction: Instruction) -> None:
        target = self._nodes[instruction]
        positions: dict[Instruction, list[int]] = {}
        for number, operand in enumerate(instruction.operands):
            positions.setdefault(self._arguments.meant(operand), []).append(number)
        for source, numbers in positions.items():
            if source not in self._nodes:
                continue
            # A thousand edges from one box to another say no more than a few do.
            for number in numbers[:_MOST_ALIKE]:
                position = f"{number}: " if len(instruction.operands) > 1 else ""
                self._draw_edge(source, target, position)
            if len(numbers) > _MOST_ALIKE:
                self._draw_edge(source, target, f"{len(numbers) - _MOST_ALIKE:,} more: ")
        self._draw_control(instruction)

    def _draw_edge(self, source: Instruction, target: str, position: str = "") -> None:
        label = position + _edge_label(source)
        shown = {"label": f"  {label}"} if self._labels_edges else {}
        self.dot.edge(self._nodes[source], target, tooltip=label or " ", **shown)

    def _draw_control(self, instruction: Instruction) -> None:
        for predecessor in instruction.control_predecessors:
            if predecessor in self._nodes:
                self.dot.edge(
                    self._nodes[predecessor], self._nodes[instruction],
                    style="dotted", color=_NEUTRAL["control"],
                )  # fmt: skip

    def _lines(self, instruction: Instruction, calls: Iterable[Called]) -> list[str]:
        op = instruction.op
        head = self._graph.title(instruction)
        if op.payload is not None:
            head += f"({op.payload_text(LargeConstants.ELIDED)})"
        lines = [head, instruction.name, instruction.shape.text]
        lines += [f"{name}={text}" for name, text in op.written()]
        lines += [f"{called.part}={called.computation.name}" for called in calls]
        meant = enumerate(map(self._arguments.meant, instruction.operands))
        folded = [(number, operand) for number, operand in meant if is_folded(operand)]
        lines += [f"operand {number} = {_folded_text(one)}" for number, one in folded[:_MOST_LINES]]
        if len(folded) > _MOST_LINES:
            lines.append(f"{len(folded) - _MOST_LINES:,} more such operands")
        return list(map(_cut, lines))


def _folded_text(instruction: Instruction) -> str:
    """Returns what a constant, or one that is repeated over an array, is in its user's node."""
    found = unrepeated(instruction)
    return f"{found.shape.plain_text} {found.op.short_value}"


def _notes(instruction: Instruction) -> list[str]:
    metadata = instruction.annotations.metadata
    source = f"{metadata.source_file}:{metadata.source_line}" if metadata.source_file else ""
    return [line for line in (instruction.name, metadata.op_name, source) if line]


def _edge_label(source: Instruction) -> str:
    return _escaped(source.shape.plain_text) if source.shape.is_array else ""


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def _escaped(*lines: str) -> str:
    """Returns lines as a label that Graphviz takes for text, also where it looks like HTML."""
    text = "\\n".join(str(graphviz.escape(_visible(line))) for line in lines)
    escaped: str = graphviz.nohtml(text)
    return escaped


def _visible(line: str) -> str:
    # Graphviz reads UTF-8 and, in the heading, XML, which has no control characters.
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def _heading(title: str, legend: Sequence[tuple[str, Tint]]) -> str:
    """Returns the title and what the colours mean, as the table that Graphviz takes for a label."""
    cells = "".join(
        f'<td bgcolor="{tint.fill}" color="{tint.line}">'
        f'<font color="{tint.text}" point-size="10">{escape(_visible(_cut(words)))}</font></td>'
        for words, tint in legend
    )
    rows = f"<tr>{cells}</tr>" if cells else ""
    span = max(1, len(legend))
    head = f'<tr><td border="0" colspan="{span}"><b>{escape(_visible(title))}</b></td></tr>'
    return (
        f'<<table border="0" cellborder="1" cellspacing="4" cellpadding="4">{head}{rows}</table>>'
    )
