"""Texts of modules that the tests of the runtime compile."""

from __future__ import annotations

ADD = """HloModule add
ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  ROOT sum = f32[8] add(x, y)
}
"""

NESTED = """HloModule nested
ENTRY main {
  t = (f32[2], (s32[], token[])) parameter(0)
  a = f32[2] get-tuple-element(t), index=0
  u = (s32[], token[]) get-tuple-element(t), index=1
  b = s32[] get-tuple-element(u), index=0
  k = token[] get-tuple-element(u), index=1
  twice = (f32[2], f32[2]) tuple(a, a)
  none = f32[0] constant({})
  ROOT r = ((f32[2], f32[2]), s32[], token[], f32[0]) tuple(twice, b, k, none)
}
"""

LOOP = """HloModule loop
condition {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  limit = s32[] constant(LIMIT)
  ROOT goes_on = pred[] compare(i, limit), direction=LT
}
body {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[] get-tuple-element(p), index=1
  step = s32[] get-tuple-element(p), index=0
  one = s32[] constant(STEP)
  next = s32[] add(i, one)
  half = f32[] constant(0.5)
  w = f32[] multiply(v, half)
  ROOT r = (s32[], f32[]) tuple(next, w)
}
ENTRY main {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[]) tuple(zero, x)
  ROOT end = (s32[], f32[]) while(start), condition=condition, body=body
}
"""


def loop(limit: int, step: int = 1) -> str:
    """Returns a module that halves a number so often; with a step of 0 it does so for ever."""
    return LOOP.replace("LIMIT", str(limit)).replace("STEP", str(step))


def elementwise(size: int, element_type: str = "f32") -> str:
    """Returns a module that computes (x + y) * (x + y) for arrays of a size."""
    shape = f"{element_type}[{size}]"
    return f"""HloModule elementwise
ENTRY main {{
  x = {shape} parameter(0)
  y = {shape} parameter(1)
  s = {shape} add(x, y)
  ROOT p = {shape} multiply(s, s)
}}
"""


def custom(target: str, shape: str = "f32[4]") -> str:
    """Returns a module that hands its argument to a custom call."""
    return f"""HloModule custom
ENTRY main {{
  x = {shape} parameter(0)
  y = {shape} add(x, x)
  ROOT r = {shape} custom-call(y), custom_call_target="{target}"
}}
"""
