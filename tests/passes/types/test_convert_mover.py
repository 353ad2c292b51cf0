import ml_dtypes
import numpy as np
import pytest

from hlotool.passes.types.convert_mover import ConvertMover
from tests.passes.checking import opcodes, passed


def _moved(body: str) -> list[str]:
    module = passed(f"HloModule m\nENTRY e {{\n{body}\n}}\n", ConvertMover())
    return opcodes(module)


def test_widening_moves_behind_movement() -> None:
    assert _moved(
        """  x = s8[4,6] parameter(0)
  c = s32[4,6] convert(x)
  t = s32[6,4] transpose(c), dimensions={1,0}
  s = s32[3,4] slice(t), slice={[1:4], [0:4]}
  ROOT r = s32[12] reshape(s)"""
    ) == ["transpose", "slice", "reshape", "convert"]


def test_narrowing_moves_before_movement() -> None:
    assert _moved(
        """  x = f32[4] parameter(0)
  b = f32[3,4] broadcast(x), dimensions={1}
  t = f32[4,3] transpose(b), dimensions={1,0}
  ROOT r = bf16[4,3] convert(t)"""
    ) == ["convert", "broadcast", "transpose"]


def test_both_meet() -> None:
    assert _moved(
        """  x = bf16[4] parameter(0)
  y = bf16[5] parameter(1)
  a = f32[4] convert(x)
  b = f32[5] convert(y)
  c = f32[9] concatenate(a, b), dimensions={0}
  ROOT r = f32[9] negate(c)"""
    ) == ["concatenate", "convert", "negate"]


@pytest.mark.parametrize(("value", "moves"), [("0.5", True), ("0.1", False), ("-inf", True)])
def test_padding_moves_where_its_value_is_held(value: str, *, moves: bool) -> None:
    found = _moved(
        f"""  x = bf16[4] parameter(0)
  z = f32[] constant({value})
  c = f32[4] convert(x)
  p = f32[2] pad(c, z), padding=-1_-1
  ROOT r = f32[2] negate(p)"""
    )
    assert found == (["constant", "pad", "convert", "negate"] if moves
                     else ["constant", "convert", "pad", "negate"])  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        # a slice would convert more than before
        """  x = f32[8] parameter(0)
  s = f32[2] slice(x), slice={[0:2]}
  ROOT r = bf16[2] convert(s)""",
        # a broadcast too
        """  x = bf16[] parameter(0)
  c = f32[] convert(x)
  ROOT r = f32[8] broadcast(c), dimensions={}""",
        # the wide values are needed all the same
        """  x = bf16[4,2] parameter(0)
  c = f32[4,2] convert(x)
  t = f32[2,4] transpose(c), dimensions={1,0}
  ROOT r = (f32[4,2], f32[2,4]) tuple(c, t)""",
        # this one rounds
        """  x = f32[4,2] parameter(0)
  c = bf16[4,2] convert(x)
  ROOT t = bf16[2,4] transpose(c), dimensions={1,0}""",
        # this one loses values though it widens
        """  x = s16[4,2] parameter(0)
  c = bf16[4,2] convert(x)
  ROOT t = bf16[2,4] transpose(c), dimensions={1,0}""",
        # another use has the wide values
        """  x = f32[4,2] parameter(0)
  t = f32[2,4] transpose(x), dimensions={1,0}
  c = bf16[2,4] convert(t)
  ROOT r = (f32[2,4], bf16[2,4]) tuple(t, c)""",
    ],
)
def test_conversions_stay(body: str) -> None:
    module = passed(f"HloModule m\nENTRY e {{\n{body}\n}}\n", ConvertMover())
    assert opcodes(module) == [
        line.split("]")[1].split("(")[0].split("}")[-1].strip() if "tuple(" not in line else "tuple"
        for line in body.splitlines()
        if "parameter" not in line
    ]


def test_updates_and_gathers_move() -> None:
    assert _moved(
        """  x = s8[8] parameter(0)
  u = s8[2] parameter(1)
  i = s32[] constant(3)
  cx = s32[8] convert(x)
  cu = s32[2] convert(u)
  d = s32[8] dynamic-update-slice(cx, cu, i)
  ROOT r = s32[4] dynamic-slice(d, i), dynamic_slice_sizes={4}"""
    ) == ["constant", "dynamic-update-slice", "dynamic-slice", "convert"]


def test_layouts_stay_and_empty_arrays_do_no_harm() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = bf16[0,3]{0,1} parameter(0)
  c = f32[0,3]{0,1} convert(x)
  ROOT t = f32[3,0]{1,0} transpose(c), dimensions={1,0}
}
""",
        ConvertMover(),
        np.zeros((0, 3), ml_dtypes.bfloat16),
    )
    assert opcodes(module) == ["transpose", "convert"]
    assert module.entry.root.shape.text == "f32[3,0]{1,0}"
