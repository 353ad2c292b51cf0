"""Custom calls that go over from arrays to the tiles of a device, and back."""

from typing import Any

import numpy as np
import pytest

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.interpreter.grid import DeviceGrid
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated

X = np.arange(6, dtype=np.float32).reshape(3, 2)
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
    other = ", sharding={devices=[2]<=[2]}"
    with pytest.raises(UnsupportedError, match=r"does not cut \[4\] into tiles of \[1\]"):
        evaluated(entry(FULL.format(part=1, sharding=other)), zeros)
    unreduced = ", sharding={devices=[2,2]<=[4] last_tile_dims={unreduced}}"
    with pytest.raises(UnsupportedError, match="devices hold parts of a sum"):
        evaluated(entry(FULL.format(part=2, sharding=unreduced)), zeros)
    elsewhere = ", sharding={devices=[2]3,4}"
    with pytest.raises(EvaluationError, match="has no tile for device 0"):
        evaluated(entry(FULL.format(part=2, sharding=elsewhere)), zeros)


SHARDY = """HloModule m, num_partitions={partitions},
  frontend_attributes={{xla.sdy.meshes={{{meshes}}}}}
ENTRY main {{
  a = f32[4,2] parameter(0)
  b = f32[4] parameter(1)
  t = (f32[2,1], f32[{part}]) custom-call(a, b), custom_call_target="xla.sdy.GlobalToLocalShape",
    frontend_attributes={{xla.sdy.in_shardings="#sdy.sharding_per_value<[{shardings}]>",
    xla.sdy.manual_axes="#sdy<manual_axes{{{manual}}}>"}}
  x = f32[2,1] get-tuple-element(t), index=0
  y = f32[{part}] get-tuple-element(t), index=1
  w = (f32[4,2], f32[4]) custom-call(x, y), custom_call_target="xla.sdy.LocalToGlobalShape",
    frontend_attributes={{xla.sdy.out_shardings="#sdy.sharding_per_value<[{shardings}]>",
    xla.sdy.manual_axes="#sdy<manual_axes{{{manual}}}>"}}
  ROOT r = (f32[2,1], f32[{part}], (f32[4,2], f32[4])) tuple(x, y, w)
}}
"""
TWO_AXES = 'mesh = #sdy.mesh<["x"=2, "y"=2]>'
A, B = np.arange(8, dtype=np.float32).reshape(4, 2), np.arange(4, dtype=np.float32)


def shardy(partitions: int, part: int, shardings: str, meshes: str, manual: str) -> list[Any]:
    text = SHARDY.format(
        partitions=partitions,
        part=part,
        shardings=shardings.replace('"', '\\"'),
        meshes=meshes,
        manual=manual.replace('"', '\\"'),
    )
    module = parse(text)
    return DeviceGrid(1, partitions).run(lambda device: evaluate_module(module, [A, B], device))


def test_shardy_cuts_along_the_axes_of_its_mesh() -> None:
    shardings = '<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y", "x"}]>'
    found = shardy(4, 1, shardings, TWO_AXES, '"x", "y"')
    firsts = [(x[0, 0], y[0]) for x, y, _ in found]
    assert firsts == [(0, 0), (1, 2), (4, 1), (5, 3)]
    for _, _, (whole, row) in found:
        assert whole.tolist() == A.tolist()
        assert row.tolist() == B.tolist()


def test_shardy_may_name_parts_of_axes_and_order_the_devices() -> None:
    meshes = 'm = #sdy.mesh<["z"=4], device_ids=[3,2,1,0]>'
    shardings = '<@m, [{"z":(1)2}, {"z":(2)2, ?}]>, <@m, [{"z"}p1]>'
    found = shardy(4, 1, shardings, meshes, '"z"')
    assert [(x[0, 0], y[0]) for x, y, _ in found] == [(5, 3), (4, 2), (1, 1), (0, 0)]
    assert all(whole.tolist() == A.tolist() for _, _, (whole, _) in found)


def test_only_manual_axes_cut() -> None:
    meshes = 'mesh = #sdy.mesh<["x"=2, "y"=2, "free"=2]>'
    shardings = '<@mesh, [{"x", "free"}, {"y"}]>, <@mesh, [{"free"}]>'
    found = shardy(8, 4, shardings, meshes, '"x", "y"')
    assert [x[0, 0] for x, _, _ in found] == [0, 0, 1, 1, 4, 4, 5, 5]
    assert all(y.tolist() == B.tolist() for _, y, _ in found)


@pytest.mark.parametrize(
    ("shardings", "message"),
    [
        ('<@other, [{"x"}, {"y"}]>, <@mesh, [{"x"}]>', "the module has no mesh other"),
        ('<@mesh, [{"x"}, {"y"}]>', "in_shardings has 1 shardings, 2 are wanted"),
    ],
)
def test_what_shardy_must_say(shardings: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        shardy(4, 2, shardings, TWO_AXES, '"x", "y"')
