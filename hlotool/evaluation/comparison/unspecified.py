"""Elements of a result that HLO leaves to the implementation, which no comparison may count.

The walk has, in place of each array, a mask of such elements, or `None` where there are none:
it begins at the ops that leave something open, and follows what is made of their values. What
an op without a rule makes of an open element is open as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlotool.errors import HloError
from hlotool.evaluation.comparison.tolerance import TupleIndex
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops import shape_changing, source, tuples
from hlotool.ops.asynchronous import AsyncDone, AsyncStart, AsyncUpdate
from hlotool.ops.control_flow import Call, Conditional, Domain, Fusion, OptBarrier, While
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.decomposition import Cholesky, TriangularSolve
from hlotool.ops.elementwise import Elementwise, Select
from hlotool.ops.ordering import Sort
from hlotool.ops.random import Rng, RngBitGenerator, RngGetAndUpdateState
from hlotool.ops.unary import Copy

_EIGENVECTORS = re.compile(r"syevd|heevd|geev|gesdd|gesvd|Eigh|syevj|heevj", re.IGNORECASE)
_UNINITIALISED = {"AllocateBuffer", "CreateBuffer"}


@dataclass(frozen=True, slots=True)
class Unspecified:
    """Which elements of an array are open, and why."""

    mask: Array
    reasons: tuple[str, ...]


Mask = Any
"""An array of flags, a tuple of masks, or `None` for no open elements."""


def unspecified_elements(module: Module, expected: Value = None) -> dict[TupleIndex, Unspecified]:
    """Returns the open elements of each array of the module's result that has some.

    `expected` is the value of the root; without it nobody knows which keys of a sort are equal.
    """
    walk = _Walk()
    entry = module.entry
    mask = walk.called(entry, [None] * len(entry.parameters))
    found: dict[TupleIndex, Unspecified] = {}
    for index, leaf in entry.root.shape.leaves():
        part = _at(mask, index)
        if isinstance(leaf, ArrayShape) and part is not None and part.any():
            found[index] = Unspecified(part, tuple(dict.fromkeys(walk.reasons)))
    return found | _tied(entry.root, expected)


def _at(mask: Mask, index: Sequence[int]) -> Mask:
    for position in index:
        if mask is None:
            return None
        mask = mask[position]
    return mask


class _Walk:
    """The walk over a module. `reasons` are collected on the way."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self._opens: dict[Computation, bool] = {}

    def called(self, computation: Computation, arguments: Sequence[Mask]) -> Mask:
        """Returns the mask of what a computation yields."""
        if all(argument is None for argument in arguments) and not self.opens(computation):
            return None
        masks: dict[Instruction, Mask] = {}
        for instruction in computation.instructions:
            number = instruction.op.parameter_number
            if number is not None:
                masks[instruction] = arguments[number]
                continue
            operands = [masks[operand] for operand in instruction.operands]
            masks[instruction] = self._mask(instruction, operands)
        return masks[computation.root]

    def opens(self, computation: Computation) -> bool:
        """Whether an op in a computation, or in one that it calls, leaves something open."""
        known = self._opens.get(computation)
        if known is None:
            known = any(
                _opened(instruction) is not None or any(map(self.opens, instruction.calls))
                for instruction in computation.instructions
            )
            self._opens[computation] = known
        return known

    def _mask(self, instruction: Instruction, operands: list[Mask]) -> Mask:
        opened = _opened(instruction)
        if opened is not None:
            reason, mask = opened
            self.reasons.append(f"{instruction.name}: {reason}")
            return mask
        touched = any(operand is not None for operand in operands)
        if not touched and not any(map(self.opens, instruction.calls)):
            return None
        for kind in type(instruction.op).__mro__:
            if kind in _RULES:
                return _RULES[kind](self, instruction, operands)
        return whole(instruction.shape) if touched else None


def whole(shape: Shape) -> Mask:
    """Returns the mask of a value that is open in every element."""
    if isinstance(shape, TupleShape):
        return tuple(whole(part) for part in shape.elements)
    return np.ones(shape.dimensions, bool) if isinstance(shape, ArrayShape) else None


