"""Devices as a mesh with named axes, and shardings and groups that name the axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from math import prod
from operator import mul

from hlotool.ir.metadata import Metadata, write_metadata
from hlotool.ir.tile_assignment import Devices, Iota, counted


def axis_name(name: str) -> str:
    """Returns an axis name in single quotes."""
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


@dataclass(frozen=True, slots=True)
class Mesh:
    """Named axes, major to minor, with their sizes, and the devices in that order.

    `devices` is `None` when they are simply counted up.
    """

    axes: tuple[tuple[str, int], ...]
    devices: Devices | None = None
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        places = {name: place for place, (name, _) in enumerate(self.axes)}
        object.__setattr__(self, "_places", places)

    @staticmethod
    def of(axes: Sequence[tuple[str, int]], devices: Devices | None = None) -> Mesh:
        """Returns the mesh; raises `ValueError` where axes or devices are amiss."""
        names = [name for name, _ in axes]
        if len(set(names)) < len(names):
            raise ValueError(f"mesh: an axis is named twice in {', '.join(names)}")
        if any(size < 1 for _, size in axes):
            raise ValueError("mesh: an axis needs a size of 1 or more")
        count = counted([size for _, size in axes])
        if devices is None:
            return Mesh(tuple(axes))
        given = devices.count if isinstance(devices, Iota) else len(devices)
        if given != count:
            raise ValueError(f"mesh: {count} devices expected, {given} given")
        if isinstance(devices, Iota):
            return Mesh(tuple(axes), None if devices.is_identity else devices)
        if sorted(devices) != list(range(count)):
            raise ValueError(f"mesh: device_ids must be 0 to {count - 1}, each once")
        return Mesh(tuple(axes), None if devices == tuple(range(count)) else devices)

    @property
    def text(self) -> str:
        """The mesh as text: `mesh['a'=2,'b'=4]`, with device ids where they are out of order."""
        axes = ",".join(f"{axis_name(name)}={size}" for name, size in self.axes)
        if self.devices is None:
            return f"mesh[{axes}]"
        ids = (
            self.devices.text
            if isinstance(self.devices, Iota)
            else ",".join(map(str, self.devices))
        )
        return f"mesh[{axes}], device_ids=({ids})"

    @property
    def device_count(self) -> int:
        """The number of devices."""
        return prod(size for _, size in self.axes)

    def numbers(self) -> tuple[int, ...]:
        """Returns the device numbers in mesh order, the last axis fastest."""
        if self.devices is None:
            return Iota.of((self.device_count,)).numbers()
        return self.devices.numbers() if isinstance(self.devices, Iota) else self.devices

    def place(self, axis: str) -> int:
        """Returns the number of an axis; raises `ValueError` where there is none of the name."""
        place = self._places.get(axis)
        if place is None:
            raise ValueError(f"mesh: there is no axis {axis}")
        return place

    def size(self, axis: str) -> int:
        """Returns the size of an axis; raises `ValueError` where the mesh has none of the name."""
        return self.axes[self.place(axis)][1]


@dataclass(frozen=True, slots=True)
class AxisReference:
    """An axis, or a part of one: `size` of it behind `before` parts that are more major."""

    name: str
    before: int = 0
    size: int = 0

    @property
    def is_part(self) -> bool:
        """Whether only a part of the axis is meant."""
        return self.size > 0

    @property
    def text(self) -> str:
        """The axis in quotes, and the part behind a colon: `'a':(2)4`."""
        part = f":({self.before}){self.size}" if self.is_part else ""
        return axis_name(self.name) + part

    def extent(self, mesh: Mesh) -> int:
        """Returns how many devices lie along it; raises `ValueError` where it does not fit."""
        whole = mesh.size(self.name)
        if not self.is_part:
            return whole
        if self.before < 1 or whole % (self.before * self.size):
            raise ValueError(f"mesh: {self.text} does not divide an axis of {whole}")
        if self.size in (1, whole):
            raise ValueError(f"mesh: {self.text} is no part of an axis of {whole}")
        return self.size

    def place(self, mesh: Mesh) -> tuple[int, int]:
        """Returns where it lies: the number of the axis, and where in it a part begins."""
        return mesh.place(self.name), self.before

    def precedes(self, other: AxisReference) -> bool:
        """Whether both are parts of an axis, and the other follows this one without a gap."""
        same = self.is_part and other.is_part and self.name == other.name
        return same and self.before * self.size == other.before


def axis_groups(mesh: Mesh, axes: Sequence[AxisReference]) -> tuple[tuple[int, ...], ...]:
    """Returns the devices in groups that differ only along `axes`, these major to minor.

    Raises `ValueError` where the devices are too many to list.
    """
    numbers = mesh.numbers()
    sizes = (size for _, size in mesh.axes[:0:-1])
    strides = [*accumulate(sizes, mul, initial=1)][::-1]
    steps: list[tuple[int, int]] = []
    grouped = [0]
    for axis in axes:
        stride = strides[mesh.place(axis.name)]
        if axis.is_part:
            stride *= mesh.size(axis.name) // (axis.before * axis.size)
        extent = axis.extent(mesh)
        steps.append((stride, extent))
        grouped = [number + stride * step for number in grouped for step in range(extent)]
    firsts, period = [0], len(numbers)
    for stride, extent in sorted(steps, reverse=True):
        starts = range(0, period, stride * extent)
        firsts = [first + start for first in firsts for start in starts]
        period = stride
    firsts = [first + number for first in firsts for number in range(period)]
    return tuple(tuple(numbers[first + step] for step in grouped) for first in firsts)


def check_axes(mesh: Mesh, axes: Sequence[AxisReference]) -> None:
    """Raises `ValueError` for axes that a mesh does not have, or where they overlap."""
    for axis in axes:
        axis.extent(mesh)
    in_order = sorted(axes, key=lambda axis: axis.place(mesh))
    for axis, following in pairwise(in_order):
        if axis.name == following.name and (
            not (axis.is_part and following.is_part) or following.before % (axis.before * axis.size)
        ):
            raise ValueError(f"mesh: {axis.text} and {following.text} overlap")


def check_merged(axes: Sequence[AxisReference]) -> None:
    """Raises `ValueError` where two neighbours are one part of an axis."""
    for axis, following in pairwise(axes):
        if axis.precedes(following):
            merged = AxisReference(axis.name, axis.before, axis.size * following.size)
            raise ValueError(f"mesh: {axis.text} and {following.text} together are {merged.text}")


@dataclass(frozen=True, slots=True)
class DimensionAxes:
    """The axes that one dimension is cut along; an open one may be cut further."""

    axes: tuple[AxisReference, ...] = ()
    is_open: bool = False

    @property
    def text(self) -> str:
        """The axes in braces, `?` behind them for an open dimension."""
        parts = [axis.text for axis in self.axes] + ["?"] * self.is_open
        return "{" + ", ".join(parts) + "}"


GROUPS = ("replicated", "unreduced", "manual")
"""What axes can be set apart for, in print order."""


@dataclass(frozen=True, slots=True)
class MeshSharding:
    """A sharding that names mesh axes for each dimension.

    `word` is set where the whole value is `replicated`, `unreduced` or `manual`;
    `maximal_device` where one device holds all of it and there is no mesh.
    """

    mesh: Mesh
    dimensions: tuple[DimensionAxes, ...] = ()
    replicated: tuple[AxisReference, ...] = ()
    unreduced: tuple[AxisReference, ...] = ()
    manual: tuple[AxisReference, ...] = ()
    word: str = ""
    maximal_device: int | None = None
    metadata: tuple[Metadata, ...] = ()

    def checked(self) -> MeshSharding:
        """Returns this sharding in its normal form, a word for the whole value where one fits.

        Raises `ValueError` for axes that its mesh does not have, that are used twice, or that
        stand in a wrong order.
        """
        groups = {group: self._axes_for(group) for group in GROUPS}
        lists = [*(dimension.axes for dimension in self.dimensions), *groups.values()]
        check_axes(self.mesh, [axis for axes in lists for axis in axes])
        for axes in lists:
            check_merged(axes)
        for group, axes in groups.items():
            places = [axis.place(self.mesh) for axis in axes]
            if places != sorted(places):
                raise ValueError(f"mesh: the axes of {group} must be in the order of the mesh")
        return self._worded()

    def _axes_for(self, group: str) -> tuple[AxisReference, ...]:
        axes: tuple[AxisReference, ...] = getattr(self, group)
        return axes

    def _worded(self) -> MeshSharding:
        """Returns the sharding with a word in place of groups where nothing is cut."""
        if self.word or self.dimensions or self.maximal_device is not None:
            return self
        used = [group for group in GROUPS if self._axes_for(group)]
        if not used:
            return MeshSharding(self.mesh, word="replicated", metadata=self.metadata)
        extent = prod(axis.extent(self.mesh) for axis in self._axes_for(used[0]))
        if used in (["unreduced"], ["manual"]) and extent == self.mesh.device_count:
            return MeshSharding(self.mesh, word=used[0], metadata=self.metadata)
        return self

    @property
    def text(self) -> str:
        """The sharding in braces."""
        if self.maximal_device is not None:
            parts = [f"maximal_mesh[device_id={self.maximal_device}]"]
        elif self.word:
            parts = [self.mesh.text, self.word]
        else:
            dimensions = ", ".join(dimension.text for dimension in self.dimensions)
            parts = [self.mesh.text, f"[{dimensions}]"]
            for group in GROUPS:
                axes = self._axes_for(group)
                if axes:
                    parts.append(f"{group}={{{', '.join(axis.text for axis in axes)}}}")
        if self.metadata:
            parts.append(f"metadata={{{', '.join(map(write_metadata, self.metadata))}}}")
        return "{" + ", ".join(parts) + "}"

    def without_metadata(self) -> MeshSharding:
        """Returns this sharding without its metadata."""
        return replace(self, metadata=()) if self.metadata else self
