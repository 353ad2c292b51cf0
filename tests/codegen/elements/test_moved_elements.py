"""Elements that kernels take from elsewhere: of constants, of other types' bytes, of parts."""

from collections.abc import Sequence

import numpy as np
import pytest

from hlotool.codegen.unsupported import NotCompiled
from tests.codegen.kernels.one_kernel import OneKernel, check, random_arguments
from tests.codegen.kernels.random_moves import Module

CASTS = [
    ("f32[6,20]", "s32[6,20]"),
    ("bf16[6,20]", "u16[20,6]"),
    ("f32[6,20]", "u8[6,80]"),
    ("f64[6,20]", "u16[480]"),
    ("u8[6,80]", "f32[6,20]"),
    ("u16[480]", "u64[120]"),
    ("s64[7]", "f64[7]"),
    ("f32[6,20]{0,1}", "s32[20,6]"),
]


@pytest.mark.parametrize(("old", "new"), CASTS)
def test_bytes_become_elements_of_another_type(old: str, new: str) -> None:
    text = Module(f"{new} bitcast(p0)", [old]).text
    check(text, random_arguments(text))


def test_bytes_of_complex_numbers_are_left_to_the_host() -> None:
    with pytest.raises(NotCompiled, match="bytes of c64 as u64"):
        OneKernel(Module("u64[6] bitcast(p0)", ["c64[6]"]).text)


def fused(lines: Sequence[str], root: str, parameters: list[str]) -> str:
    """Returns the text of a fusion of some instructions."""
    return Module(root, parameters, body=list(lines)).text


@pytest.mark.parametrize("kind", ["f32", "bf16", "s8", "pred", "c64"])
def test_an_array_of_constants_stands_in_the_code(kind: str) -> None:
    numbers = "{{1, 0, 1}, {0, 0, 1}}" if kind == "pred" else "{{1, 2, 3}, {4, 5, 6}}"
    if kind == "c64":
        numbers = "{{(1, 2), (3, 4), (0, 1)}, {(5, 6), (0, 0), (7, 8)}}"
    body = [
        f"k = {kind}[2,3] constant({numbers})",
        f"b = {kind}[5,2,3] broadcast(k), dimensions={{1,2}}",
        "s = pred[5,2,3] broadcast(p1), dimensions={0}",
    ]
    root = f"{kind}[5,2,3] select(s, b, p0)"
    text = fused(body, root, [f"{kind}[5,2,3]", "pred[5]"])
    check(text, random_arguments(text))


@pytest.mark.parametrize(
    "root",
    [
        "pad(p0, p1), padding=2_3",
        "concatenate(p0, p2, p0), dimensions={0}",
        "dynamic-update-slice(p3, p0, p4)",
    ],
)
def test_floats_of_several_widths_become_the_widest(root: str) -> None:
    parameters = ["bf16[5]", "f32[]", "f32[6]", "f32[16]", "s32[]"]
    size = {"p": 10, "c": 16, "d": 16}[root[0]]
    body = [f"v = f32[{size}] {root}"]
    text = fused(body, f"f32[{size}] multiply(v, v)", parameters)
    check(text, random_arguments(text, any_bits=False))


@pytest.mark.parametrize("kind", ["bf16", "f8e5m2", "pred"])
def test_bits_are_chosen_as_they_are(kind: str) -> None:
    root = f"{kind}[50] select(p2, p0, p1)"
    text = Module(root, [f"{kind}[50]", f"{kind}[50]", "pred[50]"]).text
    check(text, random_arguments(text))


def test_the_layout_of_a_constant_does_not_change_its_elements() -> None:
    body = [
        "k = s32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})",
        "b = s32[4,2,3] broadcast(k), dimensions={1,2}",
    ]
    text = fused(body, "s32[4,2,3] add(b, p0)", ["s32[4,2,3]"])
    check(text, random_arguments(text))


def test_large_constants_are_not_put_in_the_code() -> None:
    numbers = ", ".join(map(str, range(20000)))
    body = [f"k = s32[20000] constant({{{numbers}}})"]
    text = fused(body, "s32[20000] add(k, p0)", ["s32[20000]"])
    with pytest.raises(NotCompiled, match="80000 bytes of constants"):
        OneKernel(text)


def test_the_size_of_a_dimension_is_a_number() -> None:
    text = Module("s32[] get-dimension-size(p0), dimensions={1}", ["f32[3,7]"]).text
    check(text, random_arguments(text))


@pytest.mark.parametrize("start", [-5, 0, 3, 6, 7, 1000, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("kind", ["s32", "s64", "u32"])
def test_parts_are_moved_inside(kind: str, start: int) -> None:
    root = "f32[4] dynamic-slice(p0, p1), dynamic_slice_sizes={4}"
    text = Module(root, ["f32[10]", f"{kind}[]"]).text
    array = np.arange(10, dtype=np.float32)
    dtype = {"s32": np.int32, "s64": np.int64, "u32": np.uint32}[kind]
    check(text, [array, np.array(start % 2**32 if kind == "u32" else start).astype(dtype)])


def test_starts_beyond_all_signed_numbers_are_large() -> None:
    root = "f32[4] dynamic-slice(p0, p1), dynamic_slice_sizes={4}"
    text = Module(root, ["f32[10]", "u64[]"]).text
    check(text, [np.arange(10, dtype=np.float32), np.array(2**63 + 1, np.uint64)])


def test_a_vector_may_hold_all_starts() -> None:
    root = "f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}"
    text = Module(root, ["f32[5,8]", "s32[2]"]).text
    array = np.arange(40, dtype=np.float32).reshape(5, 8)
    check(text, [array, np.array([2, 9], np.int32)])
