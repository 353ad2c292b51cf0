"""The passes on all-gathers and all-to-alls, and those that send narrower numbers."""

import pytest

from hlotool.passes.collectives.all_gather_bcast_reorder import AllGatherBroadcastReorder
from hlotool.passes.collectives.all_gather_combiner import AllGatherCombiner
from hlotool.passes.collectives.all_gather_cse import AllGatherCse
from hlotool.passes.collectives.all_to_all_decomposer import AllToAllDecomposer
from hlotool.passes.collectives.collective_quantizer import CollectiveQuantizer
from hlotool.passes.collectives.collective_transformation_reorderer import (
    CollectiveTransformationReorderer,
)
from hlotool.passes.collectives.reduce_scatter_reassociate import ReduceScatterReassociate
from hlotool.passes.collectives.reorder_convert_reduce_add import ReorderConvertReduceAdd
from tests.passes.checking import opcodes, passed
from tests.passes.collectives.devices import ALL, PAIRS, on_devices


def _tail(text: str, one: object, count: int, *, exact: bool | None = None) -> list[str]:
    module = passed(text, one, exact=exact)  # type: ignore[arg-type]  # any pass
    return opcodes(module)[-count:]


def test_all_gathers_along_one_dimension_are_combined() -> None:
    text = on_devices(
        f"""  y = f32[2,4] reshape(x)
  g = f32[32] all-gather(x), {ALL}, dimensions={{0}}
  h = f32[8,4] all-gather(y), {ALL.replace("=1,", "=2,")}, dimensions={{0}}
  l = f32[2,16] all-gather(y), {ALL.replace("=1,", "=3,")}, dimensions={{1}}
  ROOT t = (f32[32], f32[8,4], f32[2,16]) tuple(g, h, l)"""
    )
    assert opcodes(passed(text, AllGatherCombiner())).count("all-gather") == 2
    small = AllGatherCombiner(combine_threshold_in_bytes=200)
    assert opcodes(passed(text, small)).count("all-gather") == 3


@pytest.mark.parametrize(
    "body",
    [
        # along a dimension of the operand, and along a new one
        f"""  w = f32[8,3] broadcast(x), dimensions={{0}}
  ROOT g = f32[32,3] all-gather(w), {ALL}, dimensions={{0}}""",
        f"""  w = f32[3,8] broadcast(x), dimensions={{1}}
  ROOT g = f32[12,8] all-gather(w), {ALL}, dimensions={{0}}""",
        f"""  w = f32[8,3] broadcast(x), dimensions={{0}}
  ROOT g = f32[8,6] all-gather(w), {PAIRS}, dimensions={{1}}""",
        f"""  w = f32[3] broadcast(f), dimensions={{}}
  ROOT g = f32[6] all-gather(w), {PAIRS}, dimensions={{0}}""",
    ],
)
def test_gathering_comes_before_broadcasting(body: str) -> None:
    module = passed(on_devices(body), AllGatherBroadcastReorder())
    found = opcodes(module)
    last = len(found) - 1 - found[::-1].index("broadcast")
    assert last > found.index("all-gather")


def test_a_broadcast_used_otherwise_stays_before() -> None:
    text = on_devices(
        f"""  w = f32[8,3] broadcast(x), dimensions={{0}}
  g = f32[32,3] all-gather(w), {ALL}, dimensions={{0}}
  ROOT t = (f32[8,3], f32[32,3]) tuple(w, g)"""
    )
    assert _tail(text, AllGatherBroadcastReorder(), 3) == ["broadcast", "all-gather", "tuple"]


