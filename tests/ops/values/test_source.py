"""Values of constants, index numbers, device numbers and tuples."""

from typing import Any

import numpy as np
import pytest

from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated


def _root(line: str) -> Any:
    return evaluated(entry(f"ROOT r = {line}"))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("f32[] constant(1.5)", 1.5),
        ("s32[2,2] constant({{1, -2}, {3, 4}})", [[1, -2], [3, 4]]),
        ("pred[2] constant({true, false})", [True, False]),
        ("u64[] constant(18446744073709551615)", 2**64 - 1),
        ("s4[3] constant({-8, 7, -1})", [-8, 7, -1]),
        ("c64[] constant((1, -2))", 1 - 2j),
        ("f32[0] constant({})", []),
        ("bf16[2] constant({0.5, -3})", [0.5, -3]),
    ],
)
def test_constant(line: str, wanted: Any) -> None:
    assert _root(line).tolist() == wanted


def test_constant_keeps_negative_zero_and_nan() -> None:
    zero, nan, least = _root("f32[3] constant({-0.0, nan, -inf})")
    assert zero == 0
    assert np.signbit(zero)
    assert np.isnan(nan)
    assert least == -np.inf


def test_constant_tuple() -> None:
    number, row = _root("(s32[], f32[2]) constant((7, {1, 2}))")
    assert number == 7
    assert row.tolist() == [1, 2]


@pytest.mark.parametrize("shape", ["f32[1000]", "s32[20,3]"])
def test_constant_that_the_text_leaves_out(shape: str) -> None:
    with pytest.raises(
        EvaluationError, match=r"constant: the value was left out .* \{\.\.\.\}"
    ) as found:
        _root(f"{shape} constant({{...}})")
    notes = " ".join(found.value.notes)
    assert "--xla_dump_large_constants" in notes
    assert "print_large_constants" in notes
    assert found.value.location is not None


@pytest.mark.parametrize(
    ("name", "size", "dimension", "place", "wanted"),
    [
        ("s32", 4, 0, 3, 3),
        ("s8", 200, 0, 128, -128),
        ("u8", 300, 0, 256, 0),
        ("u4", 20, 0, 17, 1),
        ("s4", 20, 0, 9, -7),
        ("bf16", 300, 0, 257, 256),
        ("f16", 2052, 0, 2051, 2052),
        ("f64", 5, 0, 4, 4.0),
        ("c64", 3, 0, 2, 2 + 0j),
    ],
)
def test_iota_has_what_a_narrow_type_can_hold(
    name: str, size: int, dimension: int, place: int, wanted: Any
) -> None:
    found = _root(f"{name}[{size}] iota(), iota_dimension={dimension}")
    assert found.dtype == ELEMENT_TYPES[name].numpy
    assert complex(found[place]) == wanted


def test_iota_runs_along_one_dimension() -> None:
    assert _root("s32[2,3] iota(), iota_dimension=1").tolist() == [[0, 1, 2], [0, 1, 2]]
    assert _root("s32[2,3] iota(), iota_dimension=0").tolist() == [[0, 0, 0], [1, 1, 1]]
    assert _root("s32[0,3] iota(), iota_dimension=1").shape == (0, 3)


def test_device_numbers() -> None:
    module = parse(entry("a = u32[] replica-id()\nb = u32[] partition-id()\nROOT r = tuple(a, b)"))
    device = LoneDevice()
    device.replica, device.partition = 3, 5
    replica, partition = evaluate_module(module, [], device)
    assert (replica, partition) == (3, 5)
    assert replica.dtype == partition.dtype == np.uint32


def test_tuples_are_made_and_taken_apart() -> None:
    text = entry(
        "x = s32[] parameter(0)\ny = f32[2] parameter(1)\n"
        "inner = (f32[2]) tuple(y)\nnone = () tuple()\n"
        "all = (s32[], (f32[2]), ()) tuple(x, inner, none)\n"
        "part = (f32[2]) get-tuple-element(all), index=1\n"
        "last = f32[2] get-tuple-element(part), index=0\n"
        "ROOT r = ((f32[2]), f32[2], ()) tuple(part, last, none)"
    )
    part, last, none = evaluated(text, np.int32(1), np.array([2, 3], np.float32))
    assert part[0].tolist() == last.tolist() == [2, 3]
    assert none == ()
