"""Memory for values: packing, sharing, live ranges, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.analysis.buffer_assignment import Allocation, buffer_assignment, bytes_of
from hlotool.analysis.heap import Block, packed
from hlotool.errors import UsageError
from hlotool.ir.shape import TOKEN, Shape
from hlotool.text.parser import parse

LAYER = (
    Path(__file__).parents[2]
    / "testdata/models/dump/module_0000.jit_layer.cpu_after_optimizations.txt"
)
BLOCKS = st.lists(
    st.builds(
        lambda size, start, length: Block(size, start, start + length),
        st.integers(0, 300),
        st.integers(0, 30),
        st.integers(0, 10),
    ),
    max_size=40,
)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(BLOCKS, st.sampled_from([1, 16, 64]))
def test_blocks_that_are_needed_at_one_time_do_not_overlap(
    blocks: list[Block], alignment: int
) -> None:
    offsets, total = packed(blocks, alignment)
    placed = list(zip(blocks, offsets, strict=True))
    for number, (one, offset) in enumerate(placed):
        assert offset % alignment == 0
        assert 0 <= offset <= offset + one.size <= total or not one.size
        for other, beside in placed[:number]:
            at_one_time = one.start <= other.end and other.start <= one.end
            apart = offset + one.size <= beside or beside + other.size <= offset
            assert apart or not at_one_time or not one.size or not other.size


def test_blocks_one_after_the_other_take_the_memory_of_the_largest() -> None:
    blocks = [Block(100 + step, 2 * step, 2 * step + 1) for step in range(50)]
    assert packed(blocks, 1) == ([0] * 50, 149)


def test_many_blocks_are_packed_as_they_come() -> None:
    blocks = [Block(64, step, step + 3) for step in range(5000)]
    assert packed(blocks, 64)[1] == 4 * 64


def shape_of(text: str) -> Shape:
    module = parse(f"HloModule m\nENTRY e {{\n  ROOT x = {text} parameter(0)\n}}\n")
    return module.entry.root.shape


def temporaries(text: str) -> Allocation:
    (found,) = [one for one in buffer_assignment(parse(text)).allocations if one.is_temporary]
    return found


def test_a_layer_lies_as_the_reference_lays_it() -> None:
    assignment = buffer_assignment(parse(LAYER.read_text(encoding="utf-8")))
    sizes = [allocation.size for allocation in assignment.allocations]
    assert sizes == [32768, 16384, 8192, 512, 512, *[4] * 7, 16640]
    assert assignment.total_bytes == 75036
    heap = assignment.allocations[-1]
    assert [(value.text, buffer.size, offset) for value, buffer, offset in heap.values()] == [
        ("ynn_fusion.1", 128, 16384),
        ("broadcast_subtract_fusion", 16384, 0),
        ("ynn_fusion", 128, 16512),
        ("add_rsqrt_fusion", 128, 16512),
    ]
    # The result lies where a value lay that is read for the last time for it.
    output = assignment.allocations[1]
    assert [value.text for value, _, _ in output.values()] == [
        "ynn_fusion.2",
        "multiply_multiply_fusion",
    ]


def test_elementwise_work_is_done_in_place() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[100] parameter(0)
  a = f32[100] negate(x)
  b = f32[100] sine(a)
  c = f32[100] cosine(b)
  ROOT r = f32[10] slice(c), slice={[0:10]}
}
"""
    assert temporaries(text).size == 400
    # Elements in another place are still to be read when one is written.
    assert temporaries(text.replace("sine(a)", "reverse(a), dimensions={0}")).size == 2 * 448 - 48


def test_an_operand_that_is_read_twice_is_written_over_only_where_both_reads_allow_it() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4,4] parameter(0)
  a = f32[4,4] negate(x)
  b = f32[4,4] fusion(a, a), kind=kLoop, calls=f
  ROOT r = f32[1,1] slice(b), slice={[0:1],[0:1]}
}
"""
    body = """HloModule m
f {
  p = f32[4,4] parameter(0)
  q = f32[4,4] parameter(1)
  t = f32[4,4] transpose(q), dimensions={1,0}
  ROOT s = f32[4,4] add(p, t)
}"""
    assert temporaries(text.replace("HloModule m", body)).size == 128
    plain = body.replace("transpose(q), dimensions={1,0}", "negate(q)")
    assert temporaries(text.replace("HloModule m", plain)).size == 64


def test_memory_spaces_have_memory_of_their_own() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[100] parameter(0)
  a = f32[100]{0:S(5)} reverse(x), dimensions={0}
  b = f32[100] reverse(a), dimensions={0}
  ROOT r = f32[10] slice(b), slice={[0:10]}
}
"""
    found = buffer_assignment(parse(text)).allocations
    assert [(one.color, one.size) for one in found if one.is_temporary] == [(0, 400), (5, 400)]


def test_a_place_is_found_through_tuples() -> None:
    module = parse(
        """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] reverse(a), dimensions={0}
  t = (f32[4], f32[4]) tuple(b, a)
  g = f32[4] get-tuple-element(t), index=1
  ROOT r = f32[4] add(g, b)
}
"""
    )
    assignment = buffer_assignment(module)
    by_name = {one.name: one for one in module.entry.instructions}
    assert assignment.spot((by_name["g"], ())) == assignment.spot((by_name["a"], ()))
    assert assignment.spot((by_name["t"], (0,))) == assignment.spot((by_name["b"], ()))
    assert assignment.spot((by_name["t"], ())) != assignment.spot((by_name["a"], ()))


def test_what_runs_beside_others_keeps_its_memory_until_it_is_done() -> None:
    text = """HloModule m
side {
  p = f32[100] parameter(0)
  i = f32[100] reverse(p), dimensions={0}
  ROOT o = f32[100] reverse(i), dimensions={0}
}, execution_thread="other"
ENTRY e {
  x = f32[100] parameter(0)
  a = f32[100] reverse(x), dimensions={0}
  s = ((f32[100]), f32[100], u32[]) async-start(a), async_execution_thread="other", calls=side
  b = f32[100] reverse(x), dimensions={0}
  c = f32[1] slice(b), slice={[0:1]}
  d = f32[100] async-done(s)
  e = f32[1] slice(d), slice={[0:1]}
  ROOT r = f32[1] add(c, e)
}
"""
    spots = {
        value.text: (offset, buffer.live_range)
        for value, buffer, offset in temporaries(text).values()
    }
    (inner, inner_range), (beside, beside_range) = spots["i"], spots["b"]
    assert inner_range.meets(beside_range)
    assert inner != beside


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("f32[3,4]", 48),
        ("pred[]", 1),
        ("s4[3]{0:E(4)}", 2),
        ("bf16[5,<=7]", 70 + 8),
        ("(f32[8], s32[])", 16),
        ("()", 0),
        ("f32[0,5]", 0),
        ("f32[3]{0:T(128)}", 512),
    ],
)
def test_bytes(shape: str, size: int) -> None:
    assert bytes_of(shape_of(shape)) == size


def test_a_token_takes_no_bytes() -> None:
    assert bytes_of(TOKEN) == 0


def test_a_size_without_a_bound_is_refused() -> None:
    text = "HloModule m\nENTRY e {\n  x = f32[?] parameter(0)\n  ROOT r = f32[?] negate(x)\n}\n"
    with pytest.raises(UsageError, match="has no bound"):
        buffer_assignment(parse(text))
