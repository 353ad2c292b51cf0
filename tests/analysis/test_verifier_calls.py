"""What the verifier says of calls between computations."""

from __future__ import annotations

from hlotool.analysis.verifier import verify
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ops.asynchronous import AsyncDone, AsyncStart, AsyncUpdate
from hlotool.ops.control_flow import Call, Fusion
from hlotool.ops.custom_call import CustomCall
from tests.analysis.modules import call, computation, make, messages, module, negation, parameter
from tests.ops.shapes import F32_2, U32, pack

STARTED = pack(pack(F32_2), F32_2, U32)


def test_a_computation_that_is_not_in_the_module() -> None:
    x = parameter("x")
    entry = computation("e", x, call("y", Call(), x, negation("lost")))
    assert messages(verify(module(entry))) == ["call: computation lost is not in the module"]


def test_the_entry_is_in_the_module() -> None:
    made = module(negation("e"))
    made.entry = negation("lost")
    assert messages(verify(made)) == ["the entry lost is not in the module"]


def test_names_of_computations_are_unique() -> None:
    found = messages(verify(module(negation("e"), negation("e"))))
    assert found == ["the module has another computation e"]


def test_a_computation_that_calls_itself() -> None:
    x = parameter("x")
    y = call("y", Call(), x, negation("f"))
    entry = computation("e", x, y)
    y.calls = (entry,)
    assert messages(verify(module(entry))) == ["call: computation e comes to call itself"]


def test_computations_that_call_each_other() -> None:
    x, y = parameter("x"), parameter("y")
    first = call("first", Call(), x, negation("f"))
    second = call("second", Call(), y, negation("f"))
    one, other = computation("one", x, first), computation("other", y, second)
    first.calls, second.calls = (other,), (one,)
    assert messages(verify(module(one, other))) == ["call: computation one comes to call itself"]


def test_many_computations_deep() -> None:
    made = [negation("c0")]
    for number in range(1, 5000):
        x = parameter(f"x{number}")
        made.append(computation(f"c{number}", x, call(f"y{number}", Call(), x, made[-1])))
    assert verify(module(*made)) == []


def test_control_flow_and_other_ops_do_not_share_a_computation() -> None:
    f = negation("f")
    x = parameter("x")
    y = call("y", Call(), x, f)
    entry = computation("e", x, y, call("z", Fusion(kind="kLoop"), y, f))
    (error,) = verify(module(f, entry))
    assert error.message == (
        "fusion: computation f is already used by the call y:"
        " control flow and other ops cannot share it"
    )


def test_two_calls_and_a_custom_call_share_a_computation() -> None:
    f = negation("f")
    x = parameter("x")
    y = call("y", Call(), x, f)
    z = call("z", CustomCall(custom_call_target="t"), y, f)
    assert verify(module(f, computation("e", x, y, z, call("w", Call(), z, f)))) == []


def chain(f: Computation, x: Instruction, name: str, *, repeats: bool) -> list[Instruction]:
    calls = (f,) if repeats else ()
    start = call(f"{name}.start", AsyncStart(), x, f, shape=STARTED)
    update = call(f"{name}.update", AsyncUpdate(), start, *calls, shape=STARTED)
    return [start, update, call(f"{name}.done", AsyncDone(), update, *calls)]


def test_async_steps_may_repeat_the_computation() -> None:
    for repeats in (False, True):
        f, x = negation("f"), parameter("x")
        assert verify(module(f, computation("e", x, *chain(f, x, "a", repeats=repeats)))) == []


def test_one_start_a_computation() -> None:
    f, x = negation("f"), parameter("x")
    steps = chain(f, x, "a", repeats=False)
    entry = computation("e", x, *steps, *chain(f, steps[-1], "b", repeats=False))
    assert messages(verify(module(f, entry))) == [
        "async-start: computation f is already started by a.start"
    ]


def test_async_steps_repeat_what_the_start_has() -> None:
    f, g, x = negation("f"), negation("g"), parameter("x")
    start, update, done = chain(f, x, "a", repeats=True)
    done.calls = (g,)
    update.op = AsyncUpdate(async_execution_thread="t")
    assert messages(verify(module(f, g, computation("e", x, start, update, done)))) == [
        "async-update: async_execution_thread is t, its start a.start has main",
        "async-done: calls g, its start a.start calls f",
    ]


def test_a_start_without_a_computation() -> None:
    f, x = negation("f"), parameter("x")
    steps = chain(f, x, "a", repeats=True)
    steps[0].calls = ()
    assert messages(verify(module(f, computation("e", x, *steps)))) == [
        "async-start: calls expected, 0 computations given"
    ]


def test_an_unused_done_is_no_part_of_a_chain() -> None:
    x = parameter("x", shape=STARTED)
    assert messages(verify(module(computation("e", x, make("y", AsyncDone(), x))))) == [
        "async-done: operand 0 is the parameter x, async-start or async-update is wanted"
    ]
