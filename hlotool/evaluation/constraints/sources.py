"""What each instruction by itself wants of its operands."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from hlotool.evaluation.constraints.indices import INDEX_WANTS
from hlotool.evaluation.constraints.kinds import (
    SMALL,
    Constraint,
    Fixed,
    GroupSizes,
    Matrices,
    MatrixKind,
    Nonzero,
    Range,
    Unique,
    Weights,
    positive,
)
from hlotool.evaluation.constraints.uniform import uniform_value
from hlotool.evaluation.following import compared_operands
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import UNBOUNDED, ArrayShape
from hlotool.ops.contraction import Dot, RaggedDot
from hlotool.ops.control_flow import Conditional
from hlotool.ops.convolution import Convolution
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.decomposition import (
    BatchNormGrad,
    BatchNormInference,
    Cholesky,
    TriangularSolve,
)
from hlotool.ops.elementwise import (
    Add,
    And,
    Clamp,
    Divide,
    Maximum,
    Minimum,
    Multiply,
    Or,
    Power,
    Remainder,
    Xor,
)
from hlotool.ops.ordering import Sort, TopK
from hlotool.ops.random import Rng
from hlotool.ops.reduction import Reduce, ReduceWindow, Scan, SelectAndScatter
from hlotool.ops.tuples import Tuple
from hlotool.ops.unary import (
    Acos,
    Acosh,
    Asin,
    Atanh,
    Cosh,
    Exponential,
    ExponentialMinusOne,
    Log,
    LogPlusOne,
    Rsqrt,
    Sinh,
    Sqrt,
)

Wants = Iterator[tuple[int, Constraint]]
"""Numbers of operands, each with a constraint on it."""

_INSIDE = 1 - SMALL
_STEEP = 8.0
"""The largest exponent: low-precision types still hold its power of e."""
_DOMAINS: dict[type[Op], tuple[float, float]] = {
    Log: (SMALL, math.inf),
    Rsqrt: (SMALL, math.inf),
    Sqrt: (0.0, math.inf),
    LogPlusOne: (-_INSIDE, math.inf),
    Acos: (-_INSIDE, _INSIDE),
    Asin: (-_INSIDE, _INSIDE),
    Atanh: (-_INSIDE, _INSIDE),
    Acosh: (1 + SMALL, math.inf),
    Exponential: (-math.inf, _STEEP),
    ExponentialMinusOne: (-math.inf, _STEEP),
    Cosh: (-_STEEP, _STEEP),
    Sinh: (-_STEEP, _STEEP),
}
"""Where functions of real numbers have values that are finite."""

_NEUTRAL: dict[type[Op], float] = {
    Add: 0.0,
    Or: 0.0,
    Xor: 0.0,
    Multiply: 1.0,
    Maximum: -math.inf,
    Minimum: math.inf,
}
"""The number that changes nothing it is combined with; the infinities are a type's ends."""

_FACTORED = re.compile(r"potrf|[Cc]holesky")
_SOLVED = re.compile(r"trsm|[Tt]riangular_?[Ss]olve")


def wants(instruction: Instruction) -> Wants:
    """Yields what an instruction wants of its operands, whatever its result is used for."""
    domain = _DOMAINS.get(type(instruction.op))
    if domain is not None:
        if instruction_type(instruction).is_float:
            yield 0, Range(*domain, is_comfort=True, source=instruction.name)
        return
    rule = _RULES.get(type(instruction.op))
    if rule is not None:
        yield from rule(instruction)


def instruction_type(instruction: Instruction) -> ElementType:
    """Returns the element type of an instruction that is an array."""
    assert isinstance(instruction.shape, ArrayShape)
    return instruction.shape.element_type


def _divide(instruction: Instruction) -> Wants:
    yield 1, Nonzero(source=instruction.name)


def _power(instruction: Instruction) -> Wants:
    element_type = instruction_type(instruction)
    exponent = uniform_value(instruction.operands[1])
    if element_type.is_integer:
        yield 0, Range(-4, 4, is_comfort=True, source=instruction.name)
        yield 1, Range(0, 3, is_comfort=True, source=instruction.name)
    elif exponent is None:
        if element_type.is_float:
            yield 0, positive(instruction.name)
            yield 1, _exponents(uniform_value(instruction.operands[0]), instruction)
    elif exponent != int(exponent) and element_type.is_float:
        yield 0, positive(instruction.name)
    elif exponent < 0:
        yield 0, Nonzero(source=instruction.name)


def _exponents(base: float | None, instruction: Instruction) -> Range:
    most = 4.0
    if base is not None and base > 0 and base != 1:
        most = _STEEP / abs(math.log(base))
    return Range(-most, most, is_comfort=True, source=instruction.name)


def _clamp(instruction: Instruction) -> Wants:
    low, high = (uniform_value(instruction.operands[number]) for number in (0, 2))
    # Ends that are both unknown part at zero.
    if low is None:
        yield 0, Range(high=0.0 if high is None else high, source=instruction.name)
    if high is None:
        yield 2, Range(low=0.0 if low is None else low, source=instruction.name)


def _rng(instruction: Instruction) -> Wants:
    assert isinstance(instruction.op, Rng)
    second = positive(instruction.name)
    if instruction.op.distribution == "rng_uniform":
        yield 0, Range(high=0.0, source=instruction.name)
        # An integer above the low end.
        second = Range(1.0, source=instruction.name)
    yield 1, second


def _variance(number: int) -> Callable[[Instruction], Wants]:
    def rule(instruction: Instruction) -> Wants:
        yield number, positive(instruction.name)

    return rule