def test_equal_all_gathers_of_parameters_are_shared() -> None:
    text = f"""HloModule m, replica_count=2, num_partitions=2
cond {{
  c = (s32[], f32[4]) parameter(0)
  n = s32[] get-tuple-element(c), index=0
  three = s32[] constant(3)
  ROOT l = pred[] compare(n, three), direction=LT
}}
body {{
  c = (s32[], f32[4]) parameter(0)
  n = s32[] get-tuple-element(c), index=0
  one = s32[] constant(1)
  m = s32[] add(n, one)
  v = f32[4] get-tuple-element(c), index=1
  u = (f32[4]) opt-barrier((f32[4]) tuple(v))
  w = f32[4] get-tuple-element(u), index=0
  g = f32[16] all-gather(v), {ALL}, dimensions={{0}}
  h = f32[16] all-gather(w), {ALL.replace("=1,", "=2,")}, dimensions={{0}}
  k = f32[16] add(g, h)
  s = f32[4] slice(k), slice={{[2:6]}}
  ROOT t = (s32[], f32[4]) tuple(m, s)
}}
ENTRY e {{
  p = f32[4] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[4]) tuple(z, p)
  ROOT w = (s32[], f32[4]) while(t), condition=cond, body=body
}}
"""
    text = text.replace(
        "  u = (f32[4]) opt-barrier((f32[4]) tuple(v))",
        "  o = (f32[4]) tuple(v)\n  u = (f32[4]) opt-barrier(o)",
    )
    module = passed(text, AllGatherCse())
    body = module.entry.root.calls[1]
    assert sum(i.opcode == "all-gather" for i in body.instructions) == 1


@pytest.mark.parametrize("dimension", [0, 1])
def test_pieces_are_exchanged_as_a_tuple(dimension: int) -> None:
    text = on_devices(
        f"""  y = f32[4,2] reshape(x)
  ROOT t = f32[4,2] all-to-all(y), {PAIRS.replace("use_global_device_ids=true, ", "")},
    dimensions={{{dimension}}}"""
    ).replace("replica_groups={{0,1},{2,3}}", "replica_groups={{0,1}}")
    module = passed(text, AllToAllDecomposer())
    (exchanged,) = (i for i in module.entry.instructions if i.opcode == "all-to-all")
    assert exchanged.shape.is_tuple
    assert opcodes(module)[-1] == "concatenate"


@pytest.mark.parametrize(
    ("gathered", "dimension", "reshaped", "moves"),
    [
        ("f32[16,2]", 0, "f32[8,4]", True),
        ("f32[16,2]", 0, "f32[4,2,2,2]", True),
        ("f32[4,8]", 1, "f32[4,4,2]", True),
        ("f32[4,8]", 1, "f32[32]", False),
        ("f32[16,2]", 0, "f32[2,16]", False),
        ("f32[16,2]", 0, "f32[1,16,2]", True),
    ],
)
def test_reshapes_come_before_gathering(
    gathered: str, dimension: int, reshaped: str, *, moves: bool
) -> None:
    own = {"f32[16,2]": "f32[4,2]", "f32[4,8]": "f32[4,2]"}[gathered]
    text = on_devices(
        f"""  y = {own} reshape(x)
  g = {gathered} all-gather(y), {ALL}, dimensions={{{dimension}}}
  ROOT t = {reshaped} reshape(g)"""
    )
    last = ["reshape", "all-gather"] if moves else ["all-gather", "reshape"]
    assert _tail(text, CollectiveTransformationReorderer(), 2) == last


def test_reshapes_come_before_reducing() -> None:
    text = on_devices(
        f"""  s = f32[8] all-reduce(x), {ALL}, to_apply=add
  ROOT t = f32[2,4] reshape(s)"""
    )
    assert _tail(text, CollectiveTransformationReorderer(), 2) == ["reshape", "all-reduce"]


def _scattered(opcode: str, first: str = "add", second: str = "add") -> str:
    return on_devices(
        f"""  s = f32[2] reduce-scatter(x), {ALL}, dimensions={{0}}, to_apply={first}
  t = f32[2] reduce-scatter(p), {ALL.replace("=1,", "=2,")}, dimensions={{0}}, to_apply={second}
  ROOT u = f32[2] {opcode}(s, t)"""
    )


