"""Texts made to be as hard to read as they can be: deep, long, cut off, with extreme numbers."""

from pathlib import Path
from random import Random

import pytest

from hlotool.cli.driver import hlo_opt
from hlotool.errors import HloError
from hlotool.text.parser import parse, parse_shape
from tests.text.test_fuzz import check

DEEP = 10_000
LONG = 1_000_000
MANY = 4000
MOST = (1 << 63) - 1
P = "  p = f32[4] parameter(0)\n"
NEGATE = "  ROOT r = f32[4] negate(p)"


def entry(body: str, header: str = "HloModule m") -> str:
    return f"{header}\n\nENTRY e {{\n{body}\n}}\n"


def attribute(text: str, opcode: str = "negate") -> str:
    return entry(f"{P}  ROOT r = f32[4] {opcode}(p), {text}")


def nested(opening: str, closing: str, inside: str = "", depth: int = DEEP) -> str:
    return opening * depth + inside + closing * depth


def message(text: str, *, lenient: bool = False) -> str:
    with pytest.raises(HloError) as caught:
        parse(text, lenient=lenient)
    assert caught.value.location is not None
    return str(caught.value)


INLINE = "call(p), to_apply={ p = f32[4] parameter(0) ROOT r = f32[4] "
DEEP_TEXTS = {
    "tuple_shape": entry(f"  ROOT r = {nested('(', ')', 'f32[]')} parameter(0)"),
    "tuple_shape_open": entry("  ROOT r = " + "(" * DEEP),
    "operands": entry(f"{P}  ROOT r = f32[4] {nested('negate(', ')', 'p')}"),
    "operands_open": entry(f"{P}  ROOT r = f32[4] " + "negate(" * DEEP),
    "single_instruction": nested("negate(", ")", "f32[4] p"),
    "inline": entry(f"{P}  ROOT s = f32[4] {nested(INLINE, '}', 'negate(p)')}"),
    "inline_open": entry(f"{P}  ROOT s = f32[4] " + INLINE * DEEP),
    "inline_some": entry(f"{P}  ROOT s = f32[4] {nested(INLINE, '}', 'negate(p)', 50)}"),
    "json": attribute("backend_config=" + nested('{"a":', "}", "1")),
    "json_open": attribute("backend_config=" + '{"a":' * DEEP),
    "frontend": attribute("frontend_attributes={a=" + nested("{", "}") + "}"),
    "sharding": attribute("sharding=" + nested("{", "}")),
    "sharding_some": attribute("sharding=" + nested("{", "}", "replicated", 1000)),
    "metadata": attribute("metadata=" + nested("{", "}")),
    "origin": attribute("origin={" + nested("(", ")", '{"a"}') + "}"),
    "literal": entry(f"  ROOT r = f32[2] constant({nested('{', '}')})"),
    "literal_tuple": entry(f"  ROOT r = (f32[2]) constant({nested('(', ')')})"),
    "literal_typed": attribute(
        'custom_call_target="f", literal=' + nested("(", ")", "s32[] 1"), "custom-call"
    ),
    "comments": entry(nested("/*", "*/") + P + NEGATE),
    "alias": entry(P + NEGATE, "HloModule m, input_output_alias=" + nested("{", "}")),
    "layout": entry(
        P + NEGATE, f"HloModule m, entry_computation_layout={{({nested('(', ')')})->f32[]}}"
    ),
    "braces": "{" * LONG,
    "parentheses": "(" * LONG,
    "brackets": "HloModule m\n\nENTRY e " + "{" * LONG,
}


@pytest.mark.parametrize("name", DEEP_TEXTS)
def test_what_nests_too_deeply_is_an_error(name: str) -> None:
    assert check(DEEP_TEXTS[name]) is False


@pytest.mark.parametrize(
    "text",
    [
        entry(f"  ROOT r = {nested('(', ')', 'f32[]', 90)} parameter(0)"),
        entry(f"{P}  ROOT r = f32[4] {nested('negate(', ')', 'p', 90)}"),
        entry(f"{P}  ROOT s = f32[4] {nested(INLINE, '}', 'negate(p)', 15)}"),
        attribute("backend_config=" + nested('{"a":', "}", "1", 1000)),
        entry(f"  ROOT r = f32[{'1,' * 499}1] constant({nested('{', '}', '1', 500)})"),
        entry(f"  ROOT r = {nested('(', ')', 's32[]', 90)} constant({nested('(', ')', '1', 90)})"),
        attribute("origin={" + nested("(", ")", '{"a"}', 90) + "}"),
    ],
    ids=["shape", "operands", "inline", "json", "rank", "literal", "origin"],
)
def test_what_nests_deeply_is_read(text: str) -> None:
    assert check(text) is True


