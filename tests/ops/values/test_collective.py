"""Collectives on a grid of 2 replicas and 4 partitions, against loops over written-out groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated

REPLICAS, PARTITIONS, COUNT = 2, 4, 8
DEVICES = "channel_id=1, use_global_device_ids=true, "
ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"
Groups = Sequence[Sequence[int]]

FLAGGED: dict[str, tuple[str, Groups]] = {
    "replicas": ("replica_groups={{1,0}}", [[4, 0], [5, 1], [6, 2], [7, 3]]),
    "all replicas": ("replica_groups={}", [[0, 4], [1, 5], [2, 6], [3, 7]]),
    "each replica": ("replica_groups={{0},{1}}", [[n] for n in range(8)]),
    "replicas with partitions": (
        "channel_id=1, replica_groups={{1,0}}", [[4, 5, 6, 7, 0, 1, 2, 3]],
    ),
    "each replica with partitions": (
        "channel_id=1, replica_groups={{1},{0}}", [[4, 5, 6, 7], [0, 1, 2, 3]],
    ),
    "devices": (
        DEVICES + "replica_groups={{7,0},{1,6},{5,2},{3,4}}", [[7, 0], [1, 6], [5, 2], [3, 4]],
    ),
    "all devices": (DEVICES + "replica_groups={}", [[0, 1, 2, 3, 4, 5, 6, 7]]),
    "iota": (
        DEVICES + "replica_groups=[4,2]<=[2,4]T(1,0)", [[0, 4], [1, 5], [2, 6], [3, 7]],
    ),
    "mesh": (
        DEVICES + "replica_groups=mesh['a'=2,'b'=4] {'b'}", [[0, 1, 2, 3], [4, 5, 6, 7]],
    ),
}  # fmt: skip
"""Attributes of ops that may number devices, with the groups of devices that they make."""

UNFLAGGED: dict[str, tuple[str, Groups]] = {
    "replicas": FLAGGED["replicas"],
    "all replicas": FLAGGED["all replicas"],
    "partitions": (
        "channel_id=1, replica_groups={{2,0},{1,3}}", [[2, 0], [1, 3], [6, 4], [5, 7]],
    ),
    "all partitions": ("channel_id=1, replica_groups={}", [[0, 1, 2, 3], [4, 5, 6, 7]]),
    "iota": ("channel_id=1, replica_groups=[2,2]<=[4]", [[0, 1], [2, 3], [4, 5], [6, 7]]),
}  # fmt: skip

flagged = pytest.mark.parametrize(("attributes", "groups"), FLAGGED.values(), ids=list(FLAGGED))
unflagged = pytest.mark.parametrize(
    ("attributes", "groups"), UNFLAGGED.values(), ids=list(UNFLAGGED)
)


def on_devices(
    text: str, arguments: Sequence[Any], replicas: int = REPLICAS, partitions: int = PARTITIONS
) -> list[Any]:
    """Runs a module with a tuple of arguments, or one argument, for each device."""
    head = f"HloModule m, replica_count={replicas}, num_partitions={partitions}"
    module = parse(text.replace("HloModule m", head, 1))
    assert verify(module) == []
    lists = [list(own) if isinstance(own, tuple) else [own] for own in arguments]
    return evaluate_on_devices(module, lists, replicas, partitions)


def floats(numbers: Any) -> Any:
    return np.array(numbers, np.float32)


def integers(numbers: Any) -> Any:
    return np.array(numbers, np.int32)


def different(*sizes: int) -> list[Any]:
    """Returns an array for each device in which no element is that of another."""
    size = int(np.prod(sizes))
    numbers = [np.arange(size) + 1000 * device for device in range(COUNT)]
    return [part.reshape(sizes).astype(np.float32) for part in numbers]


def group_of(device: int, groups: Groups) -> Sequence[int]:
    (group,) = (group for group in groups if device in group)
    return group


def check(
    found: Sequence[Any], groups: Groups, wanted: Callable[[Sequence[int], int], Any]
) -> None:
    for device in range(COUNT):
        group = group_of(device, groups)
        np.testing.assert_array_equal(found[device], wanted(group, group.index(device)))


@flagged
def test_all_reduce(attributes: str, groups: Groups) -> None:
    x = different(2, 3)
    body = f"x = f32[2,3] parameter(0) ROOT r = f32[2,3] all-reduce(x), {attributes}, to_apply=add"
    check(on_devices(entry(body, ADD), x), groups, lambda group, _: sum(x[m] for m in group))


@flagged
def test_all_reduce_in_two_steps_of_several_operands(attributes: str, groups: Groups) -> None:
    x, y = different(2), different(3, 1)
    body = f"""x = f32[2] parameter(0) y = f32[3,1] parameter(1)
    s = (f32[2], f32[3,1]) all-reduce-start(x, y), {attributes}, to_apply=add
    ROOT r = (f32[2], f32[3,1]) all-reduce-done(s)"""
    found = on_devices(entry(body, ADD), list(zip(x, y, strict=True)))
    check([pair[0] for pair in found], groups, lambda group, _: sum(x[m] for m in group))
    check([pair[1] for pair in found], groups, lambda group, _: sum(y[m] for m in group))


@flagged
def test_reduce_scatter(attributes: str, groups: Groups) -> None:
    k = len(groups[0])
    x = different(2, 8)
    body = f"""x = f32[2,8] parameter(0)
    ROOT r = f32[2,{8 // k}] reduce-scatter(x), {attributes}, dimensions={{1}}, to_apply=add"""
    width = 8 // k

    def wanted(group: Sequence[int], own: int) -> Any:
        return sum(x[m] for m in group)[:, own * width : (own + 1) * width]

    check(on_devices(entry(body, ADD), x), groups, wanted)


@flagged
def test_all_gather(attributes: str, groups: Groups) -> None:
    k = len(groups[0])
    x = different(2, 3)
    body = f"""x = f32[2,3] parameter(0)
    ROOT r = f32[2,{3 * k}] all-gather(x), {attributes}, dimensions={{1}}"""
    check(on_devices(entry(body), x), groups, lambda group, _: np.hstack([x[m] for m in group]))


@flagged
def test_all_gather_in_two_steps_of_several_operands(attributes: str, groups: Groups) -> None:
    k = len(groups[0])
    x, y = different(2), different(3, 1)
    result = f"(f32[{2 * k}], f32[{3 * k},1])"
    body = f"""x = f32[2] parameter(0) y = f32[3,1] parameter(1)
    s = ((f32[2], f32[3,1]), {result}) all-gather-start(x, y), {attributes}, dimensions={{0}}
    ROOT r = {result} all-gather-done(s)"""
    found = on_devices(entry(body), list(zip(x, y, strict=True)))
    check([pair[0] for pair in found], groups, lambda group, _: np.hstack([x[m] for m in group]))
    check([pair[1] for pair in found], groups, lambda group, _: np.vstack([y[m] for m in group]))


@unflagged
def test_all_to_all_of_one_array(attributes: str, groups: Groups) -> None:
    x = different(2, 8)
    width = 8 // len(groups[0])
    body = (
        f"x = f32[2,8] parameter(0) ROOT r = f32[2,8] all-to-all(x), {attributes}, dimensions={{1}}"
    )

    def wanted(group: Sequence[int], own: int) -> Any:
        return np.hstack([x[m][:, own * width : (own + 1) * width] for m in group])

    check(on_devices(entry(body), x), groups, wanted)


@unflagged
def test_all_to_all_of_a_piece_for_each_member(attributes: str, groups: Groups) -> None:
    k = len(groups[0])
    pieces = [tuple(floats([device, piece]) for piece in range(k)) for device in range(COUNT)]
    names = [f"p{piece}" for piece in range(k)]
    parameters = "\n".join(f"p{piece} = f32[2] parameter({piece})" for piece in range(k))
    shape = f"({', '.join(['f32[2]'] * k)})"
    body = f"{parameters}\nROOT r = {shape} all-to-all({', '.join(names)}), {attributes}"
    found = on_devices(entry(body), pieces)
    assert all(isinstance(value, tuple) for value in found)
    check(found, groups, lambda group, own: [[m, own] for m in group])


@unflagged
def test_broadcast(attributes: str, groups: Groups) -> None:
    x = different(3)
    body = f"x = f32[3] parameter(0) ROOT r = f32[3] collective-broadcast(x), {attributes}"
    check(on_devices(entry(body), x), groups, lambda group, _: x[group[0]])


@unflagged
def test_ragged_all_to_all(attributes: str, groups: Groups) -> None:
    k = len(groups[0])
    # Member i sends i + j + 1 rows to member j, taken and put one behind the other.
    sent = [[i + j + 1 for j in range(k)] for i in range(k)]
    rows, into = sum(sent[-1]), sum(sent[-1]) + 1
    x = different(rows, 2)
    out = [-np.ones((into, 2), np.float32)] * COUNT

    def lists(device: int) -> list[Any]:
        i = group_of(device, groups).index(device)
        received = [sent[m][i] for m in range(k)]
        taken = [sum(sent[i][:j]) for j in range(k)]
        # At the receiver: behind the rows of the members before.
        put = [sum(sent[m][j] for m in range(i)) for j in range(k)]
        return [np.array(numbers, np.int32) for numbers in (taken, sent[i], put, received)]

    lines = "\n".join(f"l{n} = s32[{k}] parameter({n + 2})" for n in range(4))
    body = f"""x = f32[{rows},2] parameter(0) o = f32[{into},2] parameter(1)
    {lines}
    ROOT r = f32[{into},2] ragged-all-to-all(x, o, l0, l1, l2, l3), {attributes}"""
    arguments = [(x[device], out[device], *lists(device)) for device in range(COUNT)]

    def wanted(group: Sequence[int], own: int) -> Any:
        parts = []
        for i, member in enumerate(group):
            begin = sum(sent[i][:own])
            parts.append(x[member][begin : begin + sent[i][own]])
        found = out[0].copy()
        stacked = np.vstack(parts)
        found[: len(stacked)] = stacked
        return found

    check(on_devices(entry(body), arguments), groups, wanted)


def test_ragged_all_to_all_of_several_updates_a_member() -> None:
    body = """x = s32[6] parameter(0) o = s32[6] parameter(1)
    taken = s32[4] constant({0, 1, 2, 4}) sizes = s32[4] constant({1, 0, 2, 1})
    put = s32[4] parameter(2) received = s32[4] parameter(3)
    ROOT r = s32[6] ragged-all-to-all(x, o, taken, sizes, put, received)"""
    # Both send one row to device 0, and two and one to device 1.
    arguments = [
        (np.arange(6, dtype=np.int32) + 10 * device, np.full(6, -1, np.int32),
         integers([device, 9, 3 * device, 3 * device + 2]),
         integers([[1, 0, 1, 0], [2, 1, 2, 1]][device]))
        for device in range(2)
    ]  # fmt: skip
    found = on_devices(entry(body), arguments, 2, 1)
    np.testing.assert_array_equal(found[0], [0, 10, -1, -1, -1, -1])
    np.testing.assert_array_equal(found[1], [2, 3, 4, 12, 13, 14])


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        (([0], [3], [0], [3]), "3 rows from row 0 are given, rows within 2"),
        (([0], [2], [1], [2]), "2 rows from row 1 are given, rows within 2"),
        (([-1], [1], [0], [1]), "1 rows from row -1 are given, rows within 2"),
        (([0], [1], [0], [2]), "member 0 sends 1 rows, member 0 awaits 2"),
    ],
)
def test_ragged_all_to_all_of_rows_that_are_not_there(lists: Any, words: str) -> None:
    body = """x = f32[2] parameter(0) a = s32[1] parameter(1) b = s32[1] parameter(2)
    c = s32[1] parameter(3) d = s32[1] parameter(4)
    ROOT r = f32[2] ragged-all-to-all(x, x, a, b, c, d)"""
    with pytest.raises(EvaluationError, match=words):
        evaluated(entry(body), np.zeros(2, np.float32), *[integers(part) for part in lists])