def _opened(instruction: Instruction) -> tuple[str, Mask] | None:
    """Returns why an op leaves elements open, and which ones."""
    op, shape = instruction.op, instruction.shape
    if isinstance(op, Cholesky) and isinstance(shape, ArrayShape):
        side = "upper" if op.lower else "lower"
        return f"the {side} triangle of cholesky is not specified", _triangle(shape, op.lower)
    if isinstance(op, Rng | RngGetAndUpdateState):
        return f"{op.opcode} draws from a generator of the implementation's own", whole(shape)
    if isinstance(op, RngBitGenerator) and op.algorithm == "rng_default":
        return "the default algorithm of rng-bit-generator is not specified", whole(shape)
    if isinstance(op, CustomCall):
        return _opened_by_call(op.custom_call_target, shape)
    return None


def _opened_by_call(target: str, shape: Shape) -> tuple[str, Mask] | None:
    if target in _UNINITIALISED:
        return f"{target} leaves its elements uninitialised", whole(shape)
    if _EIGENVECTORS.search(target):
        return f"signs of the vectors of {target} are not specified", _vectors(shape)
    return None


def _triangle(shape: ArrayShape, above: bool) -> Array:  # noqa: FBT001  # which of two
    size = shape.dimensions[-1]
    flags = np.triu(np.ones((size, size), bool), 1)
    return np.array(np.broadcast_to(flags if above else flags.T, shape.dimensions))


def _vectors(shape: Shape) -> Mask:
    if isinstance(shape, TupleShape):
        return tuple(_vectors(part) for part in shape.elements)
    if not isinstance(shape, ArrayShape) or shape.element_type.is_integer:
        return None
    has_matrices = shape.rank >= 2 and shape.dimensions[-1] == shape.dimensions[-2]
    return whole(shape) if has_matrices else None


def _tuple(_walk: _Walk, _instruction: Instruction, operands: list[Mask]) -> Mask:
    return tuple(operands)