def test_sums_are_made_before_they_are_scattered() -> None:
    assert _tail(_scattered("add"), ReduceScatterReassociate(), 2) == ["add", "reduce-scatter"]
    maxima = _scattered("maximum", "max", "max")
    assert _tail(maxima, ReduceScatterReassociate(), 2) == ["maximum", "reduce-scatter"]


@pytest.mark.parametrize(
    "kinds", [("multiply", "add", "add"), ("add", "add", "max"), ("add", "max", "max")]
)
def test_other_combinations_stay(kinds: tuple[str, str, str]) -> None:
    assert _tail(_scattered(*kinds), ReduceScatterReassociate(), 1) == [kinds[0]]


def test_sums_that_go_into_wider_ones_are_made_wide() -> None:
    body = f"""  h = bf16[8] convert(x)
  s = bf16[2] reduce-scatter(h), {ALL}, dimensions={{0}}, to_apply=add_bf16
  w = f32[2] convert(s)
  y = f32[2] slice(p), slice={{[0:2]}}
  ROOT u = f32[2] add(w, y)"""
    found = opcodes(passed(on_devices(body), ReorderConvertReduceAdd(reduce_scatter=False)))
    assert found[-3:] == ["convert", "slice", "add"]


@pytest.mark.parametrize(
    "body",
    [
        f"""  h = bf16[8] convert(x)
  s = bf16[2] reduce-scatter(h), {ALL}, dimensions={{0}}, to_apply=add_bf16
  w = f32[2] convert(s)
  y = f32[2] slice(p), slice={{[0:2]}}
  ROOT u = f32[2] add(w, y)""",
        f"""  h = bf16[8] convert(x)
  s = bf16[8] all-reduce(h), {ALL}, to_apply=add_bf16
  w = f32[8] convert(s)
  ROOT u = f32[8] add(p, w)""",
    ],
)
def test_conversions_come_before_reducing(body: str) -> None:
    text = on_devices(body)
    # Small whole numbers are the same in both types.
    text = text.replace("  x = f32[8] multiply(p, b)", "  x = f32[8] add(b, b)")
    found = opcodes(passed(text, ReorderConvertReduceAdd(all_reduce=True), exact=True))
    name = "reduce-scatter" if "reduce-scatter" in body else "all-reduce"
    assert found.index(name) > len(found) - 1 - found[::-1].index("convert")


@pytest.mark.parametrize(
    ("body", "last"),
    [
        (f"""  h = bf16[8] convert(x)
  w = f32[8] convert(h)
  ROOT g = f32[32] all-gather(w), {ALL}, dimensions={{0}}""", ["all-gather", "convert"]),
        (f"""  g = f32[32] all-gather(x), {ALL}, dimensions={{0}}
  ROOT w = bf16[32] convert(g)""", ["convert", "all-gather"]),
        ("""  h = s8[8] convert(x)
  w = f32[8] convert(h)
  ROOT g = f32[8] collective-permute(w), channel_id=1, source_target_pairs={{0,1}}""",
         ["collective-permute", "convert"]),
        (f"""  h = s8[8] convert(x)
  w = f32[8] convert(h)
  half = f32[] constant(0.3)
  hs = f32[8] broadcast(half), dimensions={{}}
  v = f32[8] multiply(w, hs)
  ROOT g = f32[32] all-gather(v), {ALL}, dimensions={{0}}""",
         ["constant", "broadcast", "all-gather", "convert", "multiply"]),
        (f"""  h = bf16[8] convert(x)
  w = f32[8] convert(h)
  g = f32[32] all-gather(w), {ALL}, dimensions={{0}}
  ROOT t = (f32[8], f32[32]) tuple(w, g)""", ["all-gather", "tuple"]),
    ],
)  # fmt: skip
def test_narrow_numbers_are_sent(body: str, last: list[str]) -> None:
    assert _tail(on_devices(body), CollectiveQuantizer(), len(last)) == last
