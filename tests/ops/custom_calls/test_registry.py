"""Who evaluates a custom call: built-in functions, and those that users supply."""

from collections.abc import Iterator
from threading import Thread
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.instruction import Instruction
from hlotool.ops.custom_calls import registry
from hlotool.ops.custom_calls.registry import register_custom_call, unregister_custom_call
from hlotool.ops.unary import Negate
from tests.evaluating import entry, evaluated

ONE = """
  x = f32[3] parameter(0)
  ROOT y = {result} custom-call(x), custom_call_target="{target}"{more}
"""
X = np.array([1, 2, 3], np.float32)


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    before = dict(registry._supplied)
    yield
    registry._supplied.clear()
    registry._supplied.update(before)


def call(target: str, result: str = "f32[3]", more: str = "") -> Any:
    return evaluated(entry(ONE.format(target=target, result=result, more=more)), X)


def test_a_registered_function_evaluates_calls_to_its_target() -> None:
    hlotool.register_custom_call("mine", lambda x: x + 1)
    assert call("mine").tolist() == [2, 3, 4]


def test_a_tuple_of_results_and_a_list_of_them() -> None:
    for results in (tuple, list):
        register_custom_call("mine", lambda x, made=results: made([x, np.int32(len(x))]))
        values, count = call("mine", "(f32[3], s32[])")
        assert values.tolist() == X.tolist()
        assert count == 3


def test_the_instruction_comes_first_where_it_is_wanted() -> None:
    def scaled(instruction: Instruction, x: Any) -> Any:
        return x * np.float32(instruction.annotations.backend_config)

    register_custom_call("mine", scaled, with_instruction=True)
    assert call("mine", more=', backend_config="3"').tolist() == [3, 6, 9]


def test_the_last_registration_counts_also_over_what_is_built_in() -> None:
    register_custom_call("Sharding", lambda x: -x)
    assert call("Sharding").tolist() == [-1, -2, -3]
    register_custom_call("Sharding", lambda x: 2 * x)
    assert call("Sharding").tolist() == [2, 4, 6]
    unregister_custom_call("Sharding")
    assert call("Sharding").tolist() == [1, 2, 3]
    with pytest.raises(KeyError):
        unregister_custom_call("Sharding")


def test_a_result_of_another_shape_or_type_is_an_error() -> None:
    register_custom_call("mine", lambda x: x[:2])
    with pytest.raises(EvaluationError, match=r"float32\[2\] was computed, f32\[3\] is declared"):
        call("mine")
    register_custom_call("mine", lambda x: x.astype(np.int32))
    with pytest.raises(EvaluationError, match=r"int32\[3\] was computed, f32\[3\] is declared"):
        call("mine")


def test_a_tuple_must_have_as_many_results_as_are_declared() -> None:
    register_custom_call("mine", lambda x: (x, x))
    with pytest.raises(EvaluationError, match=r"2 results were computed, \(f32\[3\]\) is declared"):
        call("mine", "(f32[3])")
    with pytest.raises(EvaluationError, match=r"float32\[2,3\] was computed"):
        call("mine")


def test_operands_that_do_not_fit_a_built_in_function_are_an_error_of_the_module() -> None:
    with pytest.raises(EvaluationError, match="X64Combine: operands or parameters do not fit"):
        call("X64Combine", "u64[3]")


HOST = """
host {
  a = f32[3] parameter(0)
  ROOT b = f32[3] negate(a)
}
"""
LESSER = """
lesser {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] negate(a)
  d = f32[] negate(b)
  ROOT e = pred[] compare(c, d), direction=GT
}
"""


@pytest.mark.parametrize(
    ("target", "result", "called"),
    [("HostExecute", "f32[3]", HOST), ("TopK", "(f32[2], s32[2])", LESSER)],
)
def test_a_fault_of_our_own_in_a_called_computation_is_no_fault_of_the_module(
    target: str, result: str, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = called.split(maxsplit=1)[0]
    body = ONE.format(target=target, result=result, more=f", called_computations={{{name}}}")
    assert evaluated(entry(body, called), X) is not None

    def fail(*_: Any) -> Any:
        raise ValueError("a bug of negate")

    monkeypatch.setattr(Negate, "evaluate", fail)
    with pytest.raises(ValueError, match=r"^a bug of negate$"):
        evaluated(entry(body, called), X)


def test_of_several_patterns_the_longest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.CUSTOM_CALLS, "mine*", lambda operands, _: operands[0])
    monkeypatch.setitem(registry.CUSTOM_CALLS, "mine.own*", lambda operands, _: -operands[0])
    assert call("mine.other").tolist() == [1, 2, 3]
    assert call("mine.own.one").tolist() == [-1, -2, -3]


def test_what_the_function_raises_is_an_evaluation_error_at_the_call() -> None:
    def fail(_: Any) -> Any:
        raise ZeroDivisionError("by nothing")

    register_custom_call("mine", fail)
    with pytest.raises(EvaluationError, match="mine: the registered function raised Zero") as found:
        call("mine")
    assert found.value.location is not None
    assert found.value.location.line == 6


def test_the_function_cannot_write_into_operands() -> None:
    def write(x: Any) -> Any:
        x[0] = 7
        return x

    register_custom_call("mine", write)
    with pytest.raises(EvaluationError, match="read-only"):
        call("mine")


def test_the_function_may_go_on_using_what_it_returned() -> None:
    buffer = np.zeros(3, np.float32)

    def count(x: Any) -> Any:
        buffer[:] += x
        return buffer

    register_custom_call("mine", count)
    body = """
  x = f32[3] parameter(0)
  y = f32[3] custom-call(x), custom_call_target="mine"
  z = f32[3] custom-call(x), custom_call_target="mine"
  ROOT t = (f32[3], f32[3]) tuple(y, z)
"""
    first, second = evaluated(entry(body), X)
    assert first.tolist() == [1, 2, 3]
    assert second.tolist() == [2, 4, 6]


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="mine: 3 is no function"):
        register_custom_call("mine", 3)  # type: ignore[arg-type]  # what is tested


def test_an_unknown_target_tells_similar_ones_and_what_to_do() -> None:
    with pytest.raises(UnsupportedError, match="Shardin: nothing is known of this target") as found:
        call("Shardin")
    assert found.value.notes[0].startswith("did you mean Sharding")
    assert any("register_custom_call" in note for note in found.value.notes)


def test_many_threads_may_register_and_call() -> None:
    failures = []

    def work(number: int) -> None:
        for _ in range(5):
            register_custom_call(f"mine{number}", lambda x: x + number)
            if call(f"mine{number}").tolist() != (X + number).tolist():
                failures.append(number)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_no_target_is_entered_twice() -> None:
    assert call("TopK", "(f32[2], s32[2])")[1].tolist() == [2, 1]
    with pytest.raises(TypeError, match="custom call TopK is defined twice"):
        registry.custom_call("TopK")(lambda *_: None)