@pytest.mark.parametrize(
    ("attributes", "source_of"),
    [
        ("source_target_pairs={{0,1}}", {4: 0, 5: 1, 6: 2, 7: 3}),
        ("source_target_pairs={{0,1},{1,0}}", {d: (d + 4) % 8 for d in range(8)}),
        ("channel_id=1, source_target_pairs={{0,2},{2,1},{3,3}}",
         {2: 0, 1: 2, 3: 3, 6: 4, 5: 6, 7: 7}),
        ("source_target_pairs={}", {}),
    ],
)  # fmt: skip
def test_permute(attributes: str, source_of: dict[int, int]) -> None:
    x, y = different(3), different(2, 2)
    body = f"""x = f32[3] parameter(0) y = f32[2,2] parameter(1)
    one = f32[3] collective-permute(x), {attributes}
    two = (f32[3], f32[2,2]) collective-permute(x, y), {attributes}
    s = (f32[3], f32[3], u32[], u32[]) collective-permute-start(x), {attributes}
    done = f32[3] collective-permute-done(s)
    ROOT r = (f32[3], (f32[3], f32[2,2]), f32[3]) tuple(one, two, done)"""
    if "channel_id" in attributes:
        # A channel is that of one op.
        for number in range(2, 4):
            head, rest = body.split("channel_id=1", 2)[:2], body.split("channel_id=1", 2)[2]
            body = head[0] + "channel_id=1" + head[1] + f"channel_id={number}" + rest
    found = on_devices(entry(body), list(zip(x, y, strict=True)))
    for device, (one, two, done) in enumerate(found):
        source = source_of.get(device)
        wanted = np.zeros(3) if source is None else x[source]
        np.testing.assert_array_equal(one, wanted)
        np.testing.assert_array_equal(done, wanted)
        np.testing.assert_array_equal(two[0], wanted)
        np.testing.assert_array_equal(two[1], np.zeros((2, 2)) if source is None else y[source])


