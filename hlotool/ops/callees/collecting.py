"""What members of a group make of the arrays that all of them bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Array, Callee
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.callees.mapping import Mapped
from hlotool.ops.callees.reducers import Combination, Taken, recognized

if TYPE_CHECKING:
    import numpy

_Step: TypeAlias = Callable[[Array, Array], Array]


def folded_members(brought: Sequence[Sequence[Array]], reducer: Callee) -> list[Array]:
    """Returns, for each array that a member brings, the fold of all members' arrays.

    The reducer takes two scalars; it is applied member by member, so that it rounds as often as
    there are members, and all members find the same bits. Raises `EvaluationError` where they
    bring arrays of several sizes.
    """
    step = _step(reducer)
    return [_folded(arrays, step, reducer) for arrays in zip(*brought, strict=True)]


def cut(whole: Array, count: int, dimension: int, opcode: str) -> list[Array]:
    """Returns `count` equal pieces of an array; raises `EvaluationError` where there are none."""
    size = whole.shape[dimension]
    if size % count:
        raise EvaluationError(
            f"{opcode}: {size} elements along dimension {dimension}"
            f" cannot be cut into {count} equal pieces"
        )
    return np.split(whole, count, dimension)


def _folded(arrays: Sequence[Array], step: _Step, reducer: Callee) -> Array:
    sizes = {array.shape for array in arrays}
    if len(sizes) > 1:
        shown = " and ".join(str(list(size)) for size in sorted(sizes))
        raise EvaluationError(f"members bring arrays of sizes {shown}, equal ones are wanted")
    first, second = (_type(parameter.shape) for parameter in reducer.computation.parameters)
    if len(arrays) == 1:
        return arrays[0]
    # Mixed precision: the reducer may compute in a wider type than that of the operands.
    start = arrays[0].astype(first, copy=False)
    rest = [array.astype(second, copy=False) for array in arrays[1:]]
    return reduce(lambda found, array: step(found, array).astype(first, copy=False), rest, start)


def _step(reducer: Callee) -> _Step:
    """Returns the reducer as a function of whole arrays."""
    components = recognized(reducer.computation)
    match components:
        case (Combination() as combination,):
            return lambda left, right: combination.decoded(
                combination.function(combination.encoded(left), combination.encoded(right))
            )
        case (Taken.ACCUMULATOR,):
            return lambda left, _: left
        case (Taken.ELEMENT,):
            return lambda _, right: right
    one_by_one = Mapped(reducer)
    return lambda left, right: one_by_one([left, right])[0]


def _type(shape: Shape) -> numpy.dtype[Any]:
    assert isinstance(shape, ArrayShape)
    return shape.element_type.numpy
