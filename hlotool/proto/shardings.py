"""Shardings as messages, by tiles and by the axes of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hlotool.errors import ParseError
from hlotool.ir.mesh import GROUPS, AxisReference, DimensionAxes, Mesh, MeshSharding
from hlotool.ir.sharding import (
    ArraySharding,
    Domain,
    NamedSharding,
    ShardGroup,
    Sharding,
    TupleSharding,
    tiled,
)
from hlotool.ir.tile_assignment import Iota, TileAssignment
from hlotool.proto.forms import Form, name_of_value
from hlotool.proto.meshes import read_axes, read_iota, read_mesh, read_tiles, write_axes, write_mesh
from hlotool.proto.metadata import read_metadata, write_metadata
from hlotool.proto.schema import Proto, enumeration

_TYPES = enumeration("OpSharding.Type")
_GROUP_WORDS = ("shard_as", "shard_like")
_TILES = "other"
Payloads = Sequence[bytes]


def read_sharding(proto: Proto, payloads: Payloads = ()) -> Sharding:
    """Returns the sharding of an `OpSharding`; raises `ValueError` or `ParseError` for none."""
    if proto.type != _TYPES["TUPLE"]:
        return _read_element(proto, payloads)
    return TupleSharding(
        tuple(_read_element(element, payloads) for element in proto.tuple_shardings)
    )


def _read_element(proto: Proto, payloads: Payloads) -> ArraySharding | NamedSharding:
    if proto.HasField("named_sharding"):
        return NamedSharding(_read_named(proto.named_sharding, payloads))
    word = name_of_value(proto, "type").lower()
    if word == "tuple":
        raise ParseError("a sharding has tuples inside a tuple")
    if word == _TILES:
        sharding = tiled(_read_tiles(proto), _read_subgroups(proto))
    elif word == "maximal":
        if len(proto.tile_assignment_devices) != 1:
            raise ParseError(f"maximal sharding on {len(proto.tile_assignment_devices)} devices")
        sharding = ArraySharding(word, device=proto.tile_assignment_devices[0])
    else:
        sharding = ArraySharding(word)
    return replace(
        sharding,
        group=_read_group(proto) if proto.is_shard_group else None,
        metadata=tuple(read_metadata(entry, payloads) for entry in proto.metadata),
    )


def _read_tiles(proto: Proto) -> TileAssignment:
    dimensions = tuple(proto.tile_assignment_dimensions)
    if proto.iota_reshape_dims:
        iota = read_iota(proto.iota_reshape_dims, proto.iota_transpose_perm)
        return read_tiles(dimensions, iota)
    devices = tuple(proto.tile_assignment_devices)
    if len(devices) < 2:
        raise ParseError("a list of devices needs two or more; one device is maximal")
    return read_tiles(dimensions, devices)


def _read_subgroups(proto: Proto) -> tuple[str, ...]:
    if proto.replicate_on_last_tile_dim:
        return ("replicated",)
    return tuple(
        name_of_value(proto, "last_tile_dims", value=kind).lower() for kind in proto.last_tile_dims
    )


def _read_group(proto: Proto) -> ShardGroup:
    if not 0 <= proto.shard_group_type < len(_GROUP_WORDS):
        raise ParseError(f"unknown value {proto.shard_group_type} of shard_group_type")
    return ShardGroup(_GROUP_WORDS[proto.shard_group_type], proto.shard_group_id)


def _read_named(proto: Proto, payloads: Payloads) -> MeshSharding:
    metadata = tuple(read_metadata(entry, payloads) for entry in proto.metadata)
    if not proto.mesh.axes and len(proto.mesh.device_ids) == 1:
        return MeshSharding(Mesh.of(()), maximal_device=proto.mesh.device_ids[0], metadata=metadata)
    mesh = read_mesh(proto.mesh)
    dimensions = tuple(
        DimensionAxes(read_axes(dimension.axes, mesh), is_open=not dimension.is_closed)
        for dimension in proto.dim_shardings
    )
    groups = {group: read_axes(getattr(proto, f"{group}_axes"), mesh) for group in GROUPS}
    word = "" if dimensions else _whole_word(groups, mesh)
    if word:
        return MeshSharding(mesh, word=word, metadata=metadata)
    return MeshSharding(
        mesh,
        dimensions,
        replicated=groups["replicated"],
        unreduced=groups["unreduced"],
        manual=groups["manual"],
        metadata=metadata,
    ).checked()


def _whole_word(groups: dict[str, tuple[AxisReference, ...]], mesh: Mesh) -> str:
    used = {group: axes for group, axes in groups.items() if axes}
    if not used:
        return "replicated"
    for group in ("unreduced", "manual"):
        if used == {group: _all_axes(mesh)}:
            return group
    return ""


def _all_axes(mesh: Mesh) -> tuple[AxisReference, ...]:
    return tuple(AxisReference(name) for name, _ in mesh.axes)


def write_sharding(proto: Proto, sharding: Sharding) -> None:
    """Fills an empty `OpSharding`."""
    if not isinstance(sharding, TupleSharding):
        _write_element(proto, sharding)
        return
    proto.type = _TYPES["TUPLE"]
    for element in sharding.elements:
        _write_element(proto.tuple_shardings.add(), element)


def _write_element(proto: Proto, sharding: ArraySharding | NamedSharding) -> None:
    if isinstance(sharding, NamedSharding):
        _write_named(proto.named_sharding, sharding.mesh_sharding)
        return
    proto.SetInParent()
    proto.type = _TYPES[(sharding.word or _TILES).upper()]
    if sharding.device is not None:
        proto.tile_assignment_devices.append(sharding.device)
    if sharding.tiles is not None:
        _write_tiles(proto, sharding.tiles)
    if sharding.subgroups == ("replicated",):
        proto.replicate_on_last_tile_dim = True
    else:
        proto.last_tile_dims.extend(_TYPES[kind.upper()] for kind in sharding.subgroups)
    if sharding.group is not None:
        proto.is_shard_group = True
        proto.shard_group_id = sharding.group.number
        proto.shard_group_type = _GROUP_WORDS.index(sharding.group.word)
    for entry in sharding.metadata:
        write_metadata(proto.metadata.add(), entry)


def _write_tiles(proto: Proto, tiles: TileAssignment) -> None:
    proto.tile_assignment_dimensions.extend(tiles.dimensions)
    if isinstance(tiles.devices, Iota):
        proto.iota_reshape_dims.extend(tiles.devices.sizes)
        proto.iota_transpose_perm.extend(tiles.devices.permutation)
    else:
        proto.tile_assignment_devices.extend(tiles.devices)


def _write_named(proto: Proto, sharding: MeshSharding) -> None:
    mesh = sharding.mesh
    write_mesh(proto.mesh, mesh)
    if sharding.maximal_device is not None:
        proto.mesh.device_ids.append(sharding.maximal_device)
    for dimension in sharding.dimensions:
        to = proto.dim_shardings.add(is_closed=not dimension.is_open)
        write_axes(to.axes, dimension.axes, mesh)
    for group in GROUPS:
        axes: tuple[AxisReference, ...] = getattr(sharding, group)
        if sharding.word == group != "replicated":
            axes = _all_axes(mesh)
        write_axes(getattr(proto, f"{group}_axes"), axes, mesh)
    for entry in sharding.metadata:
        write_metadata(proto.metadata.add(), entry)


def _read_domain(proto: Proto) -> Domain | None:
    if not (proto.HasField("domain_entry_sharding") and proto.HasField("domain_exit_sharding")):
        return None
    # Messages name the sides as the operand sees them, the text as the users do.
    return Domain(
        "sharding",
        entry=read_sharding(proto.domain_exit_sharding),
        exit=read_sharding(proto.domain_entry_sharding),
    )


def _write_domain(proto: Proto, domain: Domain) -> None:
    write_sharding(proto.domain_entry_sharding, domain.exit)
    write_sharding(proto.domain_exit_sharding, domain.entry)


DOMAIN = Form(_read_domain, _write_domain)
