import pytest

from hlotool.passes.collectives.while_loop_all_reduce_code_motion import (
    WhileLoopAllReduceCodeMotion,
)
from tests.passes.checking import passed
from tests.passes.collectives.devices import ALL, on_devices


def _loop(body: str, bound: int = 3, condition: str = "") -> str:
    text = on_devices(
        """  z = s32[] constant(0)
  t = (s32[], f32[8], f32[8]) tuple(z, p, x)
  ROOT w = (s32[], f32[8], f32[8]) while(t), condition=cond, body=body"""
    )
    computations = f"""cond {{
  c = (s32[], f32[8], f32[8]) parameter(0)
  n = s32[] get-tuple-element(c), index=0
  most = s32[] constant({bound})
{condition or "  ROOT l = pred[] compare(n, most), direction=LT"}
}}
body {{
  c = (s32[], f32[8], f32[8]) parameter(0)
  n = s32[] get-tuple-element(c), index=0
  one = s32[] constant(1)
  m = s32[] add(n, one)
  acc = f32[8] get-tuple-element(c), index=1
  v = f32[8] get-tuple-element(c), index=2
{body}
}}
"""
    return text.replace("ENTRY e", computations + "ENTRY e")


_SUM = f"""  s = f32[8] all-reduce(v), {ALL}, to_apply=add
  t = f32[8] add(SIDES)
  u = f32[8] negate(v)
  ROOT r = (s32[], f32[8], f32[8]) tuple(m, t, u)"""


@pytest.mark.parametrize("sides", ["acc, s", "s, acc"])
@pytest.mark.parametrize("bound", [0, 1, 3])
def test_a_sum_over_devices_is_made_behind_the_loop(sides: str, bound: int) -> None:
    module = passed(_loop(_SUM.replace("SIDES", sides), bound), WhileLoopAllReduceCodeMotion())
    (loop,) = (one for one in module.entry.instructions if one.opcode == "while")
    assert all(one.opcode != "all-reduce" for one in loop.calls[1].instructions)
    assert sum(one.opcode == "all-reduce" for one in module.entry.instructions) == 1


@pytest.mark.parametrize(
    "text",
    [
        # the sum is used in the loop
        _loop(_SUM.replace("SIDES", "acc, s").replace("negate(v)", "negate(acc)")),
        _loop(_SUM.replace("SIDES", "acc, s").replace("negate(v)", "negate(t)")),
        # what is reduced is used for something else
        _loop(_SUM.replace("SIDES", "acc, s").replace("negate(v)", "negate(s)")),
        # no sum
        _loop(_SUM.replace("add(SIDES)", "multiply(acc, s)")),
        _loop(_SUM.replace("SIDES", "acc, s").replace("to_apply=add", "to_apply=max")),
        # the condition looks at it
        _loop(
            _SUM.replace("SIDES", "acc, s"),
            condition="""  a = f32[8] get-tuple-element(c), index=1
  a1 = f32[1] slice(a), slice={[0:1]}
  a2 = f32[] reshape(a1)
  big = f32[] constant(1e30)
  k = pred[] compare(a2, big), direction=LT
  l = pred[] compare(n, most), direction=LT
  ROOT o = pred[] and(k, l)""",
        ),
    ],
)
def test_other_loops_stay(text: str) -> None:
    module = passed(text, WhileLoopAllReduceCodeMotion())
    (loop,) = (one for one in module.entry.instructions if one.opcode == "while")
    assert any(one.opcode == "all-reduce" for one in loop.calls[1].instructions)
