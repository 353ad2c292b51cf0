"""Modules as texts: scopes, entries, roots, names, comments, and what is not accepted."""

from __future__ import annotations

import pytest

from hlotool.errors import HloError, ParseError
from hlotool.ir.module import Module
from hlotool.text.parser import parse
from hlotool.text.printer import print_module

NEGATE = "{ x = f32[] parameter(0) ROOT n = f32[] negate(x) }"


def body(text: str) -> str:
    """Returns how the body of an entry prints."""
    printed = print_module(parse(f"ENTRY e {{ {text} }}"))
    return printed.partition("{\n")[2].removesuffix("}\n\n")


def fault(text: str) -> str:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.location is not None
    return caught.value.message


def computations(module: Module) -> list[str]:
    return [computation.name for computation in module.computations]


def test_the_entry_is_marked_or_last() -> None:
    assert parse(f"HloModule m ENTRY a {NEGATE} b {NEGATE}").entry.name == "a"
    assert parse(f"HloModule m a {NEGATE} b {NEGATE}").entry.name == "b"


def test_the_root_is_marked_or_last() -> None:
    assert (
        parse("ENTRY e { ROOT a = f32[] parameter(0) b = f32[] negate(a) }").entry.root.name == "a"
    )
    assert parse("ENTRY e { a = f32[] parameter(0) b = f32[] negate(a) }").entry.root.name == "b"


def test_a_module_without_header_is_named_after_its_entry() -> None:
    module = parse(f"a {NEGATE} ENTRY b {NEGATE}")
    assert module.name == "module_b"
    assert computations(module) == ["a", "b"]


def test_the_signature_is_not_used_but_for_the_result() -> None:
    text = (
        "HloModule m ENTRY e (a: s8[7], %b: token[]) -> f32[2,2]{0,1} { x = f32[2,2] parameter(0) }"
    )
    assert [p.shape.text for p in parse(text).entry.parameters] == ["f32[2,2]{1,0}"]
    assert "declares the result f32[3], its root x has f32[2]" in fault(
        "HloModule m ENTRY e () -> f32[3] { x = f32[2] parameter(0) }"
    )


def test_parameters_stand_in_any_order() -> None:
    module = parse(
        "ENTRY e { b = f32[] parameter(1) a = s32[] parameter(0) ROOT r = f32[] negate(b) }"
    )
    assert [parameter.name for parameter in module.entry.parameters] == ["a", "b"]
    assert module.entry.program_shape.parameters[0].text == "s32[]"


def test_names_with_and_without_percent_are_the_same() -> None:
    assert body("%a = f32[] parameter(0) b = f32[] add(a, %a)") == (
        "  %a = f32[] parameter(0)\n  ROOT %b = f32[] add(%a, %a)\n"
    )


@pytest.mark.parametrize(
    "name", ["add", "mesh", "T", "b", "true", "ROOT2", "replicated", "x.y-z_1", "__xla_x", "_"]
)
def test_almost_any_word_is_a_name(name: str) -> None:
    assert f"%{name} = " in body(f"%{name} = f32[] parameter(0) r = f32[] negate(%{name})")


@pytest.mark.parametrize("name", ["f32", "token", "pred", "__x", "%f32"])
def test_some_names_the_reference_would_change(name: str) -> None:
    assert "name" in fault(f"ENTRY e {{ {name} = f32[] parameter(0) }}")


def test_nested_instructions_are_named_after_their_opcode() -> None:
    assert body("a = f32[] parameter(0) r = add(negate(a), negate(f32[] constant(1)))") == (
        "  %a = f32[] parameter(0)\n"
        "  %negate.anon = f32[] negate(%a)\n"
        "  %constant.anon = f32[] constant(1)\n"
        "  %negate.anon.1 = f32[] negate(%constant.anon)\n"
        "  ROOT %r = f32[] add(%negate.anon, %negate.anon.1)\n"
    )


def test_inline_computations_come_before_what_calls_them() -> None:
    module = parse(
        f"ENTRY e {{ p = f32[] parameter(0) a = f32[] call(p), to_apply={NEGATE}"
        f" ROOT b = f32[] call(a), to_apply={NEGATE} }}"
    )
    assert computations(module) == ["_", "_.1", "e"]
    assert [i.calls[0].name for i in module.entry.instructions[1:]] == ["_", "_.1"]


