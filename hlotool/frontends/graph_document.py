"""Graphs of TensorFlow as documents that a page draws: clusters are computations that open.

`docs/viewer_data.md` says what each entry is. A node is an instruction; a cluster is a call of
a computation that holds its nodes, with a parameter for each value that comes in.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.frontends.tf_graph import ClusterGraph, GraphNode
from hlotool.graph.numbering import Strings, differences
from hlotool.graph.page_tables import VERSION
from hlotool.graph.palette import category_entries
from hlotool.ir.appearance import Category, Drawn
from hlotool.version import __version__

_CATEGORIES = list(Category)
_TYPES = ("T", "dtype", "type", "SrcT", "Tidx")
"""Attributes that say which type a node's value has, the first choice first."""


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """A document, and what it says of the graph."""

    document: dict[str, Any]
    places: list[tuple[int, int]]
    """Of each node its computation and its instruction there."""
    loops: int
    """How many edges are left out since they lead back."""


@dataclass(slots=True)
class _Row:
    name: str
    opcode: str
    category: Category
    role: Drawn
    shape: str
    operands: list[int]
    node: int = -1
    """The number of the node that it is, -1 for parameters, calls and the like."""
    cluster: str = ""
    device: str = ""
    attributes: str = ""
    title: str = ""
    index: int = -1


@dataclass(slots=True)
class _Sheet:
    """One computation; rows have their operands in front of them."""

    name: str
    kind: str
    rows: list[_Row] = field(default_factory=list)
    calls: list[tuple[int, int]] = field(default_factory=list)
    control: set[tuple[int, int]] = field(default_factory=set)
    root: int = 0
    line: int = 0

    def add(self, row: _Row) -> int:
        """Takes a row in and returns its number."""
        self.rows.append(row)
        return len(self.rows) - 1


def graph_document(graph: ClusterGraph, title: str) -> GraphDocument:
    """Returns the document of a graph, whose page is called `title`.

    Nodes of a cluster stand alone where the cluster as one box would lie on a circle.
    """
    boxed = _Layout(graph, list(graph.clusters().items()))
    plain = boxed if not graph.clusters() else _Layout(graph, [])
    layout = boxed if boxed.loops <= plain.loops else plain
    return GraphDocument(_Writer(layout, title).document(), layout.places(), layout.loops)


