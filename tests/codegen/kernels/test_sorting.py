"""Sorts: by keys of all types and by any comparator, along any dimension of any layout."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.codegen.kernels.sorting.keys import order_of
from hlotool.codegen.unsupported import NotCompiled
from hlotool.text.parser import parse
from tests.codegen.kernels.one_kernel import OneKernel, check
from tests.codegen.kernels.sort_modules import (
    CANONICAL,
    PLAIN,
    TOTAL,
    TWO_KEYS,
    UNKNOWN,
    keys_of_all_kinds,
    sort_module,
)

SHORT_AND_LONG = ((7, "LT"), (33, "GT"), (300, "LT"))
"""Lengths that are sorted in different ways, each with a direction."""


def _checked(module: str, seed: int = 0, *, nan: bool = True) -> None:
    check(module, keys_of_all_kinds(module, seed, nan=nan))


@pytest.mark.parametrize(("length", "direction"), SHORT_AND_LONG)
@pytest.mark.parametrize("body", [CANONICAL, TOTAL], ids=["canonical", "total"])
def test_floats_with_zeros_of_both_signs_and_nan(body: str, length: int, direction: str) -> None:
    for types in (["f32"], ["f32", "s32"]):
        shapes = [f"{one}[3,{length}]" for one in types]
        _checked(sort_module(shapes, body, 1, direction), length)


@pytest.mark.parametrize(("length", "direction"), SHORT_AND_LONG[1:])
@pytest.mark.parametrize(
    "element_type",
    ["pred", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64"],
)
def test_keys_of_every_type(element_type: str, length: int, direction: str) -> None:
    shapes = [f"{element_type}[2,{length}]", f"u16[2,{length}]"]
    _checked(sort_module(shapes, PLAIN, 1, direction), nan=False)


@pytest.mark.parametrize("length", [9, 400])
@pytest.mark.parametrize(
    "types",
    [
        ["s32", "s32"],
        ["u8", "s16", "f32"],
        ["f32", "f32", "c64"],
        ["s64", "s32"],
        ["s16", "f64", "s8"],
        ["f64", "c128"],
    ],
    ids=",".join,
)
def test_several_keys_and_operands_that_only_come_along(types: list[str], length: int) -> None:
    shapes = [f"{one}[2,{length}]" for one in types]
    body = TOTAL if types[1] == "c128" else TWO_KEYS
    _checked(sort_module(shapes, body, 1), nan=body is TOTAL)


@pytest.mark.parametrize("dimension", [0, 1])
@pytest.mark.parametrize("length", [9, 400, 1500])
@pytest.mark.parametrize(
    ("types", "body"),
    [
        (["f32"], TOTAL),
        (["f32", "s32"], CANONICAL),
        (["s64", "s32"], TWO_KEYS),
        (["u8", "f64", "s16"], TWO_KEYS),
        (["s16", "s16"], UNKNOWN),
        (["f64", "c128"], UNKNOWN),
    ],
)
def test_sorts_in_place(types: list[str], body: str, length: int, dimension: int) -> None:
    sizes = f"[3,{length}]" if dimension else f"[{length},3]"
    module = sort_module([one + sizes for one in types], body, dimension)
    arguments = keys_of_all_kinds(module, length, nan=body in {TOTAL, CANONICAL})
    check(module, arguments, [(number, number) for number in range(len(types))])
    check(module, arguments, [(len(types) - 1, len(types) - 1)])


@pytest.mark.parametrize("length", [1, 3, 32, 700])
@pytest.mark.parametrize("types", [["s16", "s16"], ["f64", "c128"]], ids=",".join)
def test_any_comparator_keeps_equals_in_order(types: list[str], length: int) -> None:
    module = sort_module([f"{one}[2,{length}]" for one in types], UNKNOWN, 1)
    assert order_of(parse(module).entry.root.calls[0]) is None
    _checked(module, nan=False)


@pytest.mark.parametrize("types", [["f32"], ["s64", "s64"]], ids=",".join)
@pytest.mark.parametrize(
    ("sizes", "dimension", "layout"),
    [
        ("5,6,7", 0, "2,1,0"),
        ("5,6,7", 1, "1,0,2"),
        ("300,3", 0, "1,0"),
        ("2,1100", 1, "0,1"),
    ],
)
def test_dimensions_and_layouts(types: list[str], sizes: str, dimension: int, layout: str) -> None:
    shapes = [f"{one}[{sizes}]{{{layout}}}" for one in types]
    _checked(sort_module(shapes, TOTAL, dimension))


def test_any_comparator_along_a_dimension_that_is_not_fastest() -> None:
    for types in (["s32"], ["f64", "c128"]):
        shapes = [f"{one}[6,7,5]{{1,2,0}}" for one in types]
        _checked(sort_module(shapes, UNKNOWN, 1), nan=False)


def test_operands_of_different_layouts() -> None:
    _checked(sort_module(["f32[20,9]{1,0}", "s32[20,9]{0,1}"], TOTAL, 0))


@pytest.mark.parametrize("length", [10, 300])
@pytest.mark.parametrize("types", [["f32"], ["f32", "c64"]], ids=",".join)
def test_in_place(types: list[str], length: int) -> None:
    for body in (TOTAL, UNKNOWN):
        module = sort_module([f"{one}[4,{length}]" for one in types], body, 1)
        arguments = keys_of_all_kinds(module, nan=body is TOTAL)
        check(module, arguments, [(number, number) for number in range(len(types))])


def test_in_place_to_another_layout_is_refused() -> None:
    module = sort_module(["f32[20,9]{1,0}", "s32[20,9]{0,1}"], TOTAL, 0)
    with pytest.raises(NotCompiled, match="another layout"):
        OneKernel(module, [(0, 1)])


def test_one_operand_twice() -> None:
    module = sort_module(["f32[40]", "f32[40]"], TOTAL).replace("sort(p0, p1)", "sort(p0, p0)")
    check(module, keys_of_all_kinds(module))


def test_what_orders_nothing_loses_nothing() -> None:
    # NaN is neither less than a number nor greater, so that any order is right.
    for body in (UNKNOWN, PLAIN):
        module = sort_module(["f32[500]", "s32[500]"], body)
        values, numbers = keys_of_all_kinds(module)[0], np.arange(500, dtype=np.int32)
        sorted_values, order = OneKernel(module).run([values, numbers])
        assert sorted(order) == list(range(500))
        assert np.array_equal(sorted_values, values[order], equal_nan=True)


def test_digits_that_are_all_equal() -> None:
    module = sort_module(["u32[3000]"], PLAIN)
    kernel = OneKernel(module)
    digits = np.random.default_rng(0).integers(0, 256, 3000)
    for shift in (0, 8, 24, 32):
        values = (digits << shift).astype(np.uint32)
        assert np.array_equal(kernel.run([values])[0], np.sort(values))


@pytest.mark.slow
def test_long_lines() -> None:
    for types in (["f32"], ["f32", "s32"], ["f64", "s64"]):
        for length in (32768, 100_003):
            _checked(sort_module([f"{one}[{length}]" for one in types], TOTAL))


def test_a_comparator_with_a_fusion_in_it() -> None:
    fused = """fused {
  b = s32[] parameter(0)
  a = s32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
    module = sort_module(["s32[60]"], "ROOT r = pred[] fusion(b, a), kind=kLoop, calls=fused")
    module = module.replace("compare {", f"{fused}compare {{", 1)
    check(module, keys_of_all_kinds(module))
