"""Arrays that loops update: in their own memory, without a copy for each round."""

import numpy as np

import hlotool
from hlotool.runtime.compilation import compiled, prepared
from hlotool.text.parser import parse
from tests.codegen.kernels.one_kernel import assert_same_bits

TEXT = """
HloModule m

condition {
  s = (s32[], f32[30,20], f32[20]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(30)
  ROOT c = pred[] compare(i, n), direction=LT
}

body {
  s = (s32[], f32[30,20], f32[20]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[30,20] get-tuple-element(s), index=1
  r = f32[20] get-tuple-element(s), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  x = f32[] convert(i)
  b = f32[20] broadcast(x), dimensions={}
  y = f32[20] multiply(r, b)
  row = f32[1,20] reshape(y)
  u = f32[30,20] dynamic-update-slice(a, row, i, zero)
  ROOT t = (s32[], f32[30,20], f32[20]) tuple(j, u, r)
}

ENTRY e {
  z = s32[] constant(0)
  a = f32[30,20] parameter(0)
  r = f32[20] parameter(1)
  t = (s32[], f32[30,20], f32[20]) tuple(z, a, r)
  w = (s32[], f32[30,20], f32[20]) while(t), condition=condition, body=body
  ROOT q = f32[30,20] get-tuple-element(w), index=1
}
"""

ROW = "  row = f32[1,20] reshape(y)\n"
READS_ITSELF = """
  old = f32[1,20] dynamic-slice(a, i, zero), dynamic_slice_sizes={1,20}
  more = f32[1,20] reshape(y)
  row = f32[1,20] add(old, more)
"""
READS_ANOTHER = READS_ITSELF.replace("(a, i,", "(a, j,")


def test_what_a_row_was_may_be_read() -> None:
    check(TEXT.replace(ROW, READS_ITSELF), copies=False)


def test_rows_that_are_needed_later_are_kept() -> None:
    check(TEXT.replace(ROW, READS_ANOTHER), copies=None)


def check(text: str, *, copies: bool | None) -> None:
    """Checks what a module yields, and whether it copies anything in its loop."""
    executable = compiled(parse(text))
    if copies is not None:
        body = next(one for one in executable.module.computations if one.name == "body")
        assert ("copy" in {one.opcode for one in body.instructions}) == copies
    random = np.random.default_rng(0)
    arguments = [random.standard_normal(n).astype(np.float32) for n in ((30, 20), 20)]
    (found,) = executable.run(arguments)
    assert_same_bits(found, hlotool.evaluate(text, *arguments))
    assert not executable.program.host_calls


def test_a_fused_update_in_a_loop_copies_nothing() -> None:
    module = prepared(parse(TEXT))
    body = next(one for one in module.computations if one.name == "body")
    assert "copy" not in {one.opcode for one in body.instructions}
    assert "dynamic-update-slice" not in {one.opcode for one in body.instructions}


def test_only_the_row_is_written_in_each_round() -> None:
    executable = compiled(parse(TEXT))
    updates = [
        one for one in executable.program.launches if "dynamic-update" in one.instruction.name
    ]
    assert [one.count for one in updates] == [20]
    random = np.random.default_rng(0)
    arguments = [random.standard_normal(n).astype(np.float32) for n in ((30, 20), 20)]
    (found,) = executable.run(arguments)
    assert_same_bits(found, hlotool.evaluate(TEXT, *arguments))
