"""Memory for values: packing, sharing, live ranges, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.analysis.buffer_assignment import Allocation, buffer_assignment, bytes_of
from hlotool.analysis.heap import Block, Space, packed
from hlotool.errors import UsageError
from hlotool.ir.shape import TOKEN, Shape
from hlotool.text.parser import parse

LAYER = (
    Path(__file__).parents[2]
    / "testdata/models/dump/module_0000.jit_layer.cpu_after_optimizations.txt"
)
BLOCKS = st.lists(
    st.builds(
        lambda size, start, length, alignment: Block(size, start, start + length, alignment),
        st.integers(0, 300),
        st.integers(0, 30),
        st.integers(0, 10),
        st.sampled_from([1, 16, 64]),
    ),
    max_size=40,
)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(BLOCKS)
def test_blocks_that_are_needed_at_one_time_do_not_overlap(blocks: list[Block]) -> None:
    offsets, total = packed(blocks)
    placed = list(zip(blocks, offsets, strict=True))
    for number, (one, offset) in enumerate(placed):
        assert offset % one.alignment == 0
        assert 0 <= offset <= offset + one.size <= total or not one.size
        for other, beside in placed[:number]:
            at_one_time = one.start <= other.end and other.start <= one.end
            apart = offset + one.size <= beside or beside + other.size <= offset
            assert apart or not at_one_time or not one.size or not other.size


@settings(derandomize=True, deadline=None, max_examples=40)
@given(BLOCKS, st.integers(0, 500), st.integers(0, 40))
def test_blocks_in_a_space_are_done_before_it_is_needed(
    blocks: list[Block], size: int, start: int
) -> None:
    space = Space(size, start)
    placed: list[tuple[Block, int]] = []
    for block in blocks:
        offset = space.take(block)
        if offset is None:
            continue
        assert block.end < start
        assert offset % block.alignment == 0
        assert 0 <= offset <= offset + block.size <= size
        for other, beside in placed:
            at_one_time = block.start <= other.end and other.start <= block.end
            apart = offset + block.size <= beside or beside + other.size <= offset
            assert apart or not at_one_time or not block.size or not other.size
        placed.append((block, offset))


def test_a_space_takes_as_many_blocks_as_fit() -> None:
    space = Space(100, 5)
    sizes = [60, 40, 40, 100]
    blocks = [Block(size, start, 4) for size, start in zip(sizes, [0, 1, 3, 3], strict=True)]
    assert [space.take(block) for block in blocks] == [0, 60, None, None]
    assert space.take(Block(40, 0, 0)) == 60
    assert space.take(Block(1, 3, 5)) is None


def test_blocks_that_are_needed_long_are_placed_first_where_that_takes_less() -> None:
    blocks = [Block(40, 1, 3), Block(20, 5, 8), Block(30, 4, 5), Block(40, 2, 5)]
    # The largest first, the third one would lie on top of the last one and a gap of 40 bytes.
    assert packed(blocks)[1] == 90


def test_blocks_one_after_the_other_take_the_memory_of_the_largest() -> None:
    blocks = [Block(100 + step, 2 * step, 2 * step + 1) for step in range(50)]
    assert packed(blocks) == ([0] * 50, 149)


def test_many_blocks_are_packed_as_they_come() -> None:
    blocks = [Block(64, step, step + 3, 64) for step in range(5000)]
    assert packed(blocks)[1] == 4 * 64


def shape_of(text: str) -> Shape:
    module = parse(f"HloModule m\nENTRY e {{\n  ROOT x = {text} parameter(0)\n}}\n")
    return module.entry.root.shape


def temporaries(text: str) -> Allocation:
    found = [one for one in buffer_assignment(parse(text)).allocations if one.is_temporary]
    (arrays,) = [one for one in found if not one.holds_tables]
    return arrays


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
    assert temporaries(text.replace("sine(a)", "reverse(a), dimensions={0}")).size == 2 * 400


ROWS = """HloModule m, is_scheduled=true
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
fused {
  x = f32[10,10] parameter(0)
  zero = f32[] constant(0)
  total = f32[10] reduce(x, zero), dimensions={1}, to_apply=sum
  totals = f32[10,10] broadcast(total), dimensions={0}
  ROOT r = f32[10,10] divide(x, totals)
}
ENTRY e {
  p = f32[10,10] parameter(0)
  turned = f32[10,10] reverse(p), dimensions={0}
  parts = f32[10,10] fusion(turned), kind=kInput, calls=fused
  ROOT some = f32[5,10] slice(parts), slice={[0:5]}
}
"""


def test_rows_are_written_over_those_that_are_folded() -> None:
    assert temporaries(ROWS).size == 400
    columns = ROWS.replace("(total), dimensions={0}", "(total), dimensions={1}")
    assert temporaries(columns).size == 2 * 400


def test_rows_are_written_elsewhere_where_that_takes_less() -> None:
    text = ROWS.replace(
        "  ROOT some = f32[5,10] slice(parts), slice={[0:5]}",
        """  c = f32[10,10] reverse(parts), dimensions={0}
  d = f32[10,10] reverse(c), dimensions={0}
  ROOT whole = f32[10,10] reverse(d), dimensions={0}""",
    )
    assert temporaries(text).size == 400
    # With `parts` over `turned` there would be no room for `c` in the result.
    places = where(text)
    assert [places[name] for name in ("turned", "c", "whole")] == 3 * [("result", 0)]
    assert [places[name] for name in ("parts", "d")] == 2 * [("temporary", 0)]


def test_a_call_that_yields_its_operand_is_done_in_place() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[100] parameter(0)
  a = f32[100] reverse(x), dimensions={0}
  b = f32[100] custom-call(a), custom_call_target="Sharding"
  ROOT r = f32[10] slice(b), slice={[0:10]}
}
"""
    assert temporaries(text).size == 400
    assert temporaries(text.replace("Sharding", "unknown")).size == 800


