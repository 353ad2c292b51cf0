"""Unique names, by the reference's rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.ir.names import NameUniquer, check_name

NAMES = st.from_regex(r"[ab](\.(0|1|2|01|10|x)){0,3}", fullmatch=True)


def unique(*names: str) -> list[str]:
    uniquer = NameUniquer()
    return [uniquer.unique(name) for name in names]


@pytest.mark.parametrize(
    ("names", "given_names"),
    [
        (["x", "x", "x"], ["x", "x.1", "x.2"]),
        (["x.3", "x.3", "x", "x.3"], ["x.3", "x.0", "x.1", "x.2"]),
        (["x", "x.3", "x.3", "x"], ["x", "x.3", "x.1", "x.2"]),
        # Leading zeros are not kept, and make no other number.
        (["x.1", "x.01", "x.007"], ["x.1", "x.0", "x.7"]),
        (["x", "x.0"], ["x", "x.1"]),
        (["x.0", "x"], ["x.0", "x.1"]),
        # Only the last number counts; the root may end in one too.
        (["x.2", "x.2.2", "x.2.2", "x.2"], ["x.2", "x.2.2", "x.2.0", "x.0"]),
        (["x.", "x."], ["x.", "x..1"]),
        ([".5", ".5"], [".5", ".5.1"]),
        (["x.1.y", "x.1.y"], ["x.1.y", "x.1.y.1"]),
        (["x.9223372036854775807"] * 2, ["x.9223372036854775807", "x.0"]),
        # More than 63 bits are no number.
        (["x.9223372036854775808"] * 2, ["x.9223372036854775808", "x.9223372036854775808.1"]),
    ],
)
def test_taken_names_get_the_smallest_free_number(names: list[str], given_names: list[str]) -> None:
    assert unique(*names) == given_names


@given(st.lists(NAMES, max_size=30))
def test_no_name_is_given_twice(names: list[str]) -> None:
    found = unique(*names)
    assert len(set(found)) == len(names)


@given(st.lists(NAMES, max_size=30))
def test_unique_names_stay_as_they_are(names: list[str]) -> None:
    found = unique(*names)
    assert unique(*found) == found


def test_digits_beyond_measure_are_a_part_of_the_name() -> None:
    name = "x." + "9" * 5000
    assert unique(name, name) == [name, name + ".1"]


def test_many_equal_names_take_linear_time() -> None:
    assert unique(*["x"] * 50_000)[-1] == "x.49999"


@pytest.mark.parametrize("name", ["a", "_", "a.1-b_c", "__xla_buffer", "f32x", "token.1"])
def test_a_name_that_may_be(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", 'illegal name ""'),
        ("a b", 'illegal name "a b"'),
        ("1a", 'illegal name "1a"'),
        ("f32", "f32 is an element type and cannot be a name"),
        ("__a", "illegal name __a: names do not begin with __"),
    ],
)
def test_a_name_that_may_not_be(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_name(name)
