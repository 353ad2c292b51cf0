"""Shardings: normal forms, texts as the reference prints them, faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from hlotool.errors import ParseError
from hlotool.ir.metadata import Metadata
from hlotool.ir.shape import Shape, TupleShape
from hlotool.ir.sharding import (
    DOMAIN,
    SHARDING,
    SUBGROUP_ORDER,
    ArraySharding,
    Domain,
    NamedSharding,
    ShardGroup,
    Sharding,
    TupleSharding,
    tiled,
)
from hlotool.ir.tile_assignment import Iota, TileAssignment
from hlotool.text.parser import parse
from tests.ir.texts import annotated, fault, read, shown
from tests.ops.shapes import F32_2, pack
from tests.strategies import SHARDINGS, subgrouped

UNCHANGED = [
    "{}",
    "{replicated}",
    "{{replicated}}",
    "{manual}",
    "{unknown}",
    "{unreduced}",
    "{maximal device=3}",
    "{devices=[2,1,1,2]0,1,2,3}",
    "{devices=[2,2]3,2,1,0}",
    "{devices=[1]<=[1]}",
    "{devices=[2,2]<=[4]}",
    "{devices=[2,2]<=[2,2]T(1,0)}",
    "{devices=[2,2,2]<=[2,2,2]T(2,1,0)}",
    "{devices=[2,2]<=[4] last_tile_dim_replicate}",
    "{devices=[3,2]<=[2,3]T(1,0) last_tile_dim_replicate}",
    "{devices=[2,2]3,1,2,0 last_tile_dims={manual}}",
    "{devices=[2,2]<=[4] last_tile_dims={unreduced}}",
    "{devices=[1,2]<=[2] last_tile_dims={maximal}}",
    "{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}",
    "{devices=[2,2]<=[4] shard_as 3}",
    "{maximal device=1 shard_like 2}",
    '{devices=[2,2]<=[4] shard_as 3 metadata={op_name="x"}}',
    '{replicated metadata={{op_name="x"}, {op_type="t" op_name="y"}}}',
    "{replicated metadata={}}",
    "{replicated metadata={source_line=4}}",
    "{{replicated}, {manual}, {unknown}, {devices=[2]<=[2]}, {replicated}, /*index=5*/{manual}}",
]
"""Texts that print as they stand."""

NORMALISED = [
    ("{device=3 maximal}", "{maximal device=3}"),
    ("{ replicated }", "{replicated}"),
    ("{replicated maximal}", "{replicated}"),
    ("{maximal manual device=1}", "{maximal device=1}"),
    ("{unreduced unknown manual}", "{manual}"),
    ("{unreduced unknown}", "{unknown}"),
    ("{shard_like 3 devices=[2,2]<=[4]}", "{devices=[2,2]<=[4] shard_like 3}"),
    ('{metadata={op_name="x"} manual}', '{manual metadata={op_name="x"}}'),
    ('{manual metadata={{op_name="x"}}}', '{manual metadata={op_name="x"}}'),
    # Devices that are counted up.
    ("{devices=[2,2] <= [2,2] T(0,1)}", "{devices=[2,2]<=[4]}"),
    ("{devices=[2,2,1]<=[2,1,2]T(2,1,0)}", "{devices=[2,2,1]<=[2,2]T(1,0)}"),
    ("{devices=[2,2,2]<=[2,2,2]T(1,2,0)}", "{devices=[2,2,2]<=[2,4]T(1,0)}"),
    ("{devices=[1,1]<=[1,1]T(1,0)}", "{devices=[1,1]<=[1]}"),
    # The last dimension, in groups that hold the same.
    ("{devices=[2,2]1,0,3,2 last_tile_dim_replicate}",
     "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}"),
    ("{devices=[2,4]<=[2,2,2]T(2,1,0) last_tile_dim_replicate}",
     "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"),
    ("{devices=[2,3]<=[2,3]T(1,0) last_tile_dim_replicate}",
     "{devices=[2,3]0,1,3,2,4,5 last_tile_dim_replicate}"),
    ("{devices=[1,4]3,1,2,0 last_tile_dim_replicate}", "{replicated}"),
    ("{devices=[2]<=[2] last_tile_dim_replicate}", "{replicated}"),
    ("{devices=[4,1]3,2,1,0 last_tile_dim_replicate}", "{devices=[4]3,2,1,0}"),
    ("{devices=[2,2]<=[4] last_tile_dims={replicated}}",
     "{devices=[2,2]<=[4] last_tile_dim_replicate}"),
    ("{devices=[2,2]<=[4] last_tile_dims={}}", "{devices=[2,2]<=[4]}"),
    # Subgroups: those of one device vanish, equal ones join, the order is fixed.
    ("{devices=[2,1,2]<=[4] last_tile_dims={manual,replicated}}",
     "{devices=[2,2]<=[4] last_tile_dim_replicate}"),
    ("{devices=[2,2,2]<=[8] last_tile_dims={replicated,manual}}",
     "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}"),
    ("{devices=[2,2,2]7,6,5,4,3,2,1,0 last_tile_dims={replicated,manual}}",
     "{devices=[2,2,2]5,7,4,6,1,3,0,2 last_tile_dims={manual, replicated}}"),
    ("{devices=[2,2,2]<=[8] last_tile_dims={manual,manual}}",
     "{devices=[2,4]<=[8] last_tile_dims={manual}}"),
    ("{devices=[2,3,3]<=[2,3,3]T(1,0,2) last_tile_dims={manual,manual}}",
     "{devices=[2,9]<=[2,3,3]T(1,0,2) last_tile_dims={manual}}"),
    ("{devices=[2,2,2,2]<=[16] last_tile_dims={unreduced,replicated,manual}}",
     "{devices=[2,2,2,2]<=[2,4,2]T(0,2,1) last_tile_dims={manual, unreduced, replicated}}"),
    ("{devices=[2,2,2]<=[8] last_tile_dims={manual,maximal}}",
     "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={maximal, manual}}"),
    ("{devices=[2,6,2]<=[2,3,4]T(2,1,0) last_tile_dims={replicated,manual}}",
     "{devices=[2,2,6]<=[6,2,2]T(1,0,2) last_tile_dims={manual, replicated}}"),
    ("{devices=[1,2,3]<=[2,3]T(1,0) last_tile_dims={replicated,manual}}",
     "{devices=[1,3,2]0,4,2,3,1,5 last_tile_dims={manual, replicated}}"),
    # Tiles that cut nothing leave the kind alone.
    ("{devices=[2,2]<=[4] last_tile_dims={manual,manual} shard_as 1}", "{manual shard_as 1}"),
    ("{devices=[1,4]3,2,1,0 last_tile_dims={unreduced}}", "{unreduced}"),
    ("{devices=[1,2,1]<=[2] last_tile_dims={manual,replicated}}", "{manual}"),
    ("{devices=[1,2,1]<=[2] last_tile_dims={unreduced,replicated}}", "{unreduced}"),
    ("{devices=[1,1,1]<=[1] last_tile_dims={manual,replicated}}", "{devices=[1]<=[1]}"),
]  # fmt: skip
"""Texts, each with the one it prints as."""

FAULTS = [
    ("{maximal}", "a maximal sharding needs device="),
    ("{device=3}", "a sharding needs devices=, or a word such as replicated"),
    ("{shard_as 3}", "a sharding needs devices=, or a word such as replicated"),
    ("{replicated device=0}", "a replicated sharding names no devices"),
    ("{manual devices=[2]<=[2]}", "a manual sharding names no devices"),
    ("{device=1 devices=[2]<=[2]}", "device= is for a maximal sharding"),
    ("{devices=[1]0}", "a list of devices needs two or more"),
    ("{devices=[2,2]0,1,2}", "[2,2] needs 4 devices, 3 given"),
    ("{devices=[2,2]<=[5]}", "[2,2] needs 4 devices, 5 given"),
    ("{devices=[2,2]<=[2,2]T(0,0)}", "T(0,0) does not permute [2,2]"),
    ("{devices=[2,2]<=[2,2]}", "T(…) is wanted for more than one dimension"),
    ("{devices=[2,2]<=[4]T(0)}", "T(…) is for several"),
    ("{devices=[2]<=[2] last_tile_dims={manual,replicated}}", "2 subgroups in 1 dimensions"),
    ("{devices=[2]<=[2] last_tile_dim_replicate last_tile_dims={manual}}", "exclude each other"),
    ("{devices=[2]<=[2] devices=[2]<=[2]}", "one tiles, this is the second"),
    ("{devices=[2]<=[2] last_tile_dims={unknown}}", "found 'unknown'"),
    ("{manual, replicated}", "found ','"),
    ("{{replicated}, {}}", "found '}'"),
    ("{{replicated}, {{manual}}}", "found '{'"),
    ("{{replicated} {manual}}", "',' "),
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_normal_texts_print_as_they_stand(text: str) -> None:
    assert shown(f"sharding={text}") == f"sharding={text}"


@pytest.mark.parametrize(("text", "normal"), NORMALISED)
def test_other_texts_print_in_the_normal_form(text: str, normal: str) -> None:
    assert shown(f"sharding={text}") == f"sharding={normal}"


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults_say_what_is_wrong(text: str, message: str) -> None:
    assert message in fault(f"sharding={text}")


@pytest.mark.parametrize(
    ("shape", "leaves"), [("(f32[2], (f32[3], f32[4]))", 3), ("(f32[2])", 1), ("()", 1)]
)
def test_one_sharding_of_a_tuple_is_one_for_each_leaf(shape: str, leaves: int) -> None:
    found = annotated('sharding={manual metadata={op_name="x"}}', shape).sharding
    one = ArraySharding("manual", metadata=(Metadata(op_name="x"),))
    assert found == TupleSharding((one,) * leaves)


def test_shardings_of_a_tuple_stay_as_they_are() -> None:
    assert annotated("sharding={}", "(f32[2])").sharding == TupleSharding()
    both = "sharding={{replicated}, {manual}}"
    assert shown(both, "(f32[2], f32[3])") == both


def test_an_array_keeps_its_sharding() -> None:
    sharding = ArraySharding("manual")
    assert sharding.for_shape(F32_2) is sharding


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ('{manual shard_as 1 metadata={op_name="x"}}', "{manual shard_as 1}"),
        ('{{manual metadata={op_name="x"}}, {replicated}}', "{{manual}, {replicated}}"),
        ("{mesh['a'=2], [{'a'}], metadata={{op_name=\"x\"}}}", "{mesh['a'=2], [{'a'}]}"),
    ],
)
def test_metadata_can_be_left_out(text: str, bare: str) -> None:
    sharding = read(SHARDING, text)
    assert sharding.text == text
    assert sharding.without_metadata().text == bare


@given(SHARDINGS)
def test_without_metadata_is_the_same_when_repeated(sharding: Sharding) -> None:
    bare = sharding.without_metadata()
    assert "metadata=" not in bare.text
    assert bare.without_metadata() == bare


@given(subgrouped())
def test_the_normal_form_is_stable(drawn: tuple[TileAssignment, tuple[str, ...]]) -> None:
    normal = tiled(*drawn)
    assert list(normal.subgroups) == [k for k in SUBGROUP_ORDER if k in normal.subgroups]
    if normal.tiles is not None:
        assert tiled(normal.tiles, normal.subgroups) == normal


@given(subgrouped())
def test_the_normal_form_keeps_who_holds_which_tile(
    drawn: tuple[TileAssignment, tuple[str, ...]],
) -> None:
    tiles, kinds = drawn
    normal = tiled(tiles, kinds)
    count = int(np.prod(tiles.dimensions[: len(tiles.dimensions) - len(kinds)]))
    wanted = [set(row) for row in np.array(tiles.numbers()).reshape(count, -1).tolist()]
    if normal.tiles is None:
        assert count == 1
        return
    assert normal.tile_counts == tiles.dimensions[: len(tiles.dimensions) - len(kinds)]
    found = np.array(normal.tiles.numbers()).reshape(count, -1).tolist()
    assert [set(row) for row in found] == wanted


def test_an_unknown_kind_of_subgroup_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown is no kind of subgroup: maximal, manual"):
        tiled(TileAssignment.of((2, 2), Iota.of((4,))), ["unknown"])


def test_equal_texts_are_equal_values() -> None:
    one, other = (read(SHARDING, "{devices=[2]<=[2] shard_as 1}") for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one.group == ShardGroup("shard_as", 1)
    assert one != read(SHARDING, "{devices=[2]<=[2] shard_as 2}")


def test_a_named_sharding_of_a_tuple_is_one_for_each_leaf() -> None:
    shape: Shape = pack(F32_2, TupleShape([F32_2]))
    one = read(SHARDING, "{mesh['a'=2], [{'a'}]}")
    assert isinstance(one, NamedSharding)
    assert one.for_shape(shape) == TupleSharding((one, one))


def test_a_domain_has_shardings_on_both_sides() -> None:
    text = '{kind="sharding", entry={maximal device=0}, exit={{replicated}, {manual}}}'
    found = read(DOMAIN, text)
    both = TupleSharding((ArraySharding("replicated"), ArraySharding("manual")))
    assert found == Domain("sharding", ArraySharding("maximal", device=0), both)
    assert DOMAIN.write(found) == text


@pytest.mark.parametrize(
    "text",
    [
        '{kind="sharding" entry={manual} exit={replicated}}',
        "{exit={replicated}, entry={manual}, kind='sharding'}",
        '{kind="sharding", entry={manual metadata={op_name="x"}}, exit={replicated}}',
    ],
)
def test_a_domain_may_be_written_otherwise(text: str) -> None:
    normal = '{kind="sharding", entry={manual}, exit={replicated}}'
    found = read(DOMAIN, text)
    assert DOMAIN.write(found) == normal
    assert read(DOMAIN, normal) == found


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ('{kind="x", entry={manual}, exit={manual}}', 'kind="x" is not kind="sharding"'),
        ('{kind="sharding", entry={manual}}', "exit= is missing"),
        ('{kind="sharding", entry={manual}, entry={manual}}', "entry= is given twice"),
    ],
)
def test_faulty_domains_are_refused(domain: str, message: str) -> None:
    text = "ENTRY e {{ p = f32[8] parameter(0) ROOT d = f32[8] domain(p), domain={} }}"
    with pytest.raises(ParseError, match=message):
        parse(text.format(domain))