def test_permute_in_place() -> None:
    body = """x = f32[4] parameter(0) o = f32[5] parameter(1)
    i = s32[] parameter(2) j = s32[] parameter(3)
    from = (s32[]) tuple(i) to = (s32[]) tuple(j)
    a = f32[5] collective-permute(x, o, from, to), source_target_pairs={{0,1}}, slice_sizes={{2}}
    s = (f32[4], f32[5], u32[], u32[]) collective-permute-start(x, o, from, to),
      source_target_pairs={{0,1}}, slice_sizes={{2}}
    b = f32[5] collective-permute-done(s)
    ROOT r = (f32[5], f32[5]) tuple(a, b)"""
    arguments = [
        (
            floats([1, 2, 3, 4]),
            np.full(5, device, np.float32),
            np.array(1, np.int32),
            np.array(place, np.int32),
        )
        for device, place in enumerate((0, 9))
    ]
    found = on_devices(entry(body), arguments, 2, 1)
    for both in zip(*found, strict=True):
        np.testing.assert_array_equal(both[0], [0, 0, 0, 0, 0])
        # Place 9 reaches over the end and is moved inwards.
        np.testing.assert_array_equal(both[1], [1, 1, 1, 2, 3])


def test_permute_in_place_of_two_slices_that_go_two_ways() -> None:
    body = """x = f32[4] parameter(0) o = f32[4] parameter(1)
    zero = s32[] constant(0) two = s32[] constant(2)
    first = (s32[]) tuple(zero) second = (s32[]) tuple(two)
    both = ((s32[]), (s32[])) tuple(first, second)
    ROOT r = f32[4] collective-permute(x, o, both, both),
      source_target_pairs={{0,1},{1,2},{2,0},{0,2},{2,1},{1,0}}, slice_sizes={{1},{2}}"""
    arguments = [
        (np.arange(4, dtype=np.float32) + 10 * device, -np.ones(4, np.float32))
        for device in range(3)
    ]
    found = on_devices(entry(body), arguments, 3, 1)
    # The first slice comes from the device before, the second from the one behind.
    np.testing.assert_array_equal(found[0], [20, -1, 12, 13])
    np.testing.assert_array_equal(found[1], [0, -1, 22, 23])
    np.testing.assert_array_equal(found[2], [10, -1, 2, 3])


