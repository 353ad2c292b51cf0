"""Graphs of TensorFlow as documents that the page draws."""

import random
from pathlib import Path
from typing import Any

import pytest

from hlotool.frontends.graph_document import graph_document
from hlotool.frontends.tf_graph import ClusterGraph, GraphEdge, GraphNode, tf_graphs

EXAMPLE = "testdata/dumps/clusters/mark_for_compilation.pbtxt"


def node(name: str, cluster: str = "") -> GraphNode:
    return GraphNode(name, "Op", "", cluster, {"T": "float"})


def graph(clusters: str, *edges: tuple[int, int]) -> ClusterGraph:
    """Returns a graph of one node for each letter, of that cluster; `-` stands for none."""
    nodes = [node(f"n{n}", "" if c == "-" else c) for n, c in enumerate(clusters)]
    places = {target: 0 for _, target in edges}
    made = []
    for source, target in edges:
        made.append(GraphEdge(source, target, "", places[target]))
        places[target] += 1
    return ClusterGraph("", nodes, made, 0)


def names(document: dict[str, Any], computation: int) -> list[str]:
    number, listed = 0, []
    for by in document["computations"][computation]["names"]:
        number += by
        listed.append(document["strings"][number])
    return listed


def operands(document: dict[str, Any], computation: int) -> list[list[int]]:
    """Returns the operands of each instruction, as numbers."""
    data = document["computations"][computation]
    distances = iter(data["operands"])
    return [[at - next(distances) for _ in range(count)] for at, count in enumerate(data["ends"])]


def check(made: dict[str, Any]) -> None:
    """Operands come first, numbers are in range, each instruction has its line."""
    lines = made["text"].split("\n")
    start = 0
    for number, data in enumerate(made["computations"]):
        size = len(data["op"])
        start += data["line"]
        assert all(0 <= o < at for at, some in enumerate(operands(made, number)) for o in some)
        assert 0 <= data["root"] < max(1, size)
        assert lines[start] == f"{made['strings'][data['name']]} {{"
        line = start
        for by, name in zip(data["lines"], names(made, number), strict=True):
            line += by
            assert lines[line].strip().startswith(f"{name} = ")
        for at, called in zip(data["calls"][::3], data["calls"][1::3], strict=True):
            parameters = sum(index >= 0 for index in made["computations"][called]["index"])
            assert len(operands(made, number)[at]) == parameters
        assert all(0 <= n < size for n in data["control"])


def test_clusters_are_called(root: Path) -> None:
    found, function = tf_graphs((root / EXAMPLE).read_text())
    shown = graph_document(found, "g")
    made = shown.document
    check(made)
    assert (made["title"], shown.loops) == ("g", 0)
    assert names(made, 0) == ["input 0", "c0/exp", "c0/neg"]
    assert names(made, 1) == ["input 0", "c1/sum"]
    assert names(made, 2) == ["x", "cluster_0", "print", "cluster_1"]
    assert operands(made, 2) == [[], [0], [1], [1]]
    assert made["computations"][2]["control"] == [3, 2]
    assert shown.places == [(2, 0), (0, 1), (0, 2), (2, 2), (1, 1)]
    assert [one["name"] for one in made["overlays"]] == ["cluster", "opcode", "device"]
    check(graph_document(function, "f").document)


def test_several_values_leave_as_a_tuple() -> None:
    made = graph_document(graph("-aa-", (0, 1), (0, 2), (1, 3), (2, 3)), "g").document
    check(made)
    assert names(made, 0) == ["input 0", "n1", "n2", "outputs of a"]
    assert names(made, 1) == ["n0", "a", "output 0: n1", "output 1: n2", "n3"]
    assert operands(made, 1) == [[], [0], [1], [1], [2, 3]]


def test_a_cluster_that_would_lie_on_a_circle_is_no_box() -> None:
    shown = graph_document(graph("a-a", (0, 1), (1, 2)), "g")
    assert len(shown.document["computations"]) == 1
    assert shown.loops == 0
    assert operands(shown.document, 0) == [[], [0], [1]]


def test_edges_that_lead_back_are_counted() -> None:
    shown = graph_document(graph("---", (0, 1), (1, 2), (2, 1), (2, 2)), "g")
    check(shown.document)
    assert shown.loops == 2
    assert operands(shown.document, 0) == [[], [0], [1]]


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311 - graphs for tests, no secrets
    size = choose.randint(1, 40)
    clusters = "".join(choose.choice("--abc") for _ in range(size))
    edges = [(choose.randrange(size), choose.randrange(size)) for _ in range(2 * size)]
    shown = graph_document(graph(clusters, *edges), "g")
    check(shown.document)
    made = shown.document
    assert [names(made, c)[i] for c, i in shown.places] == [f"n{n}" for n in range(size)]
    drawn = sum(len(some) for c in range(len(made["computations"])) for some in operands(made, c))
    assert drawn >= (len(edges) - shown.loops) * (not set(clusters) - {"-"})


def test_an_empty_graph() -> None:
    made = graph_document(ClusterGraph("", [], [], 0), "g").document
    assert made["computations"][0]["op"] == []
