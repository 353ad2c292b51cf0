"""What the verifier says of shardings."""

from __future__ import annotations

import pytest

from hlotool.analysis.verifier import verify
from hlotool.ir.annotations import Annotations
from hlotool.ir.header import ModuleHeader
from hlotool.ir.mesh import AxisReference, DimensionAxes, Mesh, MeshSharding
from hlotool.ir.shape import TOKEN, Shape
from hlotool.ir.sharding import ArraySharding, NamedSharding, Sharding, TupleSharding
from hlotool.ir.tile_assignment import Devices, Iota, TileAssignment
from tests.analysis.modules import computation, messages, module, parameter
from tests.ops.shapes import F32, F32_2, S32, array, pack

TABLE = array("f32", 4, 6)
REPLICATED = ArraySharding("replicated")
MESH = Mesh.of([("a", 2), ("b", 2)])


def tiles(*dimensions: int, devices: Devices | None = None) -> ArraySharding:
    count = 1
    for size in dimensions:
        count *= size
    return ArraySharding(tiles=TileAssignment.of(dimensions, devices or Iota.of([count])))


def named(*axes: str) -> NamedSharding:
    dimensions = tuple(DimensionAxes((AxisReference(axis),)) for axis in axes)
    return NamedSharding(MeshSharding(MESH, dimensions))


def check(shape: Shape, sharding: Sharding, partitions: int = 4) -> list[str]:
    x = parameter("x", 0, shape)
    x.annotations = Annotations(sharding=sharding)
    header = ModuleHeader(num_partitions=partitions)
    return messages(verify(module(computation("e", x), header=header)))


@pytest.mark.parametrize(
    ("shape", "sharding"),
    [
        (TABLE, REPLICATED),
        (TABLE, ArraySharding("maximal", device=3)),
        (TABLE, tiles(2, 2)),
        (TABLE, tiles(4, 1)),
        (TABLE, tiles(1, 4, devices=(3, 1, 2, 0))),
        (TABLE, ArraySharding(tiles=tiles(2, 1, 2).tiles, subgroups=("replicated",))),
        (TABLE, named("a", "b")),
        (TABLE, named("a")),
        (pack(TABLE, F32_2), TupleSharding((tiles(2, 2), tiles(2)))),
        (pack(TABLE, pack(S32, TOKEN)), TupleSharding((REPLICATED, REPLICATED, REPLICATED))),
        (pack(TABLE, TABLE), tiles(2, 2)),
        (pack(), TupleSharding((REPLICATED,))),
        (TOKEN, TupleSharding((REPLICATED, REPLICATED))),
    ],
)
def test_shardings_that_fit(shape: Shape, sharding: Sharding) -> None:
    assert check(shape, sharding) == []


@pytest.mark.parametrize(
    ("shape", "sharding", "words"),
    [
        (F32_2, tiles(2, 2), "has tiles {2,2} for f32[2]"),
        (F32, tiles(2), "has tiles {2} for f32[]"),
        (TABLE, ArraySharding("maximal", device=4), "names device 4, the module has 4"),
        (TABLE, tiles(8, 1), "names device 7, the module has 4"),
        (TABLE, tiles(1, 2, devices=(0, 5)), "names device 5, the module has 4"),
        (TABLE, tiles(1, 2, devices=(-1, 0)), "names device -1, the module has 4"),
        (TABLE, tiles(1, 2, devices=(1, 1)), "names a device twice"),
        (TABLE, tiles(0, 2), "has an empty array of tiles {0,2}"),
        (F32_2, named("a", "b"), "has axes for 2 dimensions of f32[2]"),
        (TABLE, TupleSharding((REPLICATED,)), "is that of a tuple, the shape is f32[4,6]"),
        (
            pack(TABLE, S32, S32),
            TupleSharding((REPLICATED, REPLICATED)),
            "has 2 entries, the shape has 3 leaves",
        ),
        (pack(F32, F32_2), TupleSharding((REPLICATED, tiles(2, 2))), "has tiles {2,2} for f32[2]"),
    ],
)
def test_shardings_that_do_not_fit(shape: Shape, sharding: Sharding, words: str) -> None:
    assert check(shape, sharding) == [f"parameter: sharding {words}"]


def test_a_mesh_needs_its_devices() -> None:
    assert check(TABLE, named("a", "b"), 2) == [
        "parameter: sharding has a mesh of 4 devices, the module has 2"
    ]
    maximal = NamedSharding(MeshSharding(MESH, maximal_device=3))
    assert check(TABLE, maximal, 2) == ["parameter: sharding names device 3, the module has 2"]


def test_a_module_without_a_count_has_any_devices() -> None:
    for sharding in (tiles(8, 1), ArraySharding("maximal", device=9), named("a", "b")):
        assert check(TABLE, sharding, 1) == []
