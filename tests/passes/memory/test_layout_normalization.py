"""Work in the order of memory."""

import numpy as np
import pytest

from hlotool.ir.module import Module
from hlotool.passes.memory.layout_normalization import LayoutNormalization
from tests.passes.checking import opcodes, passed

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7


def made(body: str, *arrays: np.ndarray) -> Module:
    return passed(
        f"HloModule m\nENTRY e {{\n{body}\n}}\n", LayoutNormalization(), *arrays, exact=True
    )


def work(module: Module) -> list[str]:
    """Returns ops and shapes of what is computed, without bitcasts."""
    return [
        f"{one.opcode} {one.shape.text}"
        for one in module.entry.instructions
        if one.opcode not in ("bitcast", "parameter")
    ]


def test_a_chain_of_elementwise_work_has_bitcasts_only_around_it() -> None:
    module = made(
        "  x = f32[2,3,4]{0,2,1} parameter(0)\n"
        "  n = f32[2,3,4]{0,2,1} negate(x)\n"
        "  c = s32[2,3,4]{0,2,1} convert(n)\n"
        "  ROOT a = s32[2,3,4]{0,2,1} add(c, c)",
        X,
    )
    assert opcodes(module) == ["bitcast", "negate", "convert", "add", "bitcast"]
    assert work(module)[0] == "negate f32[3,4,2]{2,1,0}"


def test_scalars_stay_what_they_are() -> None:
    module = made(
        "  x = f32[2,3,4]{0,1,2} parameter(0)\n  l = f32[] constant(-1)\n  h = f32[] constant(2)\n"
        "  ROOT c = f32[2,3,4]{0,1,2} clamp(l, x, h)",
        X,
    )
    assert "clamp f32[4,3,2]{2,1,0}" in work(module)


def test_operands_in_different_layouts_are_left_alone() -> None:
    module = made(
        "  x = f32[2,3,4]{0,1,2} parameter(0)\n  y = f32[2,3,4]{2,1,0} parameter(1)\n"
        "  ROOT c = f32[2,3,4]{0,1,2} add(x, y)",
        X,
        X,
    )
    assert opcodes(module) == ["add"]


@pytest.mark.parametrize(("given", "wanted"), [("0,1,2", "2,1,0"), ("2,1,0", "1,0,2"),
                                               ("1,2,0", "0,2,1")])  # fmt: skip
def test_a_copy_to_another_layout_is_a_transpose(given: str, wanted: str) -> None:
    module = made(
        f"  x = f32[2,3,4]{{{given}}} parameter(0)\n  ROOT c = f32[2,3,4]{{{wanted}}} copy(x)", X
    )
    assert [one.split()[0] for one in work(module)] == ["transpose"]


def test_a_transpose_that_moves_no_bytes_is_a_bitcast() -> None:
    module = made(
        "  x = f32[2,3,4]{2,1,0} parameter(0)\n"
        "  ROOT t = f32[4,2,3]{0,2,1} transpose(x), dimensions={2,0,1}",
        X,
    )
    assert opcodes(module) == ["bitcast"]


def test_a_transpose_that_moves_bytes_is_one_of_row_major_arrays() -> None:
    module = made(
        "  x = f32[2,3,4]{0,2,1} parameter(0)\n"
        "  ROOT t = f32[4,2,3]{1,0,2} transpose(x), dimensions={2,0,1}",
        X,
    )
    assert len(work(module)) <= 1
    assert all(one.endswith("{2,1,0}") for one in work(module))


@pytest.mark.parametrize(
    ("line", "dimensions"),
    [
        ("reverse(x), dimensions={0,2}", "2,3,4"),
        ("slice(x), slice={[0:1],[1:3],[0:4:2]}", "1,2,2"),
        ("pad(x, z), padding=1_0_1x0_2x-1_0", "4,5,3"),
        ("concatenate(x, x, x), dimensions={1}", "2,9,4"),
    ],
)
def test_movement_goes_along_the_dimensions_of_memory(line: str, dimensions: str) -> None:
    module = made(
        "  x = f32[2,3,4]{1,0,2} parameter(0)\n  z = f32[] constant(5)\n"
        f"  ROOT r = f32[{dimensions}]{{1,0,2}} {line}",
        X,
    )
    found = [one for one in work(module) if not one.startswith("constant")]
    assert [one.split("{")[1] for one in found] == ["2,1,0}"]


def test_broadcasts_iotas_and_constants() -> None:
    module = made(
        "  x = f32[2,3]{0,1} parameter(0)\n"
        "  b = f32[2,4,3]{0,2,1} broadcast(x), dimensions={0,2}\n"
        "  i = f32[2,4,3]{0,2,1} iota(), iota_dimension=2\n"
        "  c = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})\n"
        "  d = f32[2,4,3]{0,2,1} broadcast(c), dimensions={0,2}\n"
        "  s = f32[2,4,3]{0,2,1} add(b, i)\n"
        "  ROOT r = f32[2,4,3]{0,2,1} add(s, d)",
        X[:, :, 0],
    )
    assert all("{2,1,0}" in one or "{1,0}" in one for one in work(module))


def test_bitcasts_cancel() -> None:
    module = made(
        "  x = f32[2,3]{1,0} parameter(0)\n"
        "  a = f32[3,2]{0,1} bitcast(x)\n"
        "  b = f32[6]{0} bitcast(a)\n"
        "  ROOT c = f32[2,3]{1,0} bitcast(b)",
        X[:, :, 0],
    )
    assert opcodes(module) == []


def test_dynamic_sizes_tiles_and_row_major_arrays_stay() -> None:
    made_of = (
        ("f32[2,<=3]{0,1}", "f32[2,<=3]{0,1}"),
        ("f32[2,3]{0,1:T(2,2)}", "f32[2,3]{0,1:T(2,2)}"),
        ("f32[2,3]{1,0}", "f32[2,3]{1,0}"),
    )
    for given, result in made_of:
        module = made(f"  x = {given} parameter(0)\n  ROOT n = {result} negate(x)")
        assert opcodes(module) == ["negate"]


def test_zero_sized_arrays() -> None:
    module = made(
        "  x = f32[0,3]{0,1} parameter(0)\n  ROOT n = f32[0,3]{0,1} negate(x)",
        np.zeros((0, 3), np.float32),
    )
    assert opcodes(module) == ["bitcast", "negate", "bitcast"]