def test_permute_in_place_of_several_arrays() -> None:
    body = """x = f32[2] parameter(0) y = f32[2,2] parameter(1)
    one = s32[] constant(1) zero = s32[] constant(0)
    i = (s32[]) tuple(one) j = (s32[], s32[]) tuple(zero, one)
    from = ((s32[]), (s32[], s32[])) tuple(i, j)
    in = (f32[2], f32[2,2]) tuple(x, y)
    ROOT r = (f32[2], f32[2,2]) collective-permute(in, in, from, from),
      source_target_pairs={{0,1},{1,0}}, slice_sizes={{1},{2,1}}"""
    arguments = [
        (np.full(2, device, np.float32), np.full((2, 2), device, np.float32)) for device in range(2)
    ]
    found = on_devices(entry(body), arguments, 2, 1)
    np.testing.assert_array_equal(found[0][0], [0, 1])
    np.testing.assert_array_equal(found[0][1], [[0, 1], [0, 1]])
    np.testing.assert_array_equal(found[1][0], [1, 0])
    np.testing.assert_array_equal(found[1][1], [[1, 0], [1, 0]])


def test_broadcast_gives_devices_in_no_group_zeros() -> None:
    body = "x = f32[3] parameter(0) ROOT r = f32[3] collective-broadcast(x), replica_groups={{1}}"
    found = on_devices(entry(body), different(3))
    np.testing.assert_array_equal(found[2], np.zeros(3))
    np.testing.assert_array_equal(found[6], different(3)[6])


