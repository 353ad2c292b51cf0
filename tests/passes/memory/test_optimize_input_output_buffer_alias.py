"""Aliases for donated inputs."""

from hlotool.ir.header import Alias
from hlotool.ir.module import Module
from hlotool.passes.memory.optimize_input_output_buffer_alias import (
    OptimizeInputOutputBufferAlias,
)
from tests.passes.checking import passed

TEXT = """HloModule m, buffer_donor={ (0, {}), (1, {1}) }
ENTRY e {
  x = f32[4] parameter(0)
  p = (s32[], f32[4]) parameter(1)
  z = f32[4] parameter(2)
  y = f32[4] get-tuple-element(p), index=1
  a = f32[4] add(x, y)
  b = f32[3] slice(a), slice={[0:3]}
  c = f32[4] negate(z)
  d = f32[4] sine(z)
  ROOT t = (f32[3], f32[4], f32[4], f32[4]) tuple(b, a, c, d)
}
"""


def aliases(module: Module) -> tuple[Alias, ...]:
    return module.header.input_output_alias


def test_each_donor_is_taken_once_by_a_result_of_its_shape() -> None:
    module = passed(TEXT, OptimizeInputOutputBufferAlias())
    assert aliases(module) == (Alias((1,), 0, ()), Alias((2,), 1, (1,)))
    assert module.header.buffer_donor == ()


def test_all_inputs_may_be_offered() -> None:
    module = passed(TEXT, OptimizeInputOutputBufferAlias(donors_only=False))
    assert [alias.parameter for alias in aliases(module)] == [0, 1, 2]


def test_a_layout_or_type_that_differs_does_not_fit() -> None:
    for other in ("s32[4]", "f32[2,2]"):
        text = (
            f"HloModule m, buffer_donor={{ (0, {{}}) }}\nENTRY e {{\n  x = {other} parameter(0)\n"
            "  c = f32[] constant(1)\n  ROOT r = f32[4] broadcast(c), dimensions={}\n}\n"
        )
        assert aliases(passed(text, OptimizeInputOutputBufferAlias())) == ()


def test_what_is_aliased_already_stays() -> None:
    text = TEXT.replace(
        "buffer_donor={ (0, {}), (1, {1}) }",
        "input_output_alias={ {3}: (0, {}, must-alias) }, buffer_donor={ (1, {1}) }",
    )
    module = passed(text, OptimizeInputOutputBufferAlias())
    assert aliases(module) == (Alias((1,), 1, (1,)), Alias((3,), 0, (), "must-alias"))
