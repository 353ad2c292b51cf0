"""Hypothesis strategies for attribute values: by kind, each value in its normal form."""

from __future__ import annotations

import string
from collections.abc import Callable
from math import prod
from typing import Any

from hypothesis import strategies as st

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.header import ALIAS_KINDS, Alias, BufferDonor, Recovery
from hlotool.ir.mesh import GROUPS, AxisReference, DimensionAxes, Mesh, MeshSharding
from hlotool.ir.metadata import (
    ACCURACY_MODES,
    PROFILE_TYPES,
    FrontendAttributes,
    Metadata,
    Origin,
    OriginalArray,
    OriginTree,
    ResultAccuracy,
    Statistics,
    Tolerance,
)
from hlotool.ir.record import AttributeKind
from hlotool.ir.replica_groups import IotaGroups, ListedGroups, MeshGroups, ReplicaGroups
from hlotool.ir.shape import ArrayShape, Layout, ProgramShape, Shape, TupleShape
from hlotool.ir.sharding import (
    SUBGROUP_ORDER,
    ArraySharding,
    Domain,
    NamedSharding,
    ShardGroup,
    Sharding,
    TupleSharding,
    tiled,
)
from hlotool.ir.stack_tables import FileLocation, StackFrame, StackTables
from hlotool.ir.tile_assignment import Iota, TileAssignment
from hlotool.ir.window import PaddingDimension, Window, WindowDimension, read_labels
from hlotool.ops.contraction import SparseDimension

INT_32 = st.integers(-(2**31), 2**31 - 1)
INT_64 = st.integers(-(2**63), 2**63 - 1)
SIZES = st.integers(1, 6)
BOOLEANS = st.booleans()
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
NAMES = st.text(string.ascii_letters + "_", min_size=1, max_size=6)
DICTIONARIES = st.sampled_from(["{}", "{ x }", '{"a":{"b":"}"}}', '{"q":"\\""}'])
TEXTS_OR_DICTIONARIES = TEXTS | DICTIONARIES
NUMBERS = st.integers(-(10**5), 10**5).map(lambda value: value / 100) | st.sampled_from(
    [1e10, 1e-7, 1.5e300]
)
"""Floats that six digits say exactly, which is all that the text has for them."""
INDICES = st.lists(st.integers(0, 5), max_size=3).map(tuple)


def tuples_of(strategy: st.SearchStrategy[Any], **limits: Any) -> st.SearchStrategy[Any]:
    """Returns tuples of any length."""
    return st.lists(strategy, **limits).map(tuple)


METADATA = st.builds(
    Metadata,
    op_type=TEXTS,
    op_name=TEXTS,
    source_file=TEXTS,
    source_line=INT_32,
    source_end_line=INT_32,
    source_column=INT_32,
    source_end_column=INT_32,
    profile_type=tuples_of(st.sampled_from(list(PROFILE_TYPES)), max_size=3),
    deduplicated_name=TEXTS,
    scheduling_name=TEXTS,
    stack_frame_id=INT_32,
    metadata_payload=TEXTS,
)
METADATA_LISTS = st.just(()) | tuples_of(METADATA, min_size=1, max_size=3)
STATISTICS = st.builds(
    Statistics, tuples_of(st.tuples(NAMES, NUMBERS), min_size=1, max_size=4), st.integers(0, 9)
)
TOLERANCES = st.builds(Tolerance, NUMBERS.map(abs), NUMBERS.map(abs), st.integers(0, 2**53))
ACCURACIES = st.builds(ResultAccuracy, st.sampled_from(ACCURACY_MODES)) | st.builds(
    ResultAccuracy, tolerance=TOLERANCES
)
FRONTEND_ATTRIBUTES = st.builds(
    FrontendAttributes, st.dictionaries(NAMES, TEXTS_OR_DICTIONARIES, max_size=4)
)
ORIGINAL_ARRAYS = st.builds(OriginalArray, TEXTS, INDICES)
ORIGIN_TREES: st.SearchStrategy[OriginTree] = st.recursive(
    st.none() | ORIGINAL_ARRAYS, lambda trees: tuples_of(trees, max_size=6), max_leaves=8
)
ORIGINS = st.builds(Origin, ORIGIN_TREES) | st.just(Origin(is_synthetic_call=True))


