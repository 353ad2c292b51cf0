"""Convolution kernels against the evaluator: all forms, types, layouts, and work on results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hlotool.codegen.kernels.convolutions import convolution
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.target import Target
from hlotool.ir.window import WindowDimension
from hlotool.runtime.llvm import host_target
from tests.codegen.kernels.convolution_modules import Form, random_form
from tests.codegen.kernels.one_kernel import OneKernel, check_near, random_arguments

_SAME = WindowDimension(3, 1, 1, 1)


def _images(
    window: tuple[WindowDimension, ...],
    spatial: tuple[int, ...],
    channels: tuple[int, int],
    batch: int = 2,
    groups: int = 1,
    kinds: tuple[str, str] = ("f32", "f32"),
) -> Form:
    rank = len(window) + 2
    last = (0, *range(2, rank), 1)
    orders = last, (*range(2, rank), 0, 1), last
    layouts = (tuple(range(rank))[::-1],) * 3
    inputs, outputs = channels
    return Form(
        window, spatial, batch, inputs // groups, outputs, groups, 1, orders, layouts, kinds
    )


def _check(text: str, seed: int = 0, target: Target | None = None) -> OneKernel:
    return check_near(text, random_arguments(text, seed, any_bits=False), target=target)


def _check_random(seed: int) -> None:
    form = random_form(seed)
    if form.is_empty:
        return
    if seed % 2 or form.types[1] in {"pred", "c64"}:
        _check(form.module(), seed)
    else:
        _check(form.fused(two=seed % 4 == 0), seed)


@pytest.mark.parametrize("seed", range(20))
def test_any_form(seed: int) -> None:
    _check_random(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 500))
def test_any_form_at_length(seed: int) -> None:
    _check_random(seed)


@pytest.fixture
def without_plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Kernel) -> None:
        raise AssertionError("plain loops instead of tiles")

    monkeypatch.setattr(convolution, "loops_into", refuse)


@pytest.mark.usefixtures("without_plain_loops")
@pytest.mark.parametrize(
    "form",
    [
        _images((_SAME, _SAME), (9, 30), (5, 40)),
        _images((WindowDimension(7, 2, 2, 3),) * 2, (32, 32), (3, 24)),
        _images((WindowDimension(1), WindowDimension(1)), (6, 6), (20, 48)),
        _images((WindowDimension(3, 1, 2, 2, 2), WindowDimension(4, 1, 2, 1, 3)), (7, 6), (8, 16)),
        _images((_SAME, _SAME), (12, 12), (35, 35), groups=35),
        _images((_SAME, WindowDimension(5, 2, 2, 2)), (12, 12), (12, 24), groups=3),
        _images((WindowDimension(25, 1, 12, 12),), (40,), (4, 8)),
        _images((_SAME,) * 3, (4, 5, 6), (3, 17)),
        _images((), (), (30, 50), batch=7),
        _images((_SAME, _SAME), (6, 6), (16, 16), kinds=("bf16", "bf16")),
        _images((_SAME, _SAME), (6, 6), (16, 20), kinds=("s8", "s32")),
        _images((_SAME, _SAME), (6, 6), (7, 9), kinds=("c64", "c64")),
    ],
    ids=lambda form: f"{form.spatial}-{form.inputs}-{form.outputs}-{form.types[0]}",
)
def test_tiles(form: Form) -> None:
    _check(form.module())
    if form.types[1] != "c64":
        _check(form.fused(two=True))


@pytest.mark.parametrize(("vector_bytes", "registers"), [(4, 8), (16, 16), (32, 16), (64, 32)])
def test_vectors_of_any_width(vector_bytes: int, registers: int) -> None:
    target = replace(host_target(), vector_bytes=vector_bytes, registers=registers)
    form = _images((_SAME, _SAME), (7, 10), (6, 21))
    found = _check(form.fused(two=False), target=target)
    lanes = vector_bytes // 4
    assert (f"<{lanes} x float>" in found.text) == (lanes > 1)


def test_padding_contributes_nothing() -> None:
    text = _images((_SAME, _SAME), (5, 5), (2, 16)).module()
    base, kernel = random_arguments(text, 1)
    kernel[0, 2, 1, 3] = np.inf
    found = check_near(text, [base, kernel]).run([base, kernel])[0]
    assert not np.isnan(found).any()
    assert np.isfinite(found[:, 0]).all()
    assert np.isinf(found[:, 1:, :-1, 3]).all()


def test_integers_stop_at_the_ends_of_their_type() -> None:
    text = _images((), (), (2, 3), batch=1, kinds=("s8", "s8")).module()
    found = OneKernel(text).run([np.full((1, 2), 100, "i1"), np.full((2, 3), -100, "i1")])
    np.testing.assert_array_equal(found[0], np.full((1, 3), -128))


def test_gradient_of_a_kernel() -> None:
    text = (
        "HloModule m\nENTRY e {\n  a = f32[3,9,9,20] parameter(0)\n"
        "  b = f32[3,5,5,24] parameter(1)\n"
        "  ROOT c = f32[3,3,20,24] convolution(a, b), window={size=5x5 pad=1_1x1_1"
        " rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf\n}\n"
    )
    _check(text)


@pytest.mark.usefixtures("without_plain_loops")
def test_views_of_operands_and_of_the_result() -> None:
    text = (
        "HloModule m\nfused {\n  a = f32[2,8,6,5] parameter(0)\n  b = f32[24,3,3,8] parameter(1)\n"
        "  t = f32[3,3,8,24] transpose(b), dimensions={1,2,3,0}\n"
        "  k = f32[3,3,8,24] reverse(t), dimensions={0,1}\n"
        "  base = f32[2,6,5,8] transpose(a), dimensions={0,2,3,1}\n"
        "  c = f32[2,6,5,24] convolution(base, k), window={size=3x3 pad=1_1x1_1},"
        " dim_labels=b01f_01io->b01f\n"
        "  n = f32[2,6,5,24] negate(c)\n  ROOT r = f32[60,24] reshape(n)\n}\n"
        "ENTRY e {\n  a = f32[2,8,6,5] parameter(0)\n  b = f32[24,3,3,8] parameter(1)\n"
        "  ROOT f = f32[60,24] fusion(a, b), kind=kOutput, calls=fused\n}\n"
    )
    _check(text)


def test_in_place_of_what_is_added() -> None:
    text = _images((_SAME, _SAME), (7, 9), (6, 20)).fused(two=False)
    check_near(text, random_arguments(text, 3, any_bits=False), [(3, 0)])


def test_a_long_kernel_at_edges() -> None:
    _check(_images((WindowDimension(30, 1, 15, 14),), (16,), (5, 24)).fused(two=True))


def test_a_long_line_is_many_items() -> None:
    form = _images((WindowDimension(5, 1, 2, 2),), (1300,), (4, 20), batch=1)
    assert _check(form.fused(two=True)).launch.count > 8


def test_kernels_read_once_are_asked_for_ahead() -> None:
    form = _images((WindowDimension(1), WindowDimension(1)), (2, 2), (520, 272), batch=1)
    assert "llvm.prefetch" in _check(form.fused(two=False)).text


@pytest.mark.usefixtures("without_plain_loops")
def test_lanes_along_positions() -> None:
    still = (WindowDimension(1), WindowDimension(1))
    form = _images(still, (7, 11), (12, 30))
    orders, layouts = ((0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 2, 3)), ((3, 2, 1, 0),) * 3
    first = replace(form, orders=orders, layouts=layouts)
    for groups, kinds in ((1, ("f32", "f32")), (3, ("bf16", "bf16")), (1, ("s8", "s32"))):
        grouped = replace(first, feature_groups=groups, inputs=12 // groups, types=kinds)
        _check(grouped.fused(two=True))


def test_packed_nibbles() -> None:
    text = (
        "HloModule m\nENTRY e {\n  a = s8[2,7,16] parameter(0)\n  b = s8[3,16,9] parameter(1)\n"
        "  ROOT c = s32[2,7,9] convolution(a, b), window={size=3 pad=1_1},"
        " dim_labels=b0f_0io->b0f, operand_precision={packed_nibble,packed_nibble}\n}\n"
    )
    _check(text)


def test_a_base_of_the_bits_of_another_type() -> None:
    text = """HloModule m, is_scheduled=true
