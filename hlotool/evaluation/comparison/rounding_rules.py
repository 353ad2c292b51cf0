"""What each op makes of the rounding errors of its operands; see `rounding`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2, prod
from typing import Protocol

from hlotool.evaluation.comparison.rounding import (
    EXACT,
    MOST,
    Error,
    Errors,
    accumulated,
    growth,
    leaves_of,
    merged,
    multiplied,
    summed,
    ulp,
)
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import F32, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops import asynchronous as asynchronous_ops
from hlotool.ops import (
    collective,
    contraction,
    control_flow,
    conversion,
    convolution,
    decomposition,
    elementwise,
    host,
    indexing,
    ordering,
    permuting,
    random,
    reduction,
    shape_changing,
    source,
    unary,
)
from hlotool.ops.collective_groups import GroupedCollective
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.custom_calls.registry import Yields, yields_of


class Walk(Protocol):
    """What rules may ask of the walk over a module."""

    sent: dict[int | None, Error]
    """What is known of the data that devices send to one another, by channel."""

    def called(self, computation: Computation, arguments: Sequence[Errors]) -> Errors:
        """Returns the errors of what a computation yields."""

    def looped(self, instruction: Instruction, state: Errors) -> Errors:
        """Returns the errors of the last state of a loop."""


Rule = Callable[[Walk, Instruction, Sequence[Errors]], Errors]

_ROUGH = 16
_FUNCTION_ULPS: dict[type[Op], float] = {
    unary.Sqrt: 1, unary.Rsqrt: 2, unary.Cbrt: 4, unary.Exponential: 3,
    unary.ExponentialMinusOne: 4, unary.Log: 2, unary.LogPlusOne: 4, unary.Logistic: 6,
    unary.Sine: 4, unary.Cosine: 4, unary.Tanh: 8, unary.Erf: 8, elementwise.Power: 8,
    elementwise.Atan2: 4,
}  # fmt: skip
"""How exact libraries of backends are; others are within 16 ulp."""
_AMPLIFICATION: dict[type[Op], float] = {
    unary.Sqrt: 0.5, unary.Rsqrt: 0.5, unary.Cbrt: 0.34, unary.Exponential: 2,
    unary.ExponentialMinusOne: 2, elementwise.Power: 4, unary.Sine: 4, unary.Cosine: 4,
    unary.Tan: 8, unary.Sinh: 4, unary.Cosh: 4,
}  # fmt: skip
"""What functions make of the relative error of an operand of ordinary size; others keep it."""
_SCALING = (
    unary.Log, unary.LogPlusOne, unary.Sine, unary.Cosine, unary.Tan, elementwise.Atan2,
)  # fmt: skip
"""Functions near whose zeros the operand's error is one of the typical size."""


def element_type_of(shape: Shape) -> ElementType:
    """Returns the element type of an array, f32 for what is none."""
    return shape.element_type if isinstance(shape, ArrayShape) else F32


def exact(_walk: Walk, instruction: Instruction, _operands: Sequence[Errors]) -> Errors:
    """Nothing is rounded."""
    return uniform(EXACT, instruction.shape)


def uniform(error: Error, shape: Shape) -> Errors:
    """Returns the same error for each array of a shape."""
    if isinstance(shape, TupleShape):
        return tuple(uniform(error, part) for part in shape.elements)
    return error


