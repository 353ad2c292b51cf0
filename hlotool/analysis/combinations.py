"""What a reducer combines with, and what is known of the op that does it."""

from __future__ import annotations

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import F8E8M0FNU, PRED, ElementType, NanEncoding
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.reducers import Combination, recognized
from hlotool.ops.elementwise import Add, And, Maximum, Minimum, Multiply, Or
from hlotool.ops.numerics.widths import integer_limits

_IDEMPOTENT = (And, Maximum, Minimum, Or)
"""Ops that yield a value when both operands have it."""


def combination_of(
    reducer: Computation, element_type: ElementType | None = None
) -> Combination | None:
    """Returns what a reducer of one accumulator does, where one op on one type does it.

    With `element_type` it must be that one.
    """
    if reducer.root.shape.is_tuple:
        return None
    match recognized(reducer):
        case (Combination() as combination,):
            scalar = ArrayShape(element_type or combination.element_type)
            shapes = [parameter.shape for parameter in reducer.parameters]
            is_one_type = combination.element_type is scalar.element_type
            return combination if is_one_type and all(map(scalar.compatible, shapes)) else None
    return None


def is_idempotent(combination: Combination) -> bool:
    """Whether a value combined with itself stays as it is."""
    return combination.op in _IDEMPOTENT or (
        combination.element_type is PRED and combination.op in {Add, Multiply}
    )


def is_exact(combination: Combination) -> bool:
    """Whether the result is the same in whatever order elements are combined."""
    element_type = combination.element_type
    rounds = element_type.is_float or element_type.is_complex
    return not (rounds and combination.op in {Add, Multiply})


def neutral_value(combination: Combination) -> bool | int | float | complex | None:
    """Returns the number that changes nothing that it is combined with; `None` for no such one."""
    element_type = combination.element_type
    op = combination.op
    if element_type is PRED:
        return op in {Multiply, Minimum, And}
    if element_type.is_integer:
        least, most = integer_limits(element_type)
        all_ones = -1 if element_type.is_signed else most
        found: dict[type[Op], int] = {Multiply: 1, Maximum: least, Minimum: most, And: all_ones}
        return found.get(op, 0)
    if op is Add:
        return _zero(element_type)
    return 1.0 if op is Multiply else _infinity(element_type, is_positive=op is Minimum)


def _zero(element_type: ElementType) -> float | complex | None:
    form = element_type.float_format
    if element_type is F8E8M0FNU:
        return None
    if form is not None and form.nan is NanEncoding.NEGATIVE_ZERO:
        return 0.0
    # In floats only -0 leaves -0 as it is.
    return complex(-0.0, -0.0) if element_type.is_complex else -0.0


def _infinity(element_type: ElementType, *, is_positive: bool) -> float | None:
    form = element_type.float_format
    if form is None or not form.has_infinity:
        return None
    return float("inf") if is_positive else float("-inf")
