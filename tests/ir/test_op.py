"""What all ops share: how many operands and called computations they take."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import Op, Role, at_least


class AnyNumber(Op):
    pass


class Two(Op):
    arity = 2
    roles = (Role("condition"), Role("body"))


class One(Op):
    arity = 1
    roles = (Role("calls", optional=True),)


class Few(Op):
    arity = range(2, 5)
    roles = (Role("branches", many=True),)


class Pairs(Op):
    arity = at_least(3, step=2)


@pytest.mark.parametrize(
    ("op", "words", "good", "bad"),
    [
        (AnyNumber(), "any number", (0, 1, 9), ()),
        (One(), "1", (1,), (0, 2)),
        (Few(), "2 to 4", (2, 4), (1, 5)),
        (Pairs(), "3 or more, in steps of 2", (3, 5, 1001), (1, 4)),
    ],
)
def test_the_number_of_operands(
    op: Op, words: str, good: tuple[int, ...], bad: tuple[int, ...]
) -> None:
    assert op.arity_words() == words
    for count in good:
        op.check_arity(count)
    for count in bad:
        with pytest.raises(ShapeError, match=f": {words} operands? expected, {count} given$"):
            op.check_arity(count)


@pytest.mark.parametrize(
    ("op", "good", "bad", "words"),
    [
        (AnyNumber(), (0,), (1,), "no called computations"),
        (One(), (0, 1), (2,), "calls"),
        (Two(), (2,), (1, 3), "condition and body"),
        (Few(), (1, 7), (0,), "branches"),
    ],
)
def test_the_number_of_called_computations(
    op: Op, good: tuple[int, ...], bad: tuple[int, ...], words: str
) -> None:
    for count in good:
        op.check_call_count(count)
    for count in bad:
        with pytest.raises(ShapeError, match=f": {words} expected, {count} computations? given$"):
            op.check_call_count(count)
