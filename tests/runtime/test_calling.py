"""Compiled modules as Python calls them: arguments of all kinds, results, what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.errors import EvaluationError
from hlotool.ir.shape import ArrayShape
from tests.evaluating import entry
from tests.runtime.modules import ADD, NESTED

X = np.arange(8, dtype=np.float32)
ONES = np.ones(8, np.float32)


@pytest.fixture(scope="module")
def add() -> hlotool.Executable:
    return hlotool.compile(ADD)


class WithDlpack:
    """An array of another library that speaks DLPack alone."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class WithArray:
    """An array of another library that numpy can convert."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(X, dtype, copy=copy)


@pytest.mark.parametrize(
    "argument",
    [
        X,
        list(range(8)),
        tuple(float(n) for n in range(8)),
        np.arange(16, dtype=np.float32)[::2] / 2,
        X[::-1].copy()[::-1],
        X.astype(">f4"),
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32),
        WithDlpack(X),
        WithArray(),
        X.view(np.recarray),
        np.asarray(X, np.dtype("=f4", metadata={"of": "somebody"})),
    ],
    ids=[
        "array", "list", "tuple", "strided", "backwards", "big-endian", "unaligned", "dlpack",
        "convertible", "subclass", "metadata",
    ],
)  # fmt: skip
def test_arguments_of_all_kinds(add: hlotool.Executable, argument: Any) -> None:
    result = add(argument, ONES)
    assert type(result) is np.ndarray
    assert result.dtype == np.float32
    assert result.tolist() == (X + 1).tolist()


def test_read_only_arguments_are_taken_and_kept(add: hlotool.Executable) -> None:
    x = X.copy()
    x.flags.writeable = False
    assert add(x, x).tolist() == (2 * X).tolist()
    assert x.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((X,), TypeError, "module add takes 2 arguments, 1 given"),
        ((X, X, X), TypeError, "module add takes 2 arguments, 3 given"),
        ((X, X.astype("f8")), TypeError, "argument 1 is float64[8], f32[8] is wanted"),
        ((X.astype("i4"), X), TypeError, "argument 0 is int32[8], f32[8] is wanted"),
        ((X, X[:7]), ValueError, "argument 1 is float32[7], f32[8] is wanted"),
        ((X.reshape(2, 4), X), ValueError, "argument 0 is float32[2,4], f32[8] is wanted"),
        ((X, None), TypeError, "argument 1 is None, f32[8] is wanted"),
        ((X, "words"), TypeError, "argument 1 is str_[], f32[8] is wanted"),
        ((X, [1, [2]]), TypeError, "argument 1 is no array"),
        ((X, [1e99] * 8), TypeError, "argument 1 is float64[8], f32[8] is wanted"),
    ],
)
def test_arguments_that_do_not_fit(
    add: hlotool.Executable, arguments: tuple[Any, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as found:
        add(*arguments)
    # What catches the errors of evaluate catches these too.
    assert isinstance(found.value, EvaluationError)
    assert words in str(found.value).replace("str160[]", "str_[]")


def test_arrays_of_other_libraries_that_fail() -> None:
    class Elsewhere(WithDlpack):
        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("it lies on another device")

    with pytest.raises(TypeError, match="argument 0 is no array of this memory: it lies on"):
        hlotool.compile(ADD)(Elsewhere(X), X)


def test_nested_tuples_in_and_out() -> None:
    executable = hlotool.compile(NESTED)
    a = np.array([1, 2], np.float32)
    (first, second), number, token, none = executable((a, (3, None)))
    assert first.tolist() == second.tolist() == [1, 2]
    assert (number, token, none.shape) == (3, None, (0,))
    # Each result has memory of its own.
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, a)


@pytest.mark.parametrize(
    ("argument", "error", "words"),
    [
        (X, TypeError, "argument 0 is ndarray, a tuple of"),
        ((X[:2], 3), TypeError, "argument 0, part 1 is int, a tuple of"),
        ((X[:2], (3,)), ValueError, "argument 0, part 1 has 1 parts"),
        ((X[:2], (3, 4)), TypeError, "argument 0, part 1.1 is int, None is wanted"),
        ((X, (3, None)), ValueError, "argument 0, part 0 is float32[8], f32[2] is wanted"),
    ],
)
def test_nested_arguments_that_do_not_fit(
    argument: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as found:
        hlotool.compile(NESTED)(argument)
    assert words in str(found.value)


def test_flat_tuple_of_results() -> None:
    text = entry(
        "x = f32[2] parameter(0)\ny = f32[2] negate(x)\nROOT r = (f32[2], f32[2]) tuple(y, x)"
    )
    negated, same = hlotool.compile(text)(np.array([1, 2], np.float32))
    assert negated.tolist() == [-1, -2]
    assert same.tolist() == [1, 2]


def test_module_of_nothing() -> None:
    assert hlotool.compile(entry("ROOT r = () tuple()"))() == ()


def test_result_that_is_the_argument_is_a_copy() -> None:
    x = np.ones(3, np.float32)
    result = hlotool.compile(entry("ROOT x = f32[3] parameter(0)"))(x)
    assert result.tolist() == [1, 1, 1]
    assert not np.shares_memory(result, x)


def test_results_may_be_written_to_and_are_not_given_twice(add: hlotool.Executable) -> None:
    first = add(X, ONES)
    first[:] = 5
    assert add(X, ONES).tolist() == (X + 1).tolist()
    assert first.tolist() == [5] * 8


def test_results_are_the_same_as_those_of_the_evaluator_for_each_type() -> None:
    for name in ("pred", "s8", "u16", "s64", "f16", "bf16", "f8e4m3fn", "f64", "c64", "s4"):
        op = "or" if name == "pred" else "add"
        text = entry(f"x = {name}[3] parameter(0)\nROOT y = {name}[3] {op}(x, x)")
        (shape,) = hlotool.compile(text).input_shapes
        assert isinstance(shape, ArrayShape)
        x = np.array([1, 0, 1]).astype(shape.element_type.numpy)
        result = hlotool.compile(text)(x)
        expected = hlotool.evaluate(text, x)
        assert result.dtype == expected.dtype
        assert result.tobytes() == expected.tobytes(), name


def test_scalars_and_arrays_without_elements() -> None:
    text = entry(
        "x = f32[0,3] parameter(0)\ny = pred[] parameter(1)\nz = f32[0,3] add(x, x)\n"
        "n = pred[] not(y)\nROOT r = (f32[0,3], pred[]) tuple(z, n)"
    )
    executable = hlotool.compile(text)
    for empty in (np.ones((0, 3), np.float32), np.ones((3, 0), np.float32).T):
        none, flag = executable(empty, True)  # noqa: FBT003 - it is an element of the module
        assert none.shape == (0, 3)
        assert flag.shape == ()
        assert not flag


@pytest.mark.parametrize(
    ("element_type", "good", "bad"),
    [
        ("f32", [0.1, -2.5, float("inf"), 3, True, np.float32(7)], [1e39, 1j, np.float64(1)]),
        ("f64", [0.1, 1e300], [1j]),
        ("s8", [-128, 127], [True, 128, 1.0, np.int32(1)]),
        ("u32", [0, 4294967295], [-1, 0.5]),
        ("pred", [True, False], [1, 0.0]),
        ("bf16", [0.1, 2], [1e39]),
        ("c64", [1j, 2.0, 3], ["x"]),
    ],
)
def test_numbers_of_python(element_type: str, good: list[Any], bad: list[Any]) -> None:
    text = entry(f"ROOT x = {element_type}[] parameter(0)")
    executable = hlotool.compile(text)
    for number in good:
        assert executable(number).tobytes() == hlotool.evaluate(text, number).tobytes(), number
    for number in bad:
        with pytest.raises(TypeError, match="argument 0 is"):
            executable(number)


def test_layouts_are_kept_in_memory_and_do_not_show() -> None:
    text = """HloModule t, entry_computation_layout={(f32[3,4]{0,1})->f32[3,4]{0,1}}
ENTRY e {
  x = f32[3,4]{0,1} parameter(0)
  ROOT a = f32[3,4]{0,1} add(x, x)
}
"""
    executable = hlotool.compile(text)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for argument in (x, np.asfortranarray(x), x.T.copy().T):
        result = executable(argument)
        assert result.strides == (4, 12)
        assert result.tolist() == (2 * x).tolist()


def test_results_go_to_other_libraries() -> None:
    result = hlotool.compile(ADD)(X, ONES)
    taken = np.from_dlpack(result)
    assert taken.tolist() == (X + 1).tolist()
    assert np.shares_memory(taken, result)


def test_narrow_results_are_of_ml_dtypes() -> None:
    text = entry("x = bf16[2] parameter(0)\nROOT y = bf16[2] add(x, x)")
    result = hlotool.compile(text)([1.0, 2.0])
    assert result.dtype == ml_dtypes.bfloat16
    assert result.astype(np.float32).tolist() == [2, 4]


def test_arrays_of_the_results_alone(add: hlotool.Executable) -> None:
    (result,) = add.run([X, ONES])
    assert result.tolist() == (X + 1).tolist()
