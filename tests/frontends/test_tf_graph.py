from pathlib import Path

import pytest

from hlotool.errors import ParseError
from hlotool.frontends.tf_graph import GraphEdge, cluster_module, tf_graphs

EXAMPLE = "testdata/dumps/clusters/mark_for_compilation.pbtxt"


def test_nodes_edges_and_clusters(root: Path) -> None:
    graph, function = tf_graphs((root / EXAMPLE).read_text())
    assert [node.op for node in graph.nodes] == ["_Arg", "Exp", "Neg", "PrintV2", "Sum"]
    assert graph.clusters() == {"cluster_0": [1, 2], "cluster_1": [4]}
    assert graph.edges == [
        GraphEdge(0, 1, "", 0),
        GraphEdge(1, 2, "0", 0),
        GraphEdge(2, 3, "", 0),
        GraphEdge(2, 4, "", 0),
        GraphEdge(3, 4, "", -1),
    ]
    assert graph.lost == 1, "axes is no node"
    assert graph.nodes[0].attributes == {"T": "float", "_output_shapes": "[[?,4]]"}
    assert graph.nodes[1].device == "/device:CPU:0"
    assert graph.nodes[3].attributes == {"end": "\n<ä\\xff>"}
    assert (function.name, graph.name) == ("cluster_1", "")
    assert [node.op for node in function.nodes] == ["argument", "Sum", "result"]
    assert function.edges == [GraphEdge(0, 1, "", 0), GraphEdge(1, 2, "output:0", 0)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("b: true", "true"),
        ("i: -3", "-3"),
        ("f: 0.5", "0.5"),
        ("f: nan", "nan"),
        ("type: DT_NEW_IN_2030", "new_in_2030"),
        ("type: 77", "77"),
        ('func { name: "f" }', "f"),
        ("shape { unknown_rank: true }", "[*]"),
        ("tensor { dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: 3 }", "half[2]"),
        ("list { i: 1 i: 2 }", "[1, 2]"),
        ("list { type: DT_INT8 type: DT_BOOL }", "[int8, bool]"),
        ("type: -5", "-5"),
        ("list { }", "[]"),
        ("", ""),
    ],
)
def test_attributes(value: str, text: str) -> None:
    node = f'node {{ name: "n" op: "Op" attr {{ key: "a" value {{ {value} }} }} }}'
    (graph,) = tf_graphs(node)
    assert graph.nodes[0].attributes == {"a": text}


def test_long_attributes_are_cut() -> None:
    listed = " ".join(f"i: {n}" for n in range(100))
    text = f'node {{ name: "n" attr {{ key: "a" value {{ list {{ {listed} }} }} }} }}'
    (graph,) = tf_graphs(text)
    assert graph.nodes[0].attributes["a"].endswith("14, 15, 84 more]")


def test_a_file_of_one_function() -> None:
    (graph,) = tf_graphs('signature { name: "f" } node_def { name: "a" op: "NoOp" }')
    assert (graph.name, len(graph.nodes)) == ("f", 1)


def test_faults_have_places() -> None:
    with pytest.raises(ParseError, match=r"g\.pbtxt:2:9: no text form of a proto"):
        tf_graphs("node {\n  name: 3\n}", "g.pbtxt")
    with pytest.raises(ParseError, match="holds no graph"):
        tf_graphs("versions { producer: 1 }", "g.pbtxt")


def test_the_module_of_a_cluster() -> None:
    names = ["cluster_10__XlaCompiledKernel_true.3", "cluster_1__XlaCompiledKernel_true.3", "f.2"]
    assert cluster_module("cluster_1", names) == 1
    assert cluster_module("f", names) == 2
    assert cluster_module("cluster_2", names) == -1
