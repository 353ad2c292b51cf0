"""Values of tuple shapes, taken apart and put together."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.ir.shape import TOKEN
from hlotool.ops.tuple_values import arrays_of, put_together
from tests.ops.shapes import F32, F32_2, pack

NESTED = pack(F32, pack(TOKEN, F32_2), pack(), F32_2)


def test_arrays_of_a_nested_tuple() -> None:
    arrays = [np.array(1, "f4"), np.ones(2, "f4"), np.zeros(2, "f4")]
    value = put_together(NESTED, iter(arrays))
    assert value[1][0] is None
    assert value[2] == ()
    assert [id(one) for one in arrays_of(value, NESTED)] == [id(one) for one in arrays]


def test_values_that_do_not_fit() -> None:
    with pytest.raises(StopIteration):
        put_together(F32, iter([]))
    with pytest.raises(ValueError, match="longer"):
        list(arrays_of((np.array(1, "f4"),), pack(F32, F32)))
