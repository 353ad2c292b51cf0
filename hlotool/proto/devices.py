"""Replica groups, and what else collectives say about devices, as messages."""

from __future__ import annotations

from hlotool.errors import ParseError
from hlotool.ir.replica_groups import (
    IotaGroups,
    ListedGroups,
    MeshGroups,
    ReplicaGroups,
    read_replica_groups,
)
from hlotool.ir.tile_assignment import Iota
from hlotool.proto.forms import Form, messages
from hlotool.proto.meshes import read_axes, read_iota, read_mesh, read_tiles, write_axes, write_mesh
from hlotool.proto.schema import Proto


def _read_groups(proto: Proto) -> ReplicaGroups:
    if proto.HasField("mesh_axes_replica_group_list"):
        groups = proto.mesh_axes_replica_group_list
        mesh = read_mesh(groups.mesh)
        return read_replica_groups(MeshGroups(mesh, read_axes(groups.axes, mesh)))
    if proto.HasField("iota_collective_device_list"):
        return _read_iota_groups(proto.iota_collective_device_list)
    older = proto.collective_device_list
    if older.HasField("iota_replica_group_list"):
        return _read_iota_groups(older.iota_replica_group_list)
    listed = older.replica_groups or proto.replica_groups
    return ListedGroups(tuple(tuple(group.replica_ids) for group in listed))


def _read_iota_groups(proto: Proto) -> ReplicaGroups:
    iota = read_iota(proto.iota_reshape_dims, proto.iota_transpose_perm)
    sizes = (proto.num_replica_groups, proto.num_devices_per_group)
    return IotaGroups(read_tiles(sizes, iota))


def _write_groups(proto: Proto, value: ReplicaGroups) -> None:
    if isinstance(value, MeshGroups):
        groups = proto.mesh_axes_replica_group_list
        write_mesh(groups.mesh, value.mesh)
        write_axes(groups.axes, value.axes, value.mesh)
    elif isinstance(value, IotaGroups):
        _write_iota_groups(proto.iota_collective_device_list, value)
    else:
        proto.collective_device_list.SetInParent()
        for group in value.groups:
            proto.collective_device_list.replica_groups.add(replica_ids=group)


def _write_iota_groups(proto: Proto, value: IotaGroups) -> None:
    iota = value.tiles.devices
    assert isinstance(iota, Iota), "the devices of iota groups are counted up"
    proto.num_replica_groups, proto.num_devices_per_group = value.tiles.dimensions
    proto.iota_reshape_dims.extend(iota.sizes)
    proto.iota_transpose_perm.extend(iota.permutation)


REPLICA_GROUPS = Form(_read_groups, _write_groups)
SOURCE_TARGET_PAIRS = messages(
    "source_target_pairs",
    lambda proto: (proto.source, proto.target),
    lambda pair: dict(zip(("source", "target"), pair, strict=True)),
)


def _read_slice_sizes(proto: Proto) -> tuple[tuple[int, ...], ...]:
    sizes = tuple(proto.dynamic_slice_sizes)
    ranks = _sliced_ranks(proto) if sizes else []
    if len(sizes) != sum(ranks):
        # One array, or several of one rank, may have more slices than one each.
        rank = ranks[0] if len(set(ranks)) == 1 else 0
        if not rank or len(sizes) % rank:
            raise ParseError(f"{len(sizes)} slice sizes do not fit ranks {ranks}")
        ranks = [rank] * (len(sizes) // rank)
    starts = [sum(ranks[:number]) for number in range(len(ranks))]
    return tuple(sizes[start : start + rank] for start, rank in zip(starts, ranks, strict=True))


def _sliced_ranks(proto: Proto) -> list[int]:
    shape = proto.shape
    if proto.opcode == "collective-permute-start" and len(shape.tuple_shapes) > 1:
        shape = shape.tuple_shapes[1]
    return [len(array.dimensions) for array in shape.tuple_shapes or [shape]]


def _write_slice_sizes(proto: Proto, value: tuple[tuple[int, ...], ...]) -> None:
    for sizes in value:
        proto.dynamic_slice_sizes.extend(sizes)


SLICE_SIZES = Form(_read_slice_sizes, _write_slice_sizes)
