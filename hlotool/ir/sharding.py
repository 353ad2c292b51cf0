"""How a value is spread over devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from hlotool.ir.mesh import MeshSharding
from hlotool.ir.metadata import Metadata, write_metadata
from hlotool.ir.record import AttributeKind
from hlotool.ir.shape import Shape, TupleShape, join_marked
from hlotool.ir.tile_assignment import TileAssignment

WORDS = ("replicated", "maximal", "manual", "unknown", "unreduced")
"""Shardings without tiles; where a text has several of them the first one here counts."""
SUBGROUP_ORDER = ("maximal", "manual", "unreduced", "replicated")
"""The order of the kinds of subgroups in a sharding."""


@dataclass(frozen=True, slots=True)
class ShardGroup:
    """Ties shardings together: `shard_as` or `shard_like`, and the number of the group."""

    word: str
    number: int


@dataclass(frozen=True, slots=True)
class ArraySharding:
    """The sharding of one array: a word, or tiles.

    The trailing dimensions of `tiles` that `subgroups` names do not cut the array: devices
    along them hold the same tile, for the reason given. `device` is that of `maximal`.
    """

    word: str = ""
    tiles: TileAssignment | None = None
    subgroups: tuple[str, ...] = ()
    device: int | None = None
    group: ShardGroup | None = None
    metadata: tuple[Metadata, ...] = ()

    @property
    def tile_counts(self) -> tuple[int, ...]:
        """The number of tiles along each dimension of the array; empty for a word."""
        if self.tiles is None:
            return ()
        return self.tiles.dimensions[: len(self.tiles.dimensions) - len(self.subgroups)]

    @property
    def text(self) -> str:
        """The sharding in braces."""
        parts = [self.word]
        if self.tiles is not None:
            parts = ["devices=" + self.tiles.text]
            if self.subgroups == ("replicated",):
                parts.append("last_tile_dim_replicate")
            elif self.subgroups:
                parts.append(f"last_tile_dims={{{', '.join(self.subgroups)}}}")
        elif self.device is not None:
            parts.append(f"device={self.device}")
        if self.group is not None:
            parts.append(f"{self.group.word} {self.group.number}")
        if len(self.metadata) == 1:
            parts.append("metadata=" + write_metadata(self.metadata[0]))
        elif self.metadata:
            parts.append(f"metadata={{{', '.join(map(write_metadata, self.metadata))}}}")
        return "{" + " ".join(parts) + "}"

    def without_metadata(self) -> ArraySharding:
        """Returns this sharding without its metadata."""
        return replace(self, metadata=()) if self.metadata else self

    def for_shape(self, shape: Shape) -> Sharding:
        """Returns the sharding of a value: for a tuple one copy for each leaf."""
        return _for_leaves(self, shape)


@dataclass(frozen=True, slots=True)
class NamedSharding:
    """The sharding of one array by the axes of a mesh."""

    mesh_sharding: MeshSharding

    @property
    def text(self) -> str:
        """The sharding in braces."""
        return self.mesh_sharding.text

    def without_metadata(self) -> NamedSharding:
        """Returns this sharding without its metadata."""
        return NamedSharding(self.mesh_sharding.without_metadata())

    def for_shape(self, shape: Shape) -> Sharding:
        """Returns the sharding of a value: for a tuple one copy for each leaf."""
        return _for_leaves(self, shape)


@dataclass(frozen=True, slots=True)
class TupleSharding:
    """The shardings of the leaves of a tuple, in order."""

    elements: tuple[ArraySharding | NamedSharding, ...] = ()

    @property
    def text(self) -> str:
        """The shardings in braces."""
        return "{" + join_marked([element.text for element in self.elements]) + "}"

    def without_metadata(self) -> TupleSharding:
        """Returns these shardings without their metadata."""
        return TupleSharding(tuple(element.without_metadata() for element in self.elements))

    def for_shape(self, shape: Shape) -> Sharding:
        """Returns itself."""
        return self


Sharding = ArraySharding | NamedSharding | TupleSharding


def _for_leaves(sharding: ArraySharding | NamedSharding, shape: Shape) -> Sharding:
    if not isinstance(shape, TupleShape):
        return sharding
    # The reference gives an empty tuple one sharding all the same.
    leaves = sum(1 for _ in shape.leaves()) or 1
    return TupleSharding((sharding,) * leaves)


@dataclass(slots=True)
class ShardingItems:
    """The items of a sharding as they stand in a text."""

    words: set[str] = field(default_factory=set)
    tiles: TileAssignment | None = None
    is_listed: bool = False
    device: int | None = None
    subgroups: tuple[str, ...] | None = None
    group: ShardGroup | None = None
    metadata: tuple[Metadata, ...] = ()


def sharding_of_items(items: ShardingItems) -> ArraySharding:
    """Returns the sharding that items say; raises `ValueError` where they do not fit together."""
    word = next((word for word in WORDS if word in items.words), "")
    rest: dict[str, Any] = {"group": items.group, "metadata": items.metadata}
    if word == "maximal":
        if items.device is None:
            raise ValueError("a maximal sharding needs device=")
        return ArraySharding(word, device=items.device, **rest)
    if word:
        if items.tiles is not None or items.device is not None:
            raise ValueError(f"a {word} sharding names no devices")
        return ArraySharding(word, **rest)
    if items.tiles is None:
        raise ValueError("a sharding needs devices=, or a word such as replicated")
    if items.device is not None:
        raise ValueError("device= is for a maximal sharding, devices= says which devices")
    if items.is_listed and len(items.tiles.numbers()) < 2:
        raise ValueError("a list of devices needs two or more; one device is maximal")
    subgroups = items.subgroups or ()
    if "last_tile_dim_replicate" in items.words:
        if items.subgroups is not None:
            raise ValueError("last_tile_dim_replicate and last_tile_dims= exclude each other")
        subgroups = ("replicated",)
    return replace(tiled(items.tiles, subgroups), **rest)


def tiled(tiles: TileAssignment, subgroups: Sequence[str]) -> ArraySharding:
    """Returns the sharding by tiles in its normal form.

    Subgroups of one device vanish, those of a kind become one, `replicated` is the last; tiles
    that cut nothing leave only the kind. Raises `ValueError` for more subgroups than dimensions.
    """
    data = len(tiles.dimensions) - len(subgroups)
    if data < 0:
        raise ValueError(f"{len(subgroups)} subgroups in {len(tiles.dimensions)} dimensions")
    for kind in subgroups:
        if kind not in SUBGROUP_ORDER:
            raise ValueError(f"{kind} is no kind of subgroup: {', '.join(SUBGROUP_ORDER)}")
    if not subgroups:
        return ArraySharding(tiles=tiles)
    is_uncut = prod(tiles.dimensions[:data]) == 1
    if is_uncut and len(set(subgroups)) == 1 and subgroups[0] != "maximal":
        return ArraySharding(subgroups[0])
    by_kind: dict[str, list[int]] = {}
    for place, kind in enumerate(subgroups, data):
        if tiles.dimensions[place] != 1:
            by_kind.setdefault(kind, []).append(place)
    kinds = [kind for kind in SUBGROUP_ORDER if kind in by_kind]
    # The reference keeps `unreduced` here and drops it when it reads its own text again.
    if is_uncut and len(kinds) == 1 and kinds != ["maximal"]:
        return ArraySharding(kinds[0])
    order = [*range(data), *(place for kind in kinds for place in by_kind[kind])]
    dropped = [place for place in range(len(tiles.dimensions)) if place not in order]
    sizes = [prod(tiles.dimensions[place] for place in by_kind[kind]) for kind in kinds]
    moved = tiles.transposed([*order, *dropped]).reshaped([*tiles.dimensions[:data], *sizes])
    if "replicated" in kinds:
        moved = moved.with_sorted_runs(sizes[-1])
    return ArraySharding(tiles=moved, subgroups=tuple(kinds))


@dataclass(frozen=True, slots=True)
class Domain:
    """The shardings on both sides of a `domain` instruction; the text has no metadata."""

    kind: str
    entry: Sharding
    exit: Sharding

    @property
    def text(self) -> str:
        """The domain in braces."""
        entry, leaving = self.entry.without_metadata(), self.exit.without_metadata()
        return f'{{kind="{self.kind}", entry={entry.text}, exit={leaving.text}}}'


def _read_domain(plain: tuple[str, Sharding, Sharding]) -> Domain:
    kind, entry, leaving = plain
    if kind != "sharding":
        raise ValueError(f'kind="{kind}" is not kind="sharding"')
    return Domain(kind, entry.without_metadata(), leaving.without_metadata())


SHARDING = AttributeKind[Sharding](
    "sharding", "a sharding, as {devices=[2]<=[2]}", write=lambda sharding: sharding.text
)
DOMAIN = AttributeKind[Domain](
    "domain",
    'a domain, as {kind="sharding", entry={…}, exit={…}}',
    read=_read_domain,
    write=lambda domain: domain.text,
)
