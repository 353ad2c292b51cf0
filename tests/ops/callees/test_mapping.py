"""Computations of scalars, called with arrays."""

from typing import Any

import numpy as np
import pytest

from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.evaluator import Evaluator
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Device
from hlotool.ops.callees.mapping import Mapped, vectorized
from hlotool.text.parser import parse


class _Callee:
    def __init__(self, text: str) -> None:
        self.computation: Computation = parse("HloModule m\n" + text).entry
        self.device: Device = LoneDevice()
        self.calls = 0

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        return Evaluator(self.device).run(self.computation, arguments)


def _callee(*lines: str, called: str = "") -> _Callee:
    return _Callee(called + "\nENTRY f {\n" + "\n".join(lines) + "\n}\n")


_SCALED = (
    "a = f32[] parameter(0)",
    "b = f32[] parameter(1)",
    "two = f32[] constant(2)",
    "s = f32[] multiply(a, two)",
    "big = pred[] compare(s, b), direction=GT",
    "ROOT r = f32[] select(big, two, b)",
)
_STEPPED = (
    "a = s32[] parameter(0)",
    "ROOT r = s32[] while(a), condition=below, body=next",
)
_LOOP = """
below {
  a = s32[] parameter(0)
  ten = s32[] constant(10)
  ROOT r = pred[] compare(a, ten), direction=LT
}
next {
  a = s32[] parameter(0)
  three = s32[] constant(3)
  ROOT r = s32[] add(a, three)
}
"""


def test_elementwise_computation_runs_once() -> None:
    callee = _callee(*_SCALED)
    (found,) = Mapped(callee)([np.array([1, 2, 3], np.float32), np.array([3, 3, 3], np.float32)])
    np.testing.assert_array_equal(found, [3, 2, 2])
    assert callee.calls == 0


def test_loop_runs_for_each_element() -> None:
    callee = _callee(*_STEPPED, called=_LOOP)
    mapped = Mapped(callee)
    assert not mapped.is_whole
    (found,) = mapped([np.array([[1, 2], [9, 30]], np.int32)])
    np.testing.assert_array_equal(found, [[10, 11], [12, 30]])
    assert callee.calls == 4


@pytest.mark.parametrize("sizes", [(), (0,), (2, 3)])
def test_scalars_stand_for_arrays_and_constants_fill_them(sizes: tuple[int, ...]) -> None:
    array = np.full(sizes, 5, np.float32)
    for one, other in ((array, np.float32(1)), (np.float32(5), np.ones(sizes, np.float32))):
        (found,) = Mapped(_callee(*_SCALED))([np.asarray(one), np.asarray(other)])
        np.testing.assert_array_equal(found, np.full(sizes, 2))


def test_root_of_several_values() -> None:
    callee = _callee(
        "a = f32[] parameter(0)", "n = f32[] negate(a)", "ROOT r = (f32[], f32[]) tuple(n, a)"
    )
    negated, same = Mapped(callee)([np.array([1, 2], np.float32)])
    np.testing.assert_array_equal(negated, [-1, -2])
    np.testing.assert_array_equal(same, [1, 2])


def test_called_computations_are_mapped_too() -> None:
    callee = _callee(
        "a = f32[] parameter(0)",
        "ROOT r = f32[] call(a), to_apply=half",
        called="half { a = f32[] parameter(0)\n h = f32[] constant(0.5)\n"
        " ROOT r = f32[] multiply(a, h) }",
    )
    (found,) = Mapped(callee)([np.array([1, 2], np.float32)])
    np.testing.assert_array_equal(found, [0.5, 1])
    assert callee.calls == 0


@pytest.mark.parametrize(
    "lines",
    [
        ("ROOT r = f32[1] reshape(a)",),
        ("b = u16[2] bitcast-convert(a)", "ROOT r = f32[] bitcast-convert(b)"),
        ("i = u32[] replica-id()", "ROOT r = f32[] convert(i)"),
    ],
)
def test_computations_that_are_not_elementwise(lines: tuple[str, ...]) -> None:
    assert vectorized(_callee("a = f32[] parameter(0)", *lines)) is None


def test_arguments_take_the_float_width_of_the_parameters() -> None:
    callee = _callee("a = bf16[] parameter(0)", "ROOT r = bf16[] negate(a)")
    (found,) = Mapped(callee)([np.array([257], np.float32)])
    assert found.astype(np.float32) == -256
