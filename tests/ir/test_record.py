"""Records: named attributes with kinds, immutable and comparable."""

from __future__ import annotations

from typing import Any

import pytest

from hlotool.ir.attribute import BOOLEAN, INTEGER, INTEGERS, TEXT
from hlotool.ir.record import AttributeKind, Record, attr


class Base(Record):
    count: int = attr(INTEGER)
    note: str = attr(TEXT, default="", name="foot-note", aliases=("remark",))


class Derived(Base):
    sizes: tuple[int, ...] = attr(INTEGERS, default=(), always=True)
    fast: bool = attr(BOOLEAN, default=False, after_calls=True)
    mode: str = attr(TEXT, default="", read_only=True)
    note: str = attr(TEXT, default="none", name="note")


class Unnamed(Base):
    inside: int = attr(INTEGER, default=0, named=False)


def test_fields_stand_in_print_order_with_overridden_ones_last() -> None:
    assert [field.name for field in Derived.fields] == ["count", "sizes", "fast", "mode", "note"]
    assert Derived.__match_args__ == ("count", "sizes", "fast", "mode", "note")


def test_the_text_may_use_aliases() -> None:
    assert list(Base.readable) == ["count", "foot-note", "remark"]
    assert Base.readable["remark"] is Base.readable["foot-note"]
    assert Base.readable["remark"].name == "note"


def test_what_has_no_name_in_the_text_is_neither_read_nor_written_by_it() -> None:
    assert list(Unnamed.readable) == ["count", "foot-note", "remark"]
    assert list(Unnamed(1, inside=2).written()) == [("count", "1")]
    assert Unnamed(1, inside=2) != Unnamed(1, inside=3)


def test_values_come_by_position_by_name_and_by_default() -> None:
    made = Derived(1, sizes=(2, 3), fast=True)
    values = (made.count, made.sizes, made.fast, made.mode, made.note)
    assert values == (1, (2, 3), True, "", "none")


@pytest.mark.parametrize(
    ("positional", "named", "message"),
    [
        ((), {}, "attribute count is missing"),
        ((1,), {"count": 2}, "too many or repeated attributes"),
        ((1, "a", "b"), {}, "too many or repeated attributes"),
        ((1,), {"size": 2}, r"unknown attributes \['size'\]"),
    ],
)
def test_wrong_values_are_refused(
    positional: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        Base(*positional, **named)


def test_only_what_is_not_the_default_is_written() -> None:
    assert list(Base(0).written()) == [("count", "0")]
    assert list(Base(0, "x").written()) == [("count", "0"), ("foot-note", '"x"')]
    made = Derived(1, fast=True, mode="m")
    assert list(made.written()) == [("count", "1"), ("sizes", "{}")]
    assert list(made.written(after_calls=True)) == [("fast", "true")]


def test_equal_class_and_attributes_are_equal_values() -> None:
    assert Base(1) == Base(1)
    assert hash(Base(1, "x")) == hash(Base(1, note="x"))
    assert Base(1) != Base(2)
    assert Base(1) != Derived(1)
    assert len({Base(1), Base(1), Base(2)}) == 2


def test_replace_returns_a_copy() -> None:
    one = Base(1, "x")
    other = one.replace(count=2)
    assert (one.count, other.count, other.note) == (1, 2, "x")


def test_records_are_immutable() -> None:
    made = Base(1)
    with pytest.raises(AttributeError, match="Base is immutable"):
        made.count = 2  # type: ignore[misc]  # that it cannot be set is the point
    assert made == Base(1)


def test_records_match_by_position() -> None:
    match Base(7, "x"):
        case Base(count, note):
            assert (count, note) == (7, "x")
        case _:
            pytest.fail("no match")


def test_a_kind_reads_and_writes() -> None:
    kind = AttributeKind[int]("integer", "a number", read=lambda value: value + 1)
    assert kind.read(1) == 2
    assert kind.write(2) == "2"
    assert repr(kind) == "AttributeKind(integer)"
    assert AttributeKind[int]("integer", "a number").read(1) == 1


def test_a_record_shows_its_values() -> None:
    assert repr(Base(1)) == "Base(count=1, note='')"
