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
from hlotool.evaluation.following import compared_operands, maker, part_of, with_passed
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import UNBOUNDED, ArrayShape, Shape, TupleShape
from hlotool.ops import shape_changing, source
from hlotool.ops.asynchronous import AsyncStart
from hlotool.ops.control_flow import Call, Conditional, Fusion, While
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.decomposition import Cholesky, TriangularSolve
from hlotool.ops.elementwise import Elementwise, Select
from hlotool.ops.ordering import Sort
from hlotool.ops.random import Rng, RngBitGenerator, RngGetAndUpdateState

_EIGENVECTORS = re.compile(r"syevd|heevd|geev|gesdd|gesvd|Eigh|syevj|heevj", re.IGNORECASE)
_UNINITIALISED = {"AllocateBuffer", "CreateBuffer"}


@dataclass(frozen=True, slots=True)
class Unspecified:
    """Which elements of an array are open, and why."""

    mask: Array
    reasons: tuple[str, ...]

    def mask_of(self, sizes: tuple[int, ...]) -> Array:
        """Returns the mask of an array of `sizes`, which may be short of dynamic bounds."""
        cut = self.mask[tuple(slice(size) for size in sizes)]
        return np.broadcast_to(cut, sizes)


Mask = Any
"""An `Unspecified` for an array, a tuple of masks, or `None` for no open elements."""

_MOST_ROUNDS = 16
"""So many rounds of a loop are followed; what still spreads then is open as a whole."""


def unspecified_elements(module: Module, expected: Value = None) -> dict[TupleIndex, Unspecified]:
    """Returns the open elements of each array of the module's result that has some.

    `expected` is the value of the root; without it nobody knows which keys of a sort are equal.
    """
    entry = module.entry
    mask = _Walk().called(entry, [None] * len(entry.parameters))
    found: dict[TupleIndex, Unspecified] = {}
    for index, leaf in entry.root.shape.leaves():
        part = part_of(mask, index)
        if isinstance(leaf, ArrayShape) and part is not None and part.mask.any():
            found[index] = part
    return _tied(entry.root, expected) | found


class _Walk:
    """The walk over a module."""

    def __init__(self) -> None:
        self._reasons: dict[Computation, tuple[str, ...]] = {}
        self._known: dict[Instruction, Array | None] = {}

    def called(self, computation: Computation, arguments: Sequence[Mask]) -> Mask:
        """Returns the mask of what a computation yields."""
        if all(argument is None for argument in arguments) and not self.reasons(computation):
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

    def reasons(self, computation: Computation) -> tuple[str, ...]:
        """Returns why a computation, or one that it calls, leaves something open, if it does."""
        if computation not in self._reasons:
            found: dict[str, None] = {}
            for instruction in computation.instructions:
                found |= dict.fromkeys(self._own_reasons(instruction))
            self._reasons[computation] = tuple(found)
        return self._reasons[computation]

    def _own_reasons(self, instruction: Instruction) -> list[str]:
        reason = _reason(instruction)
        own = [] if reason is None else [f"{instruction.name}: {reason}"]
        return own + [why for called in instruction.calls for why in self.reasons(called)]

    def _mask(self, instruction: Instruction, operands: list[Mask]) -> Mask:
        own = self._own_reasons(instruction)
        if not own and all(operand is None for operand in operands):
            return None
        mask = with_passed(instruction, operands, lambda: self._made(instruction, operands, own))
        return _trimmed(mask)

    def _made(self, instruction: Instruction, operands: list[Mask], own: list[str]) -> Mask:
        op, shape = instruction.op, instruction.shape
        if _reason(instruction) is not None:
            return _opened(op, shape, tuple(own))
        for kind in type(op).__mro__:
            if kind in _CALL_RULES:
                return _CALL_RULES[kind](self, instruction, operands)
        found = _joined(operands)
        reasons = tuple(dict.fromkeys([*own, *found]))
        rule = next((_RULES[kind] for kind in type(op).__mro__ if kind in _RULES), None)
        if own or rule is None or not isinstance(shape, ArrayShape):
            return whole(shape, reasons) if reasons else None
        if any(isinstance(operand, tuple) for operand in operands):
            return whole(shape, reasons)
        flags = [None if operand is None else operand.mask for operand in operands]
        mask = rule(self, instruction, flags)
        return None if mask is None or not mask.any() else Unspecified(mask, reasons)

    def known(self, instruction: Instruction) -> Array | None:
        """Returns the value of an instruction that depends on no parameter, of simple ops alone."""
        waiting = [instruction]
        while waiting:
            current = waiting[-1]
            is_simple = isinstance(current.op, _SIMPLE) and isinstance(current.shape, ArrayShape)
            missing = [one for one in current.operands if one not in self._known]
            if is_simple and missing and current not in self._known:
                waiting += missing
                continue
            waiting.pop()
            if current not in self._known:
                values = [self._known[one] for one in current.operands] if is_simple else []
                self._known[current] = _value(current, values) if is_simple else None
        return self._known[instruction]


