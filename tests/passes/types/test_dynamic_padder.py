"""Modules whose results must be the same with masks as with only the live elements."""

import numpy as np
import pytest

from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.passes.types.dynamic_padder import DynamicPadder
from tests.passes.checking import opcodes, passed

_REDUCERS = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
odd {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] subtract(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
pairs {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=GT
}
"""
_SIZES = [0, 1, 4, 6]


def _padded(body: str, *arrays: object) -> Module:
    """Runs the pass on a body that has x, 5x6 numbers, d with n of 6 columns of it, z, and n."""
    text = f"""HloModule m
{_REDUCERS}
ENTRY e {{
  x = f32[5,6] parameter(0)
  n = s32[] parameter(1)
  z = f32[] constant(0)
  d = f32[5,<=6] set-dimension-size(x, n), dimensions={{1}}
{body}
}}
"""
    return passed(text, DynamicPadder(), *arrays)


def _numbers(n: int) -> tuple[np.ndarray, np.int32]:
    numbers = np.random.default_rng(n).normal(size=(5, 6)).astype(np.float32)
    # What is not live must not count, whatever it is.
    numbers[:, n:] = np.nan
    return numbers, np.int32(n)


def _is_static(module: Module) -> bool:
    kept = ("set-dimension-size", "tuple")
    return all(
        isinstance(leaf, ArrayShape) and leaf.is_static
        for instruction in module.entry.instructions
        if instruction.opcode not in kept
        for _, leaf in instruction.shape.leaves()
    )


@pytest.mark.parametrize("n", _SIZES)
@pytest.mark.parametrize(
    "body",
    [
        "ROOT r = f32[5] reduce(d, z), dimensions={1}, to_apply=add",
        "ROOT r = f32[<=6] reduce(d, z), dimensions={0}, to_apply=max",
        "ROOT r = f32[] reduce(d, z), dimensions={0,1}, to_apply=max",
        "ROOT r = f32[5,<=6] reverse(d), dimensions={0,1}",
        "ROOT r = f32[5,<=6] sort(d), dimensions={1}, to_apply=less, is_stable=true",
        "ROOT r = f32[5,<=6] sort(d), dimensions={0}, to_apply=less",
        """  i = s32[5,6] iota(), iota_dimension=1
  j = s32[5,<=6] set-dimension-size(i, n), dimensions={1}
  s = (f32[5,<=6], s32[5,<=6]) sort(d, j), dimensions={1}, to_apply=pairs, is_stable=true
  ROOT r = s32[5,<=6] get-tuple-element(s), index=1""",
        """  e = f32[5,<=6] exponential(d)
  t = f32[<=6,5] transpose(e), dimensions={1,0}
  b = f32[<=6,2,5] broadcast(t), dimensions={0,2}
  ROOT r = f32[<=6,10] reshape(b)""",
        """  c = f32[5,<=18] concatenate(d, x, d), dimensions={1}
  ROOT r = f32[5,<=18] negate(c)""",
        "ROOT r = f32[10,<=6] concatenate(d, d), dimensions={0}",
        """  p = f32[5,<=16] pad(d, z), padding=0_0x2_3_1
  ROOT r = f32[5] reduce(p, z), dimensions={1}, to_apply=max""",
        "ROOT r = f32[3,<=3] slice(d), slice={[1:4], [1:6:2]}",
        """  g = s32[] get-dimension-size(d), dimensions={1}
  h = s32[] get-dimension-size(d), dimensions={0}
  ROOT r = s32[] add(g, h)""",
        """  w = f32[5,<=3] reduce-window(d, z), window={size=1x3 stride=1x2 pad=0_0x1_1},
    to_apply=max
  ROOT r = f32[5,<=3] negate(w)""",
        """  w = f32[5,<=4] reduce-window(d, z), window={size=1x3}, to_apply=add
  ROOT r = f32[5] reduce(w, z), dimensions={1}, to_apply=add""",
        "ROOT r = f32[5,5] dot(d, d), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "ROOT r = f32[<=6,<=6] dot(d, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        """  ROOT r = f32[5,5] dot(d, d), lhs_contracting_dims={1},
    rhs_contracting_dims={1}, operand_precision={highest,highest}""",
        """  m = s32[] constant(2)
  k = s32[] minimum(n, m)
  e = f32[5,<=6] set-dimension-size(d, k), dimensions={1}
  f = f32[5,<=6] set-dimension-size(e, m), dimensions={1}
  ROOT r = f32[5] reduce(f, z), dimensions={1}, to_apply=add""",
        """  m = s32[] constant(3)
  e = f32[<=5,<=6] set-dimension-size(d, m), dimensions={0}
  q = pred[] constant(true)
  s = f32[<=5,<=6] select(q, e, e)
  a = f32[<=5] reduce(s, z), dimensions={1}, to_apply=add
  ROOT r = (f32[<=5], f32[<=5,<=6]) tuple(a, s)""",
        """  v = f32[1,5,<=6] reshape(d)
  ROOT r = f32[1,5,<=6] negate(v)""",
    ],
)
def test_live_elements_are_the_same(body: str, n: int) -> None:
    module = _padded(body, *_numbers(n))
    assert _is_static(module)


def test_nothing_static_is_multiplied_with_what_is_not_live() -> None:
    body = "ROOT r = f32[5,5] dot(d, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    module = _padded(body, np.ones((5, 6), np.float32), np.int32(6))
    assert opcodes(module).count("select") == 2


def test_convolutions_take_zeros() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,8,3] parameter(0)
  w = f32[3,3,4] parameter(1)
  n = s32[] parameter(2)
  one = s32[] constant(1)
  b = f32[<=2,8,3] set-dimension-size(x, one), dimensions={0}
  d = f32[<=2,<=8,3] set-dimension-size(b, n), dimensions={1}
  ROOT c = f32[<=2,<=5,4] convolution(d, w), window={size=3 stride=2 pad=2_2},
    dim_labels=b0f_0io->b0f
}
""",
        DynamicPadder(),
        np.random.default_rng(0).normal(size=(2, 8, 3)).astype(np.float32),
        np.ones((3, 3, 4), np.float32),
        np.int32(5),
    )
    assert _is_static(module)
    assert module.entry.root.shape.plain_text == "f32[<=2,<=5,4]"


