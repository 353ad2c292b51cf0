from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.ir.shape import ArrayShape
from hlotool.ops.numerics.memory import reinterpreted
from hlotool.ops.shape_changing import Reshape
from hlotool.passes.contracting.reshape_decomposer import ReshapeDecomposer
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import braced, few, shaped


def one_reshape(given_: str, wanted: str) -> str:
    return f"""HloModule m
ENTRY e {{
  x = s32{given_} parameter(0)
  ROOT r = s32{wanted} reshape(x)
}}
"""


@st.composite
def reshapes(draw: Any) -> str:
    factors = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    sides = []
    for _ in range(2):
        cuts = sorted(draw(st.sets(st.integers(1, len(factors)))) | {0, len(factors)})
        sizes = [int(np.prod(factors[a:b])) for a, b in pairwise(cuts)]
        layout = draw(st.permutations(range(len(sizes))))
        sides.append(f"{shaped('', sizes)}{braced(layout)}")
    return one_reshape(*sides)


@few
@given(text=reshapes())
def test_what_is_left_moves_nothing(text: str) -> None:
    module = passed(text, ReshapeDecomposer())
    for one in module.entry.instructions:
        if isinstance(one.op, Reshape):
            operand, result = one.operands[0].shape, one.shape
            assert isinstance(operand, ArrayShape)
            assert isinstance(result, ArrayShape)
            numbers = np.arange(operand.element_count, dtype=np.int32)
            seen = reinterpreted(numbers.reshape(operand.dimensions), operand, result)
            assert (seen == numbers.reshape(result.dimensions)).all()


@pytest.mark.parametrize(
    ("operand", "result", "wanted"),
    [
        ("[6,4]{0,1}", "[2,3,4]{2,1,0}", ["copy", "reshape"]),
        ("[6,4]{1,0}", "[2,3,4]{0,1,2}", ["reshape", "copy"]),
        ("[6,4]{0,1}", "[24]{0}", ["copy", "reshape"]),
        ("[6,4]{0,1}", "[2,3,4]{1,0,2}", ["reshape"]),
        ("[6,1,4]{1,0,2}", "[6,4]{0,1}", ["reshape"]),
        ("[0,4]{0,1}", "[0]{0}", ["reshape"]),
    ],
)
def test_copies_stand_where_they_must(operand: str, result: str, wanted: list[str]) -> None:
    assert opcodes(passed(one_reshape(operand, result), ReshapeDecomposer())) == wanted