@st.composite
def factors(draw: st.DrawFn, count: int, length: int) -> tuple[int, ...]:
    """Draws sizes whose product is `count`, some of them 1."""
    sizes = []
    for _ in range(length - 1):
        size = draw(st.sampled_from([d for d in range(1, count + 1) if count % d == 0]))
        sizes.append(size)
        count //= size
    return (*sizes, count)


@st.composite
def iotas(draw: st.DrawFn, count: int) -> Iota:
    """Draws the numbers 0 to `count`-1, reshaped and transposed."""
    sizes = draw(factors(count, draw(st.integers(1, 4))))
    return Iota.of(sizes, draw(st.permutations(range(len(sizes)))))


@st.composite
def tile_assignments(draw: st.DrawFn, rank: st.SearchStrategy[int] | None = None) -> TileAssignment:
    """Draws arrays of at least two devices, counted up or listed."""
    count = draw(st.integers(2, 24))
    length = draw(st.integers(1, 4) if rank is None else rank)
    devices = draw(iotas(count) | st.permutations(range(count)).map(tuple))
    return TileAssignment.of(draw(factors(count, length)), devices)


@st.composite
def subgrouped(draw: st.DrawFn) -> tuple[TileAssignment, tuple[str, ...]]:
    """Draws tiles with kinds for some trailing dimensions, not in normal form."""
    tiles = draw(tile_assignments())
    kinds = st.lists(st.sampled_from(SUBGROUP_ORDER), max_size=len(tiles.dimensions))
    return tiles, tuple(draw(kinds))


WORDED_SHARDINGS = st.builds(
    ArraySharding, st.sampled_from(["replicated", "manual", "unknown", "unreduced"])
) | st.builds(ArraySharding, st.just("maximal"), device=st.integers(0, 9))
TILED_SHARDINGS = subgrouped().map(lambda drawn: tiled(*drawn))
SHARD_GROUPS = st.builds(ShardGroup, st.sampled_from(["shard_as", "shard_like"]), st.integers(0, 9))


@st.composite
def array_shardings(draw: st.DrawFn) -> ArraySharding:
    """Draws the shardings of arrays without mesh, with metadata and shard groups."""
    found = draw(WORDED_SHARDINGS | TILED_SHARDINGS)
    return ArraySharding(
        found.word, found.tiles, found.subgroups, found.device,
        draw(st.none() | SHARD_GROUPS), draw(METADATA_LISTS),
    )  # fmt: skip


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    """Draws meshes of up to 16 devices, with at least one axis."""
    sizes = draw(factors(draw(st.sampled_from([2, 4, 8, 12, 16])), draw(st.integers(1, 3))))
    names = draw(st.lists(TEXTS, min_size=len(sizes), max_size=len(sizes), unique=True))
    count = prod(sizes)
    devices = draw(st.none() | iotas(count) | st.permutations(range(count)).map(tuple))
    return Mesh.of(list(zip(names, sizes, strict=True)), devices)


