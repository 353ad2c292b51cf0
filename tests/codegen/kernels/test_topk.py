"""The best elements of rows, by total order or by a comparator."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.codegen.kernels.custom_calls import TARGETS
from hlotool.codegen.unsupported import NotCompiled
from tests.codegen.kernels.one_kernel import OneKernel, assert_same_bits, check
from tests.codegen.kernels.sort_modules import CANONICAL, TOTAL, comparator, keys_of_all_kinds


def _module(element_type: str, sizes: str, count: int, call: str, layout: str = "") -> str:
    *rows, _ = sizes.split(",")
    chosen = ",".join([*rows, str(count)])
    result = f"({element_type}[{chosen}], s32[{chosen}])"
    return f"""HloModule best
{comparator(TOTAL, [element_type, "s32"], "GT")}
ENTRY main {{
  x = {element_type}[{sizes}]{layout} parameter(0)
  ROOT r = {result} {call}
}}
"""


def _topk(element_type: str, sizes: str, count: int, *, largest: bool, layout: str = "") -> str:
    call = f"topk(x), k={count}, largest={'true' if largest else 'false'}"
    return _module(element_type, sizes, count, call, layout)


@pytest.mark.parametrize("element_type", ["f32", "bf16", "s32", "u8", "f64", "s64"])
@pytest.mark.parametrize(
    ("sizes", "count"), [("3,20", 5), ("2,500", 1), ("2,3,300", 33), ("2,300", 200), ("7", 7)]
)
def test_best_of_rows(element_type: str, sizes: str, count: int) -> None:
    module = _topk(element_type, sizes, count, largest=count % 2 == 1)
    check(module, keys_of_all_kinds(module, count))


def test_rows_that_do_not_lie_side_by_side() -> None:
    for count in (3, 30):
        module = _topk("f32", "6,40", count, largest=True, layout="{0,1}")
        check(module, keys_of_all_kinds(module))


def test_rows_in_order_already() -> None:
    module = _topk("f32", "1000", 20, largest=True)
    kernel = OneKernel(module)
    rising = np.arange(1000, dtype=np.float32)
    for row in (rising, rising[::-1], np.zeros(1000, np.float32)):
        for one, other in zip(kernel.run([row]), hlotool.evaluate(module, row), strict=True):
            assert np.array_equal(one, other)


def test_calls_with_a_comparator_and_without() -> None:
    for call in (", called_computations={compare}", ""):
        for count in (4, 60):
            text = f'custom-call(x), custom_call_target="TopK"{call}'
            module = _module("f32", "3,90", count, text)
            check(module, keys_of_all_kinds(module))


def test_comparator_that_takes_zeros_and_nan_as_equal() -> None:
    text = 'custom-call(x), custom_call_target="TopK", called_computations={compare}'
    module = _module("f32", "3,90", 9, text)
    other = comparator(CANONICAL, ["f32", "s32"], "GT")
    module = module.replace(comparator(TOTAL, ["f32", "s32"], "GT"), other)
    check(module, keys_of_all_kinds(module))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ('custom-call(x), custom_call_target="ApproxTopK"', "the custom call ApproxTopK"),
        (
            'custom-call(x), custom_call_target="TopK", backend_config="{largest = false}"',
            "configuration",
        ),
    ],
)
def test_calls_without_a_kernel(call: str, reason: str) -> None:
    with pytest.raises(NotCompiled, match=reason):
        OneKernel(_module("f32", "30", 4, call))


def test_a_function_of_the_user_comes_first() -> None:
    module = _module("f32", "30", 4, 'custom-call(x), custom_call_target="TopK"')
    assert "TopK" in TARGETS
    hlotool.register_custom_call("TopK", lambda x: (x[:4], np.arange(4, dtype=np.int32)))
    try:
        with pytest.raises(NotCompiled, match="the custom call TopK"):
            OneKernel(module)
    finally:
        hlotool.unregister_custom_call("TopK")
    OneKernel(module)


@pytest.mark.parametrize("element_type", ["f32", "s16", "f64"])
def test_many_of_a_long_row(element_type: str) -> None:
    module = _topk(element_type, "2,5000", 150, largest=True)
    kernel = OneKernel(module)
    different = (np.random.default_rng(0).standard_normal((2, 5000)) * 5000).astype(
        kernel.kernel.input_shape(0).element_type.numpy
    )
    # With few different numbers too many begin as the best ones do.
    for rows in (different, *keys_of_all_kinds(module), np.zeros_like(different)):
        wanted = hlotool.evaluate(module, rows)
        for one, other in zip(kernel.run([rows]), wanted, strict=True):
            assert_same_bits(one, other)
