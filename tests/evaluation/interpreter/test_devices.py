"""Several devices: meetings in loops, transfers, deadlocks, errors, interrupts, one alone."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.grid import DeviceGrid
from hlotool.evaluation.interpreter.run import (
    evaluate_module,
    evaluate_on_devices,
    evaluate_on_grid,
)
from hlotool.ir.frame import Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.text.parser import parse
from tests.evaluating import entry

ADD = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }"
PAIRS = "frontend_attributes={_xla_send_recv_source_target_pairs="


def checked(text: str) -> Module:
    module = parse(text)
    assert verify(module) == []
    return module


def scalars(count: int) -> list[list[Any]]:
    """Returns the number of each device as its argument."""
    return [[np.array(device, np.int32)] for device in range(count)]


def on_devices(body: str, *called: str, replicas: int = 1, partitions: int = 1) -> list[Any]:
    """Runs an entry of one s32 parameter, the number of the device."""
    module = checked(entry(body, *called))
    return evaluate_on_devices(module, scalars(replicas * partitions), replicas, partitions)


ROUNDS = """condition { t = (s32[], s32[], s32[]) parameter(0)
    i = s32[] get-tuple-element(t), index=0
    n = s32[] get-tuple-element(t), index=1
    ROOT goes_on = pred[] compare(i, n), direction=LT }"""


def loop(step: str, rounds: str = "three") -> str:
    """Returns body and entry of a loop that makes `x` of `x` in each round."""
    body = f"""body {{ t = (s32[], s32[], s32[]) parameter(0)
    i = s32[] get-tuple-element(t), index=0
    n = s32[] get-tuple-element(t), index=1
    x = s32[] get-tuple-element(t), index=2
    one = s32[] constant(1)
    next = s32[] add(i, one)
    {step}
    ROOT u = (s32[], s32[], s32[]) tuple(next, n, y) }}"""
    main = f"""x = s32[] parameter(0)
    zero = s32[] constant(0) three = s32[] constant(3)
    t = (s32[], s32[], s32[]) tuple(zero, {rounds}, x)
    u = (s32[], s32[], s32[]) while(t), condition=condition, body=body
    ROOT y = s32[] get-tuple-element(u), index=2"""
    return entry(main, ADD, ROUNDS, body)


def run(text: str, partitions: int, **options: Any) -> list[int]:
    found = evaluate_on_devices(checked(text), scalars(partitions), 1, partitions, **options)
    return [int(value) for value in found]


def test_devices_meet_again_in_every_round_of_a_loop() -> None:
    text = loop("y = s32[] all-reduce(x), channel_id=1, to_apply=add")
    # Each round multiplies by the number of devices.
    assert run(text, 4) == [(0 + 1 + 2 + 3) * 4 * 4] * 4


def test_groups_of_devices_go_through_different_numbers_of_rounds() -> None:
    text = loop("y = s32[] all-reduce(x), replica_groups={{0},{1}}, to_apply=add", rounds="x")
    module = checked(text)
    found = evaluate_on_devices(module, scalars(2), 2, 1)
    assert [int(value) for value in found] == [0, 1]


def test_values_go_around_a_ring_in_a_loop() -> None:
    text = loop(
        "y = s32[] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,0}}"
    )
    assert run(text, 3) == [0, 1, 2]
    text = text.replace("constant(3)", "constant(4)")
    assert run(text, 3) == [2, 0, 1]


def _note(course: list[tuple[Instruction, int]], step: Instruction, _: Value) -> None:
    course.append((step, threading.get_ident()))


def test_a_run_is_the_same_every_time() -> None:
    module = checked(loop("y = s32[] all-reduce(x), channel_id=1, to_apply=add"))
    courses = []
    for _ in range(3):
        course: list[tuple[Instruction, int]] = []
        note = partial(_note, course)
        evaluate_on_devices(module, scalars(4), 1, 4, observer=note)
        # Threads have other names in each run.
        names = list(dict.fromkeys(thread for _, thread in course))
        courses.append([(step, names.index(thread)) for step, thread in course])
    assert courses[0] == courses[1] == courses[2]
    assert {device for _, device in courses[0]} == {0, 1, 2, 3}


def test_floats_are_summed_to_the_same_bits_on_all_devices() -> None:
    module = checked(
        entry(
            "x = f32[100] parameter(0) ROOT y = f32[100] all-reduce(x), to_apply=add",
            ADD.replace("s32", "f32"),
        )
    )
    random = np.random.default_rng(7)
    arguments = [[random.standard_normal(100).astype(np.float32)] for _ in range(8)]
    found = evaluate_on_devices(module, arguments, 8, 1)
    again = evaluate_on_devices(module, arguments, 8, 1)
    assert len({value.tobytes() for value in (*found, *again)}) == 1


def test_each_device_knows_its_place() -> None:
    body = """x = s32[] parameter(0) r = u32[] replica-id() p = u32[] partition-id()
    ROOT t = (u32[], u32[]) tuple(r, p)"""
    found = on_devices(body, replicas=2, partitions=3)
    assert [(int(r), int(p)) for r, p in found] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_transfers_reach_their_targets() -> None:
    body = f"""x = s32[] parameter(0) start = token[] after-all()
    r = (s32[], u32[], token[]) recv(start), channel_id=1, {PAIRS}{{{{0,1}},{{1,2}}}}}}
    s = (s32[], u32[], token[]) send(x, start), channel_id=1, {PAIRS}{{{{0,1}},{{1,2}}}}}}
    rd = (s32[], token[]) recv-done(r), channel_id=1
    sd = token[] send-done(s), channel_id=1
    ROOT y = s32[] get-tuple-element(rd), index=0"""
    found = on_devices(body, replicas=2, partitions=3)
    # Numbers are partitions; who receives nothing has zeros.
    assert [int(value) for value in found] == [0, 0, 1, 0, 3, 4]
    # Without partitions they are replicas.
    assert [int(value) for value in on_devices(body, replicas=3)] == [0, 0, 1]


def test_a_transfer_without_pairs_stays_on_its_device() -> None:
    body = """x = s32[] parameter(0) start = token[] after-all()
    s = (s32[], u32[], token[]) send(x, start), channel_id=1
    r = (s32[], u32[], token[]) recv(start), channel_id=1
    rd = (s32[], token[]) recv-done(r), channel_id=1
    sd = token[] send-done(s), channel_id=1
    ROOT y = s32[] get-tuple-element(rd), index=0"""
    assert [int(value) for value in on_devices(body)] == [0]
    assert [int(value) for value in on_devices(body, replicas=3)] == [0, 1, 2]


def test_a_transfer_to_the_host_is_not_supported() -> None:
    body = """x = s32[] parameter(0) start = token[] after-all()
    s = (s32[], u32[], token[]) send(x, start), channel_id=1, is_host_transfer=true,
      frontend_attributes={_xla_host_transfer_rendezvous="to_host"}
    ROOT sd = token[] send-done(s), channel_id=1, is_host_transfer=true"""
    with pytest.raises(UnsupportedError, match="a transfer to_host to or from the host"):
        on_devices(body)


def test_a_transfer_of_pairs_that_are_none_is_an_error() -> None:
    body = f"""x = s32[] parameter(0) start = token[] after-all()
    s = (s32[], u32[], token[]) send(x, start), channel_id=1, {PAIRS}"{{0,1}}"}}
    ROOT sd = token[] send-done(s), channel_id=1"""
    with pytest.raises(EvaluationError, match="is no list of pairs"):
        on_devices(body, replicas=2)


def test_a_deadlock_says_who_waits_for_whom() -> None:
    branches = """met { x = s32[] parameter(0)
    ROOT all = s32[] all-reduce(x), channel_id=1, to_apply=add }
    unmet { ROOT x = s32[] parameter(0) }"""
    body = """x = s32[] parameter(0)
    ROOT y = s32[] conditional(x, x, x), branch_computations={met, unmet}"""
    with pytest.raises(EvaluationError, match="devices wait for others that never come") as caught:
        on_devices(body, ADD, branches, partitions=3)
    assert caught.value.location is not None
    assert caught.value.location.line == 4
    assert caught.value.notes == (
        "replica 0, partition 0 waits at all-reduce all for partitions 1, 2 of replica 0",
        "replica 0, partition 1 has ended",
        "replica 0, partition 2 has ended",
    )


def test_devices_at_different_instructions_never_meet() -> None:
    branches = """one { x = s32[] parameter(0)
    ROOT first = s32[] all-reduce(x), channel_id=1, to_apply=add }
    other { x = s32[] parameter(0)
    ROOT second = s32[] all-reduce(x), channel_id=2, to_apply=add }"""
    body = """x = s32[] parameter(0)
    ROOT y = s32[] conditional(x, x, x), branch_computations={one, other}"""
    with pytest.raises(EvaluationError, match="never come") as caught:
        on_devices(body, ADD, branches, partitions=2)
    assert [note.partition(" for ")[0] for note in caught.value.notes] == [
        "replica 0, partition 0 waits at all-reduce first",
        "replica 0, partition 1 waits at all-reduce second",
    ]


def test_a_value_that_nobody_sends_is_a_deadlock() -> None:
    body = f"""x = s32[] parameter(0) start = token[] after-all()
    r = (s32[], u32[], token[]) recv(start), channel_id=1, {PAIRS}{{{{0,1}}}}}}
    rd = (s32[], token[]) recv-done(r), channel_id=1
    ROOT y = s32[] get-tuple-element(rd), index=0"""
    module = parse(entry(body))
    with pytest.raises(EvaluationError, match="never come") as caught:
        evaluate_on_devices(module, scalars(2), 2, 1)
    assert caught.value.notes[1] == (
        "replica 1, partition 0 waits at recv-done rd for partition 0 of replica 0"
    )
    with pytest.raises(EvaluationError, match="nothing was sent on channel 1"):
        evaluate_module(parse(entry(body.replace("{0,1}", "{0,0}"))), scalars(1)[0])


def test_an_error_of_one_device_ends_all_and_is_told_once() -> None:
    # Device 1 has an endless loop, the others wait for it.
    text = loop("y = s32[] add(x, x)", rounds="limit").replace(
        "ROOT y = s32[] get-tuple-element(u), index=2",
        "z = s32[] get-tuple-element(u), index=2\n"
        "ROOT y = s32[] all-reduce(z), channel_id=1, to_apply=add",
    )
    text = text.replace("three = s32[] constant(3)", "m = s32[] constant(2000000000)\n"
                        "limit = s32[] multiply(x, m)")  # fmt: skip
    before = threading.active_count()
    with pytest.raises(EvaluationError, match="loops have run 50 rounds and go on") as caught:
        run(text, 2, most_iterations=50)
    assert caught.value.notes[-1] == "on replica 0, partition 1"
    assert sum(note.startswith("on replica") for note in caught.value.notes) == 1
    assert caught.value.location is not None
    assert threading.active_count() == before


def test_a_bug_keeps_its_type_and_names_the_device() -> None:
    module = checked(entry("ROOT x = s32[] parameter(0)"))

    def observer(_: Instruction, value: Value) -> None:
        if value == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        evaluate_on_devices(module, scalars(3), 3, 1, observer=observer)
    assert caught.value.__notes__ == ["on replica 2, partition 0"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm to interrupt with")
def test_an_interrupt_ends_a_run_that_goes_on_and_on() -> None:
    endless = loop("y = s32[] all-reduce(x), channel_id=1, to_apply=add", "m").replace(
        "three = s32[] constant(3)", "m = s32[] constant(2000000000)"
    )
    module = checked(endless)
    before = threading.active_count()
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            evaluate_on_devices(module, scalars(3), 1, 3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    limit = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < limit:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_each_device_has_queues_of_its_own() -> None:
    body = """start = token[] after-all()
    i = (s32[], token[]) infeed(start)
    x = s32[] get-tuple-element(i), index=0
    t = token[] get-tuple-element(i), index=1
    y = s32[] all-reduce(x), to_apply=add
    o = token[] outfeed(x, t)
    ROOT r = token[] outfeed(y, o)"""
    module = checked(entry(body, ADD))
    grid = DeviceGrid(2, 1, infeeds=[[np.array(5, np.int32)], [np.array(7, np.int32)]])
    assert evaluate_on_grid(module, [[], []], grid, [None, None]) == [None, None]
    outfed = [[int(value) for value in device.outfed] for device in grid.devices]
    assert outfed == [[5, 12], [7, 12]]


def test_random_numbers_differ_between_devices_and_hang_on_the_seed() -> None:
    def numbers(grid: DeviceGrid) -> list[float]:
        return [device.generator.random() for device in grid.devices]

    first = numbers(DeviceGrid(2, 2, seed=3))
    assert len(set(first)) == 4
    assert numbers(DeviceGrid(2, 2, seed=3)) == first
    assert numbers(DeviceGrid(2, 2, seed=4)) != first
    # The first device is as one alone.
    assert LoneDevice(seed=3).generator.random() == first[0]


def test_one_device_runs_in_the_thread_of_the_caller() -> None:
    module = checked(entry("ROOT x = s32[] parameter(0)"))
    threads = []
    evaluate_on_devices(
        module, scalars(1), 1, 1, observer=lambda *_: threads.append(threading.get_ident())
    )
    assert threads == [threading.get_ident()]


def test_numbers_that_overflow_are_no_incident_on_any_device() -> None:
    body = "x = f32[1] parameter(0) ROOT y = f32[1] multiply(x, x)"
    module = checked(entry(body))
    huge = [[np.array([3e38], np.float32)] for _ in range(2)]
    with np.errstate(all="raise"):
        found = evaluate_on_devices(module, huge, 2, 1)
    assert [float(value[0]) for value in found] == [np.inf, np.inf]


@pytest.mark.parametrize(
    ("arguments", "sizes", "words"),
    [
        ([[]], (1, 1), "takes 1 argument, 0 given"),
        ([[np.array(0, np.int32)], [np.array(0, np.float32)]], (2, 1), "argument 0 is float32"),
        ([[np.array(0, np.int32)]], (2, 1), "arguments for 1 devices are given, the run has 2"),
        ([], (0, 1), "0 x 1 devices are asked for"),
    ],
)
def test_arguments_that_do_not_fit(
    arguments: Sequence[Any], sizes: tuple[int, int], words: str
) -> None:
    module = checked(entry("ROOT x = s32[] parameter(0)"))
    with pytest.raises(EvaluationError, match=words):
        evaluate_on_devices(module, arguments, *sizes)
