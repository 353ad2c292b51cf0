"""Custom calls that leave a value as it is, and those that go over to tiles and back."""

from typing import Any

import numpy as np
import pytest

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.grid import DeviceGrid
from hlotool.evaluation.run import evaluate_module
from hlotool.text.parser import parse
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
  ROOT y = (f32[3,2], s32[]) custom-call(x, n), custom_call_target="xla.sdy.GlobalToLocalShape"
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
    with pytest.raises(EvaluationError, match="HostExecute: one computation wanted, 0 called"):
        evaluated(entry(body.replace(", called_computations={host}", "")), X)


def test_a_new_buffer_is_zero() -> None:
    body = '  ROOT y = (f32[2], s32[]) custom-call(), custom_call_target="AllocateBuffer"'
    values, number = evaluated(entry(body))
    assert values.tolist() == [0, 0]
    assert number == 0


TILED = """
  x = f32[{full}] parameter(0)
  s = f32[{full}] custom-call(x), custom_call_target="Sharding", sharding={sharding}
  t = f32[{part}] custom-call(s), custom_call_target="SPMDFullToShardShape", sharding={{manual}}
  p = u32[] partition-id()
  q = f32[] convert(p)
  b = f32[{part}] broadcast(q), dimensions={{}}
  u = f32[{part}] add(t, b)
  m = f32[{part}] custom-call(u), custom_call_target="Sharding", sharding={{manual}}
  w = f32[{full}] custom-call(m), custom_call_target="SPMDShardToFullShape", sharding={sharding}
  ROOT r = (f32[{part}], f32[{full}]) tuple(t, w)
"""


def on_devices(partitions: int, x: np.ndarray, full: str, part: str, sharding: str) -> list[Any]:
    """Returns each device's tile, and the array of all tiles with the device added to each."""
    text = entry(TILED.format(full=full, part=part, sharding=sharding))
    module = parse(text.replace("HloModule m", f"HloModule m, num_partitions={partitions}"))
    grid = DeviceGrid(1, partitions)
    return grid.run(lambda device: evaluate_module(module, [x], device))


def test_tiles_are_cut_and_put_together_by_device() -> None:
    sharding = "{devices=[2,2]0,2,1,3}"
    found = on_devices(4, np.arange(8, dtype=np.float32).reshape(4, 2), "4,2", "2,1", sharding)
    assert [tile.tolist() for tile, _ in found] == [
        [[0], [2]],
        [[4], [6]],
        [[1], [3]],
        [[5], [7]],
    ]
    wanted = [[0, 1 + 2], [2, 3 + 2], [4 + 1, 5 + 3], [6 + 1, 7 + 3]]
    assert all(whole.tolist() == wanted for _, whole in found)


def test_the_last_tile_is_padded_and_the_padding_dropped() -> None:
    found = on_devices(2, X, "3,2", "2,2", "{devices=[2,1]<=[2]}")
    assert found[1][0].tolist() == [[4, 5], [0, 0]]
    assert all(whole.tolist() == [[0, 1], [2, 3], [5, 6]] for _, whole in found)


def test_of_equal_tiles_the_first_device_counts() -> None:
    sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"
    found = on_devices(4, np.zeros((2, 1), np.float32), "2,1", "1,1", sharding)
    assert all(whole.tolist() == [[0], [2]] for _, whole in found)


def test_a_mesh_cuts_as_well() -> None:
    sharding = "{mesh['a'=2,'b'=2], [{'b'}, {'a'}]}"
    found = on_devices(4, np.arange(4, dtype=np.float32).reshape(2, 2), "2,2", "1,1", sharding)
    assert [float(tile[0, 0]) for tile, _ in found] == [0, 2, 1, 3]


def test_one_device_cannot_make_tiles_of_many() -> None:
    body = """
  x = f32[2] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="SPMDShardToFullShape",
    sharding={devices=[2]<=[2]}
"""
    with pytest.raises(EvaluationError, match="there are 2 tiles, and 1 partitions run") as found:
        evaluated(entry(body), np.zeros(2, np.float32))
    assert found.value.notes[0] == "run with --num-partitions 2"


FULL = """
  x = f32[4] parameter(0)
  s = f32[4] custom-call(x), custom_call_target="Sharding"{sharding}
  ROOT y = f32[{part}] custom-call(s), custom_call_target="SPMDFullToShardShape"
"""


def test_tiles_need_a_sharding_that_cuts_them() -> None:
    zeros = np.zeros(4, np.float32)
    with pytest.raises(EvaluationError, match="s has no sharding, tiles are wanted"):
        evaluated(entry(FULL.format(part=2, sharding="")), zeros)
    uneven = ", sharding={devices=[2]<=[2]}"
    with pytest.raises(UnsupportedError, match=r"does not cut \[4\] into tiles of \[1\]"):
        evaluated(entry(FULL.format(part=1, sharding=uneven)), zeros)
    unreduced = ", sharding={devices=[2,2]<=[4] last_tile_dims={unreduced}}"
    with pytest.raises(UnsupportedError, match="devices hold parts of a sum"):
        evaluated(entry(FULL.format(part=2, sharding=unreduced)), zeros)
    elsewhere = ", sharding={devices=[2]3,4}"
    with pytest.raises(EvaluationError, match="SPMDFullToShardShape: .* no tile for device 0"):
        evaluated(entry(FULL.format(part=2, sharding=elsewhere)), zeros)