@pytest.mark.parametrize(
    "op",
    ["f32[2] all-reduce(x), to_apply=add,",
     "f32[1] reduce-scatter(x), to_apply=add, dimensions={0},",
     "f32[4] all-gather(x), dimensions={0},", "f32[2] all-to-all(x), dimensions={0},"],
)  # fmt: skip
def test_a_device_in_no_group_is_an_error(op: str) -> None:
    body = f"x = f32[2] parameter(0) ROOT r = {op} replica_groups={{{{0,1}}}}"
    with pytest.raises(EvaluationError, match=r"replica 2, partition 0 is in none of") as caught:
        on_devices(entry(body, ADD), [np.zeros(2, np.float32)] * 3, 3, 1)
    assert "on replica 2, partition 0" in caught.value.notes


NOT_THERE = "works with replica 1, partition 0; the run has 1 x 1 devices"


@pytest.mark.parametrize(
    "op",
    ["f32[2] all-reduce(x), to_apply=add, replica_groups={{0,1}}",
     "f32[2] collective-broadcast(x), replica_groups={{0,1}}",
     "f32[2] collective-permute(x), source_target_pairs={{1,1}}"],
)  # fmt: skip
def test_devices_that_are_not_there_are_an_error(op: str) -> None:
    body = f"x = f32[2] parameter(0) ROOT r = {op}"
    with pytest.raises(EvaluationError, match=NOT_THERE) as caught:
        evaluated(entry(body, ADD), np.zeros(2, np.float32))
    assert "--num-replicas" in caught.value.notes[0]
    assert caught.value.location is not None


def test_one_device_alone_gets_back_what_it_gives() -> None:
    body = """x = f32[2,2] parameter(0)
    a = f32[2,2] all-reduce(x), replica_groups={{0},{1}}, to_apply=add
    b = f32[2,2] reduce-scatter(a), dimensions={0}, to_apply=add
    c = f32[2,2] all-gather(b), dimensions={0}, channel_id=1
    d = f32[2,2] all-to-all(c), dimensions={0}
    e = f32[2,2] collective-permute(d), source_target_pairs={{0,0}}
    ROOT f = f32[2,2] collective-broadcast(e), replica_groups={}"""
    x = floats([[1, 2], [3, 4]])
    np.testing.assert_array_equal(evaluated(entry(body, ADD), x), x)


def test_a_reducer_is_applied_in_the_order_of_the_group() -> None:
    # a - b is the same neither in another order nor with other brackets.
    subtract = "f { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] subtract(a, b) }"
    body = """x = s32[2] parameter(0)
    ROOT r = s32[2] all-reduce(x), replica_groups={{2,0,1}}, to_apply=f"""
    x = [integers([1, 10]), integers([2, 20]), integers([4, 40])]
    for value in on_devices(entry(body, subtract), x, 3, 1):
        np.testing.assert_array_equal(value, [4 - 1 - 2, 40 - 10 - 20])


def test_a_reducer_rounds_at_every_member() -> None:
    add = ADD.replace("f32", "bf16")
    body = "x = bf16[1] parameter(0) ROOT r = bf16[1] all-reduce(x), to_apply=add"
    bf16 = parse(entry(body, add)).entry.root.shape.element_type.numpy  # type: ignore[attr-defined]
    # 256 + 1 is 256 in eight bits, however often 1 is added.
    x = [np.array([number], bf16) for number in (256, 1, 1, 1)]
    for value in on_devices(entry(body, add), x, 4, 1):
        assert float(value[0]) == 256