class _Layout:
    """Which node stands in which computation, and in which order."""

    def __init__(self, graph: ClusterGraph, clusters: Sequence[tuple[str, list[int]]]) -> None:
        self.graph = graph
        inside = {node for _, nodes in clusters for node in nodes}
        alone = [("", [n]) for n in range(len(graph.nodes)) if n not in inside]
        # Boxes stand where the first of their nodes would.
        self._units = sorted([*clusters, *alone], key=lambda unit: unit[1][0])
        self._unit = {n: unit for unit, (_, nodes) in enumerate(self._units) for n in nodes}
        edges = {(e.source, e.target) for e in graph.edges}
        order = _ordered(
            range(len(self._units)),
            {(self._unit[s], self._unit[t]) for s, t in edges if self._unit[s] != self._unit[t]},
        )
        self._turn = {unit: turn for turn, unit in enumerate(order)}
        self._within = {n: turn for _, nodes in self._units
                        for turn, n in enumerate(_ordered(nodes, edges))}  # fmt: skip
        self._inputs: dict[int, list[tuple[int, int]]] = {n: [] for n in range(len(graph.nodes))}
        for edge in graph.edges:
            if self._is_forward(edge.source, edge.target):
                self._inputs[edge.target].append((edge.place, edge.source))
        self.loops = sum(not self._is_forward(e.source, e.target) for e in graph.edges)
        self._given = {source for node, inputs in self._inputs.items() for place, source in inputs
                       if place >= 0 and self._unit[source] != self._unit[node]}  # fmt: skip
        self.sheets: list[_Sheet] = []
        self._entry = _Sheet(graph.name or "graph", "entry")
        self._value: dict[int, int] = {}
        for unit in order:
            self._place(*self._units[unit])
        self._entry.root = max(0, len(self._entry.rows) - 1)
        self.sheets.append(self._entry)

    def places(self) -> list[tuple[int, int]]:
        """Returns of each node its computation and its instruction there."""
        found = {
            row.node: (number, at)
            for number, sheet in enumerate(self.sheets)
            for at, row in enumerate(sheet.rows)
        }
        return [found[node] for node in range(len(self.graph.nodes))]

    def _is_forward(self, source: int, target: int) -> bool:
        one, other = self._unit[source], self._unit[target]
        if one == other:
            return self._within[source] < self._within[target]
        return self._turn[one] < self._turn[other]

    def _data(self, node: int) -> list[int]:
        return [source for place, source in sorted(self._inputs[node]) if place >= 0]

    def _control(self, node: int) -> list[int]:
        return [source for place, source in self._inputs[node] if place < 0]

    def _place(self, cluster: str, nodes: list[int]) -> None:
        if cluster:
            self._place_cluster(cluster, sorted(nodes, key=self._within.__getitem__))
            return
        (node,) = nodes
        operands = [self._value[source] for source in self._data(node)]
        at = self._entry.add(_row(self.graph.nodes[node], node, operands))
        self._value[node] = at
        self._entry.control |= {(at, self._value[source]) for source in self._control(node)}

    def _place_cluster(self, cluster: str, nodes: list[int]) -> None:
        own = set(nodes)
        taken = dict.fromkeys(s for n in nodes for s in self._data(n) if s not in own)
        sheet = _Sheet(cluster, "call")
        inner = {
            source: sheet.add(_parameter(self.graph.nodes[source], number))
            for number, source in enumerate(taken)
        }
        for node in nodes:
            operands = [inner[source] for source in self._data(node)]
            inner[node] = at = sheet.add(_row(self.graph.nodes[node], node, operands))
            sheet.control |= {(at, inner[s]) for s in self._control(node) if s in own}
        given = [node for node in nodes if node in self._given]
        sheet.root = inner[given[0]] if len(given) == 1 else len(sheet.rows) - 1
        if len(given) > 1:
            sheet.root = sheet.add(_tuple(cluster, [sheet.rows[inner[n]].shape for n in given],
                                          [inner[n] for n in given]))  # fmt: skip
        shape = sheet.rows[sheet.root].shape if given else ""
        call = _Row(cluster, "cluster", Category.CONTROL, Drawn.CALL, shape,
                    [self._value[source] for source in taken], cluster=cluster,
                    title=f"{cluster} ({len(nodes)})")  # fmt: skip
        at = self._entry.add(call)
        self._entry.calls.append((at, len(self.sheets)))
        self.sheets.append(sheet)
        self._value.update(dict.fromkeys(nodes, at))
        outside = {self._value[s] for n in nodes for s in self._control(n) if s not in own}
        self._entry.control |= {(at, source) for source in outside}
        for number, node in enumerate(given if len(given) > 1 else ()):
            self._value[node] = self._entry.add(_element(sheet.rows[inner[node]], at, number))


def _ordered(numbers: Iterable[int], edges: Iterable[tuple[int, int]]) -> list[int]:
    """Returns numbers with sources first; where edges go in circles, the smallest comes first."""
    left = dict.fromkeys(numbers, 0)
    targets: dict[int, list[int]] = {number: [] for number in left}
    for source, target in edges:
        if source in left and target in left and source != target:
            targets[source].append(target)
            left[target] += 1
    ready = [number for number, count in left.items() if not count]
    heapq.heapify(ready)
    rest = sorted(left, reverse=True)
    made: dict[int, None] = {}
    while len(made) < len(left):
        if not ready:
            while rest[-1] in made:
                rest.pop()
            ready.append(rest[-1])
        number = heapq.heappop(ready)
        made[number] = None
        for target in targets[number]:
            left[target] -= 1
            if not left[target] and target not in made:
                heapq.heappush(ready, target)
    return list(made)


def _shape_of(node: GraphNode) -> str:
    return next((node.attributes[name] for name in _TYPES if name in node.attributes), "")


def _row(node: GraphNode, number: int, operands: list[int]) -> _Row:
    category = Category.EXTERNAL if operands else Category.SOURCE
    attributes = ", ".join(f"{name}={text}" for name, text in node.attributes.items())
    return _Row(node.name, node.op, category, Drawn.BOX, _shape_of(node), operands, number,
                node.cluster, node.device, attributes)  # fmt: skip


def _parameter(source: GraphNode, number: int) -> _Row:
    return _Row(f"input {number}", "parameter", Category.SOURCE, Drawn.PARAMETER,
                _shape_of(source), [], title=source.name, index=number)  # fmt: skip