def _moved(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    found = merged([leaf for operand in operands for leaf in leaves_of(operand)])
    return uniform(found, instruction.shape)


def _only_first_moves(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    return uniform(merged(leaves_of(operands[0])), instruction.shape)


def _abs(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    if element_type_of(instruction.operands[0].shape).is_complex:
        return _arithmetic(walk, instruction, operands)
    return _moved(walk, instruction, operands)


def _arrays(operands: Sequence[Errors]) -> list[Error]:
    return [leaf for operand in operands for leaf in leaves_of(operand)]


def _stepped(error: Error, instruction: Instruction, ulps: float, *, scaled: bool) -> Error:
    element_type = element_type_of(instruction.shape)
    added = ulps * ulp(element_type)
    cause = f"{element_type.name} {instruction.opcode}"
    return error.with_step(0.0 if scaled else added, added if scaled else 0.0, cause)


def _arithmetic(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    is_complex = element_type_of(instruction.shape).is_complex
    found = multiplied(_arrays(operands))
    return _stepped(found, instruction, 8 if is_complex else 1, scaled=is_complex)


def _sum_of_two(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    return _stepped(merged(_arrays(operands)).as_scaled(), instruction, 1, scaled=False)


def _remainder(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    return _stepped(multiplied(_arrays(operands)).as_scaled(), instruction, 1, scaled=False)


def _function(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    element_type = element_type_of(instruction.shape)
    ulps = _FUNCTION_ULPS.get(type(op), _ROUGH)
    if element_type.is_complex:
        ulps = max(ulps, _ROUGH)
    found = multiplied(_arrays(operands)).amplified(_AMPLIFICATION.get(type(op), 1.0))
    if isinstance(op, _SCALING) or element_type.is_complex:
        found = found.as_scaled()
    added = ulps * ulp(element_type)
    scaled = added if element_type.is_complex else 0.0
    cause = f"{element_type.name} {op.opcode}"
    return found.with_step(added - scaled, scaled, cause, grows=not isinstance(op, unary.Sqrt))


def _convert(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    found = merged(_arrays(operands))
    if found.is_exact:
        return found
    op = instruction.op
    result = element_type_of(instruction.shape)
    unit = ulp(result)
    if isinstance(op, conversion.ReducePrecision):
        unit = max(unit, 2.0**-op.mantissa_bits)
    source_unit = ulp(element_type_of(instruction.operands[0].shape))
    if unit <= source_unit:
        return found
    return found.with_step(unit, 0.0, f"{result.name} {instruction.opcode}", grows=True)


def _sum_of_products(instruction: Instruction, operands: Sequence[Errors], terms: int) -> Errors:
    element_type = element_type_of(instruction.shape)
    found = accumulated(_arrays(operands))
    # The element type of factors decides nothing: products of narrow floats fit f32.
    added = summed(element_type, terms)
    cause = f"{element_type.name} {instruction.opcode} over {_terms(terms)}"
    return found.with_step(0.0, added, cause, grows=True)


def _terms(count: int) -> str:
    return f"{count} term{'' if count == 1 else 's'}"


def _dot(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op, lhs = instruction.op, instruction.operands[0].shape
    assert isinstance(op, contraction.Contraction)
    assert isinstance(lhs, ArrayShape)
    terms = prod(lhs.dimensions[d] for d in op.lhs_contracting_dims)
    found = _sum_of_products(instruction, operands[:2], max(terms, 1))
    algorithm = getattr(op, "algorithm", "unset")
    narrow = next((name for name in ("tf32", "bf16", "f16", "f8") if name in algorithm), "")
    if narrow and isinstance(found, Error):
        bits = {"tf32": 10, "bf16": 7, "f16": 10, "f8": 3}[narrow]
        return found.with_step(0.0, 2.0**-bits, f"dot by {algorithm}", grows=True)
    return found


def _convolution(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op, kernel = instruction.op, instruction.operands[1].shape
    assert isinstance(op, convolution.Convolution)
    assert isinstance(kernel, ArrayShape)
    outputs = kernel.dimensions[op.dim_labels.kernel_output_feature]
    return _sum_of_products(instruction, operands, max(1, kernel.element_count // max(outputs, 1)))


def _fft(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    assert isinstance(op, convolution.Fft)
    element_type = element_type_of(instruction.shape)
    length = max(2, prod(op.fft_length))
    added = 8 * log2(length) * ulp(element_type)
    cause = f"{element_type.name} fft of length {length}"
    return accumulated(_arrays(operands)).with_step(0.0, added, cause, grows=True)


def _reduced(
    walk: Walk, instruction: Instruction, operands: Sequence[Errors], terms: int
) -> Errors:
    """Returns the errors of elements that a reducer has folded, `terms` of them each."""
    half = len(operands) // 2
    starts, elements = list(operands[half:]), list(operands[:half])
    return _folded(walk, instruction, [*starts, *elements], half, terms)


def _folded(
    walk: Walk, instruction: Instruction, arguments: list[Errors], half: int, terms: int
) -> Errors:
    reducer = instruction.calls[-1]
    step = leaves_of(walk.called(reducer, [EXACT] * len(arguments)))
    found = [
        _folded_leaf(instruction, merged([*leaves_of(start), *leaves_of(element)]), one, terms)
        for start, element, one in zip(arguments[:half], arguments[half:], step, strict=True)
    ]
    return tuple(found) if isinstance(instruction.shape, TupleShape) else found[0]


def _folded_leaf(instruction: Instruction, given: Error, step: Error, terms: int) -> Error:
    if step.is_exact:
        return given
    element_type = element_type_of(next(leaf for _, leaf in instruction.shape.leaves()))
    unit = ulp(element_type) or ulp(F32)
    added = summed(element_type, terms) * max(1.0, step.total / unit)
    cause = f"{element_type.name} {instruction.opcode} of {_terms(terms)}"
    return given.as_scaled().with_step(0.0, min(added, MOST), cause, grows=True)


def _reduce(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op, shape = instruction.op, instruction.operands[0].shape
    assert isinstance(op, reduction.Reduce)
    assert isinstance(shape, ArrayShape)
    terms = max(1, prod(shape.dimensions[d] for d in op.dimensions))
    return _reduced(walk, instruction, operands, terms)


def _reduce_window(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    assert isinstance(op, reduction.ReduceWindow)
    return _reduced(walk, instruction, operands, max(1, prod(d.size for d in op.window)))


def _select_and_scatter(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    assert isinstance(op, reduction.SelectAndScatter)
    terms = max(1, prod(d.size for d in op.window))
    return _folded(walk, instruction, [operands[2], operands[1]], 1, terms)


def _map(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    return walk.called(instruction.calls[0], operands)


def _scan(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op, shape = instruction.op, instruction.operands[0].shape
    assert isinstance(op, reduction.Scan)
    assert isinstance(shape, ArrayShape)
    terms = max(1, shape.dimensions[op.dimensions])
    found = merged(leaves_of(walk.called(instruction.calls[0], operands)))
    leaf = _folded_leaf(instruction, found, found, terms)
    return uniform(leaf, instruction.shape)


def _scatter(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    count = (len(operands) - 1) // 2
    updates = instruction.operands[-1].shape
    result = instruction.operands[0].shape
    assert isinstance(updates, ArrayShape)
    assert isinstance(result, ArrayShape)
    # How many updates meet in one place, indices say; the typical number is the mean.
    terms = 2 + updates.element_count // max(1, result.element_count)
    arguments = [*operands[:count], *operands[count + 1 :]]
    return _folded(walk, instruction, arguments, count, terms)


def _all_reduced(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    assert isinstance(op, GroupedCollective)
    sizes = [len(group) for group in op.replica_groups.groups]
    reducer = walk.called(instruction.calls[0], [EXACT, EXACT])
    step = merged(leaves_of(reducer))
    found = [
        _folded_leaf(instruction, merged(leaves_of(operand)), step, max(sizes, default=8))
        for operand in operands
    ]
    return tuple(found) if isinstance(instruction.shape, TupleShape) else found[0]


def _solved(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    shape = instruction.operands[0].shape
    assert isinstance(shape, ArrayShape)
    size = max(1, shape.dimensions[-1])
    element_type = shape.element_type
    added = min(MOST, 16 * growth(size) * ulp(element_type))
    cause = f"{element_type.name} {instruction.opcode} of size {size}"
    return accumulated(_arrays(operands)).amplified(16).with_step(0.0, added, cause, grows=True)


def _normalized(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op, shape = instruction.op, instruction.operands[0].shape
    assert isinstance(op, decomposition.BatchNorm)
    assert isinstance(shape, ArrayShape)
    terms = max(1, shape.element_count // max(1, shape.dimensions[op.feature_index]))
    found = _sum_of_products(instruction, operands, terms)
    assert isinstance(found, Error)
    return uniform(found.amplified(4), instruction.shape)


def _custom_call(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    assert isinstance(op, CustomCall)
    if yields_of(op.custom_call_target) is not Yields.OTHERS:
        return _moved(_walk, instruction, operands)
    first = next((leaf for _, leaf in instruction.shape.leaves()), instruction.shape)
    added = min(MOST, 4096 * ulp(element_type_of(first)))
    found = accumulated(_arrays(operands))
    cause = f"custom call {op.custom_call_target}"
    return uniform(found.with_step(0.0, added, cause, grows=True), instruction.shape)


def unknown(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    """Takes it that an op without a rule rounds as a sum of a few terms does."""
    first = next((leaf for _, leaf in instruction.shape.leaves()), instruction.shape)
    added = min(MOST, 64 * ulp(element_type_of(first)))
    found = accumulated(_arrays(operands)).with_step(0.0, added, instruction.opcode, grows=True)
    return uniform(found, instruction.shape)


def _call(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    return walk.called(instruction.calls[0], operands)


def _while(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    return walk.looped(instruction, operands[0])


def _conditional(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    branches = [
        walk.called(branch, [argument])
        for branch, argument in zip(instruction.calls, operands[1:], strict=True)
    ]
    return worst_of(branches)


def worst_of(values: Sequence[Errors]) -> Errors:
    """Returns the errors of a value that is one of several of the same shape."""
    first = values[0]
    if isinstance(first, Error):
        return merged([value for value in values if isinstance(value, Error)])
    columns = zip(*(value for value in values if isinstance(value, tuple)), strict=True)
    return tuple(worst_of(column) for column in columns)


def _async_start(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    assert isinstance(instruction.shape, TupleShape)
    given, _, *contexts = (uniform(EXACT, part) for part in instruction.shape.elements)
    return (given, walk.called(instruction.calls[0], operands), *contexts)


def _sort(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    found = [merged(leaves_of(operand)) for operand in operands]
    return tuple(found) if isinstance(instruction.shape, TupleShape) else found[0]


def _sent(walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    assert isinstance(op, host.Send)
    walk.sent[op.channel_id] = merged(
        [*leaves_of(operands[0]), walk.sent.get(op.channel_id, EXACT)]
    )
    return uniform(EXACT, instruction.shape)


def _received(walk: Walk, instruction: Instruction, _operands: Sequence[Errors]) -> Errors:
    op = instruction.op
    assert isinstance(op, host.RecvDone)
    return uniform(walk.sent.get(op.channel_id, EXACT), instruction.shape)


def _two_move(_walk: Walk, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
    return uniform(merged(_arrays(operands[:2])), instruction.shape)


RULES: dict[type, Rule] = {
    elementwise.Elementwise: _arithmetic,
    elementwise.Add: _sum_of_two,
    elementwise.Subtract: _sum_of_two,
    elementwise.Remainder: _remainder,
    elementwise.Power: _function,
    elementwise.Atan2: _function,
    unary.Accurate: _function,
    unary.Abs: _abs,
    unary.Sign: _abs,
    conversion.Convert: _convert,
    conversion.ReducePrecision: _convert,
    conversion.StochasticConvert: _convert,
    contraction.Contraction: _dot,
    convolution.Convolution: _convolution,
    convolution.Fft: _fft,
    reduction.Reduce: _reduce,
    reduction.ReduceWindow: _reduce_window,
    reduction.SelectAndScatter: _select_and_scatter,
    reduction.Map: _map,
    reduction.Scan: _scan,
    indexing.Scatter: _scatter,
    collective.AllReduce: _all_reduced,
    collective.ReduceScatter: _all_reduced,
    decomposition.Cholesky: _solved,
    decomposition.TriangularSolve: _solved,
    decomposition.BatchNorm: _normalized,
    CustomCall: _custom_call,
    control_flow.Call: _call,
    control_flow.Fusion: _call,
    control_flow.While: _while,
    control_flow.Conditional: _conditional,
    asynchronous_ops.AsyncStart: _async_start,
    ordering.Sort: _sort,
    host.Send: _sent,
    host.RecvDone: _received,
    permuting.RaggedAllToAll: _two_move,
    source.Constant: exact,
    source.Iota: exact,
    source.DeviceNumber: exact,
    indexing.GetDimensionSize: exact,
    # What is not passed on are contexts, tokens, and numbers that nothing has rounded yet.
    host.CopyStart: exact,
    host.AfterAll: exact,
    host.Infeed: exact,
    host.Outfeed: exact,
    host.Recv: exact,
    host.SendDone: exact,
    random.Rng: exact,
    random.RngBitGenerator: exact,
    random.RngGetAndUpdateState: exact,
}
"""The rule of the nearest base of an op's class counts."""
RULES |= dict.fromkeys(
    [
        elementwise.Maximum, elementwise.Minimum, elementwise.Select, elementwise.Clamp,
        elementwise.Complex, unary.Negate, unary.Ceil, unary.Floor,
        unary.RoundNearestAfz, unary.RoundNearestEven, unary.Real, unary.Imag,
        conversion.BitcastConvert, shape_changing.Concatenate, shape_changing.Pad,
        indexing.DynamicUpdateSlice, ordering.TopK, permuting.AllToAll,
        permuting.CollectivePermute, collective.AllGather, collective.CollectiveBroadcast,
    ],
    _moved,
)  # fmt: skip
RULES |= dict.fromkeys(
    [
        shape_changing.Broadcast, shape_changing.Reshape, shape_changing.DynamicReshape,
        shape_changing.Transpose, shape_changing.Bitcast, shape_changing.Reverse,
        shape_changing.Slice, indexing.DynamicSlice, indexing.Gather, indexing.SetDimensionSize,
    ],
    _only_first_moves,
)  # fmt: skip
