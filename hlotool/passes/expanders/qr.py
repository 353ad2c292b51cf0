"""Factors with orthogonal columns, by reflections."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.elementwise import Maximum
from hlotool.ops.unary import Imag, Sqrt
from hlotool.passes.expanders.expander import Expander, computing_type
from hlotool.passes.expanders.matrices import (
    are_inexact,
    as_declared,
    column,
    column_numbers,
    element,
    one_batch,
    one_batch_of_vectors,
    row_numbers,
    spread,
)
from hlotool.rewriting.builder import Builder, array_shape, tuple_shape
from hlotool.rewriting.loops import State, counted_loop
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class QrExpander(Expander):
    """Writes calls to `Qr`, and to the product of its reflectors, as loops of reflections."""

    name: ClassVar[str] = "qr_expander"

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction calls one of both custom calls."""
        match instruction:
            case Instruction(
                op=CustomCall(custom_call_target="Qr"),
                operands=[Instruction(shape=ArrayShape() as a)],
                shape=TupleShape(elements=[ArrayShape() as factors, ArrayShape() as taus]),
            ):
                fits = a.dimensions == factors.dimensions and _fit(a, taus)
                is_whole = fits and taus.dimensions[-1] == min(a.dimensions[-2:])
                return is_whole and are_inexact(a, factors, taus)
            case Instruction(
                op=CustomCall(custom_call_target="ProductOfElementaryHouseholderReflectors"),
                operands=[
                    Instruction(shape=ArrayShape() as a),
                    Instruction(shape=ArrayShape() as taus),
                ],
                shape=ArrayShape() as product,
            ):
                fits = a.dimensions == product.dimensions and _fit(a, taus)
                return fits and are_inexact(a, taus, product)
        return False

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """custom-call(a), custom_call_target="Qr" -> while(a = reflection i * a)"""
        element_type = computing_type(array_shape(instruction.operands[0]).element_type)
        a = one_batch(build, instruction.operands[0], element_type)
        if len(instruction.operands) == 1:
            return _factors(a, instruction)
        result = array_shape(instruction)
        if result.element_count == 0:
            return build.full(0, result)
        taus = one_batch_of_vectors(build, instruction.operands[1], element_type)
        return as_declared(_product(a, taus), result)


def _fit(a: ArrayShape, taus: ArrayShape) -> bool:
    """Whether there are at most as many factors as reflectors fit into matrices."""
    if a.rank < 2 or taus.dimensions[:-1] != a.dimensions[:-2]:
        return False
    return taus.dimensions[-1] <= min(a.dimensions[-2:])


def _factors(a: Term, instruction: Instruction) -> Instruction:
    """Returns R with the reflectors below its diagonal, and the factors of the reflectors."""
    build = a.build
    shapes = tuple_shape(instruction).elements
    batch, rows, columns = a.shape.dimensions
    taus = build.full(0, ArrayShape(a.element_type, [batch, min(rows, columns)]))
    last = [a.instruction, taus]
    if prod(a.shape.dimensions):
        last = counted_loop(build, min(rows, columns), last, _reflect, name="qr")
    declared = []
    for result, shape in zip(last, shapes, strict=True):
        assert isinstance(shape, ArrayShape)
        declared.append(as_declared(a.of(result), shape))
    return build.joined(declared, instruction.shape)


def _reflect(inside: Builder, number: Instruction, state: State) -> State:
    """Returns the matrices with zeros, in whose place the reflector stands, below a pivot."""
    a, taus = (Term(inside, one) for one in state)
    place = Term(inside, number)
    vector = column(a, place)
    beta, tau, reflector = _reflector(vector, place)
    whole = row_numbers(vector).compared("EQ", place).chosen(1, reflector)
    changed = a - _reflection(whole, tau.conjugate, a)
    is_pivot = row_numbers(vector).compared("EQ", place)
    is_below = row_numbers(vector).compared("GT", place)
    new = is_pivot.chosen(spread(beta, vector), is_below.chosen(reflector, vector))
    numbers = column_numbers(a)
    kept = numbers.compared("EQ", place).chosen(spread(new, a), a)
    result = numbers.compared("GT", place).chosen(changed, kept)
    factor = tau.reshaped([a.shape.dimensions[0], 1])
    first = inside.constant(0, place.element_type)
    starts = [first, number]
    factors = inside.dynamic_update_slice(taus.instruction, factor.instruction, starts)
    return [result.instruction, factors]


def _reflector(vector: Term, place: Term) -> tuple[Term, Term, Term]:
    """Returns what a vector becomes at the pivot, and the reflector with its factor.

    The reflector is zero above the pivot, and there.
    """
    rows = row_numbers(vector)
    below = rows.compared("GT", place).chosen(vector, 0)
    pivot = element(vector, place, None)
    # Sizes are divided by the greatest, so that no square overflows.
    rest = abs(below).folded(Maximum(), 0, [1]).reshaped(pivot.shape.dimensions)
    greatest = rest.maximum(abs(pivot))
    unit = greatest.compared("EQ", 0).chosen(1, greatest)
    wide = unit.converted(vector.element_type)
    squares = (below / spread(wide, below)).squared_size.summed([1])
    length = unit * ((pivot / wide).squared_size + squares).changed(Sqrt())
    beta = pivot.real.compared("LT", 0).chosen(length, -length)
    is_done = rest.compared("EQ", 0)
    if pivot.element_type.is_complex:
        is_done = is_done & pivot.changed(Imag()).compared("EQ", 0)
    beta_wide = beta.converted(vector.element_type)
    divisor = is_done.chosen(1, pivot - beta_wide)
    tau = is_done.chosen(0, (beta_wide - pivot) / is_done.chosen(1, beta_wide))
    return is_done.chosen(pivot, beta_wide), tau, below / spread(divisor, below)


def _reflection(vector: Term, factor: Term, a: Term) -> Term:
    """Returns factor * v·vᴴ·a, what a reflection takes off a."""
    along = (spread(vector.conjugate, a) * a).summed([1])
    return spread(factor, a) * spread(vector, a) * spread(along, a)


def _product(a: Term, taus: Term) -> Term:
    """Returns the first columns of the product of the reflectors below the diagonal of a."""
    batch = a.shape.dimensions[0]
    count = taus.shape.dimensions[1]

    def step(inside: Builder, number: Instruction, state: State) -> State:
        a, factors, product = (Term(inside, one) for one in state)
        place = Term(inside, inside.constant(count - 1, array_shape(number).element_type))
        place = place - Term(inside, number)
        vector = column(a, place)
        rows = row_numbers(vector)
        below = rows.compared("GT", place).chosen(vector, 0)
        whole = rows.compared("EQ", place).chosen(1, below)
        product = product - _reflection(whole, column(factors, place), product)
        return [a.instruction, factors.instruction, product.instruction]

    is_diagonal = row_numbers(a).compared("EQ", column_numbers(a))
    identity = is_diagonal.chosen(a.full(1), 0)
    factors = taus.reshaped([batch, 1, count])
    state = [a.instruction, factors.instruction, identity.instruction]
    return a.of(counted_loop(a.build, count, state, step, name="reflectors")[2])
