"""Eigenvalues and eigenvectors of Hermitian matrices, by rotations."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import ClassVar

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ir.window import PaddingDimension
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.elementwise import Add, Compare
from hlotool.ops.ordering import Sort
from hlotool.ops.shape_changing import Concatenate, Pad
from hlotool.ops.unary import IsFinite, Sqrt
from hlotool.passes.expanders.expander import Expander, computing_type
from hlotool.passes.expanders.matrices import (
    are_inexact,
    as_declared,
    column_numbers,
    one_batch,
    row_numbers,
    spread,
    swapped,
)
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder, array_shape, tuple_shape
from hlotool.rewriting.loops import State, counted_loop, while_loop
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class EighExpander(Expander):
    """Writes calls to `Eigh` as a loop of sweeps of rotations, after Jacobi.

    Each step of a sweep rotates pairs of rows and columns, all disjoint ones at a time.
    Eigenvalues come in ascending order; signs of eigenvectors may differ from other methods'.
    """

    name: ClassVar[str] = "eigh_expander"

    most_sweeps: int = option(100, "after how many sweeps to stop in any case")

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction calls `Eigh`."""
        match instruction:
            case Instruction(
                op=CustomCall(custom_call_target="Eigh"),
                operands=[Instruction(shape=ArrayShape() as a)],
                shape=TupleShape(elements=[ArrayShape() as vectors, ArrayShape() as values]),
            ) if a.rank >= 2:
                *batch, rows, columns = a.dimensions
                is_square = rows == columns and vectors.dimensions == a.dimensions
                fits = is_square and values.dimensions == (*batch, rows)
                is_known = fits and _lower_flag(instruction) in {"0", "1"}
                return is_known and are_inexact(a, vectors, values)
        return False

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """custom-call(a), custom_call_target="Eigh" -> while(a = rotations * a * rotations)"""
        vectors_shape, values_shape = tuple_shape(instruction).elements
        assert isinstance(vectors_shape, ArrayShape)
        assert isinstance(values_shape, ArrayShape)
        if vectors_shape.element_count == 0:
            results = [build.full(0, shape) for shape in (vectors_shape, values_shape)]
            return build.joined(results, instruction.shape)
        (operand,) = instruction.operands
        a = one_batch(build, operand, computing_type(array_shape(operand).element_type))
        a = _hermitian(a, is_lower=_lower_flag(instruction) == "1")
        values, vectors = _decomposed(a, self.most_sweeps)
        results = [as_declared(vectors, vectors_shape), as_declared(values, values_shape)]
        return build.joined(results, instruction.shape)


def _lower_flag(instruction: Instruction) -> str:
    """Returns the first parameter: 1 where the lower triangle holds the matrix, 0 for the upper."""
    return instruction.annotations.backend_config.split(",")[0].strip()


def _hermitian(a: Term, *, is_lower: bool) -> Term:
    """Returns whole matrices of which one triangle is given; the diagonal is real."""
    rows, columns = row_numbers(a), column_numbers(a)
    kept = rows.compared("GT" if is_lower else "LT", columns)
    whole = kept.chosen(a, swapped(a).conjugate)
    diagonal = a.real.converted(a.element_type)
    return rows.compared("EQ", columns).chosen(diagonal, whole)


def _decomposed(a: Term, most_sweeps: int) -> tuple[Term, Term]:
    """Returns eigenvalues [batch, size] in ascending order and eigenvectors in columns."""
    size = a.shape.dimensions[1]
    padded = _padded(a, size % 2)
    vectors = row_numbers(padded).compared("EQ", column_numbers(padded)).chosen(padded.full(1), 0)
    if size > 1:
        padded, vectors = _swept(padded, vectors, most_sweeps)
    batch = a.shape.dimensions[0]
    limits = [batch, size, size]
    last, vectors = (one.part([0, 0, 0], limits) for one in (padded, vectors))
    is_diagonal = row_numbers(last).compared("EQ", column_numbers(last))
    values = is_diagonal.chosen(last.real, 0).folded(Add(), 0, [1])
    return _sorted(values, vectors, _is_finite(a))


def _is_finite(a: Term) -> Term:
    """Returns for each matrix whether it has neither infinities nor NaN."""
    total = abs(a).folded(Add(), 0, [1, 2])
    return total.changed(IsFinite()).reshaped([a.shape.dimensions[0], 1, 1])


def _padded(a: Term, count: int) -> Term:
    """Returns matrices with rows and columns of zeros behind."""
    if not count:
        return a
    edge = PaddingDimension(0, count)
    zero = a.build.constant(0, a.element_type)
    padding = (PaddingDimension(0, 0), edge, edge)
    return a.of(a.build.add(Pad(padding), a.instruction, zero))


def _swept(a: Term, vectors: Term, most_sweeps: int) -> tuple[Term, Term]:
    """Returns matrices that are diagonal as far as rounding lets them be, and the rotations."""
    size = a.shape.dimensions[1]

    def goes_on(inside: Builder, state: State) -> Instruction:
        number, current = Term(inside, state[0]), Term(inside, state[1])
        return (number.compared("LT", most_sweeps) & _has_rest(current)).instruction

    def sweep(inside: Builder, state: State) -> State:
        number = Term(inside, state[0]) + 1
        rotated = counted_loop(inside, size - 1, state[1:], _rotate, name="rotations")
        return [number.instruction, *rotated]

    first = a.build.constant(0, S32)
    state = [first, a.instruction, vectors.instruction]
    _, last, turned = while_loop(a.build, state, goes_on, sweep, "eigh")
    return a.of(last), a.of(turned)