SORTING = """HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[100] parameter(0)
  k = f32[100] reverse(x), dimensions={0}
  v = s32[100] iota(), iota_dimension=0
  s = (f32[100], s32[100]) sort(k, v), dimensions={0}, to_apply=less
  g = f32[100] get-tuple-element(s), index=0
  h = s32[100] get-tuple-element(s), index=1
  gg = f32[1] slice(g), slice={[0:1]}
  hh = s32[1] slice(h), slice={[0:1]}
  ROOT t = (f32[1], s32[1]) tuple(gg, hh)
}
"""


def test_a_sort_is_done_in_place() -> None:
    assert temporaries(SORTING).size == 800
    # What is read later stays as it is.
    again = SORTING.replace("gg = f32[1] slice(g)", "gg = f32[1] slice(k)")
    assert temporaries(again).size == 1200
    turned = SORTING.replace("[100]", "[10,10]").replace("[0:1]", "[0:1],[0:1]")
    turned = turned.replace("f32[1] ", "f32[1,1] ").replace("s32[1] ", "s32[1,1] ")
    turned = turned.replace("(f32[1], s32[1])", "(f32[1,1], s32[1,1])")
    assert temporaries(turned).size == 800
    other_layout = turned.replace("v = s32[10,10]", "v = s32[10,10]{0,1}")
    assert temporaries(other_layout).size == 1600


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


LENDING = """HloModule m
ENTRY e {
  x = f32[100] parameter(0)
  y = f32[120] parameter(1)
  a = f32[30] slice(x), slice={[0:30]}
  b = f32[60] concatenate(a, a), dimensions={0}
  c = f32[20] slice(b), slice={[0:20]}
  ROOT r = f32[120] negate(y), control-predecessors={c}
}
"""


def where(text: str) -> dict[str, tuple[str, int]]:
    """Returns whether each value lies in a result or among the temporaries, and at which offset."""
    found: dict[str, tuple[str, int]] = {}
    for allocation in buffer_assignment(parse(text)).allocations:
        kind = "result" if allocation.is_live_out else "temporary"
        if allocation.parameter is None or allocation.is_live_out:
            found |= {value.text: (kind, offset) for value, _, offset in allocation.values()}
    return found


def test_temporaries_lie_in_the_memory_of_a_result_until_it_is_computed() -> None:
    places = {"a": ("result", 240), "b": ("result", 0), "c": ("result", 240), "r": ("result", 0)}
    assert where(LENDING) == places
    # What the result is made of is still needed when it is written.
    text = LENDING.replace("c = ", "e = f32[120] reverse(y), dimensions={0}\n  c = ")
    text = text.replace("negate(y), control", "reverse(e), dimensions={0}, control")
    assert where(text) == {**places, "e": ("temporary", 0)}


def test_results_of_narrower_elements_hold_no_temporaries() -> None:
    # Their memory may begin at any byte.
    text = LENDING.replace("f32[120]", "s8[480]")
    kinds = {name: kind for name, (kind, _) in where(text).items()}
    assert kinds == dict.fromkeys("abc", "temporary") | {"r": "result"}


def test_results_in_the_memory_of_inputs_hold_no_temporaries() -> None:
    text = LENDING.replace("m\n", "m, input_output_alias={ {}: (1, {}, may-alias) }\n", 1)
    kinds = {name: kind for name, (kind, _) in where(text).items()}
    assert {kinds[name] for name in "abc"} == {"temporary"}


def test_tables_of_tuples_are_apart_from_arrays() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  t = (f32[4], f32[4]) tuple(a, x)
  g = f32[4] get-tuple-element(t), index=0
  ROOT r = f32[1] slice(g), slice={[0:1]}
}
"""
    arrays, tables = (one for one in buffer_assignment(parse(text)).allocations if one.is_temporary)
    assert (arrays.size, arrays.holds_tables) == (16, False)
    assert (tables.size, tables.holds_tables) == (16, True)


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
