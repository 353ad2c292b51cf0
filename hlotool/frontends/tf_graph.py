"""Graphs that TensorFlow dumps as text: nodes, edges, and the clusters that XLA compiles.

A file holds a `GraphDef`, which may have functions in its library, or one `FunctionDef`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.errors import ParseError
from hlotool.frontends.text_proto import text_of, text_proto

_SCHEMA = {
    "Dim": "size:int",
    "Shape": "dim:Dim* unknown_rank:bool",
    "Tensor": "dtype:enum tensor_shape:Shape",
    "Function": "name:bytes",
    "List": "s:bytes* i:int* f:float* b:bool* type:enum* shape:Shape*",
    "Value": "s:bytes? i:int? f:float? b:bool? type:enum? shape:Shape? tensor:Tensor?"
    " func:Function? list:List?",
    "Attribute": "key:bytes value:Value",
    "Node": "name:bytes op:bytes input:bytes* device:bytes attr:Attribute*",
    "Argument": "name:bytes type:enum",
    "Signature": "name:bytes input_arg:Argument* output_arg:Argument*",
    "Return": "key:bytes value:bytes",
    "Definition": "signature:Signature node_def:Node* ret:Return* attr:Attribute*",
    "Library": "function:Definition*",
    # A file is either of both: their fields have different names.
    "File": "node:Node* library:Library signature:Signature node_def:Node* ret:Return*"
    " attr:Attribute*",
}
_CLUSTER = "_XlaCluster"
_TYPE_NAME = re.compile(r"\bDT_[A-Za-z0-9_]+")
_MOST_BYTES = 200
"""How much of a text in an attribute is kept."""
_MOST_PARTS = 16


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """What flows from output `output` of one node into input `place` of another."""

    source: int
    target: int
    output: str
    place: int
    """-1 for a control edge, which only says what comes first."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An operation of the graph; attributes are texts."""

    name: str
    op: str
    device: str
    cluster: str
    """The name of the cluster that it belongs to, empty for none."""
    attributes: dict[str, str]


@dataclass(frozen=True, slots=True)
class ClusterGraph:
    """One graph; `name` is that of a function, and empty for the graph itself."""

    name: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    lost: int
    """How many inputs name a node that is not there."""

    def clusters(self) -> dict[str, list[int]]:
        """Returns the numbers of the nodes in each cluster, in the order of the text."""
        found: dict[str, list[int]] = {}
        for number, node in enumerate(self.nodes):
            if node.cluster:
                found.setdefault(node.cluster, []).append(number)
        return found


def tf_graphs(text: str, name: str = "<string>") -> list[ClusterGraph]:
    """Returns the graph in a text and those of its functions; raises `ParseError` for others."""
    words = sorted(set(_TYPE_NAME.findall(text)))
    file = text_proto(text, name, _SCHEMA, "File", words)
    reader = _Reader(words)
    made = []
    if file.node:
        made.append(reader.graph("", file.node))
    definitions = [*file.library.function, *([file] if file.signature.name else [])]
    made += [reader.function(definition) for definition in definitions]
    if not made:
        raise ParseError(f"{name} holds no graph: it has no node and no function")
    return made


def cluster_module(cluster: str, modules: Sequence[str]) -> int:
    """Returns which of these names of modules is that of a cluster, -1 for none.

    The name of a cluster's module has more behind it: `cluster_0__XlaCompiledKernel_true_...`.
    """
    for number, name in enumerate(modules):
        if name == cluster or name.startswith((f"{cluster}__", f"{cluster}.")):
            return number
    return -1


class _Reader:
    """Makes graphs of messages, in which types are numbers of `words`, from 1."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = ["", *(word.removeprefix("DT_").lower() for word in words)]

    def graph(self, name: str, nodes: Sequence[Any]) -> ClusterGraph:
        """Returns the graph of these nodes."""
        made = [self._node(node) for node in nodes]
        inputs = [[text_of(one) for one in node.input] for node in nodes]
        return _linked(name, made, inputs)

    def function(self, definition: Any) -> ClusterGraph:
        """Returns the graph of a function; what it takes and returns are nodes as well."""
        signature = definition.signature
        made = [self._argument(one, "argument") for one in signature.input_arg]
        inputs: list[list[str]] = [[] for _ in made]
        for node in definition.node_def:
            made.append(self._node(node))
            inputs.append([text_of(one) for one in node.input])
        returned = {text_of(one.key): text_of(one.value) for one in definition.ret}
        for one in signature.output_arg:
            made.append(self._argument(one, "result"))
            inputs.append([text] if (text := returned.get(text_of(one.name))) else [])
        return _linked(text_of(signature.name), made, inputs)

    def _argument(self, argument: Any, op: str) -> GraphNode:
        kind = self._type(argument.type) if argument.type else ""
        return GraphNode(text_of(argument.name), op, "", "", {"type": kind} if kind else {})

    def _node(self, node: Any) -> GraphNode:
        attributes = {text_of(one.key): self._value(one.value) for one in node.attr}
        cluster = attributes.get(_CLUSTER, "")
        name, op, device = map(text_of, (node.name, node.op, node.device))
        return GraphNode(name, op, device, cluster, attributes)

    def _value(self, value: Any) -> str:
        field = value.WhichOneof("choice")
        if field is None:
            return ""
        if field != "list":
            return self._one(field, getattr(value, field))
        listed = [
            self._one(part.name, one)
            for part, several in value.list.ListFields()
            for one in several
        ]
        left = len(listed) - _MOST_PARTS
        shown = [*listed[:_MOST_PARTS], f"{left} more"] if left > 0 else listed
        return f"[{', '.join(shown)}]"

    def _type(self, number: int) -> str:
        return self._words[number] if 0 <= number < len(self._words) else str(number)

    def _one(self, field: str, value: Any) -> str:
        if field == "s":
            return text_of(value[:_MOST_BYTES])
        if field == "type":
            return self._type(value)
        if field == "b":
            return "true" if value else "false"
        if field == "shape":
            return _shape(value)
        if field == "tensor":
            return f"{self._one('type', value.dtype)}{_shape(value.tensor_shape)}"
        if field == "func":
            return text_of(value.name)
        return f"{value:g}" if field == "f" else str(value)


def _linked(name: str, nodes: list[GraphNode], inputs: Sequence[Sequence[str]]) -> ClusterGraph:
    number = {node.name: position for position, node in enumerate(nodes)}
    edges: list[GraphEdge] = []
    lost = 0
    for target, sources in enumerate(inputs):
        for place, text in enumerate(sources):
            is_control = text.startswith("^")
            source, _, output = text.removeprefix("^").partition(":")
            if source in number:
                edges.append(GraphEdge(number[source], target, output, -1 if is_control else place))
            else:
                lost += 1
    return ClusterGraph(name, nodes, edges, lost)


def _shape(shape: Any) -> str:
    if shape.unknown_rank:
        return "[*]"
    return f"[{','.join('?' if one.size < 0 else str(one.size) for one in shape.dim)}]"