def _has_rest(a: Term) -> Term:
    """Returns whether a matrix has more beside its diagonal than rounding leaves."""
    form = a.element_type.component.float_format
    assert form is not None
    is_diagonal = row_numbers(a).compared("EQ", column_numbers(a))
    sizes = abs(a)
    beside = is_diagonal.chosen(0, sizes).folded(Add(), 0, [1, 2])
    whole = sizes.folded(Add(), 0, [1, 2])
    has_rest = beside.compared("GT", whole * 2.0 ** -(form.mantissa_bits + 1))
    return has_rest.converted(S32).folded(Add(), 0, [0]).compared("GT", 0)


def _rotate(inside: Builder, _: Instruction, state: State) -> State:
    """Rotates row i against row i + half, columns too, and moves on to other pairs."""
    a, vectors = (Term(inside, one) for one in state)
    cosine, sine = _rotations(a)
    # The rows of the adjoint are turned like its columns, which are those of the rows.
    turned = _columns_turned(swapped(_columns_turned(a, cosine, sine)).conjugate, cosine, sine)
    a = _without_pairs(swapped(turned).conjugate)
    vectors = _columns_turned(vectors, cosine, sine)
    a = swapped(_moved_on(swapped(_moved_on(a))))
    return [a.instruction, _moved_on(vectors).instruction]


def _without_pairs(a: Term) -> Term:
    """Returns matrices with zeros where the rotations leave nothing but rounding errors."""
    half = a.shape.dimensions[1] // 2
    distance = abs(row_numbers(a) - column_numbers(a))
    return distance.compared("EQ", half).chosen(0, a)


def _rotations(a: Term) -> tuple[Term, Term]:
    """Returns cosine and sine [batch, 1, half], of which the sine may be complex."""
    batch, size, _ = a.shape.dimensions
    half = size // 2
    first = _diagonal(a.part([0, 0, 0], [batch, half, half])).real
    second = _diagonal(a.part([0, half, half], [batch, size, size])).real
    beside = _diagonal(a.part([0, 0, half], [batch, half, size]))
    length = abs(beside)
    is_done = length.compared("EQ", 0)
    divisor = is_done.chosen(1, length)
    slope = (second - first) / (divisor * 2)
    root = (slope * slope + 1).changed(Sqrt())
    size_of_tangent = slope.full(1) / (abs(slope) + root)
    tangent = slope.compared("LT", 0).chosen(-size_of_tangent, size_of_tangent)
    tangent = is_done.chosen(0, tangent)
    cosine = tangent.full(1) / (tangent * tangent + 1).changed(Sqrt())
    direction = beside / divisor.converted(a.element_type)
    sine = (tangent * cosine).converted(a.element_type) * direction
    return cosine.converted(a.element_type), sine


def _diagonal(matrices: Term) -> Term:
    """Returns the diagonals of square matrices, [batch, 1, size]."""
    is_diagonal = row_numbers(matrices).compared("EQ", column_numbers(matrices))
    return is_diagonal.chosen(matrices, 0).summed([1])


def _columns_turned(matrices: Term, cosine: Term, sine: Term) -> Term:
    """Returns the matrices times the rotations."""
    batch, rows, size = matrices.shape.dimensions
    half = size // 2
    left = matrices.part([0, 0, 0], [batch, rows, half])
    right = matrices.part([0, 0, half], [batch, rows, size])
    cosines, sines = spread(cosine, left), spread(sine, left)
    new_left = left * cosines - right * sines.conjugate
    new_right = left * sines + right * cosines
    return _beside_each_other([new_left, new_right])


def _moved_on(matrices: Term) -> Term:
    """Returns columns in the order in which others are paired: all but the first go round."""
    batch, rows, size = matrices.shape.dimensions
    half = size // 2
    if half == 1:
        return matrices
    ranges = [(0, 1), (half, half + 1), (1, half - 1), (half + 1, size), (half - 1, half)]
    parts = [
        matrices.part([0, 0, start], [batch, rows, limit])
        for start, limit in ranges
        if start < limit
    ]
    return _beside_each_other(parts)


def _beside_each_other(parts: list[Term]) -> Term:
    build = parts[0].build
    return parts[0].of(build.add(Concatenate(2), *[part.instruction for part in parts]))


def _sorted(values: Term, vectors: Term, is_finite: Term) -> tuple[Term, Term]:
    """Returns eigenvalues in ascending order and eigenvectors in the same; NaN as marked."""
    build = values.build
    batch, size = values.shape.dimensions
    keys = values.broadcast([0, 2], vectors.shape)
    scalars = [ArrayShape(each.element_type) for each in (keys, vectors) for _ in range(2)]
    inside = build.computation_named("is_less", scalars)
    one, other = inside.computation.parameters[:2]
    comparator = inside.finish(inside.add(Compare("LT", "TOTALORDER"), one, other))
    made = build.add(
        Sort(2, is_stable=True), keys.instruction, vectors.instruction, calls=[comparator]
    )
    ordered, turned = (values.of(build.element(made, number)) for number in range(2))
    first = ordered.part([0, 0, 0], [batch, 1, size])
    results = [spread(is_finite, each).chosen(each, nan) for each in (first, turned)]
    return results[0], results[1]
