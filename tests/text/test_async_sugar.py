"""Async sugar: what it stands for, and when it is printed."""

from __future__ import annotations

import pytest

from hlotool.errors import ParseError
from hlotool.ir.module import Module
from hlotool.ops.asynchronous import AsyncDone, AsyncStart, AsyncUpdate
from hlotool.ops.shape_changing import Transpose
from hlotool.text.async_sugar import Sugar, split
from hlotool.text.parser import parse
from hlotool.text.printer import print_module


def module(shape: str, start: str, result: str, computation: str = "") -> Module:
    """Returns a module with one async chain, of which shapes and start are given."""
    return parse(f"""{computation}
ENTRY e {{
  p = f32[4,2] parameter(0)
  q = f32[4,2] parameter(1)
  s = {shape} {start}
  u = {shape} async-update(s)
  ROOT d = {result} async-done(u)
}}""")


def transposing(start: str) -> Module:
    """Returns a module whose chain is begun in some way and yields a turned table."""
    return module("((f32[4,2]), f32[2,4], u32[])", start, "f32[2,4]")


def wrapping(body: str, annotations: str = "") -> Module:
    """Returns a module whose chain wraps a computation on one or two tables."""
    operands = "p, q" if "parameter(1)" in body else "p"
    tables = ", ".join(["f32[4,2]"] * (1 + operands.count(",")))
    start = f"async-start({operands}), calls=w{annotations}"
    return module(f"(({tables}), f32[4,2], u32[])", start, "f32[4,2]", f"w {{ {body} }}")


@pytest.mark.parametrize(
    ("opcode", "parts"),
    [
        ("negate-start", Sugar("negate", "start")),
        ("all-to-all-done", Sugar("all-to-all", "done")),
        ("fusion-update", Sugar("fusion", "update")),
        ("copy-update", Sugar("copy", "update")),
        # Opcodes of their own, payloads, chains in chains, nonsense.
        ("all-gather-start", None),
        ("constant-start", None),
        ("parameter-done", None),
        ("async-start-start", None),
        ("nonsense-start", None),
        ("negate-end", None),
        ("negate", None),
    ],
)
def test_an_opcode_with_a_stage_is_sugar(opcode: str, parts: Sugar | None) -> None:
    assert split(opcode) == parts


def test_a_sugared_start_wraps_one_instruction() -> None:
    found = transposing(
        "transpose-start(p), dimensions={1,0}, sharding={manual},"
        ' async_execution_thread="t", metadata={op_name="n"}, backend_config="b",'
        ' frontend_attributes={a="x"}, origin={{"o"}}'
    )
    done = found.entry.root
    (update,) = done.operands
    (start,) = update.operands
    assert [type(step.op) for step in (start, update, done)] == [AsyncStart, AsyncUpdate, AsyncDone]
    assert start.op == AsyncStart(async_execution_thread="t")
    (wrapped,) = start.calls
    assert wrapped.name == "async_wrapped"
    assert wrapped.execution_thread == "t"
    assert wrapped.root.op == Transpose(dimensions=(1, 0))
    assert wrapped.root.operands == wrapped.parameters
    # What the start is annotated with, the instruction has too, but for what belongs to shapes.
    inner = wrapped.root.annotations
    assert (inner.metadata.op_name, inner.backend_config) == ("n", "b")
    assert dict(inner.frontend_attributes) == {"a": "x"}
    assert start.annotations.frontend_attributes == inner.frontend_attributes
    assert (inner.sharding, inner.origin) == (None, None)


def test_the_accuracy_is_the_wrapped_instructions_alone() -> None:
    found = parse("""ENTRY e { p = f32[] parameter(0)
      s = ((f32[]), f32[], u32[]) tanh-start(p), result_accuracy={mode=highest}
      ROOT d = f32[] tanh-done(s) }""")
    (start,) = found.entry.root.operands
    assert start.annotations.result_accuracy.mode == "default"
    assert start.calls[0].root.annotations.result_accuracy.mode == "highest"
    assert "tanh-start(%p), result_accuracy={mode=highest}" in print_module(found)


@pytest.mark.parametrize(
    ("body", "annotations"),
    [
        ("x = f32[4,2] parameter(0) ROOT n = f32[4,2] negate(x)", ""),
        ("x = f32[4,2] parameter(0) ROOT n = f32[4,2] negate(x)", ", sharding={manual}"),
        ('x = f32[4,2] parameter(0) ROOT n = f32[4,2] negate(x), metadata={op_name="lost"}', ""),
        ("x = f32[4,2] parameter(0) y = f32[4,2] parameter(1) ROOT n = f32[4,2] add(x, y)", ""),
        ('x = f32[4,2] parameter(0) ROOT n = f32[4,2] negate(x), frontend_attributes={a="x"}',
         ', frontend_attributes={a="x"}'),
    ],
)  # fmt: skip
def test_a_body_of_one_instruction_prints_as_sugar(body: str, annotations: str) -> None:
    text = print_module(wrapping(body, annotations))
    assert "async" not in text
    assert "%w" not in text


@pytest.mark.parametrize(
    "body",
    [
        "x = f32[4,2] parameter(0) y = f32[4,2] parameter(1) ROOT n = f32[4,2] add(y, x)",
        "x = f32[4,2] parameter(0) y = f32[4,2] parameter(1) ROOT n = f32[4,2] negate(y)",
        "x = f32[4,2] parameter(0) ROOT n = f32[4,2] add(x, x)",
        "x = f32[4,2] parameter(0) m = f32[4,2] negate(x) ROOT n = f32[4,2] abs(m)",
        "ROOT x = f32[4,2] parameter(0)",
        "x = f32[4,2] parameter(0) ROOT n = f32[4,2] copy(x)",
        "x = f32[4,2] parameter(0) ROOT n = f32[4,2] negate(x), sharding={manual}",
        'x = f32[4,2] parameter(0) ROOT n = f32[4,2] negate(x), frontend_attributes={a="x"}',
    ],
)
def test_a_body_that_sugar_would_change_prints_in_full(body: str) -> None:
    text = print_module(wrapping(body))
    assert "async-start(" in text
    assert "calls=%w" in text
    assert "async-update(%s)" in text
    assert print_module(parse(text)) == text


def test_a_body_that_others_call_too_stays() -> None:
    text = print_module(
        parse("""w { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
    ENTRY e { p = f32[] parameter(0)
      s = ((f32[]), f32[], u32[]) async-start(p), calls=w
      d = f32[] async-done(s)
      ROOT c = f32[] call(d), to_apply=w }""")
    )
    assert "negate-start(%p)" in text
    assert "%w (x: f32[]) -> f32[] {" in text


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("transpose-start(p)", "attribute dimensions is missing"),
        ("transpose-start(p), dimensions={1,0}, kind=kLoop", "takes no attribute kind"),
        ("constant-start(p)", "unknown opcode constant-start"),
    ],
)
def test_starts_that_make_no_sense_are_refused(start: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        transposing(start)
    assert message in caught.value.message


def test_a_start_has_the_shape_of_one() -> None:
    with pytest.raises(ParseError, match="the shape must be"):
        module("f32[2,4]", "transpose-start(p), dimensions={1,0}", "f32[2,4]")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("abs-done(s)", "the operand starts negate"),
        ("negate-done(p)", "the operand is no started negate"),
        ("negate-done(s, s)", "the operand is no started negate"),
    ],
)
def test_steps_must_belong_to_their_start(step: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"""ENTRY e {{ p = f32[] parameter(0)
          s = ((f32[]), f32[], u32[]) negate-start(p) ROOT d = f32[] {step} }}""")
    assert message in caught.value.message
