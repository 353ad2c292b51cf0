"""The passes that make fewer or simpler all-reduces."""

import numpy as np
import pytest

from hlotool.passes.collectives.all_reduce_combiner import AllReduceCombiner
from hlotool.passes.collectives.all_reduce_contiguous import AllReduceContiguous
from hlotool.passes.collectives.all_reduce_folder import AllReduceFolder
from hlotool.passes.collectives.all_reduce_simplifier import AllReduceSimplifier
from hlotool.passes.collectives.ar_crs_combiner import ArCrsCombiner
from tests.passes.checking import opcodes, passed
from tests.passes.collectives.devices import ALL, OTHER_PAIRS, PAIRS, on_devices

_REPLICAS = "replica_groups={{0,1}}"
_PARTITIONS = "channel_id=1, replica_groups={{0},{1}}"


def _two(first: str, second: str, between: str = "") -> str:
    return on_devices(
        f"""  s = f32[8] all-reduce(x), {first}, to_apply=add
{between or "  m = f32[8] bitcast(s)"}
  ROOT t = f32[8] all-reduce({"m" if between else "s"}), {second}, to_apply=add"""
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [(PAIRS, OTHER_PAIRS), (OTHER_PAIRS, PAIRS), (_PARTITIONS, _REPLICAS),
     (_REPLICAS, _PARTITIONS), (_REPLICAS, PAIRS)],
)  # fmt: skip
def test_two_sums_over_parts_become_one_over_all(first: str, second: str) -> None:
    text = _two(first, second).replace("  m = f32[8] bitcast(s)\n", "")
    folded = passed(text, AllReduceFolder())
    assert opcodes(folded).count("all-reduce") == 1
    joined = passed(text, ArCrsCombiner())
    assert opcodes(joined).count("all-reduce") == 1


@pytest.mark.parametrize(("first", "second"), [(PAIRS, PAIRS), (ALL, PAIRS), (PAIRS, ALL)])
def test_what_comes_in_twice_is_not_folded(first: str, second: str) -> None:
    text = _two(first, second).replace("  m = f32[8] bitcast(s)\n", "")
    module = passed(text, AllReduceFolder())
    assert opcodes(module).count("all-reduce") == 2


def test_other_reducers_and_other_uses_are_not_folded() -> None:
    text = _two(PAIRS, OTHER_PAIRS).replace("  m = f32[8] bitcast(s)\n", "")
    maximum = text.replace(f"{OTHER_PAIRS}, to_apply=add", f"{OTHER_PAIRS}, to_apply=max")
    assert opcodes(passed(maximum, AllReduceFolder())).count("all-reduce") == 2
    used = text.replace("ROOT t", "t").replace(
        "\n}\n", "\n  ROOT u = (f32[8], f32[8]) tuple(s, t)\n}\n"
    )
    used = (
        used[: used.rindex("ENTRY")].replace("  ROOT u = (f32[8], f32[8]) tuple(s, t)\n", "")
        + (used[used.rindex("ENTRY") :])
    )
    assert opcodes(passed(used, AllReduceFolder())).count("all-reduce") == 2


def test_movement_may_lie_between() -> None:
    between = """  y = f32[2,4] reshape(s)
  z = f32[4,2] transpose(y), dimensions={1,0}
  m = f32[8] reshape(z)"""
    module = passed(_two(_PARTITIONS, _REPLICAS, between), ArCrsCombiner())
    assert opcodes(module).count("all-reduce") == 1
    assert opcodes(passed(_two(_PARTITIONS, _REPLICAS, between), AllReduceFolder())).count(
        "all-reduce"
    ) == 2  # fmt: skip


def test_groups_of_one_device_go() -> None:
    alone = "channel_id=1, use_global_device_ids=true, replica_groups={{0},{1},{2},{3}}"
    module = passed(
        on_devices(f"  ROOT s = f32[8] all-reduce(x), {alone}, to_apply=add"),
        AllReduceSimplifier(),
        exact=True,
    )
    assert "all-reduce" not in opcodes(module)
    both = passed(
        on_devices(f"  ROOT s = (f32[8], f32[8]) all-reduce(x, p), {alone}, to_apply=add"),
        AllReduceSimplifier(),
        exact=True,
    )
    assert opcodes(both)[-1] == "tuple"