def test_dynamic_parameters_are_padded() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[<=4] parameter(0)
  y = f32[<=4] add(x, x)
  ROOT r = f32[<=8] concatenate(y, x), dimensions={0}
}
""",
        DynamicPadder(),
        np.array([1, 2, 3], np.float32),
    )
    assert module.entry.parameters[0].shape.plain_text == "f32[<=4]"
    assert opcodes(module).count("custom-call") == 1
    assert opcodes(module).count("get-tuple-element") == 2
    assert opcodes(module)[-1] == "set-dimension-size"


@pytest.mark.parametrize(
    ("opcode", "body"),
    [
        ("reduce", "ROOT r = f32[5] reduce(d, z), dimensions={1}, to_apply=odd"),
        ("reshape", "ROOT r = f32[<=30] reshape(d)"),
        ("pad", "ROOT r = f32[5,<=4] pad(d, z), padding=0_0x0_-2"),
        ("tuple", "ROOT r = (f32[5,<=6]) tuple(d)"),
    ],
)
def test_what_cannot_be_told_stays(opcode: str, body: str) -> None:
    module = _padded(body, np.ones((5, 6), np.float32), np.int32(4))
    assert opcodes(module) == ["constant", "set-dimension-size", opcode]


def test_what_has_no_rule_gets_live_elements() -> None:
    module = passed(
        """HloModule m
twice {
  a = f32[<=6] parameter(0)
  ROOT b = f32[<=6] add(a, a)
}
ENTRY e {
  x = f32[6] parameter(0)
  n = s32[] parameter(1)
  d = f32[<=6] set-dimension-size(x, n), dimensions={0}
  e = f32[<=6] negate(d)
  c = f32[<=6] call(e), to_apply=twice
  ROOT r = f32[<=6] negate(c)
}
""",
        DynamicPadder(),
        np.arange(6, dtype=np.float32),
        np.int32(4),
    )
    assert opcodes(module).count("set-dimension-size") == 2


def test_static_modules_stay() -> None:
    text = "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT r = f32[3] negate(x)\n}\n"
    assert opcodes(passed(text, DynamicPadder())) == ["negate"]


def test_an_accuracy_stays_with_what_computes() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[4,<=3] parameter(0)
  ROOT c = f32[4,<=3] cbrt(x), result_accuracy={mode=highest}
}
""",
        DynamicPadder(),
    )
    assert module.entry.root.opcode == "set-dimension-size"
    assert module.entry.root.annotations.result_accuracy.mode == "default"
