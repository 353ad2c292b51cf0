"""Modules rewritten for XLA mean the same, and hold nothing that StableHLO lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import UnsupportedError
from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.evaluation.xla.portable import portable, portable_text
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.text.parser import parse
from tests.evaluating import entry

GONE = {
    "fusion", "bitcast", "async-start", "async-done", "copy-start", "copy-done", "domain",
    "all-reduce-start", "all-gather-start", "collective-permute-start", "partition-id",
}  # fmt: skip


def values(shape: Shape, random: np.random.Generator) -> Any:
    if isinstance(shape, TupleShape):
        return tuple(values(part, random) for part in shape.elements)
    assert isinstance(shape, ArrayShape)
    element_type = shape.element_type
    if element_type.is_float or element_type.is_complex:
        return np.asarray(random.standard_normal(shape.dimensions)).astype(element_type.numpy)
    return np.asarray(random.integers(0, 2, shape.dimensions)).astype(element_type.numpy)


def opcodes(module: Module) -> set[str]:
    return {instruction.opcode for instruction in module.instructions()}


def assert_same_meaning(module: Module, replicas: int = 1, partitions: int = 1) -> Module:
    rewritten = parse(portable_text(module, replicas, partitions))
    assert verify(rewritten) == []
    assert opcodes(rewritten).isdisjoint(GONE)
    random = np.random.default_rng(5)
    arguments = [
        [values(parameter.shape, random) for parameter in module.entry.parameters]
        for _ in range(replicas * partitions)
    ]
    ours = evaluate_on_devices(module, arguments, replicas, partitions)
    theirs = evaluate_on_devices(rewritten, arguments, replicas * partitions, 1)
    for one, other in zip(ours, theirs, strict=True):
        assert_equal(one, other)
    return rewritten


def assert_equal(one: Any, other: Any) -> None:
    if isinstance(one, tuple):
        for parts in zip(one, other, strict=True):
            assert_equal(*parts)
    elif one is not None:
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_real_modules_keep_their_meaning(model_module: Path) -> None:
    module = parse(model_module.read_text(encoding="utf-8"))
    assert_same_meaning(module, module.header.replica_count, module.header.num_partitions)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("f32[2,3,4]{2,1,0}", "f32[6,4]{1,0}"),
        ("f32[2,3,4]{0,1,2}", "f32[4,6]{1,0}"),
        ("f32[2,3,4]{1,2,0}", "f32[4,6]{0,1}"),
        ("f32[4]{0}", "s32[2,2]{0,1}"),
        ("f32[4]{0}", "u16[4,2]{1,0}"),
        ("u8[4,3]{0,1}", "u32[3]{0}"),
        ("bf16[2,6]{0,1}", "f32[6]{0}"),
        ("f32[]", "f32[1,1]{0,1}"),
    ],
)
def test_a_bitcast_becomes_transposes_and_a_reshape(source: str, target: str) -> None:
    module = parse(entry(f"p = {source} parameter(0)\nROOT b = {target} bitcast(p)"))
    rewritten = assert_same_meaning(module)
    assert opcodes(rewritten) <= {"parameter", "transpose", "reshape", "bitcast-convert"}


def test_a_bitcast_into_padding_cannot_be_said() -> None:
    module = parse(
        entry("p = u8[3]{0:T(4)} parameter(0)\nROOT b = u8[4]{0} bitcast(p)"), "module.hlo"
    )
    with pytest.raises(UnsupportedError, match=r"module.hlo:5:6: a bitcast of u8\[3\]"):
        portable(module)


def test_asynchronous_steps_become_what_they_start() -> None:
    called = "f { a = f32[4] parameter(0) ROOT r = f32[4] multiply(a, a) }"
    body = """
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) async-start(p), calls=f
  u = ((f32[4]), f32[4], s32[]) async-update(s)
  d = f32[4] async-done(u)
  c = (f32[4], f32[4], u32[]) copy-start(d)
  e = f32[4] copy-done(c)
  a = token[] after-all()
  ROOT r = f32[4] add-dependency(e, a)"""
    rewritten = assert_same_meaning(parse(entry(body, called)))
    assert opcodes(rewritten) == {"parameter", "multiply", "call", "after-all"}


def test_markers_of_shardings_go() -> None:
    body = (
        'p = f32[4] parameter(0)\nROOT r = f32[4] custom-call(p), custom_call_target="Sharding",'
        " sharding={replicated}"
    )
    assert opcodes(portable(parse(entry(body)))) == {"parameter"}


def test_options_of_custom_calls_stay_and_notes_of_passes_go() -> None:
    body = (
        'p = f32[4] parameter(0)\nn = f32[4] negate(p), backend_config={"a":1}\n'
        'ROOT r = f32[4] custom-call(n), custom_call_target="t", backend_config="keep=1"'
    )
    text = portable_text(parse(entry(body)))
    assert "keep=1" in text
    assert '"a"' not in text


IDS = "channel_id=1, use_global_device_ids=true"
ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"


@pytest.mark.parametrize(
    "op",
    [
        "f32[4] all-reduce(p), replica_groups={}, to_apply=add",
        "f32[4] all-reduce(p), replica_groups={{0,1}}, to_apply=add",
        "f32[4] all-reduce(p), channel_id=1, replica_groups={{0},{1}}, to_apply=add",
        f"f32[4] all-reduce(p), replica_groups={{{{0,3}},{{1,2,4,5}}}}, {IDS}, to_apply=add",
        "f32[8] all-gather(p), replica_groups={{1,0}}, dimensions={0}",
        f"f32[12] all-gather(p), replica_groups={{{{0,4,2}},{{3,1,5}}}}, dimensions={{0}}, {IDS}",
        "f32[4] collective-permute(p), source_target_pairs={{0,1}}",
        "f32[4] collective-permute(p), channel_id=1, source_target_pairs={{0,1},{1,2},{2,0}}",
        "f32[4] all-to-all(p), replica_groups={{0,1}}, dimensions={0}",
        "u32[] partition-id()",
        "u32[] replica-id()",
    ],
)
def test_partitions_become_replicas(op: str) -> None:
    body = f"p = f32[4] parameter(0)\nROOT r = {op}"
    module = parse(entry(body, ADD) if "add" in op else entry(body))
    assert_same_meaning(module, replicas=2, partitions=3)


def test_started_collectives_become_plain_ones() -> None:
    body = """
  p = f32[4] parameter(0)
  s = (f32[4], f32[12]) all-gather-start(p), channel_id=1, replica_groups={{0,1,2}}, dimensions={0},
    use_global_device_ids=true
  d = f32[12] all-gather-done(s)
  q = (f32[12], f32[12], u32[], u32[]) collective-permute-start(d), channel_id=2,
    source_target_pairs={{0,1},{1,2},{2,0}}
  e = f32[12] collective-permute-done(q)
  t = f32[12] all-reduce-start(e), channel_id=3, replica_groups={{0,1,2}},
    use_global_device_ids=true, to_apply=add
  ROOT r = f32[12] all-reduce-done(t)"""
    assert_same_meaning(parse(entry(body, ADD)), partitions=3)
