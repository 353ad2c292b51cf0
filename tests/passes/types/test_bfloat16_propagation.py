import ml_dtypes
import numpy as np
import pytest

from hlotool.passes.types.bfloat16_propagation import BFloat16Propagation
from tests.passes.checking import opcodes, passed

_EDGES = np.array([0.0, -0.0, np.nan, np.inf, 1.00390625, 3.4e38, 1e-40, -7.1], np.float32)


def _body(body: str) -> str:
    return f"HloModule m\nENTRY e {{\n{body}\n}}\n"


@pytest.mark.parametrize("opcode", ["maximum", "minimum"])
def test_values_that_are_rounded_in_any_case_are_held_in_bf16(opcode: str) -> None:
    module = passed(
        _body(
            f"""  x = f32[8] parameter(0)
  z = bf16[8] parameter(1)
  y = f32[8] convert(z)
  m = f32[8] {opcode}(x, y)
  n = f32[8] negate(m)
  t = f32[2,4] reshape(n)
  a = bf16[8] convert(n)
  b = bf16[2,4] convert(t)
  ROOT r = (bf16[8], bf16[2,4]) tuple(a, b)"""
        ),
        BFloat16Propagation(),
        _EDGES,
        np.roll(_EDGES, 3).astype(ml_dtypes.bfloat16),
    )
    assert opcodes(module) == ["convert", opcode, "negate", "reshape", "tuple"]


@pytest.mark.parametrize(
    "body",
    [
        # a sum would be rounded twice
        """  x = f32[8] parameter(0)
  s = f32[8] add(x, x)
  ROOT r = bf16[8] convert(s)""",
        # one use has the whole value
        """  x = f32[8] parameter(0)
  n = f32[8] negate(x)
  c = bf16[8] convert(n)
  ROOT r = (bf16[8], f32[8]) tuple(c, n)""",
        # more would be rounded than is used
        """  x = f32[8] parameter(0)
  n = f32[2] slice(x), slice={[0:2]}
  ROOT c = bf16[2] convert(n)""",
        # two conversions would come in place of one
        """  x = f32[8] parameter(0)
  y = f32[8] exponential(x)
  m = f32[8] maximum(x, y)
  ROOT c = bf16[8] convert(m)""",
        # the other type
        """  x = f32[8] parameter(0)
  n = f32[8] negate(x)
  ROOT c = f16[8] convert(n)""",
        # nothing is converted at all
        """  x = f32[8] parameter(0)
  ROOT n = f32[8] negate(x)""",
    ],
)
def test_other_values_stay(body: str) -> None:
    module = passed(_body(body), BFloat16Propagation(), _EDGES)
    widths = {i.shape.plain_text[:4] for i in module.entry.instructions if i.opcode == "negate"}
    assert widths <= {"f32["}
    assert len(opcodes(module)) == body.count(" = ") - 1


def test_clamps_and_selects_take_rounded_operands() -> None:
    module = passed(
        _body(
            """  x = f32[8] parameter(0)
  p = pred[8] parameter(1)
  lo = f32[] constant(-1.001)
  hi = f32[] constant(3.003)
  c = f32[8] clamp(lo, x, hi)
  s = f32[8] select(p, c, x)
  ROOT r = bf16[8] convert(s)"""
        ),
        BFloat16Propagation(),
        _EDGES,
        np.array([True, False] * 4),
    )
    assert opcodes(module)[-2:] == ["clamp", "select"]


def test_an_index_is_no_data() -> None:
    module = passed(
        _body(
            """  x = f32[8] parameter(0)
  h = bf16[2] parameter(1)
  u = f32[2] convert(h)
  i = s32[] constant(7)
  d = f32[8] dynamic-update-slice(x, u, i)
  ROOT r = bf16[8] convert(d)"""
        ),
        BFloat16Propagation(),
    )
    assert opcodes(module) == ["constant", "convert", "dynamic-update-slice"]