def test_control_predecessors_are_named_once() -> None:
    module = parse(
        "ENTRY e { a = f32[] parameter(0) b = f32[] negate(a)"
        " c = f32[] negate(a), control-predecessors={b, a, b} }"
    )
    assert [p.name for p in module.entry.root.control_predecessors] == ["b", "a"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", " ", "\t"])
def test_any_space_ends_a_line(end: str) -> None:
    lines = ["HloModule m", "ENTRY e {", "a = f32[] parameter(0)", "ROOT b = negate(a)", "}", ""]
    text = end.join(lines)
    assert print_module(parse(text)) == print_module(parse(text.replace(end, "\n")))


@pytest.mark.parametrize("space", ["\0", "\f", "\v", "\xa0", "\ufeff", "\u2028"])
def test_other_space_is_none(space: str) -> None:
    assert fault(f"HloModule m{space}ENTRY e {{ a = f32[] parameter(0) }}")


@pytest.mark.parametrize("comment", ["/* } */", "/***/", "/*\n*/", "// }\n", "//\r", "/* /* */"])
def test_comments_stand_between_tokens(comment: str) -> None:
    tokens = [
        "HloModule", "m", ",", "is_scheduled=", "true", "ENTRY", "e", "(", "x:", "f32", "[", "2",
        "]", ")", "->", "f32", "[", "2", "]", "{", "x", "=", "f32", "[", "2", "]", "{", "0", ":",
        "T", "(", "2", ")", "}", "parameter", "(", "0", ")", ",", "sharding=", "{", "devices=",
        "[", "2", "]", "<=", "[", "2", "]", "}", "ROOT", "n", "=", "f32", "[", "2", "]", "copy",
        "(", "x", ")", ",", "metadata=", "{", "op_name=", '"//"', "}", "}",
    ]  # fmt: skip
    plain = parse(" ".join(tokens))
    assert plain.entry.root.annotations.metadata.op_name == "//"
    assert print_module(parse(f" {comment} ".join(["", *tokens, ""]))) == print_module(plain)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"HloModule m ENTRY a {NEGATE} ENTRY b {NEGATE}", "this is the second"),
        (f"HloModule m a {NEGATE} a {NEGATE}", "computation a already exists"),
        ("ENTRY e { }", "expected, found '}'"),
        ("HloModule m", "found the end of the text"),
        ("", "the text is empty"),
        (" // nothing\n", "the text is empty"),
        ("ENTRY e { a = f32[] parameter(0) ", "computation e, begun in line 1, is not closed"),
        ("ENTRY e { a = f32[] parameter(0) } x", "expected, found"),
        ("ENTRY e { ROOT a = f32[] parameter(0) ROOT b = f32[] negate(a) }", "a is ROOT already"),
        ("ENTRY e { a = f32[] parameter(0) a = f32[] negate(a) }", "instruction a already exists"),
        ("ENTRY e { a = f32[] parameter(0) r = f32[] negate(b) }", "instruction b does not exist"),
        ("ENTRY e { r = f32[] negate(a) a = f32[] parameter(0) }", "instruction a does not exist"),
        ("ENTRY e { a = f32[] parameter(0) r = f32[] negate(f32[2] a) }", "f32[], not f32[2]"),
        (
            "ENTRY e { a = f32[] parameter(0) r = f32[] call(a), to_apply=e }",
            "computation e cannot call itself",
        ),
        ("ENTRY e { a = f32[] parameter(0) b = f32[] parameter(2) }", "without a gap, found 2"),
        (
            "ENTRY e { a = f32[] parameter(0) b = f32[] parameter(0) }",
            "parameter number 0 is taken by a",
        ),
        ("ENTRY e { a = f32[] parameter(0) r = f32[] add(a,, a) }", "found ','"),
        ("ENTRY e { a = f32[] parameter(0) r = f32[] add(a a) }", "found"),
        ("ENTRY e { a = f32[] parameter(0) r = f32[] add(a) }", "2 operands expected, 1 given"),
        ("ENTRY e { a = f32[] parameter(0), control-predecessors={} }", "a name expected"),
        (
            "ENTRY e { a = f32[] parameter(0), control-predecessors={b} }",
            "instruction b does not exist",
        ),
        (
            "ENTRY e { a = f32[2] parameter(0) r = f32[2] reverse(a) }",
            "attribute dimensions is missing",
        ),
        (
            "ENTRY e { a = s8[2] parameter(0) r = reverse(a), dimensions={0}, dimensions={0} }",
            "attribute dimensions is given twice",
        ),
        (
            "ENTRY e { a = f32[2] parameter(0) r = f32[2] reverse(a), dimensions ={0} }",
            "expected, found",
        ),
        (
            "ENTRY e { a = f32[2] parameter(0) r = f32[2] reverse(a), dimensions={0}, }",
            "expected, found",
        ),
        (
            "ENTRY e { a = f32[] parameter(0) r = f32[] negate(a), metadata={op_name=3} }",
            "op_name takes",
        ),
        ("/* never closed", "nothing ends this comment"),
    ],
)
def test_what_is_no_module_is_refused_with_a_place(text: str, message: str) -> None:
    assert message in fault(text)


@pytest.mark.parametrize(
    "annotations",
    [
        'metadata={op_name="a"}, metadata={op_name="b"}',
        'metadata={op_name="a" op_name="b"}',
        'metadata={source_line="x"}',
        "metadata={source_line=3000000000}",
        "sharding={nonsense}",
        "frontend_attributes={a=1}",
        "backend_config={}, backend_config={}",
    ],
)
def test_wrong_annotations_are_refused_while_the_text_is_read(annotations: str) -> None:
    assert fault(f"ENTRY e {{\n  ROOT %a = f32[] parameter(0), {annotations}\n}}")


def test_what_is_read_later_raises_with_a_place_then() -> None:
    text = r'ENTRY e { ROOT a = f32[] parameter(0), metadata={op_name="n"}, backend_config="\q" }'
    module = parse(text)
    with pytest.raises(HloError) as caught:
        module.entry.root.annotations  # noqa: B018  # reading it is the point
    assert caught.value.location is not None
    assert text[caught.value.location.offset :].startswith(r"\q")
