"""Custom calls that leave a value as it is."""

import numpy as np
import pytest

from hlotool.errors import EvaluationError
from tests.evaluating import entry, evaluated

X = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.mark.parametrize(
    "target",
    [
        "Sharding",
        "annotate_device_placement",
        "MoveToHost",
        "MoveToDevice",
        "LayoutConstraint",
        "ShardBarrierFrom",
        "ShardBarrierTo",
        "xla.sdy.FuncResultSharding",
        "AssumeGatherIndicesInBound",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
    ],
)
def test_markers_leave_the_value_as_it_is(target: str) -> None:
    body = f"""
  x = f32[3,2] parameter(0)
  ROOT y = f32[3,2] custom-call(x), custom_call_target="{target}"
"""
    assert evaluated(entry(body), X).tolist() == X.tolist()


def test_a_marker_of_several_operands_yields_their_tuple() -> None:
    body = """
  x = f32[3,2] parameter(0)
  n = s32[] parameter(1)
  ROOT y = (f32[3,2], s32[]) custom-call(x, n), custom_call_target="xla.sdy.PropagationBarrier"
"""
    values, number = evaluated(entry(body), X, np.int32(4))
    assert values.tolist() == X.tolist()
    assert number == 4


def test_a_host_computation_is_called() -> None:
    called = """
host {
  a = f32[3,2] parameter(0)
  ROOT b = f32[3,2] add(a, a)
}
"""
    body = """
  x = f32[3,2] parameter(0)
  ROOT y = f32[3,2] custom-call(x), custom_call_target="HostExecute", called_computations={host}
"""
    assert evaluated(entry(body, called), X).tolist() == (2 * X).tolist()
    with pytest.raises(
        EvaluationError, match="custom-call HostExecute: 0 computations are called, 1 is wanted"
    ):
        evaluated(entry(body.replace(", called_computations={host}", "")), X)
    with pytest.raises(EvaluationError, match="HostExecute: 2 operands are given, 1 are wanted"):
        evaluated(entry(body.replace("call(x)", "call(x, x)"), called), X)


def test_a_new_buffer_is_zero() -> None:
    body = '  ROOT y = (f32[2], s32[]) custom-call(), custom_call_target="AllocateBuffer"'
    values, number = evaluated(entry(body))
    assert values.tolist() == [0, 0]
    assert number == 0
