import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.errors import EvaluationError, VerificationErrors
from tests.conftest import MODELS

ADD = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}"


def one(shape: str) -> str:
    return f"HloModule m\nENTRY e {{\n  ROOT x = {shape} parameter(0)\n}}"


def test_text_and_module_evaluate_alike() -> None:
    array = np.array([1, 2.5], np.float32)
    np.testing.assert_array_equal(hlotool.evaluate(ADD, array), [2, 5])
    np.testing.assert_array_equal(hlotool.parse(ADD).evaluate(array), [2, 5])


def test_loaded_module_evaluates() -> None:
    path = MODELS / "jax" / "layernorm.opt.hlo"
    stored = np.load(path.with_name("layernorm.npz"))
    inputs = [stored[f"in{number}"] for number in range(3)]
    found = hlotool.load(path).evaluate(*inputs)
    np.testing.assert_allclose(found, stored["out0"], rtol=1e-5, atol=1e-5)


def test_numbers_and_lists_of_python_are_converted() -> None:
    np.testing.assert_array_equal(hlotool.evaluate(ADD, [1, 2]), [2, 4])
    assert hlotool.evaluate(one("bf16[]"), 1.5).dtype == ml_dtypes.bfloat16
    assert hlotool.evaluate(one("s8[]"), -128) == -128
    assert hlotool.evaluate(one("pred[1]"), [True]).dtype == np.bool_
    assert hlotool.evaluate(one("c64[]"), 2) == 2 + 0j


@pytest.mark.parametrize(
    ("shape", "argument"),
    [
        ("s8[]", 128),
        ("u8[]", -1),
        ("s32[]", 1.5),
        ("pred[]", 2),
        ("f32[]", 1j),
        ("f32[]", "one"),
        ("f32[]", None),
        ("f32[2]", [1, 2, 3]),
        ("f32[2]", np.zeros(2)),
        ("f32[2]", np.zeros(2, np.int32)),
        ("(f32[], f32[])", (1, 2, 3)),
        ("(f32[], f32[])", 1),
    ],
)
def test_arguments_that_do_not_fit(shape: str, argument: object) -> None:
    with pytest.raises(EvaluationError, match="argument 0"):
        hlotool.evaluate(one(shape), argument)


def test_bytes_in_another_order() -> None:
    found = hlotool.evaluate(one("f32[2]"), np.array([1, 2], ">f4"))
    assert found.tolist() == [1, 2]
    assert found.dtype.isnative


def test_wrong_count_names_the_parameters() -> None:
    with pytest.raises(EvaluationError, match="takes 1 argument, 2 given") as caught:
        hlotool.evaluate(ADD, [1, 2], [3, 4])
    assert caught.value.notes == ("parameters: f32[2]",)


def test_tuples_go_in_and_come_out() -> None:
    found = hlotool.evaluate(one("(f32[2], (s32[], token[]))"), ([1, 2], (3, None)))
    np.testing.assert_array_equal(found[0], [1, 2])
    assert found[1] == (3, None)


def test_what_does_not_verify_is_not_run() -> None:
    with pytest.raises(VerificationErrors):
        hlotool.evaluate(ADD.replace("y = f32[2]", "y = f32[3]"), [1, 2])


def test_seed_and_limit_of_loops() -> None:
    draw = (
        "HloModule m\nENTRY e {\n  a = f32[] constant(0)\n  b = f32[] constant(1)\n"
        "  ROOT r = f32[4] rng(a, b), distribution=rng_uniform\n}"
    )
    first, again, other = (hlotool.evaluate(draw, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    loop = (
        "HloModule m\ngo {\n  n = s32[] parameter(0)\n  ROOT y = pred[] constant(true)\n}\n"
        "on {\n  n = s32[] parameter(0)\n  ROOT m = s32[] negate(n)\n}\n"
        "ENTRY e {\n  n = s32[] parameter(0)\n"
        "  ROOT w = s32[] while(n), condition=go, body=on\n}"
    )
    with pytest.raises(EvaluationError, match="loop"):
        hlotool.evaluate(loop, 1, max_steps=10)


def test_results_are_the_callers_own() -> None:
    argument = np.ones(2, np.float32)
    found = hlotool.evaluate(one("f32[2]"), argument)
    found[0] = 7
    assert argument[0] == 1
    spread = "HloModule m\nENTRY e {\n  c = f32[] constant(1)\n  ROOT b = f32[3] broadcast(c)\n}"
    spread = spread.replace("broadcast(c)", "broadcast(c), dimensions={}")
    hlotool.evaluate(spread)[0] = 2


@pytest.mark.parametrize("argument", [[[1, 2], [3]], [1e300, 0]])
def test_lists_that_are_no_array_of_the_type(argument: object) -> None:
    with pytest.raises(EvaluationError, match="argument 0"):
        hlotool.evaluate(one("f32[2]"), argument)


def test_module_for_devices_yields_a_list() -> None:
    text = (
        "HloModule m, num_partitions=2\nENTRY e {\n"
        "  x = f32[2] parameter(0), sharding={devices=[2]<=[2]}\n  p = u32[] partition-id()\n"
        "  ROOT t = (f32[2], u32[]) tuple(x, p)\n}"
    )
    first, second = hlotool.evaluate(text, [1, 2])
    np.testing.assert_array_equal(first[0], [1, 2])
    assert [first[1], second[1]] == [0, 1]
    first, second = hlotool.evaluate(text, np.arange(4, dtype=np.float32))
    np.testing.assert_array_equal(first[0], [0, 1])
    np.testing.assert_array_equal(second[0], [2, 3])


def test_path_is_no_module() -> None:
    with pytest.raises(TypeError, match=r"hlotool\.load"):
        hlotool.evaluate(MODELS)  # type: ignore[arg-type]