def test_a_reducer_may_compute_in_a_wider_type() -> None:
    body = "x = bf16[1] parameter(0) ROOT r = bf16[1] all-reduce(x), to_apply=add"
    bf16 = parse(entry(body, ADD)).entry.root.shape.element_type.numpy  # type: ignore[attr-defined]
    x = [np.array([number], bf16) for number in (256, 1, 1, 1)]
    for value in on_devices(entry(body, ADD), x, 4, 1):
        assert float(value[0]) == 260


@pytest.mark.parametrize(
    ("opcode", "wanted"),
    [
        ("maximum", [np.nan, 0.0, 3.0]),
        ("minimum", [np.nan, -0.0, -1.0]),
        ("add", [np.nan, 0.0, 5.0]),
        ("multiply", [np.nan, -0.0, -9.0]),
    ],
)
def test_reducers_with_nan_and_signed_zeros(opcode: str, wanted: list[float]) -> None:
    reducer = ADD.replace("add(", f"{opcode}(")
    body = "x = f32[3] parameter(0) ROOT r = f32[3] all-reduce(x), to_apply=add"
    x = [floats([1, -0.0, 3]), floats([np.nan, 0.0, -1]), floats([2, 0.0, 3])]
    for value in on_devices(entry(body, reducer), x, 3, 1):
        np.testing.assert_array_equal(value, floats(wanted))
        np.testing.assert_array_equal(np.signbit(value[1:]), np.signbit(wanted[1:]))


def test_a_reducer_of_predicates() -> None:
    either = "f { a = pred[] parameter(0) b = pred[] parameter(1) ROOT c = pred[] or(a, b) }"
    body = "x = pred[3] parameter(0) ROOT r = pred[3] all-reduce(x), to_apply=f"
    x = [np.array(bits) for bits in ([False, True, False], [False, False, True])]
    for value in on_devices(entry(body, either), x, 2, 1):
        np.testing.assert_array_equal(value, [False, True, True])


@st.composite
def groupings(draw: st.DrawFn) -> Groups:
    order = draw(st.permutations(range(COUNT)))
    size = draw(st.sampled_from([1, 2, 4, 8]))
    return [order[begin : begin + size] for begin in range(0, COUNT, size)]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(groupings(), st.lists(st.integers(-(2**31), 2**31 - 1), min_size=64, max_size=64))
def test_any_groups_of_devices(groups: Groups, numbers: list[int]) -> None:
    x = np.array(numbers, np.int32).reshape(COUNT, 8)
    k = len(groups[0])
    listed = ",".join("{" + ",".join(map(str, group)) + "}" for group in groups)
    attributes = f"replica_groups={{{listed}}}, use_global_device_ids=true"
    body = f"""x = s32[8] parameter(0)
    r = s32[8] all-reduce(x), {attributes}, channel_id=1, to_apply=f
    s = s32[{8 // k}] reduce-scatter(x), {attributes}, channel_id=2, dimensions={{0}}, to_apply=f
    g = s32[{8 * k}] all-gather(x), {attributes}, channel_id=3, dimensions={{0}}
    ROOT t = (s32[8], s32[{8 // k}], s32[{8 * k}]) tuple(r, s, g)"""
    add = "f { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }"
    found = on_devices(entry(body, add), list(x))
    for device in range(COUNT):
        group = group_of(device, groups)
        total = [sum(int(x[m][i]) for m in group) for i in range(8)]
        wrapped = [(number + 2**31) % 2**32 - 2**31 for number in total]
        begin = group.index(device) * (8 // k)
        assert found[device][0].tolist() == wrapped
        assert found[device][1].tolist() == wrapped[begin : begin + 8 // k]
        assert found[device][2].tolist() == [int(n) for m in group for n in x[m]]


def test_a_collective_in_an_asynchronous_computation() -> None:
    wrapped = """scatter { x = f32[8] parameter(0)
    ROOT r = f32[2] reduce-scatter(x), channel_id=1, replica_groups={{0},{1}}, dimensions={0},
      to_apply=add }"""
    body = """x = f32[8] parameter(0)
    s = ((f32[8]), f32[2]) async-start(x), calls=scatter
    ROOT r = f32[2] async-done(s)"""
    x = different(8)
    found = on_devices(entry(body, ADD, wrapped), x)
    for device in range(COUNT):
        replica, partition = divmod(device, 4)
        total = sum(x[4 * replica + m] for m in range(4))
        np.testing.assert_array_equal(found[device], total[2 * partition : 2 * partition + 2])