def _tuple(cluster: str, shapes: Sequence[str], operands: list[int]) -> _Row:
    return _Row(f"outputs of {cluster}", "outputs", Category.MOVEMENT, Drawn.TUPLE,
                f"({', '.join(shapes)})", operands)  # fmt: skip


def _element(row: _Row, call: int, number: int) -> _Row:
    return _Row(f"output {number}: {row.name}", "output", Category.MOVEMENT, Drawn.ELEMENT,
                row.shape, [call], index=number)  # fmt: skip


class _Writer:
    """Writes a layout as a document."""

    def __init__(self, layout: _Layout, title: str) -> None:
        self._layout = layout
        self._title = title
        self._strings = Strings()
        self._ops: dict[tuple[str, Category, Drawn], int] = {}
        self._shapes: dict[str, int] = {}

    def document(self) -> dict[str, Any]:
        """Returns the document."""
        sheets = self._layout.sheets
        text = "\n".join(self._lines())
        lines = differences(sheet.line for sheet in sheets)
        computations = [
            self._computation(sheet, line) for sheet, line in zip(sheets, lines, strict=True)
        ]
        return {
            "version": VERSION,
            "tool": f"hlotool {__version__}",
            "title": self._title,
            "noun": "node",
            "entry": len(sheets) - 1,
            "text": text,
            "strings": self._strings.listed,
            **category_entries(),
            "ops": [
                {"opcode": opcode, "category": _CATEGORIES.index(category), "role": role.value}
                for opcode, category, role in self._ops
            ],
            "shapes": [
                {"text": shape, "plain": shape, "bytes": 0, "scalar": 0, "tuple": []}
                for shape in self._shapes
            ],
            "computations": computations,
            "stacks": [],
            "overlays": [
                self._overlay(name) for name in ("cluster", "opcode", "device") if self._has(name)
            ],
            "modules": [],
            "passes": [],
            "decisions": [],
            "difference": None,
        }

    def _lines(self) -> Iterable[str]:
        line = 0
        for sheet in self._layout.sheets:
            sheet.line = line
            yield f"{sheet.name} {{".replace("\n", "\\n")
            for row in sheet.rows:
                operands = ", ".join(sheet.rows[operand].name for operand in row.operands)
                parts = filter(None, (row.attributes, row.device and f"device={row.device}"))
                line_text = ", ".join((f"  {row.name} = {row.opcode}({operands})", *parts))
                yield line_text.replace("\n", "\\n")
            yield from ("}", "")
            line += len(sheet.rows) + 3

    def _computation(self, sheet: _Sheet, line: int) -> dict[str, Any]:
        rows = sheet.rows
        none = [-1] * len(rows)
        optional = self._strings.optional
        return {
            "name": self._strings(sheet.name),
            "line": line,
            "root": sheet.root,
            "kind": sheet.kind,
            "op": [self._op(row) for row in rows],
            "names": differences(self._strings(row.name) for row in rows),
            "title": [self._strings(row.title or row.opcode) for row in rows],
            "shape": [self._shapes.setdefault(row.shape, len(self._shapes)) for row in rows],
            "lines": differences(range(1, 1 + len(rows))),
            "index": [row.index for row in rows],
            "value": none,
            "attributes": [optional(row.attributes) for row in rows],
            "scope": [optional(row.name if "/" in row.name else "") for row in rows],
            "source": none,
            "frames": none,
            "sharding": none,
            "operands": [at - o for at, row in enumerate(rows) for o in row.operands],
            "ends": [len(row.operands) for row in rows],
            "calls": [n for at, c in sheet.calls for n in (at, c, self._strings("nodes"))],
            "control": [n for pair in sorted(sheet.control) for n in pair],
            "alias": [],
        }

    def _op(self, row: _Row) -> int:
        return self._ops.setdefault((row.opcode, row.category, row.role), len(self._ops))

    def _has(self, name: str) -> bool:
        return any(getattr(row, name) for sheet in self._layout.sheets for row in sheet.rows)

    def _overlay(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "unit": "",
            "kind": "categorical",
            "sum": "none",
            "values": [
                [self._strings.optional(getattr(row, name)) for row in sheet.rows]
                for sheet in self._layout.sheets
            ],
        }