@pytest.mark.parametrize(
    ("operand", "attributes", "goes"),
    [
        ("c", f"{ALL}, to_apply=max", True),
        ("c", f"{PAIRS}, to_apply=add", True),
        ("c", f"{ALL}, to_apply=add", False),
        ("x", f"{ALL}, to_apply=max", False),
        ("p", f"{ALL}, to_apply=max", False),
        ("a", f"{PAIRS}, to_apply=max", True),
    ],
)
def test_what_all_devices_have_alike_needs_no_exchange(
    operand: str, attributes: str, *, goes: bool
) -> None:
    text = on_devices(
        f"""  h = f32[] constant(0.1)
  c0 = f32[8] broadcast(h), dimensions={{}}
  c = f32[8] exponential(c0)
  a0 = f32[8] all-reduce(x), {ALL.replace("=1,", "=7,")}, to_apply=max
  a = f32[8] negate(a0)
  s = f32[8] all-reduce({operand}), {attributes}
  ROOT t = (f32[8], f32[8]) tuple(s, a)"""
    )
    module = passed(text, AllReduceSimplifier(), exact=True)
    assert opcodes(module).count("all-reduce") == (1 if goes else 2)


def test_sums_of_the_same_are_multiples() -> None:
    text = on_devices(
        f"""  c = s32[3] constant({{1, -2, 2147483647}})
  h = f32[] constant(0.1)
  s = s32[3] all-reduce(c), {ALL}, to_apply=add_s32
  g = f32[] all-reduce(h), {ALL.replace("=1,", "=2,")}, to_apply=add
  ROOT t = (s32[3], f32[]) tuple(s, g)"""
    )
    module = passed(text, AllReduceSimplifier(), exact=True)
    assert opcodes(module).count("all-reduce") == 1
    both = passed(text, AllReduceSimplifier(multiply_floats=True))
    assert opcodes(both).count("all-reduce") == 0


def test_all_reduces_that_do_not_wait_for_each_other_are_combined() -> None:
    module = passed(
        on_devices(
            f"""  y = f32[2,4] reshape(x)
  s = f32[8] all-reduce(x), {ALL}, to_apply=add
  t = f32[2,4] all-reduce(y), {ALL.replace("=1,", "=2,")}, to_apply=add
  u = f32[8] all-reduce(s), {ALL.replace("=1,", "=3,")}, to_apply=add
  v = f32[8] all-reduce(x), {ALL.replace("=1,", "=4,")}, to_apply=max
  w = (f32[8], f32[8]) all-reduce(p, x), {ALL.replace("=1,", "=5,")}, to_apply=add
  ROOT z = (f32[8], f32[2,4], f32[8], f32[8], (f32[8], f32[8])) tuple(s, t, u, v, w)"""
        ),
        AllReduceCombiner(),
    )
    counts = [len(i.operands) for i in module.entry.instructions if i.opcode == "all-reduce"]
    assert sorted(counts) == [1, 1, 4]


@pytest.mark.parametrize(
    ("one", "counts"),
    [
        (AllReduceCombiner(combine_threshold_in_bytes=64), [2, 2, 1]),
        (AllReduceCombiner(combine_threshold_in_bytes=31), [1] * 5),
        (AllReduceCombiner(combine_threshold_count=3), [3, 2]),
    ],
)
def test_thresholds_hold(one: AllReduceCombiner, counts: list[int]) -> None:
    sums = "\n".join(
        f"  sum{n} = f32[8] all-reduce(x), {ALL.replace('=1,', f'={n + 1},')}, to_apply=add"
        for n in range(5)
    )
    root = f"  ROOT z = ({', '.join(['f32[8]'] * 5)}) tuple(sum0, sum1, sum2, sum3, sum4)"
    module = passed(on_devices(f"{sums}\n{root}"), one)
    found = [len(i.operands) for i in module.entry.instructions if i.opcode == "all-reduce"]
    assert sorted(found) == sorted(counts)


def test_several_operands_become_one_array() -> None:
    module = passed(
        on_devices(
            f"""  y = f32[2,4] reshape(p)
  e = f32[0,3] constant({{}})
  ROOT s = (f32[8], f32[2,4], f32[0,3], f32[]) all-reduce(x, y, e, f), {ALL}, to_apply=add"""
        ),
        AllReduceContiguous(),
        np.arange(8, dtype=np.float32),
    )
    (reduced,) = (i for i in module.entry.instructions if i.opcode == "all-reduce")
    assert reduced.shape.plain_text == "f32[17]"
