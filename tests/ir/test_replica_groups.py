"""Replica groups in their three forms."""

from __future__ import annotations

import pytest
from hypothesis import given

from hlotool.errors import ParseError
from hlotool.ir.mesh import AxisReference, Mesh
from hlotool.ir.replica_groups import (
    NO_GROUPS,
    REPLICA_GROUPS,
    IotaGroups,
    ListedGroups,
    MeshGroups,
    ReplicaGroups,
    iota_groups,
)
from hlotool.ir.tile_assignment import Iota
from hlotool.ops.collective import AllReduce
from hlotool.text.parser import parse
from tests.ir.texts import read
from tests.strategies import REPLICA_GROUPS as ANY_GROUPS

TEXT = """
HloModule m
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
ENTRY e {{ p = f32[8] parameter(0)
  ROOT r = f32[8] all-reduce(p), replica_groups={}, to_apply=add }}
"""


def groups_of(text: str) -> ReplicaGroups:
    op = parse(TEXT.format(text)).entry.root.op
    assert isinstance(op, AllReduce)
    return op.replica_groups


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{{}}",
        "{{0,1},{2,3}}",
        "{{0,1},{2}}",
        "[2,2]<=[4]",
        "[2,2]<=[2,2]T(1,0)",
        "mesh['a'=2,'b'=4] {'a'}",
        "mesh['a'=2,'b'=4] {'b','a'}",
        "mesh['a'=4] {'a':(2)2}",
        "mesh['a'=2,'b'=4], device_ids=(7,6,5,4,3,2,1,0) {'b'}",
        "mesh['a'=2,'b'=4,'c'=2], device_ids=([4,2,2]T(1,0,2)) {'b','c'}",
    ],
)
def test_normal_texts_print_as_they_stand(text: str) -> None:
    assert groups_of(text).text == text


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("{ {0}, {1} }", "{{0},{1}}"),
        ("[2,2] <= [2,2] T(0,1)", "[2,2]<=[4]"),
        ("mesh[\"a\"=2,'b'=4], {'b', 'a'}", "mesh['a'=2,'b'=4] {'b','a'}"),
    ],
)
def test_other_texts_print_in_the_normal_form(text: str, normal: str) -> None:
    assert groups_of(text).text == normal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[2,2]<=[5]", r"\[2,2\] needs 4 devices, 5 given"),
        ("[4]<=[4]", r"\[groups,size\] expected, found 1 dimensions"),
        ("[1,2,2]<=[4]", r"\[groups,size\] expected, found 3 dimensions"),
        ("[2,2]<=[2,2]", "is wanted for more than one dimension"),
        ("mesh['a'=4] {}", "replica groups of one device each"),
        ("mesh['a'=1] {'a'}", "replica groups of one device each"),
        ("mesh['a'=2] {'z'}", "there is no axis z"),
        ("mesh['a'=2,'b'=2] {'a','a'}", "'a' and 'a' overlap"),
        ("mesh['a'=4] {'a':(1)4}", "is no part of an axis of 4"),
        ("{{0,1},}", "found '}'"),
    ],
)
def test_faults_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        groups_of(text)


def test_no_groups_are_one_shared_value() -> None:
    assert groups_of("{}") is NO_GROUPS
    assert NO_GROUPS.groups == ()


@pytest.mark.parametrize(
    ("groups", "listed"),
    [
        (ListedGroups(((0, 1), (2,))), ((0, 1), (2,))),
        (iota_groups(2, 3, Iota.of((6,))), ((0, 1, 2), (3, 4, 5))),
        (iota_groups(2, 3, Iota.of((3, 2), (1, 0))), ((0, 2, 4), (1, 3, 5))),
        (MeshGroups(Mesh.of([("a", 2), ("b", 2)]), (AxisReference("a"),)), ((0, 2), (1, 3))),
        (
            MeshGroups(Mesh.of([("a", 2), ("b", 2)], (3, 2, 1, 0)), (AxisReference("a"),)),
            ((3, 1), (2, 0)),
        ),
    ],
)
def test_groups_can_be_written_out(
    groups: ReplicaGroups, listed: tuple[tuple[int, ...], ...]
) -> None:
    assert groups.groups == listed


@given(ANY_GROUPS)
def test_what_is_counted_up_or_named_has_every_device_once(groups: ReplicaGroups) -> None:
    again = read(REPLICA_GROUPS, groups.text)
    assert again == groups
    if isinstance(groups, IotaGroups | MeshGroups):
        devices = sorted(device for group in groups.groups for device in group)
        assert devices == list(range(len(devices)))
