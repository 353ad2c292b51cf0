"""What the verifier says of a computation as a graph."""

from __future__ import annotations

from hlotool.analysis.verifier import verify
from hlotool.analysis.verifier_graph import back_edges
from hlotool.ir.computation import Computation
from hlotool.ir.header import ModuleHeader
from tests.analysis.modules import computation, make, messages, module, negation, parameter

SCHEDULED = ModuleHeader(is_scheduled=True)


def test_a_good_computation_has_no_errors() -> None:
    assert verify(module(negation("e"))) == []


def test_an_operand_of_another_computation() -> None:
    other = negation("other")
    x = parameter("x")
    (error,) = verify(module(other, computation("e", x, make("y", "add", x, other.root))))
    assert error.message == "add: operand other.y is not in computation e"
    assert error.notes == ("in instruction y of computation e",)


def test_a_control_predecessor_of_another_computation() -> None:
    other = negation("other")
    entry = negation("e")
    entry.root.control_predecessors = (other.root,)
    assert messages(verify(module(other, entry))) == [
        "negate: control predecessor other.y is not in computation e"
    ]


def test_text_order_matters_only_in_a_schedule() -> None:
    x = parameter("x")
    y = make("y", "negate", x)
    free = computation("e", y, x, root=y)
    assert verify(module(free)) == []
    assert messages(verify(module(free, header=SCHEDULED))) == [
        "negate: operand x is scheduled later"
    ]


def test_control_edges_matter_in_a_schedule() -> None:
    x, y = parameter("x"), parameter("y", 1)
    x.control_predecessors = (y,)
    entry = computation("e", x, y, make("z", "add", x, y))
    assert verify(module(entry)) == []
    assert messages(verify(module(entry, header=SCHEDULED))) == [
        "parameter: control predecessor y is scheduled later"
    ]


def test_a_cycle_of_operands() -> None:
    x = parameter("x")
    y = make("y", "negate", x)
    z = make("z", "negate", y)
    entry = computation("e", x, y, z)
    y.operands = (z,)
    assert messages(verify(module(entry))) == ["negate: z depends on itself through y"]


def test_a_cycle_through_a_control_edge() -> None:
    x = parameter("x")
    y = make("y", "negate", x)
    x.control_predecessors = (y,)
    assert messages(verify(module(computation("e", x, y)))) == [
        "negate: y depends on itself through x"
    ]


def test_an_operand_of_itself() -> None:
    x = parameter("x")
    y = make("y", "negate", x)
    y.operands = (y,)
    assert messages(verify(module(computation("e", x, y)))) == ["negate: y depends on itself"]


def test_every_cycle_is_reported() -> None:
    x = parameter("x")
    chain = [x]
    for number in range(6):
        chain.append(make(f"n{number}", "negate", chain[-1]))
    entry = computation("e", *chain)
    chain[1].operands = (chain[2],)
    chain[4].operands = (chain[5],)
    assert messages(verify(module(entry))) == [
        "negate: n1 depends on itself through n0",
        "negate: n4 depends on itself through n3",
    ]


def test_a_deep_graph_against_text_order() -> None:
    chain = [parameter("x")]
    for number in range(50_000):
        chain.append(make(f"n{number}", "negate", chain[-1]))
    entry = computation("e", *reversed(chain), root=chain[-1])
    assert verify(module(entry)) == []


def test_back_edges_of_a_graph() -> None:
    edges = {"a": "b", "b": "cd", "c": "a", "d": "d", "e": "b"}
    assert list(back_edges("abcde", lambda node: edges[node])) == [("c", "a"), ("d", "d")]


def test_parameter_numbers_are_unique() -> None:
    x, y = parameter("x"), parameter("y")
    entry = computation("e", x, y, make("z", "add", x, y))
    found = messages(verify(module(entry)))
    assert found[-1] == "parameter: number 0 is taken by x"


def test_parameter_numbers_have_no_gap() -> None:
    x, y = parameter("x"), parameter("y", 2)
    entry = computation("e", x, y, make("z", "add", x, y))
    assert messages(verify(module(entry))) == ["computation e has 2 parameters, none with number 1"]


def test_the_list_of_parameters_is_that_of_the_instructions() -> None:
    entry = negation("e")
    entry.parameters = ()
    assert messages(verify(module(entry))) == ["computation e lists other parameters than it has"]


def test_a_root_from_elsewhere() -> None:
    entry = negation("e")
    entry.root = negation("other").root
    (error,) = verify(module(entry))
    assert error.message == "the root other.y is not in computation e"
    assert error.notes == ("in computation e",)


def test_an_instruction_that_belongs_to_another_computation() -> None:
    entry = negation("e")
    Computation("thief", [entry.root], entry.root)
    assert "e.y stands in computation e but belongs to another" in messages(verify(module(entry)))


def test_names_are_unique_in_a_computation() -> None:
    x = parameter("x")
    entry = computation("e", x, make("x", "negate", x))
    assert messages(verify(module(entry))) == ["computation e has another x already"]


def test_a_computation_without_instructions() -> None:
    entry = negation("e")
    entry.instructions = []
    assert messages(verify(module(entry))) == ["computation e has no instructions"]