def _value(instruction: Instruction, operands: list[Array | None]) -> Array | None:
    if any(operand is None for operand in operands):
        return None
    try:
        with np.errstate(all="ignore"):
            found = instruction.op.evaluate(operands, Frame(instruction, [], LoneDevice()))
    except HloError:
        return None
    return np.asarray(found)


def _joined(mask: Mask) -> dict[str, None]:
    """Returns the reasons of all open elements in masks."""
    if isinstance(mask, list | tuple):
        return {reason: None for part in mask for reason in _joined(part)}
    return {} if mask is None else dict.fromkeys(mask.reasons)


def _trimmed(mask: Mask) -> Mask:
    """Returns a mask with `None` for tuples in which nothing is open."""
    return mask if _joined(mask) else None


def whole(shape: Shape, reasons: tuple[str, ...]) -> Mask:
    """Returns the mask of a value that is open in every element."""
    if isinstance(shape, TupleShape):
        return tuple(whole(part, reasons) for part in shape.elements)
    if not isinstance(shape, ArrayShape):
        return None
    # A view of one flag: arrays may be large.
    return Unspecified(np.broadcast_to(np.True_, _sizes(shape)), reasons)


def _reason(instruction: Instruction) -> str | None:
    """Returns why an op leaves elements open, `None` where it leaves none."""
    op = instruction.op
    if isinstance(op, Cholesky):
        return f"the {'upper' if op.lower else 'lower'} triangle of cholesky is not specified"
    if isinstance(op, Rng | RngGetAndUpdateState):
        return f"{op.opcode} draws from a generator of the implementation's own"
    if isinstance(op, RngBitGenerator) and op.algorithm == "rng_default":
        return "the default algorithm of rng-bit-generator is not specified"
    if not isinstance(op, CustomCall):
        return None
    target = op.custom_call_target
    if target in _UNINITIALISED:
        return f"{target} leaves its elements uninitialised"
    has_vectors = _EIGENVECTORS.search(target) and any(_vectors(instruction.shape))
    return f"signs of the vectors of {target} are not specified" if has_vectors else None


def _opened(op: Op, shape: Shape, reasons: tuple[str, ...]) -> Mask:
    """Returns the mask of what an op that has a reason leaves open."""
    if isinstance(op, Cholesky):
        assert isinstance(shape, ArrayShape)
        return Unspecified(_triangle(shape, op.lower), reasons)
    if isinstance(op, CustomCall) and op.custom_call_target not in _UNINITIALISED:
        return _only_vectors(shape, reasons)
    return whole(shape, reasons)


def _triangle(shape: ArrayShape, above: bool) -> Array:  # noqa: FBT001  # which of two
    size = _sizes(shape)[-1]
    flags = np.triu(np.ones((size, size), bool), 1)
    return np.broadcast_to(flags if above else flags.T, _sizes(shape))


def _vectors(shape: Shape) -> list[bool]:
    """Returns for each array of a shape whether it holds square matrices of numbers."""
    return [
        isinstance(leaf, ArrayShape)
        and not leaf.element_type.is_integer
        and leaf.rank >= 2
        and leaf.dimensions[-1] == leaf.dimensions[-2]
        for _, leaf in shape.leaves()
    ]


def _only_vectors(shape: Shape, reasons: tuple[str, ...]) -> Mask:
    if isinstance(shape, TupleShape):
        return tuple(_only_vectors(part, reasons) for part in shape.elements)
    return whole(shape, reasons) if any(_vectors(shape)) else None


_Flags = Sequence["Array | None"]
"""Which elements of each operand are open; `None` for none of them."""


def _moved(_walk: _Walk, instruction: Instruction, operands: _Flags) -> Array:
    """Moves the flags as the op moves elements."""
    flags = [
        np.zeros(_sizes(operand.shape), bool) if mask is None else mask
        for mask, operand in zip(operands, instruction.operands, strict=True)
    ]
    sizes = _sizes(instruction.shape)
    try:
        found = instruction.op.evaluate(flags, Frame(instruction, [], LoneDevice()))
    except HloError:
        return np.ones(sizes, bool)
    # Some ops bring operands to the declared type.
    mask = np.asarray(found).astype(bool)
    return mask if mask.shape == sizes else np.ones(sizes, bool)


def _sizes(shape: Shape) -> tuple[int, ...]:
    """Returns the sizes of a mask: of a dynamic dimension its bound, 1 where there is none."""
    sizes = shape.dimensions if isinstance(shape, ArrayShape) else ()
    return tuple(1 if size == UNBOUNDED else size for size in sizes)


def _elementwise(_walk: _Walk, instruction: Instruction, operands: _Flags) -> Array:
    found = [operand for operand in operands if operand is not None]
    sizes = _sizes(instruction.shape)
    if any(mask.shape not in {(), sizes} for mask in found):
        return np.ones(sizes, bool)
    joined = np.logical_or.reduce([np.broadcast_to(mask, sizes) for mask in found])
    return np.asarray(joined)


