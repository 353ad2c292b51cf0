"""Which devices take part in a collective together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from hlotool.ir.mesh import AxisReference, Mesh, axis_groups, check_axes, check_merged
from hlotool.ir.record import AttributeKind
from hlotool.ir.tile_assignment import MOST_LISTED, Iota, TileAssignment


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """Groups written out; none at all means that all devices are one group."""

    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def text(self) -> str:
        """The groups in braces: `{{0,1},{2,3}}`."""
        return "{" + ",".join(f"{{{','.join(map(str, group))}}}" for group in self.groups) + "}"


@dataclass(frozen=True, slots=True)
class IotaGroups:
    """Groups as the rows of an array of devices."""

    tiles: TileAssignment

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return self.tiles.dimensions[0]

    @property
    def group_size(self) -> int:
        """How many devices are in each group."""
        return self.tiles.dimensions[1]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups written out."""
        count, size = self.tiles.dimensions
        numbers = self.tiles.numbers()
        return tuple(numbers[row * size : (row + 1) * size] for row in range(count))

    @property
    def text(self) -> str:
        """The groups as `[2,4]<=[8]`."""
        return self.tiles.text


@dataclass(frozen=True, slots=True)
class MeshGroups:
    """Groups of devices that differ only along some axes of a mesh."""

    mesh: Mesh
    axes: tuple[AxisReference, ...]

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return self.mesh.device_count // self.group_size

    @property
    def group_size(self) -> int:
        """How many devices are in each group."""
        return prod(axis.extent(self.mesh) for axis in self.axes)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups written out."""
        return axis_groups(self.mesh, self.axes)

    @property
    def text(self) -> str:
        """The groups as `mesh['a'=2,'b'=4] {'a'}`."""
        return f"{self.mesh.text} {{{','.join(axis.text for axis in self.axes)}}}"


ReplicaGroups = ListedGroups | IotaGroups | MeshGroups
NO_GROUPS = ListedGroups()
"""All devices in one group."""


def listed_groups(groups: ReplicaGroups) -> ReplicaGroups:
    """Returns the groups written out, unless they are more than anyone can list."""
    if isinstance(groups, ListedGroups):
        return groups
    if isinstance(groups, IotaGroups):
        count = prod(groups.tiles.dimensions)
    else:
        count = groups.mesh.device_count
    return ListedGroups(groups.groups) if count <= MOST_LISTED else groups


def read_replica_groups(plain: Any) -> ReplicaGroups:
    """Returns the groups of what the grammar yields; raises `ValueError` where there are none."""
    if isinstance(plain, MeshGroups):
        check_axes(plain.mesh, plain.axes)
        check_merged(plain.axes)
        if prod(axis.extent(plain.mesh) for axis in plain.axes) == 1:
            raise ValueError("replica groups of one device each")
        return plain
    if isinstance(plain, TileAssignment):
        if len(plain.dimensions) != 2:
            raise ValueError(f"[groups,size] expected, found {len(plain.dimensions)} dimensions")
        return IotaGroups(plain)
    groups: Sequence[tuple[int, ...]] = plain
    return ListedGroups(tuple(groups)) if groups else NO_GROUPS


def iota_groups(count: int, size: int, iota: Iota) -> IotaGroups:
    """Returns `count` groups of `size` devices, taken in the order of an iota."""
    return IotaGroups(TileAssignment.of((count, size), iota))


REPLICA_GROUPS = AttributeKind[ReplicaGroups](
    "replica_groups",
    "replica groups, as {{0,1},{2,3}} or [2,4]<=[8]",
    read=read_replica_groups,
    write=lambda groups: groups.text,
)