def _cholesky(instruction: Instruction) -> Wants:
    yield 0, Matrices(MatrixKind.POSITIVE_DEFINITE, source=instruction.name)


def _triangular_solve(instruction: Instruction) -> Wants:
    assert isinstance(instruction.op, TriangularSolve)
    kind = MatrixKind.LOWER if instruction.op.lower else MatrixKind.UPPER
    yield 0, Matrices(kind, source=instruction.name)


def _custom_call(instruction: Instruction) -> Wants:
    assert isinstance(instruction.op, CustomCall)
    if not instruction.operands:
        return
    # Older targets have sizes of the matrices in front of them.
    number = next(
        (n for n, operand in enumerate(instruction.operands) if _is_matrix(operand)), None
    )
    if number is None:
        return
    if _FACTORED.search(instruction.op.custom_call_target):
        yield number, Matrices(MatrixKind.POSITIVE_DEFINITE, source=instruction.name)
    elif _SOLVED.search(instruction.op.custom_call_target):
        yield number, Matrices(MatrixKind.LOWER, source=instruction.name)


def _is_matrix(operand: Instruction) -> bool:
    shape = operand.shape
    if not isinstance(shape, ArrayShape) or shape.rank < 2 or shape.element_type.is_integer:
        return False
    return shape.dimensions[-1] == shape.dimensions[-2]


def _dot(instruction: Instruction) -> Wants:
    op, weights = instruction.op, instruction.operands[1].shape
    assert isinstance(op, Dot)
    assert isinstance(weights, ArrayShape)
    count = math.prod(weights.dimensions[dimension] for dimension in op.rhs_contracting_dims)
    yield 1, Weights(count, source=instruction.name)


def _convolution(instruction: Instruction) -> Wants:
    op, weights = instruction.op, instruction.operands[1].shape
    assert isinstance(op, Convolution)
    assert isinstance(weights, ArrayShape)
    outputs = weights.dimensions[op.dim_labels.kernel_output_feature]
    yield 1, Weights(weights.element_count // max(1, outputs), source=instruction.name)


def _ragged_dot(instruction: Instruction) -> Wants:
    op, lhs = instruction.op, instruction.operands[0].shape
    assert isinstance(op, RaggedDot)
    assert isinstance(lhs, ArrayShape)
    for dimension in op.lhs_ragged_dims:
        if lhs.dimensions[dimension] != UNBOUNDED:
            yield 2, GroupSizes(lhs.dimensions[dimension], source=instruction.name)


def _sort(instruction: Instruction) -> Wants:
    assert isinstance(instruction.op, Sort)
    if instruction.op.is_stable or len(instruction.operands) < 2:
        return
    compared = compared_operands(instruction.calls[0])
    if compared and len(compared) < len(instruction.operands):
        # Where the first keys differ no two orders of the rest are right.
        yield min(compared), Unique(instruction.op.dimensions, source=instruction.name)


def _topk(instruction: Instruction) -> Wants:
    shape = instruction.operands[0].shape
    assert isinstance(shape, ArrayShape)
    yield 0, Unique(shape.rank - 1, source=instruction.name)


def _folded(instruction: Instruction) -> Wants:
    count = len(instruction.operands) // 2
    for number, value in _neutrals(instruction.calls[0], count):
        yield count + number, Fixed(value, source=instruction.name)


def _scattered(instruction: Instruction) -> Wants:
    for _, value in _neutrals(instruction.calls[1], 1):
        yield 2, Fixed(value, source=instruction.name)


def _scanned(instruction: Instruction) -> Wants:
    assert isinstance(instruction.op, Scan)
    count = instruction.op.num_carries
    first = len(instruction.operands) - count
    body = instruction.calls[0]
    carries = body.parameters[first:]
    for number, result in enumerate(_results(body)[-count:] if count else ()):
        value = _neutral(result)
        if value is not None and number < len(carries) and carries[number] in result.operands:
            yield first + number, Fixed(value, source=instruction.name)


def _neutrals(reducer: Computation, count: int) -> Iterator[tuple[int, float]]:
    for number, result in enumerate(_results(reducer)[:count]):
        value = _neutral(result)
        accumulator = reducer.parameters[number]
        if value is not None and accumulator in result.operands:
            yield number, value


def _neutral(result: Instruction) -> float | None:
    if isinstance(result.op, And):
        return 1.0 if instruction_type(result).kind is Kind.PRED else None
    return _NEUTRAL.get(type(result.op))


def _results(computation: Computation) -> tuple[Instruction, ...]:
    root = computation.root
    return root.operands if isinstance(root.op, Tuple) else (root,)


def _conditional(instruction: Instruction) -> Wants:
    if instruction_type(instruction.operands[0]).is_integer:
        yield 0, Range(0, len(instruction.calls) - 1, source=instruction.name)


_RULES: dict[type[Op], Callable[[Instruction], Wants]] = {
    **INDEX_WANTS,
    BatchNormGrad: _variance(3),
    BatchNormInference: _variance(4),
    Cholesky: _cholesky,
    Clamp: _clamp,
    Conditional: _conditional,
    Convolution: _convolution,
    CustomCall: _custom_call,
    Divide: _divide,
    Dot: _dot,
    Power: _power,
    RaggedDot: _ragged_dot,
    Reduce: _folded,
    ReduceWindow: _folded,
    Remainder: _divide,
    Rng: _rng,
    Scan: _scanned,
    SelectAndScatter: _scattered,
    Sort: _sort,
    TopK: _topk,
    TriangularSolve: _triangular_solve,
}