def _tuple_element(_walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    op = instruction.op
    assert isinstance(op, tuples.GetTupleElement)
    return None if operands[0] is None else operands[0][op.index]


def _first(_walk: _Walk, _instruction: Instruction, operands: list[Mask]) -> Mask:
    return operands[0]


def _second(_walk: _Walk, _instruction: Instruction, operands: list[Mask]) -> Mask:
    return None if operands[0] is None else operands[0][1]


def _moved(_walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    """Moves the flags as the op moves elements."""
    flags = [
        np.zeros(_sizes(operand.shape), bool) if mask is None else mask
        for mask, operand in zip(operands, instruction.operands, strict=True)
    ]
    try:
        found = instruction.op.evaluate(flags, Frame(instruction, [], LoneDevice()))
    except HloError:
        return whole(instruction.shape)
    mask = np.asarray(found)
    return mask if mask.shape == _sizes(instruction.shape) else whole(instruction.shape)


def _sizes(shape: Shape) -> tuple[int, ...]:
    return shape.dimensions if isinstance(shape, ArrayShape) else ()


def _elementwise(_walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    found = [operand for operand in operands if operand is not None]
    sizes = _sizes(instruction.shape)
    if any(mask.shape not in {(), sizes} for mask in found):
        return whole(instruction.shape)
    return np.logical_or.reduce([np.broadcast_to(mask, sizes) for mask in found])


def _select(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    flags, *values = operands
    chooser = known(instruction.operands[0]) if flags is None else None
    if chooser is None or isinstance(instruction.shape, TupleShape):
        if isinstance(instruction.shape, TupleShape):
            return whole(instruction.shape)
        return _elementwise(walk, instruction, operands)
    sizes = _sizes(instruction.shape)
    on_true, on_false = (
        np.zeros(sizes, bool) if mask is None else np.broadcast_to(mask, sizes) for mask in values
    )
    return np.where(chooser, on_true, on_false)


def known(instruction: Instruction) -> Array | None:
    """Returns the value of an instruction that depends on no parameter, of simple ops alone."""
    if not isinstance(instruction.op, _SIMPLE) or not isinstance(instruction.shape, ArrayShape):
        return None
    operands = [known(operand) for operand in instruction.operands]
    if any(operand is None for operand in operands):
        return None
    try:
        with np.errstate(all="ignore"):
            found = instruction.op.evaluate(operands, Frame(instruction, [], LoneDevice()))
    except HloError:
        return None
    return np.asarray(found)


_SIMPLE = (
    Elementwise, source.Constant, source.Iota, shape_changing.Broadcast, shape_changing.Reshape,
    shape_changing.Transpose, shape_changing.Slice,
)  # fmt: skip


def _triangular_solve(_walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    op, shape = instruction.op, instruction.operands[0].shape
    assert isinstance(op, TriangularSolve)
    assert isinstance(shape, ArrayShape)
    if operands[0] is not None and operands[1] is None:
        # What is open lies where the op does not look.
        read = operands[0] & ~_triangle(shape, op.lower)
        if not read.any():
            return None
    return whole(instruction.shape)


def _call(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    return walk.called(instruction.calls[0], operands)


def _started(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    result = walk.called(instruction.calls[0], operands)
    assert isinstance(instruction.shape, TupleShape)
    contexts = [None] * (len(instruction.shape.elements) - 2)
    return (tuple(operands), result, *contexts)


def _while(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    state = operands[0]
    # What one round opens may open more in the next; a loop moves it no further in practice.
    for _ in range(3):
        state = _either(state, walk.called(instruction.calls[1], [state]))
    return state


def _conditional(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    if operands[0] is not None:
        return whole(instruction.shape)
    found = None
    for branch, argument in zip(instruction.calls, operands[1:], strict=True):
        found = _either(found, walk.called(branch, [argument]))
    return found


def _either(one: Mask, other: Mask) -> Mask:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, tuple):
        return tuple(map(_either, one, other))
    return one | other


def _tied(root: Instruction, expected: Value) -> dict[TupleIndex, Unspecified]:
    """Returns which elements an unstable sort may exchange: those beside equal keys."""
    found: dict[TupleIndex, Unspecified] = {}
    for index, instruction, part in _sorted_parts(root):
        op = instruction.op
        assert isinstance(op, Sort)
        keys = [key for key, other, k in _sorted_parts(root) if other is instruction and k == 0]
        if part == 0 or not keys or expected is None or op.is_stable:
            continue
        values = np.asarray(_at(expected, keys[0]))
        if values.ndim <= op.dimensions:
            continue
        ordered = np.moveaxis(values, op.dimensions, -1)
        equal = ordered[..., 1:] == ordered[..., :-1]
        ties = np.zeros(ordered.shape, bool)
        ties[..., 1:] |= equal
        ties[..., :-1] |= equal
        if ties.any():
            mask = np.moveaxis(ties, -1, op.dimensions)
            reason = f"{instruction.name}: equal keys of an unstable sort have no order"
            found[index] = Unspecified(mask, (reason,))
    return found


def _sorted_parts(root: Instruction) -> list[tuple[TupleIndex, Instruction, int]]:
    """Returns each array of a root that a sort of several arrays yields, and which it is."""
    if isinstance(root.op, Sort) and isinstance(root.shape, TupleShape):
        return [((part,), root, part) for part in range(len(root.operands))]
    if not isinstance(root.op, tuples.Tuple):
        return []
    found: list[tuple[TupleIndex, Instruction, int]] = []
    for position, operand in enumerate(root.operands):
        op = operand.op
        if isinstance(op, tuples.GetTupleElement) and isinstance(operand.operands[0].op, Sort):
            found.append(((position,), operand.operands[0], op.index))
    return found


_Rule = Callable[[_Walk, Instruction, list[Mask]], Mask]
_RULES: dict[type, _Rule] = {
    tuples.Tuple: _tuple,
    tuples.GetTupleElement: _tuple_element,
    Copy: _first,
    Domain: _first,
    OptBarrier: _first,
    AsyncStart: _started,
    AsyncUpdate: _first,
    AsyncDone: _second,
    Call: _call,
    Fusion: _call,
    While: _while,
    Conditional: _conditional,
    TriangularSolve: _triangular_solve,
    Elementwise: _elementwise,
    Select: _select,
    shape_changing.Broadcast: _moved,
    shape_changing.Reshape: _moved,
    shape_changing.Transpose: _moved,
    shape_changing.Reverse: _moved,
    shape_changing.Pad: _moved,
    shape_changing.Concatenate: _moved,
    shape_changing.Slice: _moved,
}
