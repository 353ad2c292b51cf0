"""Meshes, their axes and arrays of devices as messages."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.errors import ParseError
from hlotool.ir.mesh import AxisReference, Mesh
from hlotool.ir.tile_assignment import MOST_LISTED, Devices, Iota, TileAssignment
from hlotool.proto.schema import Proto
from hlotool.proto.strings import write_string


def read_iota(sizes: Sequence[int], permutation: Sequence[int]) -> Iota:
    """Returns the array of devices that are counted up; raises `ValueError` where it is none."""
    _check_count(sizes)
    return Iota.of(sizes, permutation or None)


def read_tiles(dimensions: Sequence[int], devices: Devices) -> TileAssignment:
    """Returns an array of devices; raises `ValueError` where their number does not fit."""
    _check_count(dimensions)
    return TileAssignment.of(dimensions, devices)


def _check_count(sizes: Sequence[int]) -> None:
    # A guard against sizes that a broken file claims.
    if prod(sizes) > MOST_LISTED:
        raise ParseError(f"{prod(sizes)} devices are too many")


def read_mesh(proto: Proto) -> Mesh:
    """Returns the mesh of a `MeshProto`; raises `ValueError` or `ParseError` where it is none."""
    axes = [(axis.name, axis.size) for axis in proto.axes]
    _check_count([size for _, size in axes])
    devices: Devices | None = tuple(proto.device_ids) or None
    if proto.HasField("iota_transform"):
        transform = proto.iota_transform
        devices = read_iota(transform.reshape_dims, transform.transpose_perm)
    return Mesh.of(axes, devices)


def write_mesh(proto: Proto, mesh: Mesh) -> None:
    """Fills an empty `MeshProto`."""
    proto.SetInParent()
    for name, size in mesh.axes:
        write_string(proto.axes.add(size=size), "name", name)
    if isinstance(mesh.devices, Iota):
        proto.iota_transform.reshape_dims.extend(mesh.devices.sizes)
        proto.iota_transform.transpose_perm.extend(mesh.devices.permutation)
    elif mesh.devices is not None:
        proto.device_ids.extend(mesh.devices)


def read_axes(protos: Sequence[Proto], mesh: Mesh) -> tuple[AxisReference, ...]:
    """Returns the axes that `AxisRefProto` messages name by their places in the mesh."""
    return tuple(_read_axis(proto, mesh) for proto in protos)


def _read_axis(proto: Proto, mesh: Mesh) -> AxisReference:
    if not 0 <= proto.mesh_axis_index < len(mesh.axes):
        raise ParseError(f"axis {proto.mesh_axis_index} of {len(mesh.axes)} is named")
    name, _ = mesh.axes[proto.mesh_axis_index]
    if not proto.HasField("sub_axis_info"):
        return AxisReference(name)
    part = proto.sub_axis_info
    if part.size < 1:
        raise ParseError(f"a part of axis {name} has size {part.size}")
    return AxisReference(name, part.pre_size, part.size)


def write_axes(protos: Proto, axes: Sequence[AxisReference], mesh: Mesh) -> None:
    """Appends axes to a list of `AxisRefProto`."""
    places = {name: place for place, (name, _) in enumerate(mesh.axes)}
    for axis in axes:
        proto = protos.add(mesh_axis_index=places[axis.name])
        if axis.is_part:
            proto.sub_axis_info.pre_size = axis.before
            proto.sub_axis_info.size = axis.size
