"""Computations: which instructions are their parameters."""

from __future__ import annotations

import pytest

from hlotool.ir.computation import ParameterError, parameters_in_order
from tests.analysis.modules import make, parameter


def test_parameters_come_in_the_order_of_their_numbers() -> None:
    x, y = parameter("x", 1), parameter("y", 0)
    assert parameters_in_order([x, make("z", "negate", x), y]) == (y, x)
    assert parameters_in_order([]) == ()


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0, 0), "parameter number 0 is taken by p0"),
        ((0, 2), "parameter numbers must be 0 to 1 without a gap, found 2"),
        ((0, -1), "parameter numbers must be 0 to 1 without a gap, found -1"),
    ],
)
def test_other_numbers_are_told_with_their_instruction(
    numbers: tuple[int, int], message: str
) -> None:
    instructions = [parameter(f"p{place}", number) for place, number in enumerate(numbers)]
    with pytest.raises(ParameterError) as caught:
        parameters_in_order(instructions)
    assert str(caught.value) == message
    assert caught.value.instruction is instructions[1]