f {
  p0 = s32[2,12,3]{2,1,0} parameter(0)
  p1 = f32[3,3,8]{2,1,0} parameter(1)
  b = f32[2,12,3]{2,1,0} bitcast(p0)
  ROOT d = f32[2,10,8]{2,1,0} convolution(b, p1), window={size=3}, dim_labels=b0f_0io->b0f
}
ENTRY e {
  p0 = s32[2,12,3]{2,1,0} parameter(0)
  p1 = f32[3,3,8]{2,1,0} parameter(1)
  ROOT r = f32[2,10,8]{2,1,0} fusion(p0, p1), kind=kOutput, calls=f
}
"""
    base, kernel = (np.random.default_rng(n).standard_normal(36 * 2) for n in (0, 1))
    given = base.astype("f4").view("i4").reshape(2, 12, 3), kernel.astype("f4").reshape(3, 3, 8)
    check_near(text, given)


@pytest.mark.parametrize(
    ("lhs", "rhs", "result", "window", "more"),
    [
        # Lanes along what the kernel and the base have both: one value of the base is no factor.
        (
            "f32[16,4,6,8]{0,3,2,1}", "f32[3,3,8,16]", "f32[1,2,4,16]",
            "size=3x3", "dim_labels=b01f_01io->b01f, batch_group_count=16",
        ),
        # No tap is met by all elements of a tile.
        ("f32[1,3,3,16]", "f32[3,3,16,16]", "f32[1,5,5,16]", "size=3x3 pad=2_2x2_2", ""),
        ("f32[1,3,16]", "f32[1,16,16]", "f32[1,9,16]", "size=1 pad=3_3", ""),
        # Some elements meet no tap, others some of a long row.
        ("f32[1,3,16]", "f32[13,16,16]", "f32[1,27,16]", "size=13 pad=18_18", ""),
        ("f32[2,40,16]", "f32[2,16,16]", "f32[2,40,16]", "size=2 pad=4_-3", ""),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("without_plain_loops")
def test_tiles_by_calls(lhs: str, rhs: str, result: str, window: str, more: str) -> None:
    labels = "dim_labels=b0f_0io->b0f" if rhs.count(",") == 2 else "dim_labels=b01f_01io->b01f"
    text = (
        f"HloModule m, is_scheduled=true\nENTRY e {{\n  a = {lhs} parameter(0)\n"
        f"  b = {rhs} parameter(1)\n  ROOT c = {result} convolution(a, b), window={{{window}}},"
        f" {more or labels}\n}}\n"
    )
    _check(text)
