"""The passes that see that each device takes just its own piece."""

import pytest

from hlotool.passes.collectives.all_gather_dynamic_slice_simplifier import (
    AllGatherDynamicSliceSimplifier,
)
from hlotool.passes.collectives.all_reduce_splitter import AllReduceSplitter
from hlotool.passes.collectives.reduce_scatter_creator import ReduceScatterCreator
from hlotool.rewriting.journal import Journal
from tests.passes.checking import opcodes, passed
from tests.passes.collectives.devices import ALL, OTHER_PAIRS, PAIRS, on_devices

_OWN_OF_FOUR = """  step = s32[] constant(8)
  at = s32[] multiply(i, step)"""
_OWN_OF_TWO = """  eight = u32[] constant(8)
  at = u32[] multiply(q, eight)"""
_GIVEN = """  pi = s32[8] convert(p)
  ps = s32[1] slice(pi), slice={[0:1]}
  at = s32[] reshape(ps)"""
_TABLE = """  table = s32[4] constant({0, 8, 16, 24})
  row = s32[1] dynamic-slice(table, i), dynamic_slice_sizes={1}
  at = s32[] reshape(row)"""


@pytest.mark.parametrize(
    ("index", "groups", "count"),
    [(_OWN_OF_FOUR, ALL, 4), (_TABLE, ALL, 4), (_OWN_OF_TWO, PAIRS, 2)],
)
def test_what_was_gathered_is_not_sliced_again(index: str, groups: str, count: int) -> None:
    module = passed(
        on_devices(
            f"""{index}
  g = f32[{8 * count}] all-gather(x), {groups}, dimensions={{0}}
  d = f32[8] dynamic-slice(g, at), dynamic_slice_sizes={{8}}
  ROOT n2 = f32[8] negate(d)"""
        ),
        AllGatherDynamicSliceSimplifier(),
    )
    assert "all-gather" not in opcodes(module)


@pytest.mark.parametrize(
    ("index", "groups"),
    [
        (_OWN_OF_TWO, OTHER_PAIRS),
        ("  at = s32[] constant(0)", PAIRS),
        ("  at = s32[] add(i, one)", PAIRS),
        (_GIVEN, PAIRS),
    ],
)  # fmt: skip
def test_pieces_of_others_are_sliced(index: str, groups: str) -> None:
    module = passed(
        on_devices(
            f"""{index}
  g = f32[16] all-gather(x), {groups}, dimensions={{0}}
  ROOT d = f32[8] dynamic-slice(g, at), dynamic_slice_sizes={{8}}"""
        ),
        AllGatherDynamicSliceSimplifier(),
    )
    assert opcodes(module)[-2:] == ["all-gather", "dynamic-slice"]


def _sliced_sum(groups: str, index: str, size: int, more: str = "") -> str:
    return on_devices(
        f"""{index}
  g = f32[8] all-reduce(x), {groups}, to_apply=add
  d = f32[{size}] dynamic-slice(g, at), dynamic_slice_sizes={{{size}}}
  ROOT t = (f32[{size}]{more and ", f32[8]"}) tuple(d{more})"""
    )


_TWOS = "  two = s32[] constant(2)\n  at = s32[] multiply(i, two)"
_FOURS = "  four = u32[] constant(4)\n  at = u32[] multiply(q, four)"


def test_a_sum_of_which_each_takes_its_piece_is_scattered() -> None:
    for groups, index, size in [(ALL, _TWOS, 2), (PAIRS, _FOURS, 4)]:
        module = passed(_sliced_sum(groups, index, size), ReduceScatterCreator())
        assert opcodes(module)[-2:] == ["reduce-scatter", "tuple"]


def test_a_sum_that_is_used_whole_is_not_scattered() -> None:
    module = passed(_sliced_sum(ALL, _TWOS, 2, ", g"), ReduceScatterCreator())
    assert "all-reduce" in opcodes(module)
    other = passed(_sliced_sum(OTHER_PAIRS, _FOURS, 4), ReduceScatterCreator())
    assert "all-reduce" in opcodes(other)


def test_a_sum_is_split_so_that_it_can_be_scattered() -> None:
    module = passed(_sliced_sum(ALL, _FOURS, 4), AllReduceSplitter())
    assert opcodes(module)[-4:] == ["all-reduce", "dynamic-slice", "all-reduce", "tuple"]
    first, second = (one for one in module.entry.instructions if one.opcode == "all-reduce")
    assert dict(first.op.written())["replica_groups"] == "{{0,1},{2,3}}"
    assert dict(second.op.written())["replica_groups"] == "{{0,2},{1,3}}"
    assert dict(first.op.written())["channel_id"] != dict(second.op.written())["channel_id"]
    assert ReduceScatterCreator().run(module, Journal())
    assert "reduce-scatter" in opcodes(module)


@pytest.mark.parametrize(
    ("groups", "index", "size"),
    [(ALL, _TWOS, 2), (ALL, "  at = s32[] constant(4)", 4), (OTHER_PAIRS, _FOURS, 4)],
)
def test_other_sums_are_not_split(groups: str, index: str, size: int) -> None:
    module = passed(_sliced_sum(groups, index, size), AllReduceSplitter())
    assert opcodes(module).count("all-reduce") == 1
