"""What a reducer does, found by looking at its computation.

A reducer of n accumulators takes them, then n elements, all scalars; its root has the new
accumulators. Most reducers treat each accumulator by itself and combine it with its element by
one op: those work on whole arrays at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED, ElementType, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import OptBarrier
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import (
    Add,
    And,
    Compare,
    Maximum,
    Minimum,
    Multiply,
    Or,
    Select,
    Xor,
)
from hlotool.ops.numerics.widths import narrowed, widened
from hlotool.ops.tuples import Tuple
from hlotool.ops.unary import Copy, Not

if TYPE_CHECKING:
    import numpy

    from hlotool.ir.frame import Array


class Taken(Enum):
    """Which of its two parameters a reducer yields as it is."""

    ACCUMULATOR = "accumulator"
    ELEMENT = "element"


@dataclass(frozen=True, slots=True)
class _Folding:
    """The numpy functions of an op that can be done in any order, and in how wide numbers.

    `sums` ops round: floats are combined in f64 and rounded once at the end, as the reference's
    own interpreter adds. `orders` ops compare: floats are combined as integers of their order.
    """

    function: str
    function_of_pred: str
    sums: bool = False
    orders: bool = False


_FOLDINGS: dict[type[Op], _Folding] = {
    Add: _Folding("add", "logical_or", sums=True),
    Multiply: _Folding("multiply", "logical_and", sums=True),
    Maximum: _Folding("maximum", "logical_or", orders=True),
    Minimum: _Folding("minimum", "logical_and", orders=True),
    And: _Folding("bitwise_and", "logical_and"),
    Or: _Folding("bitwise_or", "logical_or"),
    Xor: _Folding("bitwise_xor", "logical_xor"),
}
"""The ops whose numpy functions fold arrays. All are associative and commutative in HLO."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One op on accumulator and element, both of `element_type`.

    Arrays are `encoded`, combined by `function`, and `decoded`: between the two they hold
    numbers that `function` is exact for, or that are rounded only when decoded.
    """

    op: type[Op]
    element_type: ElementType

    @property
    def function(self) -> numpy.ufunc:
        """The numpy function of two encoded arrays; it has `reduce`, `accumulate` and `at`."""
        folding = _FOLDINGS[self.op]
        is_pred = self.element_type is PRED
        found: numpy.ufunc = getattr(np, folding.function_of_pred if is_pred else folding.function)
        return found

    @property
    def encoding(self) -> numpy.dtype[Any]:
        """The numpy type of encoded arrays."""
        if self._is_ordered:
            return np.dtype(np.int64 if self.element_type.bits == 64 else np.int32)
        if self._is_rounded:
            return np.dtype(np.complex128 if self.element_type.is_complex else np.float64)
        none = np.zeros(0, self.element_type.numpy)
        return np.dtype(widened(none, self.element_type).dtype)

    def encoded(self, array: Array) -> Array:
        """Returns an array of `element_type`, or of a narrower float type, ready to be combined."""
        if self._is_ordered:
            return _places(self._wide(array), nan_is_last=self.op is Maximum)
        return np.asarray(array).astype(self.encoding, copy=False)

    def decoded(self, array: Array) -> Array:
        """Returns what was combined, as an array of `element_type`."""
        if self._is_ordered:
            array = _numbers(np.asarray(array))
        return narrowed(array, self.element_type)

    @property
    def neutral(self) -> Array:
        """The encoded number that changes nothing it is combined with."""
        if _FOLDINGS[self.op].orders and self.element_type is not PRED:
            limits = np.iinfo(self.encoding)
            return np.asarray(limits.min if self.op is Maximum else limits.max, self.encoding)
        if self.op is Add and self._is_rounded:
            # In floats only -0 leaves -0 as it is.
            return np.asarray(complex(-0.0, -0.0) if self.element_type.is_complex else -0.0)
        return np.asarray(self.function.identity).astype(self.encoding)

    def reduced(self, elements: Array, initial: Array, dimensions: tuple[int, ...]) -> Array:
        """Returns `initial` combined with all elements along `dimensions`."""
        start = self.encoded(initial)[()]
        if self._is_ordered:
            elements = self.encoded(elements)
        # Where nothing is encoded but the type, numpy widens as it goes, without a copy.
        found = self.function.reduce(elements, axis=dimensions, dtype=start.dtype, initial=start)
        return self.decoded(found)

    @property
    def _is_rounded(self) -> bool:
        return self.element_type.kind in {Kind.FLOAT, Kind.COMPLEX}

    @property
    def _is_ordered(self) -> bool:
        return _FOLDINGS[self.op].orders and self.element_type.is_float

    def _wide(self, array: Array) -> Array:
        wide = np.float64 if self.element_type.bits == 64 else np.float32
        return np.asarray(array).astype(wide, copy=False)


Component: TypeAlias = Combination | Taken
"""What a reducer does with one accumulator and its element."""


def recognized(computation: Computation) -> tuple[Component, ...] | None:
    """Returns what a reducer does with each of its accumulators.

    `None` where one of them is not made of just that accumulator and its element, by one op
    that folds whole arrays.
    """
    parameters = computation.parameters
    count = len(parameters) // 2
    results = _results(computation)
    if len(parameters) != 2 * count or len(results) != count:
        return None
    components = [
        _component(result, parameters[i], parameters[count + i]) for i, result in enumerate(results)
    ]
    found = tuple(component for component in components if component is not None)
    return found if len(found) == count else None


def chooses(computation: Computation) -> bool:
    """Whether a reducer yields parameters as they are, those that comparisons tell it to.

    It finds the greatest element and its index, say. HLO lets any two neighbours be combined
    first, and as nothing is rounded here the result is the same as one by one.
    """
    results = _results(computation)
    return all(_passes_on(result) for result in results) and all(
        _passes_on(instruction) or _is_condition(instruction)
        for result in results
        for instruction in _above(result)
    )


def _passes_on(instruction: Instruction) -> bool:
    op = instruction.op
    return op.parameter_number is not None or isinstance(op, (Select, Maximum, Minimum, Copy))


def _is_condition(instruction: Instruction) -> bool:
    return isinstance(instruction.op, (Compare, And, Or, Xor, Not)) and (
        _element_type(instruction) is PRED
    )


def _results(computation: Computation) -> tuple[Instruction, ...]:
    root = computation.root
    return root.operands if isinstance(root.op, Tuple) else (root,)


def _above(instruction: Instruction) -> Iterator[Instruction]:
    """Yields an instruction and what it is computed from, each once."""
    found = {instruction: None}
    waiting = [instruction]
    while waiting:
        for operand in waiting.pop().operands:
            if operand not in found:
                found[operand] = None
                waiting.append(operand)
    yield from found


def _component(
    result: Instruction, accumulator: Instruction, element: Instruction
) -> Component | None:
    result = _original(result)
    if result is accumulator or result is element:
        return Taken.ACCUMULATOR if result is accumulator else Taken.ELEMENT
    if not isinstance(result.shape, ArrayShape):
        return None
    declared = result.shape.element_type
    if isinstance(result.op, Convert):
        # Rounding back what was combined in a wider type is what the narrow op does.
        result = _original(result.operands[0])
    if result.op.__class__ not in _FOLDINGS or not _is_wider(_element_type(result), declared):
        return None
    parts = {_exact_source(operand) for operand in result.operands}
    return Combination(type(result.op), declared) if parts == {accumulator, element} else None


def _original(instruction: Instruction) -> Instruction:
    """Returns the instruction whose value this one passes on."""
    while isinstance(instruction.op, (Copy, OptBarrier)):
        (instruction,) = instruction.operands
    return instruction


def _exact_source(instruction: Instruction) -> Instruction:
    """Returns the instruction whose value this one passes on, perhaps in a wider type."""
    instruction = _original(instruction)
    while isinstance(instruction.op, Convert):
        source = _original(instruction.operands[0])
        if not _is_wider(_element_type(instruction), _element_type(source)):
            break
        instruction = source
    return instruction


def _element_type(instruction: Instruction) -> ElementType:
    shape = instruction.shape
    assert isinstance(shape, ArrayShape)
    return shape.element_type


def _is_wider(wide: ElementType, narrow: ElementType) -> bool:
    """Whether `wide` has every value of `narrow`, of the same kind."""
    if wide is narrow:
        return True
    if wide.kind is not narrow.kind or wide.bits <= narrow.bits:
        return False
    # Narrow floats differ in what they give up; single and double have it all.
    return wide.is_integer or wide.bits >= 32


def _places(floats: Array, *, nan_is_last: bool) -> Array:
    """Returns an integer for each float, in the order of the floats, -0 before 0.

    NaN comes behind all others, or before them.
    """
    integers = _mirrored(floats.view(np.int32 if floats.dtype == np.float32 else np.int64))
    limits = np.iinfo(integers.dtype)
    found: Array = np.where(np.isnan(floats), limits.max if nan_is_last else limits.min, integers)
    return found.astype(integers.dtype, copy=False)


def _numbers(places: Array) -> Array:
    """Returns the floats in these places of their order."""
    return _mirrored(places).view(np.float32 if places.dtype == np.int32 else np.float64)


def _mirrored(integers: Array) -> Array:
    # Bits of negative floats count away from zero, integers towards it.
    limits = np.iinfo(integers.dtype)
    found: Array = integers ^ ((integers >> (limits.bits - 1)) & limits.max)
    return found
