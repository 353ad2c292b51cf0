"""Plain values of shardings and replica groups: what the rules of sharding.lark yield."""

from __future__ import annotations

from typing import Any

from hlotool.ir.mesh import GROUPS, AxisReference, DimensionAxes, Mesh, MeshSharding
from hlotool.ir.metadata import Metadata, read_metadata
from hlotool.ir.replica_groups import MeshGroups
from hlotool.ir.sharding import (
    NamedSharding,
    ShardGroup,
    Sharding,
    ShardingItems,
    TupleSharding,
    sharding_of_items,
)
from hlotool.ir.tile_assignment import Iota, TileAssignment
from hlotool.text.forms_attribute import Children, FormError, integer, offset, present, unquoted

Item = tuple[str, Any]
DOMAIN_PARTS = ("kind", "entry", "exit")


class ShardingForms:
    """Callbacks for shardings in every form, replica groups and domains."""

    def sharding(self, c: Children) -> Sharding:
        sharding: Sharding = c[0]
        return sharding

    def empty_sharding(self, c: Children) -> Sharding:
        return TupleSharding()

    def tuple_sharding(self, c: Children) -> Sharding:
        return TupleSharding(tuple(c))

    def item_sharding(self, c: Children) -> Sharding:
        items = ShardingItems()
        given = set()
        for name, value in c:
            if name == "words":
                items.words.add(value)
            elif name == "metadata":
                items.metadata += value
            elif name in given:
                raise ValueError(f"a sharding has one {name.replace('_', ' ')}, this is the second")
            elif name == "tiles":
                items.tiles, items.is_listed = value
            else:
                setattr(items, name, value)
            given.add(name)
        return sharding_of_items(items)

    def mesh_sharding(self, c: Children) -> Sharding:
        return NamedSharding(c[0])

    def sharding_word(self, c: Children) -> Item:
        return "words", str(c[0])

    def sharding_device(self, c: Children) -> Item:
        return "device", integer(c[1])

    def sharding_tiles(self, c: Children) -> Item:
        return "tiles", c[1]

    def sharding_subgroups(self, c: Children) -> Item:
        return "subgroups", tuple(str(word) for word in present(c[1:]))

    def shard_group(self, c: Children) -> Item:
        return "group", ShardGroup(str(c[0]), integer(c[1]))

    def sharding_metadata(self, c: Children) -> Item:
        return "metadata", c[1]

    def iota_tiles(self, c: Children) -> tuple[TileAssignment, bool]:
        sizes, _, iota = c
        return TileAssignment.of(sizes, iota), False

    def listed_tiles(self, c: Children) -> tuple[TileAssignment, bool]:
        sizes, *devices = c
        return TileAssignment.of(sizes, tuple(map(integer, devices))), True

    def sizes(self, c: Children) -> tuple[int, ...]:
        return tuple(map(integer, present(c)))

    def iota(self, c: Children) -> Iota:
        sizes, *permutation = present(c)
        if (len(sizes) > 1) is not bool(permutation):
            rule = "is wanted for more than one dimension" if len(sizes) > 1 else "is for several"
            raise ValueError(f"T(…) {rule}: {len(sizes)} dimensions")
        return Iota.of(sizes, tuple(map(integer, permutation[1:])) if permutation else None)

    def named_sharding(self, c: Children) -> MeshSharding:
        mesh, *rest = present(c)
        dimensions = tuple(part for part in rest if isinstance(part, DimensionAxes))
        parts: dict[str, Any] = {}
        for name, value in (part for part in rest if isinstance(part, tuple)):
            if name in parts:
                raise ValueError(f"{name}= is given twice")
            parts[name] = value
        return MeshSharding(mesh, dimensions, **parts).checked()

    def worded_sharding(self, c: Children) -> MeshSharding:
        mesh, word, _, metadata = c
        if word not in GROUPS:
            raise FormError(f"{word} is not {', '.join(GROUPS)}", offset(word))
        if word != "replicated" and not mesh.axes:
            raise FormError(f"{word} needs a mesh with an axis", offset(word))
        return MeshSharding(mesh, word=str(word), metadata=metadata or ())

    def maximal_sharding(self, c: Children) -> MeshSharding:
        _, _, device, _, metadata = c
        return MeshSharding(Mesh.of(()), maximal_device=integer(device), metadata=metadata or ())

    def mesh(self, c: Children) -> Mesh:
        _, *axes, devices = c
        return Mesh.of(present(axes), devices)

    def mesh_axis(self, c: Children) -> tuple[str, int]:
        return unquoted(c[0]), integer(c[1])

    def device_ids(self, c: Children) -> Iota | tuple[int, ...]:
        first = c[1]
        return first if isinstance(first, Iota) else tuple(map(integer, c[1:]))

    def dimension_axes(self, c: Children) -> DimensionAxes:
        parts = present(c)
        axes = tuple(part for part in parts if isinstance(part, AxisReference))
        return DimensionAxes(axes, is_open=len(axes) < len(parts))

    def mesh_axes(self, c: Children) -> Item:
        return str(c[0][:-1]), tuple(present(c[1:]))

    def axis_reference(self, c: Children) -> AxisReference:
        name, before, size = c
        if before is None:
            return AxisReference(unquoted(name))
        return AxisReference(unquoted(name), integer(before), integer(size))

    def replica_groups(self, c: Children) -> Any:
        return c[0]

    def listed_groups(self, c: Children) -> Any:
        return c[0]

    def iota_groups(self, c: Children) -> Any:
        sizes, _, iota = c
        return TileAssignment.of(sizes, iota)

    def mesh_groups(self, c: Children) -> Any:
        mesh, *axes = present(c)
        return MeshGroups(mesh, tuple(axes))

    def domain(self, c: Children) -> tuple[str, Sharding, Sharding]:
        parts: dict[str, Any] = {}
        for name, value in c:
            if name in parts:
                raise ValueError(f"{name}= is given twice")
            parts[name] = value
        missing = [name for name in DOMAIN_PARTS if name not in parts]
        if missing:
            raise ValueError(f"{missing[0]}= is missing")
        kind, entry, leaving = (parts[name] for name in DOMAIN_PARTS)
        return unquoted(kind), entry, leaving

    def domain_part(self, c: Children) -> Item:
        return str(c[0][:-1]), c[1]

    def metadata_list(self, c: Children) -> tuple[Metadata, ...]:
        return tuple(read_metadata(pairs) for pairs in c)
