import tracemalloc

import numpy as np
import pytest

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.frame import Value
from hlotool.ir.instruction import Instruction
from hlotool.text.parser import parse


def test_observer_sees_every_value_in_order() -> None:
    module = parse(
        "HloModule m\ndouble {\n  a = f32[] parameter(0)\n  ROOT b = f32[] add(a, a)\n}\n"
        "ENTRY e {\n  x = f32[] parameter(0)\n"
        "  ROOT y = f32[] fusion(x), kind=kLoop, calls=double\n}"
    )
    seen: list[tuple[str, float]] = []

    def observe(instruction: Instruction, value: Value) -> None:
        seen.append((instruction.name, float(value)))

    evaluate_module(module, [np.array(3, np.float32)], observer=observe)
    assert seen == [("x", 3), ("a", 3), ("b", 6), ("y", 6)]


def test_error_has_the_place_of_the_innermost_instruction() -> None:
    module = parse(
        "HloModule m\ninner {\n  a = f32[4] parameter(0)\n  n = s32[] constant(5)\n"
        "  ROOT b = f32[<=4] set-dimension-size(a, n), dimensions={0}\n}\n"
        "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[<=4] call(x), to_apply=inner\n}",
        "m.hlo",
    )
    with pytest.raises(EvaluationError, match="set-dimension-size") as caught:
        evaluate_module(module, [np.zeros(4, np.float32)])
    assert str(caught.value.location) == "m.hlo:5:8"


def test_memory_that_runs_out_is_an_error_at_the_instruction() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  x = u8[] parameter(0)\n"
        "  y = u8[1099511627776,1048576] broadcast(x), dimensions={}\n"
        "  ROOT z = u8[1099511627776,1048576] negate(y)\n}",
        "m.hlo",
    )
    with pytest.raises(EvaluationError, match="memory") as caught:
        evaluate_module(module, [np.array(1, np.uint8)])
    assert str(caught.value.location) == "m.hlo:4:3"


def test_callback_of_a_host_is_refused_by_name() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n"
        '  ROOT y = f32[] custom-call(), custom_call_target="xla_python_cpu_callback"\n}'
    )
    with pytest.raises(UnsupportedError, match="xla_python_cpu_callback"):
        evaluate_module(module, [])


def test_values_are_let_go_after_their_last_use() -> None:
    lines = ["  x0 = f32[1000000] parameter(0)"]
    lines += [f"  x{n} = f32[1000000] negate(x{n - 1})" for n in range(1, 200)]
    text = "HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n  ROOT r = f32[1000000] copy(x199)\n}"
    argument = np.ones(1_000_000, np.float32)
    tracemalloc.start()
    evaluate_module(parse(text), [argument])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * argument.nbytes
