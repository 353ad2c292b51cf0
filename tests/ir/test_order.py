"""The order in which computations and instructions print."""

from __future__ import annotations

import random

import pytest

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import computation_order, fused_computations, instruction_order
from hlotool.ops.control_flow import Call, Fusion, While
from hlotool.ops.custom_call import CustomCall
from tests.analysis.modules import call, computation, make, parameter

TARGET = CustomCall(custom_call_target="t")


def body(name: str) -> Computation:
    return computation(name, parameter(f"{name}_p"))


def calling(name: str, *calls: Computation) -> Computation:
    """Returns a computation with one call instruction for each computation."""
    start = parameter(f"{name}_p")
    made = [call(f"{name}_{n}", Call(), start, called) for n, called in enumerate(calls)]
    return computation(name, start, *made)


def computations(*given: Computation) -> list[str]:
    return [c.name for c in computation_order(Module("m", list(given), given[-1]))]


def instructions(*given: Instruction) -> list[str]:
    return [i.name for i in instruction_order(computation("c", *given))]


def test_called_computations_come_before_their_callers() -> None:
    a, b = body("a"), body("b")
    c = calling("c", b)
    assert computations(a, b, c, calling("e", a, c)) == ["a", "b", "c", "e"]
    assert computations(a, b, c, calling("e", c, a)) == ["b", "c", "a", "e"]


def test_what_nothing_calls_stands_in_text_order() -> None:
    a, b = body("a"), body("b")
    uncalled = calling("u", b)
    assert computations(a, b, uncalled, calling("e", a)) == ["b", "u", "a", "e"]


def test_a_while_prints_its_body_before_its_condition() -> None:
    condition, loop = body("condition"), body("body")
    start = parameter("p")
    entry = computation("e", start, call("w", While(), start, condition, loop))
    assert computations(condition, loop, entry) == ["body", "condition", "e"]


def test_of_several_calls_of_one_computation_the_last_counts() -> None:
    a, b = body("a"), body("b")
    start = parameter("p")
    entry = computation("e", start, call("c", TARGET, start, a, b, a))
    assert computations(a, b, entry) == ["b", "a", "e"]


def test_a_call_cycle_prints_all_the_same() -> None:
    start, other = parameter("p"), parameter("q")
    first = computation("first", start)
    second = computation("second", other, call("c", Call(), other, first))
    first.instructions.append(call("d", Call(), start, second))
    assert sorted(computations(first, second)) == ["first", "second"]


def test_only_the_bodies_of_fusions_are_fused() -> None:
    a, b = body("a"), body("b")
    start = parameter("p")
    fusion = call("f", Fusion(kind="kLoop"), start, a)
    entry = computation("e", start, fusion, call("c", Call(), start, b))
    assert fused_computations(Module("m", [a, b, entry], entry)) == {a}


def test_operands_come_before_users_first_to_last() -> None:
    a, b = parameter("a"), parameter("b", 1)
    n, m = make("n", TARGET, b), make("m", TARGET, a)
    assert instructions(b, a, n, m, make("r", TARGET, m, n)) == ["a", "m", "b", "n", "r"]


def test_what_nothing_uses_stands_in_text_order() -> None:
    a, b = parameter("a"), parameter("b", 1)
    dead = make("dead", TARGET, b)
    assert instructions(a, b, dead, make("r", TARGET, a)) == ["b", "dead", "a", "r"]


def test_control_predecessors_come_before_operands_last_to_first() -> None:
    a, b, c = parameter("a"), parameter("b", 1), parameter("c", 2)
    root = make("r", TARGET, a)
    root.control_predecessors = (b, c)
    # Without users of their own, b and c are walked from where they stand.
    assert instructions(a, root, b, c) == ["c", "b", "a", "r"]


def test_a_control_predecessor_is_no_user() -> None:
    a = parameter("a")
    first, second = make("first", TARGET, a), make("second", TARGET, a)
    first.control_predecessors = (second,)
    assert instructions(a, first, second) == ["a", "second", "first"]


def test_a_cycle_of_control_edges_prints_all_the_same() -> None:
    a, b = make("a", TARGET), make("b", TARGET)
    a.control_predecessors, b.control_predecessors = (b,), (a,)
    assert sorted(instructions(a, b)) == ["a", "b"]


@pytest.mark.parametrize("seed", range(20))
def test_every_edge_goes_forward(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # nothing here is secret
    made = [parameter("p")]
    for number in range(30):
        operands = chance.choices(made, k=chance.randint(0, 3))
        instruction = make(f"i{number}", TARGET, *operands)
        instruction.control_predecessors = tuple(chance.sample(made, chance.randint(0, 1)))
        made.append(instruction)
    order = instruction_order(computation("c", *made))
    place = {instruction: number for number, instruction in enumerate(order)}
    assert sorted(place.values()) == list(range(len(made)))
    for user in made:
        for before in (*user.operands, *user.control_predecessors):
            assert place[before] < place[user]


def test_a_long_chain_needs_no_deep_recursion() -> None:
    chain = [parameter("p")]
    for number in range(20_000):
        chain.append(make(f"i{number}", TARGET, chain[-1]))
    assert instruction_order(computation("c", *chain[::-1])) == chain


def test_one_that_another_call_of_an_instruction_needs_comes_before_it() -> None:
    condition = body("condition")
    loop = calling("body", condition)
    start = parameter("p")
    entry = computation("e", start, call("w", While(), start, condition, loop))
    assert computations(loop, condition, entry) == ["condition", "body", "e"]
