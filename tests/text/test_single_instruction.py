"""Texts that are one instruction: operands become parameters of a module."""

from __future__ import annotations

import pytest

from hlotool.errors import ParseError
from hlotool.text.parser import parse
from hlotool.text.printer import print_module


def lines(text: str) -> list[str]:
    """Returns the instructions that a text makes."""
    module = parse(text)
    assert module.name == "_"
    assert module.is_scheduled
    assert module.entry.name == "_"
    return [line.strip() for line in print_module(module).splitlines() if " = " in line]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "f32[2] negate(f32[2] x)",
            ["%x = f32[2]{0} parameter(0)", "ROOT %_ = f32[2]{0} negate(%x)"],
        ),
        (
            "%r = f32[2] negate(f32[2] %x)",
            ["%x = f32[2]{0} parameter(0)", "ROOT %r = f32[2]{0} negate(%x)"],
        ),
        (
            "ROOT r = negate(f32[2] x)",
            ["%x = f32[2]{0} parameter(0)", "ROOT %r = f32[2]{0} negate(%x)"],
        ),
        ("f32[] constant(3)", ["ROOT %_ = f32[] constant(3)"]),
        ("f32[2] parameter(0)", ["ROOT %_ = f32[2]{0} parameter(0)"]),
        ("f32[] add(f32[] x, x)", ["%x = f32[] parameter(0)", "ROOT %_ = f32[] add(%x, %x)"]),
    ],
)
def test_operands_become_parameters(text: str, shown: list[str]) -> None:
    assert lines(text) == shown


@pytest.mark.parametrize(
    ("operands", "names"),
    [
        ("f32[], f32[]", ["_0", "_1"]),
        ("f32[] x, f32[]", ["x", "_1"]),
        ("f32[] _1, f32[]", ["_1", "_1.1"]),
        ("f32[] _0, f32[] x", ["_0", "x"]),
    ],
)
def test_operands_without_name_are_named_after_their_number(
    operands: str, names: list[str]
) -> None:
    module = parse(f"f32[] add({operands})")
    assert [parameter.name for parameter in module.entry.parameters] == names


def test_instructions_may_stand_in_place_of_operands() -> None:
    assert lines("f32[] add(f32[] negate(f32[] x), f32[] y)") == [
        "%x = f32[] parameter(0)",
        "%negate.anon = f32[] negate(%x)",
        "%y = f32[] parameter(1)",
        "ROOT %_ = f32[] add(%negate.anon, %y)",
    ]


def test_names_of_the_entry_come_before_those_of_inline_computations() -> None:
    module = parse(
        "f32[] call(f32[] x), to_apply={ x = f32[] parameter(0) ROOT _ = f32[] negate(x) }"
    )
    (inline,) = module.entry.root.calls
    assert inline.name == "_.1"
    assert [instruction.name for instruction in inline.instructions] == ["x.1", "_.1"]
    assert [instruction.name for instruction in module.entry.instructions] == ["x", "_"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f32[] add(x, y)", "operand x needs a shape in front"),
        ("f32[] add(f32[] x, f32[2] x)", "operand x has shape f32[], not f32[2]"),
        ("x = f32[] negate(f32[] x)", "instruction x already exists"),
        ("constant(3)", "a shape is needed in front"),
        ("f32[] call(f32[] x), to_apply=f", "computation f does not exist"),
        ("f32[] negate(f32[] x", "found the end of the text"),
    ],
)
def test_what_makes_no_module_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert message in caught.value.message
