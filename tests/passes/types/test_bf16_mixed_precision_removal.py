import ml_dtypes
import numpy as np

from hlotool.passes.types.bf16_mixed_precision_removal import Bf16MixedPrecisionRemoval
from tests.passes.checking import opcodes, passed

_MANY = np.linspace(-3, 300, 40).astype(ml_dtypes.bfloat16)


def test_operands_of_a_dot_get_one_width() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = bf16[3,5] parameter(0)
  y = f32[5,2] parameter(1)
  ROOT d = bf16[3,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
""",
        Bf16MixedPrecisionRemoval(),
        exact=True,
    )
    assert opcodes(module) == ["convert", "dot", "convert"]


def test_a_reducer_of_bf16_rounds_inside_then() -> None:
    module = passed(
        """HloModule m
choose {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  c = bf16[] multiply(a, b)
  ROOT r = bf16[] maximum(c, a)
}
ENTRY e {
  x = bf16[40] parameter(0)
  z = f32[] constant(1.001)
  ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=choose
}
""",
        Bf16MixedPrecisionRemoval(),
        _MANY,
        exact=True,
    )
    assert opcodes(module) == ["constant", "convert", "reduce"]
    (reducer,) = module.entry.root.calls
    assert reducer.program_shape.result.text == "f32[]"


def test_several_results_are_converted_apart() -> None:
    module = passed(
        """HloModule m
both {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  c = f32[] add(a, b)
  k = s32[] add(i, j)
  ROOT r = (f32[], s32[]) tuple(c, k)
}
ENTRY e {
  x = f32[40] parameter(0)
  n = s32[40] parameter(1)
  z = f32[] constant(0)
  o = s32[] constant(0)
  ROOT s = (bf16[], s32[]) reduce(x, n, z, o), dimensions={0}, to_apply=both
}
""",
        Bf16MixedPrecisionRemoval(),
        exact=True,
    )
    assert opcodes(module)[-5:] == [
        "reduce", "get-tuple-element", "convert", "get-tuple-element", "tuple"
    ]  # fmt: skip


def test_one_width_stays() -> None:
    module = passed(
        """HloModule m
add {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b)
}
ENTRY e {
  x = bf16[40] parameter(0)
  z = bf16[] constant(0)
  s = bf16[] reduce(x, z), dimensions={0}, to_apply=add
  ROOT w = f32[] convert(s)
}
""",
        Bf16MixedPrecisionRemoval(),
    )
    assert opcodes(module) == ["constant", "reduce", "convert"]
