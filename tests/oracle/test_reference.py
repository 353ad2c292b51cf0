"""The evaluator and XLA:CPU yield the same for real modules, and for devices together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlotool.errors import UnsupportedError
from hlotool.evaluation.comparison.compare import compare
from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.evaluation.xla.reference import run_under_xla
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.text.parser import parse
from tests.conftest import modules_below
from tests.evaluating import entry

pytestmark = pytest.mark.oracle

CHOLESKY = (
    "p = f32[4,4] parameter(0)\nt = f32[4,4] transpose(p), dimensions={1,0}\n"
    "d = f32[4,4] dot(p, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "ROOT c = f32[4,4] cholesky(d), lower=true"
)
MOST_BYTES = 80_000
"""The largest text of a real module that is run: larger ones take minutes."""
ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"


def values(shape: Shape, random: np.random.Generator) -> Any:
    if isinstance(shape, TupleShape):
        return tuple(values(part, random) for part in shape.elements)
    assert isinstance(shape, ArrayShape)
    element_type = shape.element_type
    if element_type.is_float:
        return np.asarray(random.standard_normal(shape.dimensions)).astype(element_type.numpy)
    if element_type.is_complex:
        parts = random.standard_normal(shape.dimensions), random.standard_normal(shape.dimensions)
        return np.asarray(parts[0] + 1j * parts[1]).astype(element_type.numpy)
    return np.asarray(random.integers(0, 2, shape.dimensions)).astype(element_type.numpy)


def differing(module: Module, replicas: int = 1, partitions: int = 1) -> list[str]:
    """Returns what differs, by device and array."""
    random = np.random.default_rng(7)
    arguments = [
        [values(parameter.shape, random) for parameter in module.entry.parameters]
        for _ in range(replicas * partitions)
    ]
    theirs = run_under_xla(module, arguments, replicas, partitions)
    ours = evaluate_on_devices(module, arguments, replicas, partitions)
    return [
        f"device {device}, array {leaf.index}: {leaf.differences.mismatches} wrong {leaf.fault}"
        for device, (one, other) in enumerate(zip(theirs, ours, strict=True))
        for leaf in compare(module, one, other).leaves
        if not leaf.agrees
    ]


def test_both_yield_the_same_for_real_modules(corpus: Path) -> None:
    compared = 0
    found = []
    for path in modules_below(corpus):
        if path.suffix != ".hlo" or path.stat().st_size > MOST_BYTES:
            continue
        module = parse(path.read_text(encoding="utf-8"), str(path))
        header = module.header
        wrong = differing(module, header.replica_count, header.num_partitions)
        found += [f"{path}: {one}" for one in wrong]
        compared += 1
    assert not found, "\n".join(found)
    assert compared >= 10


@pytest.mark.parametrize(
    "op",
    [
        "f32[4] all-reduce(p), replica_groups={{0,1}}, to_apply=add",
        "f32[4] all-reduce(p), channel_id=1, replica_groups={{0},{1}}, to_apply=add",
        "f32[8] all-gather(p), replica_groups={{1,0}}, dimensions={0}",
        "f32[4] collective-permute(p), channel_id=1, source_target_pairs={{0,1},{1,0}}",
        "u32[] partition-id()",
        "u32[] replica-id()",
    ],
)
def test_both_yield_the_same_on_four_devices(op: str) -> None:
    body = f"p = f32[4] parameter(0)\nROOT r = {op}"
    module = parse(entry(body, ADD) if "add" in op else entry(body))
    assert differing(module, replicas=2, partitions=2) == []


MANUAL = """HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}

xla.sdy.manual_computation_body {
  p = f32[2,2] parameter(0)
  ROOT c = f32[2,2] collective-permute(p), channel_id=1, source_target_pairs={{0,1},{1,2},{5,4}}
}

ENTRY main {
  p = f32[4,8] parameter(0)
  l = f32[2,2] custom-call(p), custom_call_target="xla.sdy.GlobalToLocalShape",
    custom_call_has_side_effect=true, frontend_attributes={
    xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\\"x\\"}, {\\"y\\"}]>]>",
    xla.sdy.manual_axes="#sdy<manual_axes{\\"x\\", \\"y\\"}>"}
  c = f32[2,2] call(l), to_apply=xla.sdy.manual_computation_body,
    frontend_attributes={inlineable="false"}
  ROOT g = f32[4,8] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape",
    custom_call_has_side_effect=true, frontend_attributes={
    xla.sdy.manual_axes="#sdy<manual_axes{\\"x\\", \\"y\\"}>",
    xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\\"x\\"}, {\\"y\\"}]>]>"}
}
"""


def test_both_yield_the_same_for_a_module_that_is_not_cut_yet() -> None:
    numbers = np.arange(32, dtype=np.float32).reshape(4, 8)
    module = parse(MANUAL)
    arguments = [[numbers]] * 8
    theirs = run_under_xla(module, arguments, 1, 8)
    ours = evaluate_on_devices(module, arguments, 1, 8)
    for one, other in zip(theirs, ours, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "body",
    [
        "p = s4[4] parameter(0)\nROOT r = s4[4] add(p, p)",
        "p = f8e5m2[4] parameter(0)\nROOT r = f32[4] convert(p)",
        "p = (f32[2], (s8[], bf16[3])) parameter(0)\nROOT r = (f32[2], (s8[], bf16[3])) copy(p)",
        "p = f32[2,3]{0,1} parameter(0)\nROOT r = f32[6]{0} bitcast(p)",
        CHOLESKY,
    ],
)
def test_both_yield_the_same_for_what_numpy_lacks(body: str) -> None:
    assert differing(parse(entry(body))) == []


DYNAMIC = """
  p = f32[4,2] parameter(0)
  n = s32[] constant(3)
  d = f32[<=4,2] set-dimension-size(p, n), dimensions={0}
  a = token[] after-all()
  t = (f32[<=4,2], f32[4,2]) tuple(d, p)
  ROOT r = (s32[], token[], (f32[<=4,2], f32[4,2])) tuple(n, a, t)"""


def test_dynamic_dimensions_and_tokens_come_back_as_the_evaluator_has_them() -> None:
    assert differing(parse(entry(DYNAMIC))) == []


def test_what_xla_does_not_know_is_refused_in_its_own_words() -> None:
    body = 'p = f32[4] parameter(0)\nROOT r = f32[4] custom-call(p), custom_call_target="no_such"'
    with pytest.raises(UnsupportedError, match=r"XLA does not .*no_such"):
        run_under_xla(parse(entry(body)), [[np.zeros(4, np.float32)]])
