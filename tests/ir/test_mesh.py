"""Meshes, and the shardings and groups that name their axes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.ir.mesh import AxisReference, Mesh, MeshSharding, axis_groups
from hlotool.ir.sharding import NamedSharding
from hlotool.ir.tile_assignment import Iota
from tests.ir.texts import annotated, fault, shown
from tests.strategies import axis_references, meshes

UNCHANGED = [
    "{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}",
    "{mesh['a'=2,'b'=4], [{}, {'a', 'b'}]}",
    "{mesh['a'=8], [{'a', ?}, {?}, {}]}",
    "{mesh['a'=1], [{'a'}]}",
    "{mesh['a b'=8], [{'a b'}]}",
    "{mesh[''=8], [{''}]}",
    "{mesh['a'=8], replicated}",
    "{mesh['a'=8], unreduced}",
    "{mesh['a'=8], manual}",
    "{mesh[], replicated}",
    "{mesh[], [{}, {?}]}",
    "{maximal_mesh[device_id=3]}",
    "{mesh['a'=2,'b'=4], device_ids=(7,6,5,4,3,2,1,0), [{'a'}]}",
    "{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}]}",
    "{mesh['a'=2], device_ids=(1,0), manual}",
    "{mesh['a'=8], [{'a':(1)2}, {'a':(2)4}]}",
    "{mesh['a'=8], [{'a':(4)2, 'a':(1)2}]}",
    "{mesh['a'=2,'b'=4], [{}], unreduced={'a', 'b'}}",
    "{mesh['a'=2,'b'=4], [], replicated={'a', 'b'}}",
    "{mesh['a'=2,'b'=4], [], unreduced={'b'}, manual={'a'}}",
    "{mesh['a'=4], [{}], replicated={'a':(2)2}, manual={'a':(1)2}}",
    "{mesh['a'=2,'b'=3,'c'=4], [{'a'}], replicated={'b'}, manual={'c'}, metadata={{}}}",
    '{maximal_mesh[device_id=3], metadata={{op_name="q"}}}',
    "{mesh['a'=8], replicated, metadata={{op_name=\"q\"}, {op_name=\"r\"}}}",
    "{{mesh['a'=8], [{'a'}]}, {replicated}, {mesh['a'=8], manual}}",
]  # fmt: skip
"""Texts that print as they stand."""

NORMALISED = [
    ('{mesh["a"=2,"b"=4], [{"a"}]}', "{mesh['a'=2,'b'=4], [{'a'}]}"),
    ("{ mesh ['a' = 8],replicated }", "{mesh['a'=8], replicated}"),
    ("{mesh['a'=8] [{'a'}]}", "{mesh['a'=8], [{'a'}]}"),
    ("{mesh['a'=8], []}", "{mesh['a'=8], replicated}"),
    ("{mesh['a'=2,'b'=4], [], manual={'a','b'}}", "{mesh['a'=2,'b'=4], manual}"),
    ("{mesh['a'=2], [{}], manual={'a'}, replicated={}, unreduced={}}",
     "{mesh['a'=2], [{}], manual={'a'}}"),
    ("{mesh['a'=2,'b'=2], device_ids=([2,2]T(0,1)), [{'a'}]}", "{mesh['a'=2,'b'=2], [{'a'}]}"),
    ("{mesh['a'=2,'b'=2], device_ids=(0,1,2,3), [{'a'}]}", "{mesh['a'=2,'b'=2], [{'a'}]}"),
    ("{mesh['a'=4], device_ids=([4]), [{}]}", "{mesh['a'=4], [{}]}"),
    ("{mesh['a'=4], device_ids=([2,1,2]T(2,1,0)), [{}]}",
     "{mesh['a'=4], device_ids=([2,2]T(1,0)), [{}]}"),
    ("{mesh['a'=8], replicated, metadata={op_name=\"q\"}}",
     "{mesh['a'=8], replicated, metadata={{op_name=\"q\"}}}"),
    ("{mesh['a'=2], [{}], metadata={op_name=\"k\"}, manual={'a'}}",
     "{mesh['a'=2], [{}], manual={'a'}, metadata={{op_name=\"k\"}}}"),
]  # fmt: skip
"""Texts, each with the one it prints as."""

FAULTS = [
    ("{mesh['a'=8], [{'z'}]}", "there is no axis z"),
    ("{mesh['a'=8,'a'=2], [{'a'}]}", "an axis is named twice in a, a"),
    ("{mesh['a'=0], [{}]}", "an axis needs a size of 1 or more"),
    ("{mesh['a'=8], [{'a', 'a'}]}", "'a' and 'a' overlap"),
    ("{mesh['a'=8], [{'a'}, {'a'}]}", "'a' and 'a' overlap"),
    ("{mesh['a'=8], [{'a'}], replicated={'a'}}", "'a' and 'a' overlap"),
    ("{mesh['a'=8], [{'a':(1)4}, {'a':(2)4}]}", "'a':(1)4 and 'a':(2)4 overlap"),
    ("{mesh['a'=8], [{'a':(1)2, 'a':(2)2}]}", "'a':(1)2 and 'a':(2)2 together are 'a':(1)4"),
    ("{mesh['a'=8], [{'a':(3)2}]}", "'a':(3)2 does not divide an axis of 8"),
    ("{mesh['a'=8], [{'a':(0)2}]}", "'a':(0)2 does not divide an axis of 8"),
    ("{mesh['a'=8], [{'a':(2)1}]}", "'a':(2)1 is no part of an axis of 8"),
    ("{mesh['a'=8], [{'a':(1)8}]}", "'a':(1)8 is no part of an axis of 8"),
    ("{mesh['a'=8,'b'=2], [{}], replicated={'b', 'a'}}", "replicated must be in the order"),
    ("{mesh['a'=8,'b'=2], [{}], manual={'a'}, manual={'b'}}", "manual= is given twice"),
    ("{mesh['a'=2], device_ids=(1,1), [{}]}", "device_ids must be 0 to 1, each once"),
    ("{mesh['a'=2], device_ids=(5,9), [{}]}", "device_ids must be 0 to 1, each once"),
    ("{mesh['a'=2], device_ids=(1,0,2), [{}]}", "2 devices expected, 3 given"),
    ("{mesh['a'=4], device_ids=([2,3]T(1,0)), [{}]}", "4 devices expected, 6 given"),
    ("{mesh[], manual}", "manual needs a mesh with an axis"),
    ("{mesh['a'=8], unknown}", "unknown is not replicated, unreduced, manual"),
    ("{mesh['a'=8]}", "found '}'"),
    ("{maximal_mesh[device_id=3], replicated}", "found 'replicated'"),
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_normal_texts_print_as_they_stand(text: str) -> None:
    shape = "(f32[8], f32[8], f32[8])" if text.startswith("{{") else "f32[8]"
    assert shown(f"sharding={text}", shape) == f"sharding={text}"


@pytest.mark.parametrize(("text", "normal"), NORMALISED)
def test_other_texts_print_in_the_normal_form(text: str, normal: str) -> None:
    assert shown(f"sharding={text}") == f"sharding={normal}"


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults_say_what_is_wrong(text: str, message: str) -> None:
    assert message in fault(f"sharding={text}")


@pytest.mark.parametrize("name", ["a'b", 'a"b', "a\\b", "'", "é"])
def test_any_axis_name_reads_back(name: str) -> None:
    mesh = Mesh.of([(name, 2)])
    found = annotated(f"sharding={MeshSharding(mesh, word='manual').text}").sharding
    assert found == NamedSharding(MeshSharding(mesh, word="manual"))


def test_devices_come_in_mesh_order() -> None:
    assert Mesh.of([("a", 2), ("b", 2)]).numbers() == (0, 1, 2, 3)
    assert Mesh.of([("a", 2), ("b", 2)], Iota.of((2, 2), (1, 0))).numbers() == (0, 2, 1, 3)
    assert Mesh.of([("a", 3)], (2, 0, 1)).numbers() == (2, 0, 1)


@pytest.mark.parametrize(
    ("axes", "groups"),
    [
        ([AxisReference("b")], ((0, 1, 2, 3), (4, 5, 6, 7))),
        ([AxisReference("a")], ((0, 4), (1, 5), (2, 6), (3, 7))),
        ([AxisReference("b", 1, 2)], ((0, 2), (1, 3), (4, 6), (5, 7))),
        ([AxisReference("b", 2, 2)], ((0, 1), (2, 3), (4, 5), (6, 7))),
        ([AxisReference("b", 2, 2), AxisReference("a")], ((0, 4, 1, 5), (2, 6, 3, 7))),
    ],
)
def test_groups_lie_along_the_axes(
    axes: list[AxisReference], groups: tuple[tuple[int, ...], ...]
) -> None:
    assert axis_groups(Mesh.of([("a", 2), ("b", 4)]), axes) == groups


@given(meshes(), st.data())
def test_groups_share_the_devices_out(mesh: Mesh, data: st.DataObject) -> None:
    axes = data.draw(axis_references(mesh))
    groups = axis_groups(mesh, axes)
    size = int(np.prod([axis.extent(mesh) for axis in axes]))
    assert {len(group) for group in groups} == {size}
    assert sorted(device for group in groups for device in group) == list(range(mesh.device_count))


def test_groups_are_made_without_a_look_at_every_device() -> None:
    mesh = Mesh.of([("a", 3), ("one", 1), ("b", 4), ("c", 5)])
    axes = [AxisReference("c"), AxisReference("one"), AxisReference("b", 1, 2)]
    numbers = np.arange(60).reshape(3, 2, 2, 5).transpose(0, 2, 3, 1)
    assert [list(group) for group in axis_groups(mesh, axes)] == numbers.reshape(6, 10).tolist()