def _select(walk: _Walk, instruction: Instruction, operands: _Flags) -> Array:
    flags, *values = operands
    chooser = walk.known(instruction.operands[0]) if flags is None else None
    if chooser is None:
        return _elementwise(walk, instruction, operands)
    sizes = _sizes(instruction.shape)
    on_true, on_false = (
        np.zeros(sizes, bool) if mask is None else np.broadcast_to(mask, sizes) for mask in values
    )
    return np.asarray(np.where(chooser, on_true, on_false))


_SIMPLE = (
    Elementwise, source.Constant, source.Iota, shape_changing.Broadcast, shape_changing.Reshape,
    shape_changing.Transpose, shape_changing.Slice,
)  # fmt: skip


def _triangular_solve(_walk: _Walk, instruction: Instruction, operands: _Flags) -> Array | None:
    op, shape = instruction.op, instruction.operands[0].shape
    assert isinstance(op, TriangularSolve)
    assert isinstance(shape, ArrayShape)
    # Maybe what is open lies where the op does not look.
    if operands[1] is None and operands[0] is not None:
        read = operands[0] & ~_triangle(shape, op.lower)
        if not read.any():
            return None
    return np.ones(_sizes(instruction.shape), bool)


def _call(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    return walk.called(instruction.calls[0], operands)


def _started(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    assert isinstance(instruction.shape, TupleShape)
    result = walk.called(instruction.calls[0], operands)
    contexts = [None] * (len(instruction.shape.elements) - 2)
    return (None, result, *contexts)


def _while(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    (state,) = operands
    condition, body = instruction.calls
    for _ in range(_MOST_ROUNDS):
        rounds = walk.called(condition, [state])
        if rounds is not None:
            return whole(instruction.shape, rounds.reasons)
        following = _either(state, walk.called(body, [state]))
        if _same(state, following):
            return state
        state = following
    return whole(instruction.shape, tuple(_joined(state)))


def _conditional(walk: _Walk, instruction: Instruction, operands: list[Mask]) -> Mask:
    if operands[0] is not None:
        return whole(instruction.shape, operands[0].reasons)
    found = None
    for branch, argument in zip(instruction.calls, operands[1:], strict=True):
        found = _either(found, walk.called(branch, [argument]))
    return found


def _either(one: Mask, other: Mask) -> Mask:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, tuple):
        return tuple(map(_either, one, other))
    reasons = dict.fromkeys([*one.reasons, *other.reasons])
    return Unspecified(one.mask | other.mask, tuple(reasons))


def _same(one: Mask, other: Mask) -> bool:
    if one is None or other is None:
        return not _joined(one) and not _joined(other)
    if isinstance(one, tuple):
        return all(map(_same, one, other))
    return bool((one.mask == other.mask).all())


def _tied(root: Instruction, expected: Value) -> dict[TupleIndex, Unspecified]:
    """Returns which elements an unstable sort may exchange: those beside equal keys."""
    found: dict[TupleIndex, Unspecified] = {}
    if expected is None:
        return found
    for sort, parts in _sorted_parts(root).items():
        assert isinstance(sort.op, Sort)
        compared = compared_operands(sort.calls[0])
        if sort.op.is_stable or not compared <= set(parts):
            continue
        keys = [np.asarray(part_of(expected, parts[number][0])) for number in sorted(compared)]
        others = [index for number in set(parts) - compared for index in parts[number]]
        if not keys or not others:
            continue
        mask = _beside_equals(keys, sort.op.dimensions)
        if mask.any():
            reason = f"{sort.name}: equal keys of an unstable sort have no order"
            found |= dict.fromkeys(others, Unspecified(mask, (reason,)))
    return found


def _beside_equals(keys: Sequence[Array], dimension: int) -> Array:
    """Returns which elements have the same keys as the one before or behind."""
    lines = [np.moveaxis(key, dimension, -1) for key in keys]
    equal = np.logical_and.reduce([line[..., 1:] == line[..., :-1] for line in lines])
    ties = np.zeros(lines[0].shape, bool)
    ties[..., 1:] |= equal
    ties[..., :-1] |= equal
    return np.asarray(np.moveaxis(ties, -1, dimension))


def _sorted_parts(root: Instruction) -> dict[Instruction, dict[int, list[TupleIndex]]]:
    """Returns, for sorts of several arrays, where the root has each of their results."""
    found: dict[Instruction, dict[int, list[TupleIndex]]] = {}
    for index, _ in root.shape.leaves():
        made, part = maker(root, index)
        if isinstance(made.op, Sort) and part:
            found.setdefault(made, {}).setdefault(part[0], []).append(index)
    return found


_CallRule = Callable[[_Walk, Instruction, list[Mask]], Mask]
_CALL_RULES: dict[type, _CallRule] = {
    AsyncStart: _started,
    Call: _call,
    Fusion: _call,
    While: _while,
    Conditional: _conditional,
}
_Rule = Callable[[_Walk, Instruction, _Flags], "Array | None"]
_RULES: dict[type, _Rule] = {
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