GOOD_LONG = {
    "name": entry(f"{P}  {'b' * LONG} = f32[4] negate(p)\n  ROOT r = f32[4] negate({'b' * LONG})"),
    "string": attribute(f'metadata={{op_name="{"b" * LONG}"}}'),
    "escapes": attribute('metadata={op_name="' + r"\n" * (LONG // 10) + '"}'),
    "spaces": entry(P + " " * LONG + NEGATE),
    "lines": entry(P + "\n" * LONG + NEGATE),
    "comments": entry(P + "/* a */ // b\n" * MANY + NEGATE),
    "zeros": entry(f"  ROOT r = s32[] constant({'0' * LONG}1)"),
    "digits": entry(f"  ROOT r = f32[] constant(0.{'9' * LONG})"),
    "line": "HloModule m ENTRY e { p = f32[4] parameter(0) "
    + " ".join(f"b_{i} = f32[4] negate(p)" for i in range(MANY))
    + NEGATE
    + "}",
    "chain": entry(
        "  b_0 = f32[4] parameter(0)\n"
        + "\n".join(f"  b_{i + 1} = f32[4] add(b_{i}, b_{i})" for i in range(MANY))
    ),
    "operands": entry(
        f"{P}  ROOT r = ({', '.join(['f32[4]'] * MANY)}) tuple({', '.join(['p'] * MANY)})"
    ),
    "nested_operands": entry(
        f"{P}  ROOT r = ({', '.join(['f32[4]'] * MANY)}) tuple({', '.join(['abs(p)'] * MANY)})"
    ),
    "elements": entry(
        f"  p = ({', '.join(['f32[]'] * MANY)}) parameter(0)\n"
        + "".join(f"  g_{i} = f32[] get-tuple-element(p), index={i}\n" for i in range(MANY))
    ),
    "computations": "".join(f"k_{i} {{ ROOT p = f32[] parameter(0) }}\n" for i in range(MANY)),
    "frontend": attribute(
        "frontend_attributes={" + ",".join(f'a_{i}="1"' for i in range(MANY)) + "}"
    ),
    "shardings": entry(
        f"  ROOT r = ({', '.join(['f32[4]'] * MANY)}) parameter(0), sharding={{replicated}}"
    ),
    "mesh": attribute(
        "sharding={mesh[" + ",".join(f'"x{i}"=1' for i in range(MANY)) + '], [{"x1"}]}'
    ),
    "updates": entry(
        f"{P}  u_0 = ((f32[4]), f32[4], u32[]) negate-start(p)\n"
        + "".join(
            f"  u_{i + 1} = ((f32[4]), f32[4], u32[]) negate-update(u_{i})\n" for i in range(MANY)
        )
        + f"  ROOT d = f32[4] negate-done(u_{MANY})"
    ),
}  # fmt: skip
BAD_LONG = {
    "name": entry(f"{P}  ROOT r = f32[4] negate({'b' * LONG})"),
    "opcode": entry(f"{P}  ROOT r = f32[4] {'b-' * LONG}(p)"),
    "attributes": attribute(", ".join(f"a_{i}=1" for i in range(MANY))),
    "attributes_again": attribute(", ".join(['metadata={op_name="a"}'] * MANY)),
    "string_open": attribute(f'metadata={{op_name="{"b" * LONG}'),
    "quotes": attribute("metadata={op_name=" + '"' * (LONG // 10)),
    "backslashes": attribute('metadata={op_name="' + "\\" * (LONG + 1) + '"}'),
    "spaces": attribute("metadata={}" + " " * LONG + "$"),
    "comment_open": entry(P + "/* a " * MANY),
    "stars": entry(P + "/*" + "*" * LONG),
    "slashes": "/" * LONG,
    "words": "HloModule m\n\nENTRY e {" + "a " * LONG,
    "number": entry(f"  ROOT r = f32[{'9' * LONG}] parameter(0)"),
    "window": attribute(f"window={{size={'9' * LONG}}}, dim_labels=b0f_0io->b0f", "convolution"),
    "integer": entry(f"  ROOT r = s32[] constant({'9' * LONG})"),
    "signature": "ENTRY e (" + ", ".join(f"p_{i}: f32[]" for i in range(MANY)),
    "unclosed": entry(
        f"{P}  b = f32[4] negate(p), metadata={{\n"
        + "\n".join(f"  b_{i} = f32[4] negate(p)" for i in range(MANY))
    ),
    "mesh": attribute("sharding={mesh[" + ",".join(f'"x{i}"=2' for i in range(MANY)) + "], [{}]}"),
}


@pytest.mark.parametrize("name", GOOD_LONG)
def test_long_texts_are_read(name: str) -> None:
    assert check(GOOD_LONG[name]) is True


@pytest.mark.parametrize("name", BAD_LONG)
def test_long_texts_may_be_wrong(name: str) -> None:
    assert check(BAD_LONG[name]) is False


def test_computations_that_call_each_other_twice_are_visited_once() -> None:
    start = (
        '  s_{0} = ((f32[]), f32[], s32[]) async-start({1}), calls={2}, async_execution_thread="x"'
    )
    text = "HloModule m\n\nk_0 {\n  ROOT p = f32[] parameter(0)\n}\n"
    for level in range(60):
        called = f"k_{level}"
        text += (
            f"k_{level + 1} {{\n  p = f32[] parameter(0)\n"
            f"{start.format(0, 'p', called)}\n  d = f32[] async-done(s_0)\n"
            f"{start.format(1, 'd', called)}\n  ROOT r = f32[] async-done(s_1)\n}}\n"
        )
    assert check(text) is True


SIZES = ",".join([str(MOST)] * 300)
EXTREME = {
    "reshape": entry(f"  p = f32[{SIZES}] parameter(0)\n  ROOT r = f32[4] reshape(p)"),
    "reshape_to": entry(f"{P}  ROOT r = f32[{SIZES}] reshape(p)"),
    "bitcast": entry(f"  p = f32[{SIZES}] parameter(0)\n  ROOT r = s8[4] bitcast(p)"),
    "elided": entry(f"  ROOT r = f32[{SIZES}] constant({{...}})"),
    "listed": entry(f"  ROOT r = f32[{MOST}] constant({{1, 2}})"),
    "tiles": attribute(f"sharding={{devices=[{SIZES}]<=[4]}}"),
    "many_tiles": attribute(f"sharding={{devices=[{MOST},2]<=[{MOST},2]T(1,0)}}"),
    "groups": attribute(
        f"dimensions={{0}}, replica_groups=[{MOST},1]<=[{MOST}]", "all-gather"
    ),
    "mesh_groups": attribute(
        'dimensions={0}, replica_groups=mesh["x"=1048576,"y"=1048576]{"x","y"}', "all-gather"
    ),
    "mesh": attribute(f'sharding={{mesh["x"={MOST},"y"={MOST}], [{{"x"}}]}}'),
    "parameter": entry(f"  ROOT r = f32[] parameter({MOST})"),
    "pad": entry(f"{P}  z = f32[] constant(0)\n  ROOT r = f32[4] pad(p, z), padding={MOST}_0_9"),
    "slice": attribute(f"slice={{[-{MOST}:{MOST}:{MOST}]}}", "slice"),
    "broadcast": attribute(f"dimensions={{{MOST}}}", "broadcast"),
    "reverse": attribute(f"dimensions={{-{MOST}}}", "reverse"),
    "layout": entry(f"  ROOT r = f32[4]{{{MOST}:T({MOST})E({MOST})S({MOST})}} parameter(0)"),
    "counts": entry(
        f"{P}  ROOT r = f32[4] all-gather(p), dimensions={{0}}, replica_groups={{}}",
        f"HloModule m, replica_count={MOST}, num_partitions={MOST}",
    ),
    "frame": attribute(f"metadata={{stack_frame_id={MOST}}}"),
    "statistics": attribute("statistics={visualizing_index=nan}"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_numbers_raise_nothing_else(name: str) -> None:
    check(EXTREME[name])


def test_every_beginning_of_a_module(root: Path) -> None:
    text = (root / "testdata" / "models" / "jax" / "f8_dot.hlo").read_text(encoding="utf-8")
    text += (
        "k {\n  x = (f32[2]{0:T(2)}, s32[]) parameter(0)\n"
        "  /* a */ y = s32[2,1] constant({{1}, {-2}})\n"
        "  ROOT z = f32[] call(y), to_apply={ ROOT q = f32[] parameter(0) },"
        ' metadata={op_name="a\\n"}\n'
        "}\n"
    )
    for end in range(len(text)):
        check(text[:end])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("opening", ["", "HloModule m\n\nENTRY e {\n"])
def test_garbage(opening: str, seed: int) -> None:
    random = Random(seed)  # noqa: S311  # not for secrets
    characters = "abfps321 (){}[]=,:%\"'/*\\\n-><.$\u00e9"
    assert check(opening + "".join(random.choices(characters, k=LONG))) is False


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("HloModule m\0", ":1:12: a NUL byte is no HLO text"),
        ("HloModule m\ud800", ":1:12: U+D800 alone is no character"),
        ("", ":1:1: the text is empty"),
        ("/* only */ // this", ":1:1: the text is empty"),
        ("// RUN\nx", "what begins with neither HloModule nor a computation"),
    ],
)
def test_texts_that_are_none(text: str, words: str) -> None:
    assert words in message(text)


def test_bytes_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "module.hlo"
    path.write_bytes(b"HloModule m\n\nENTRY e {\n  \xff = f32[] parameter(0)\n}\n")
    assert hlo_opt([str(path)]) == 1
    assert "module.hlo:4:3: error: byte 0xff is not valid UTF-8" in capsys.readouterr().err


def test_a_value_that_was_read_before_has_its_own_place() -> None:
    wrong = "  ROOT r = f32[4] negate(p), control-predecessors={q}"
    parse(entry(P + "  q = f32[4] negate(p)\n" + wrong))
    assert ":5:52: instruction q does not exist" in message(entry(P + wrong))


def test_shapes_have_their_own_errors() -> None:
    for text, words in [
        ("f32[2", "<shape>:1:6: ',' or ']' expected, found the end of the text"),
        ("f33[2]", "<shape>:1:1: unknown element type f33; did you mean f32?"),
        ("f32[2] x", "<shape>:1:8: "),
    ]:
        with pytest.raises(HloError) as caught:
            parse_shape(text)
        assert words in str(caught.value)
