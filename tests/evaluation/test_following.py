"""Parts of values are followed to who made them, through all ops that pass parts on."""

from __future__ import annotations

import pytest

from hlotool.evaluation.following import compared_operands, maker, part_of, with_passed
from hlotool.text.parser import parse
from tests.evaluating import entry

CALLED = "f { a = f32[4] parameter(0) ROOT b = f32[4] negate(a) }"


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ("ROOT r = f32[4] copy(n)", ("n", ())),
        ("t = token[] after-all()\nROOT r = f32[4] add-dependency(n, t)", ("n", ())),
        (
            (
                "t = (f32[4], f32[4]) tuple(p, n)\nb = (f32[4], f32[4]) opt-barrier(t)\n"
                "ROOT r = f32[4] get-tuple-element(b), index=1"
            ),
            ("n", ()),
        ),
        ("s = (f32[4], f32[4], u32[]) copy-start(n)\nROOT r = f32[4] copy-done(s)", ("n", ())),
        (
            (
                "s = (f32[4], f32[4], u32[]) copy-start(n)\n"
                "ROOT r = u32[] get-tuple-element(s), index=2"
            ),
            ("s", (2,)),
        ),
        (
            (
                "s = ((f32[4]), f32[4], u32[]) async-start(n), calls=f\n"
                "u = ((f32[4]), f32[4], u32[]) async-update(s)\nROOT r = f32[4] async-done(u)"
            ),
            ("s", (1,)),
        ),
        (
            (
                "s = ((f32[4]), f32[4], u32[]) async-start(n), calls=f\n"
                "t = (f32[4]) get-tuple-element(s), index=0\n"
                "ROOT r = f32[4] get-tuple-element(t), index=0"
            ),
            ("n", ()),
        ),
        (
            (
                "s = (f32[4], f32[4]) all-gather-start(n), dimensions={0}\n"
                "ROOT r = f32[4] all-gather-done(s)"
            ),
            ("s", (1,)),
        ),
        (
            (
                "s = ((f32[4], f32[4]), (f32[4], f32[4])) all-gather-start(p, n), dimensions={0}\n"
                "t = (f32[4], f32[4]) get-tuple-element(s), index=0\n"
                "ROOT r = f32[4] get-tuple-element(t), index=1"
            ),
            ("n", ()),
        ),
        (
            (
                "s = (f32[4], f32[4]) collective-permute-start(n), source_target_pairs={{0,0}}\n"
                "ROOT r = f32[4] get-tuple-element(s), index=0"
            ),
            ("n", ()),
        ),
        ('ROOT r = f32[4] custom-call(n), custom_call_target="Sharding"', ("n", ())),
        ('ROOT r = f32[4] custom-call(n), custom_call_target="other"', ("r", ())),
        (
            (
                't = (f32[4], f32[4]) custom-call(p, n), custom_call_target="xla.sdy.Barrier"\n'
                "ROOT r = f32[4] get-tuple-element(t), index=1"
            ),
            ("n", ()),
        ),
    ],
)
def test_parts_are_followed_to_who_made_them(steps: str, wanted: tuple[str, object]) -> None:
    module = parse(entry(f"p = f32[4] parameter(0)\nn = f32[4] negate(p)\n{steps}", CALLED))
    instruction, index = maker(module.entry.root, ())
    assert (instruction.name, index) == wanted


def test_values_are_built_of_what_is_passed_and_what_is_made() -> None:
    start = "ROOT s = ((f32[4], f32[4]), (f32[4], f32[4])) all-gather-start(p, p), dimensions={0}"
    root = parse(entry(f"p = f32[4] parameter(0)\n{start}")).entry.root
    asked: list[None] = []

    def made() -> object:
        asked.append(None)
        return (None, ("c", "d"))

    assert with_passed(root, ["a", "b"], made) == (("a", "b"), ("c", "d"))
    assert len(asked) == 1
    assert part_of(((1, 2), 3), (0, 1)) == 2
    assert part_of((None, 3), (0, 1)) is None


def test_a_comparator_looks_at_the_operands_that_its_result_depends_on() -> None:
    text = """HloModule m
    ENTRY less {
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      c = s32[] parameter(2)
      d = s32[] parameter(3)
      unused = pred[] compare(a, b), direction=LT
      n = s32[] negate(c)
      m = s32[] negate(d)
      ROOT r = pred[] compare(n, m), direction=LT
    }"""
    assert compared_operands(parse(text).entry) == {1}
