"""Modules with a loop over (s32 counter, array, array) for tests of what moves in and out."""

_TEXT = """HloModule m
cond {{
  s = ({state}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({rounds})
  ROOT r = pred[] compare(i, n), direction=LT
}}
body {{
  s = ({state}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2] get-tuple-element(s), index=1
  u = f32[2] get-tuple-element(s), index=2
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
{body}
  ROOT t = ({state}) tuple(i2, y, u)
}}
ENTRY e {{
  z = s32[] constant(0)
  x = f32[2] parameter(0)
  u = f32[2] {given}
  t = ({state}) tuple(z, x, u)
  ROOT w = ({state}) while(t), condition=cond, body=body
}}
"""


def loop_text(body: str, given: str = "parameter(1)", rounds: int = 3) -> str:
    """Returns a module whose loop makes `y` of `x` and `u`, which stays; `u` is given first."""
    return _TEXT.format(state="s32[], f32[2], f32[2]", body=body, given=given, rounds=rounds)