@st.composite
def axis_references(draw: st.DrawFn, mesh: Mesh) -> list[AxisReference]:
    """Draws axes of a mesh in its order, whole or in parts, that do not overlap."""
    found = []
    for name, size in mesh.axes:
        halves = size % 4 == 0 and draw(BOOLEANS)
        parts = [AxisReference(name, 1, 2), AxisReference(name, 2, size // 2)]
        found += parts if halves else [AxisReference(name)]
    return [axis for axis in found if draw(BOOLEANS)]


@st.composite
def mesh_shardings(draw: st.DrawFn) -> MeshSharding:
    """Draws shardings by the axes of a mesh."""
    mesh = draw(meshes())
    metadata = draw(METADATA_LISTS)
    places: dict[int, list[AxisReference]] = {}
    # Two parts of an axis that follow each other are one, so each goes to another place.
    for number, axis in enumerate(draw(axis_references(mesh))):
        places.setdefault(number % 6, []).append(axis)
    dimensions = tuple(
        DimensionAxes(tuple(places.get(place, ())), is_open=draw(BOOLEANS)) for place in range(3)
    )
    replicated, unreduced, manual = (tuple(places.get(place, ())) for place in range(3, 6))
    cut = MeshSharding(mesh, dimensions, replicated, unreduced, manual, metadata=metadata)
    worded = MeshSharding(mesh, word=draw(st.sampled_from(GROUPS)), metadata=metadata)
    maximal = MeshSharding(Mesh.of(()), maximal_device=draw(st.integers(0, 9)), metadata=metadata)
    return draw(st.sampled_from([cut, worded, maximal]))


LEAF_SHARDINGS = array_shardings() | st.builds(NamedSharding, mesh_shardings())
SHARDINGS: st.SearchStrategy[Sharding] = LEAF_SHARDINGS | st.builds(
    TupleSharding, tuples_of(LEAF_SHARDINGS, max_size=7)
)
DOMAINS = st.builds(
    lambda entry, leaving: Domain("sharding", entry.without_metadata(), leaving.without_metadata()),
    SHARDINGS,
    SHARDINGS,
)


@st.composite
def mesh_groups(draw: st.DrawFn) -> MeshGroups:
    """Draws groups of two devices or more, by the axes of a mesh."""
    mesh = draw(meshes())
    axes = draw(axis_references(mesh))
    # Reversed, parts of an axis do not follow each other.
    chosen = tuple(reversed(axes))
    if prod(axis.extent(mesh) for axis in chosen) == 1:
        chosen = tuple(AxisReference(name) for name, _ in mesh.axes)
    return MeshGroups(mesh, chosen)


REPLICA_GROUPS: st.SearchStrategy[ReplicaGroups] = (
    st.builds(ListedGroups, tuples_of(tuples_of(st.integers(0, 9), max_size=3), max_size=3))
    | st.builds(lambda count, size, draw: IotaGroups(
        TileAssignment.of((count, size), draw)
    ), st.just(4), st.just(3), iotas(12))
    | mesh_groups()
)  # fmt: skip


@st.composite
def array_shapes(draw: st.DrawFn) -> ArrayShape:
    """Draws arrays with any element type and layout."""
    sizes = draw(st.lists(st.integers(0, 9), max_size=3))
    layout = Layout(
        draw(st.permutations(range(len(sizes)))),
        draw(st.sampled_from([(), ((8, 128),), ((None, 2), (4,))])),
        memory_space=draw(st.integers(0, 2)),
    )
    type_ = ELEMENT_TYPES[draw(st.sampled_from(sorted(ELEMENT_TYPES)))]
    return ArrayShape(type_, sizes, layout, [draw(BOOLEANS) for _ in sizes])


SHAPES: st.SearchStrategy[Shape] = st.recursive(
    array_shapes(), lambda shapes: st.builds(TupleShape, st.lists(shapes, max_size=7)), max_leaves=8
)
PROGRAM_SHAPES = st.builds(ProgramShape, st.lists(SHAPES, max_size=7), SHAPES)

ALIASES = st.lists(
    st.builds(Alias, INDICES, st.integers(0, 9), INDICES, st.sampled_from(ALIAS_KINDS)),
    max_size=4,
    unique_by=lambda alias: alias.output_index,
).map(lambda aliases: tuple(sorted(aliases, key=lambda alias: alias.output_index)))
DONORS = st.sets(st.builds(BufferDonor, st.integers(0, 9), INDICES), max_size=4).map(
    lambda donors: tuple(sorted(donors, key=lambda d: (d.parameter, d.parameter_index)))
)
RECOVERIES = st.lists(
    st.builds(Recovery, st.tuples(NAMES, INDICES), st.tuples(NAMES, INDICES)),
    max_size=3,
    unique_by=lambda entry: entry.old,
).map(lambda entries: tuple(sorted(entries, key=lambda entry: entry.old)))


@st.composite
def stack_tables(draw: st.DrawFn) -> StackTables:
    """Draws tables whose ids may point anywhere, as those of a damaged dump."""
    number = st.integers(0, 5)
    locations = st.builds(FileLocation, number, number, INT_32, INT_32, INT_32, INT_32)
    return StackTables(
        draw(st.lists(TEXTS, max_size=3)),
        draw(st.lists(TEXTS, max_size=3)),
        draw(st.lists(locations, max_size=3)),
        draw(st.lists(st.builds(StackFrame, number, number), max_size=4)),
    )


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """Draws windows of up to three dimensions."""
    pads = st.integers(-3, 3)
    return draw(
        tuples_of(
            st.builds(WindowDimension, SIZES, SIZES, pads, pads, SIZES, SIZES, BOOLEANS),
            max_size=3,
        )
    )


LABELS = st.integers(0, 3).flatmap(
    lambda rank: st.tuples(
        *(
            st.permutations(names + string.digits[:rank]).map("".join)
            for names in ("bf", "io", "bf")
        )
    ).map(lambda sides: read_labels(f"{sides[0]}_{sides[1]}->{sides[2]}"))
)
SLICES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), SIZES), max_size=3
).map(tuple)  # fmt: skip
SPARSITIES = st.lists(
    st.builds(SparseDimension, st.integers(0, 1), st.integers(0, 9), SIZES, st.integers(6, 9)),
    min_size=1,
    max_size=2,
    unique_by=lambda sparse: sparse.operand,
).map(tuple)

