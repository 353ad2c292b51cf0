from pathlib import Path

import pytest

from hlotool.analysis.trip_count import InductionVariable, counting, trip_count
from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.text.parser import parse

LOOP = """HloModule m
cond {{
  s = ({kind}[], s32[]) parameter(0)
  i = {kind}[] get-tuple-element(s), index=0
  b = {kind}[] constant({bound})
  ROOT r = pred[] compare({compared}), direction={direction}
}}
body {{
  s = ({kind}[], s32[]) parameter(0)
  i = {kind}[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  st = {kind}[] constant({step})
  one = s32[] constant(1)
  i2 = {kind}[] {op}
  n2 = s32[] add(n, one)
  ROOT t = ({kind}[], s32[]) tuple(i2, n2)
}}
ENTRY e {{
  z = {kind}[] constant({init})
  y = s32[] constant(0)
  t = ({kind}[], s32[]) tuple(z, y)
  ROOT w = ({kind}[], s32[]) while(t), condition=cond, body=body
}}
"""


def loop_of(text: str) -> Instruction:
    """Returns the loop of the entry."""
    return next(one for one in parse(text).entry.instructions if one.opcode == "while")


def text_of(
    direction: str,
    init: object,
    step: object,
    bound: object,
    kind: str = "s32",
    compared: str = "i, b",
    op: str = "add(i, st)",
) -> str:
    return LOOP.format(**locals())


@pytest.mark.parametrize(
    ("name", "count"), [("step3", 3), ("step5", 1), ("u8_wrap", 23), ("zero", 0)]
)
def test_cases(name: str, count: int) -> None:
    root = Path(__file__).parents[2]
    text = (root / "testdata" / "cases" / f"trip_count_{name}.hlo").read_text(encoding="utf-8")
    assert trip_count(loop_of(text)) == count


@pytest.mark.parametrize("kind", ["s4", "u4", "u64"])
@pytest.mark.parametrize("direction", ["LT", "LE", "GT", "GE", "EQ", "NE"])
@pytest.mark.parametrize(
    ("init", "step", "bound"),
    [
        (0, 2, 5), (0, 3, 6), (5, 1, 5), (5, 3, 0), (6, 0, 2), (7, 1, 7), (0, 4, 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("op", ["add(st, i)", "subtract(i, st)"])
def test_counts_are_those_of_a_run(
    kind: str, direction: str, init: int, step: int, bound: int, op: str
) -> None:
    text = text_of(direction, init, step, bound, kind, op=op)
    found = trip_count(loop_of(text))
    flipped = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}.get(direction, direction)
    other = text_of(flipped, init, step, bound, kind, "b, i", op)
    assert trip_count(loop_of(other)) == found
    if found is None or found > 40:
        # It runs without end, or so long that numbers of many bits have come around.
        assert found is None or kind == "u64"
        assert runs(text, 40) is None
    else:
        assert runs(text, 40) == found


def runs(text: str, most: int) -> int | None:
    """Returns how many rounds a run takes, `None` for more than the most."""
    try:
        _, count = evaluate_module(parse(text), [], LoneDevice(0, most))
    except EvaluationError:
        return None
    return int(count)


def test_a_long_loop_is_counted_by_arithmetic() -> None:
    assert trip_count(loop_of(text_of("LT", 0, 1, 2_000_000_000))) == 2_000_000_000
    assert trip_count(loop_of(text_of("NE", 0, 3, 1, "u64"))) == pow(3, -1, 1 << 64)


def test_the_induction_variable_is_named() -> None:
    found = counting(loop_of(text_of("LT", 2, 3, 10)))
    assert found is not None
    assert found.variable == InductionVariable((0,), 2, 3, S32)


def test_what_repeats_never_ends() -> None:
    assert trip_count(loop_of(text_of("LT", 0, 0, 5))) is None
    assert trip_count(loop_of(text_of("GE", 0, 1, 0, "u16"))) is None
    assert trip_count(loop_of(text_of("NE", 0, 2, 1, "u64"))) is None


def test_numbers_come_around() -> None:
    assert trip_count(loop_of(text_of("GE", 5, 1, 5, "u16"))) == 65536 - 5
    assert trip_count(loop_of(text_of("LT", 0, 40000, 60000, "u16"))) == 13


def test_a_variable_of_floats_is_evaluated() -> None:
    assert trip_count(loop_of(text_of("LT", 1.0, 2.0, 100.0, "f32", op="multiply(i, st)"))) == 7
    assert trip_count(loop_of(text_of("LT", 0.0, "nan", 100.0, "f32"))) == 1


def test_a_bound_may_be_a_part_of_the_state_that_stays() -> None:
    text = """HloModule m
cond {
  s = (s32[], (s32[], f32[3])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  p = (s32[], f32[3]) get-tuple-element(s), index=1
  b = s32[] get-tuple-element(p), index=0
  ROOT r = pred[] compare(i, b), direction=LT
}
body {
  s = (s32[], (s32[], f32[3])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  p = (s32[], f32[3]) get-tuple-element(s), index=1
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
  ROOT t = (s32[], (s32[], f32[3])) tuple(i2, p)
}
ENTRY e {
  x = f32[3] parameter(0)
  z = s32[] constant(0)
  n = s32[] constant(9)
  p = (s32[], f32[3]) tuple(n, x)
  t = (s32[], (s32[], f32[3])) tuple(z, p)
  ROOT w = (s32[], (s32[], f32[3])) while(t), condition=cond, body=body
}
"""
    assert trip_count(loop_of(text)) == 9
    unknown = text.replace("n = s32[] constant(9)", "n = s32[] parameter(1)")
    assert trip_count(loop_of(unknown)) is None


def test_fusions_and_calls_are_seen_through() -> None:
    text = """HloModule m
less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
grow {
  a = s32[] parameter(0)
  x = f32[2] parameter(1)
  two = s32[] constant(2)
  n = s32[] add(a, two)
  y = f32[2] negate(x)
  ROOT t = (f32[2], s32[]) tuple(y, n)
}
cond {
  s = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  b = s32[] constant(7)
  ROOT r = pred[] fusion(i, b), kind=kLoop, calls=less
}
body {
  s = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2] get-tuple-element(s), index=1
  g = (f32[2], s32[]) call(i, x), to_apply=grow
  y = f32[2] get-tuple-element(g), index=0
  n = s32[] get-tuple-element(g), index=1
  c = s32[] copy(n)
  ROOT t = (s32[], f32[2]) tuple(c, y)
}
ENTRY e {
  x = f32[2] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[2]) tuple(z, x)
  ROOT w = (s32[], f32[2]) while(t), condition=cond, body=body
}
"""
    assert trip_count(loop_of(text)) == 4


def test_what_depends_on_arrays_is_unknown() -> None:
    text = text_of("LT", 0, 1, 5).replace("z = s32[] constant(0)", "z = s32[] parameter(0)")
    assert trip_count(loop_of(text)) is None


def test_the_state_may_be_no_tuple() -> None:
    text = """HloModule m
cond {
  i = s32[] parameter(0)
  b = s32[] constant(40)
  ROOT r = pred[] compare(i, b), direction=LT
}
body {
  i = s32[] parameter(0)
  two = s32[] constant(2)
  ROOT r = s32[] multiply(i, two)
}
ENTRY e {
  z = s32[] constant(3)
  ROOT w = s32[] while(z), condition=cond, body=body
}
"""
    assert trip_count(loop_of(text)) == 4
