"""Lenient reading: what hlotool does not know stays as it was read."""

from __future__ import annotations

import pytest

from hlotool.analysis.isomorphism import equal_modules
from hlotool.errors import ParseError
from hlotool.text.parser import parse
from hlotool.text.printer import print_module

HEADER = "HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}"
TEXT = (
    HEADER
    + """, new_thing={a, {b}}, other="x"

%f (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0), future={"y": 1}
  ROOT %n = f32[2]{0} negate(%x), metadata={op_name="q"}, twist=3
}, execution_thread="t", stranger=[1,2]<=[3]

ENTRY %e (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  %a = f32[2]{0} frobnicate(%p, %p), sharding={replicated}, calls=%f, dims={0}
  %b = (f32[2]{0}, s32[]) frobnicate-start(%a)
  %c = f32[2]{0} call(%a), to_apply=%f, hint="x"
  %k = f32[] constant(3), odd=true
  ROOT %r = f32[2]{0} add(%c, %a), control-predecessors={%b}, metadata={op_name="z"}, odd=f32[2]
}

"""
)


def test_what_is_unknown_prints_as_it_was_read() -> None:
    assert print_module(parse(TEXT, lenient=True)) == TEXT


def test_what_is_unknown_takes_part_in_comparisons() -> None:
    module = parse(TEXT, lenient=True)
    assert equal_modules(module, parse(TEXT, lenient=True)) is None
    for old, new in (("{a, {b}}", "{a}"), ("twist=3", "twist=4"), ("[3]", "[4]"),
                     ("frobnicate(", "frob(")):  # fmt: skip
        assert equal_modules(module, parse(TEXT.replace(old, new), lenient=True)) is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "HloModule m, new=1 ENTRY e { ROOT p = f32[] parameter(0) }",
            "HloModule takes no attribute new",
        ),
        ("ENTRY e { ROOT p = f32[] parameter(0) }, new=1", "a computation takes no attribute new"),
        ("ENTRY e { ROOT p = f32[] parameter(0), new=1 }", "parameter takes no attribute new"),
        ("ENTRY e { p = f32[] parameter(0) ROOT f = f32[] frob(p) }", "unknown opcode frob"),
        (
            "ENTRY e { p = f32[] parameter(0) ROOT f = f32[] frob-done(p) }",
            "unknown opcode frob-done",
        ),
    ],
)
def test_strict_reading_refuses_it(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert message in caught.value.message
    parse(text, lenient=True)


@pytest.mark.parametrize(
    "text",
    [
        "ENTRY e { ROOT p = f32[] parameter(0), new={ }",
        "ENTRY e { p = f32[] parameter(0) ROOT f = frob(p) }",
        "ENTRY e { p = f32[] parameter(0) ROOT f = f32[] frob(q) }",
        "ENTRY e { p = f32[] parameter(0) ROOT f = f32[] negate(p), new=1, new=2 }",
        "ENTRY e { p = f32[] parameter(0) ROOT f = f32[] transpose(p) }",
    ],
)
def test_lenient_reading_is_not_careless(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text, lenient=True)