_BY_RULE: dict[str, st.SearchStrategy[Any]] = {
    "aliasing": tuples_of(st.tuples(INDICES, st.integers(0, 9), INDICES), max_size=3),
    "boolean": BOOLEANS,
    "booleans": tuples_of(BOOLEANS, min_size=1, max_size=4),
    "buffer_donor": DONORS,
    "dimension_labels": LABELS,
    "domain": DOMAINS,
    "frontend_attributes": FRONTEND_ATTRIBUTES,
    "input_output_alias": ALIASES,
    "integer": INT_64,
    "integer_lists": tuples_of(tuples_of(INT_64, max_size=3), max_size=3),
    "integers": tuples_of(INT_64, max_size=4),
    "metadata": METADATA,
    "origin": ORIGINS,
    "origin_recovery_table": RECOVERIES,
    "padding": tuples_of(
        st.builds(PaddingDimension, INT_32, INT_32, st.integers(0, 9)), min_size=1, max_size=3
    ),
    "program_shape": PROGRAM_SHAPES,
    "real": NUMBERS,
    "replica_groups": REPLICA_GROUPS,
    "result_accuracy": ACCURACIES,
    "shape": SHAPES,
    "shapes": tuples_of(SHAPES, max_size=7),
    "sharding": SHARDINGS,
    "slices": SLICES,
    "sparsity": SPARSITIES,
    "statistics": STATISTICS,
    "text": TEXTS,
    "text_or_dictionary": TEXTS_OR_DICTIONARIES,
    "window": windows(),
}


def _words(kind: AttributeKind[Any]) -> st.SearchStrategy[Any]:
    listed = kind.words.removeprefix("one of ").removeprefix("a list of ")
    return st.sampled_from(listed.split(", "))


_SPECIAL: dict[str, Callable[[AttributeKind[Any]], st.SearchStrategy[Any]]] = {
    "word": _words,
    "words": lambda kind: tuples_of(_words(kind), min_size=1, max_size=3).map(kind.read),
}


def of_kind(kind: AttributeKind[Any]) -> st.SearchStrategy[Any]:
    """Returns values of a kind of attribute; raises `KeyError` for a kind that has none here."""
    if kind.rule in _SPECIAL:
        return _SPECIAL[kind.rule](kind)
    if kind.words.startswith("one dimension"):
        return INT_64
    return _BY_RULE[kind.rule]
