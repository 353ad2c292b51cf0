"""Formulas in the notation of Python, for instructions that are built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from hlotool.ir.instruction import Instruction
from hlotool.ops.conversion import BitcastConvert
from hlotool.ops.elementwise import (
    Add,
    And,
    Compare,
    Complex,
    Divide,
    Maximum,
    Multiply,
    Or,
    Remainder,
    ShiftLeft,
    ShiftRightLogical,
    Subtract,
    Xor,
)
from hlotool.ops.reduction import Reduce
from hlotool.ops.unary import Abs, Imag, Negate, Not, Real
from hlotool.rewriting.builder import Builder, array_shape

if TYPE_CHECKING:
    from hlotool.ir.element_type import ElementType
    from hlotool.ir.op import Op
    from hlotool.ir.shape import ArrayShape

Operand: TypeAlias = "Term | float"
"""What a term is combined with: another term, or a number that stands at every index."""


class Term:
    """An array that is computed with: `a * b + 1` adds the instructions for it.

    A scalar term, or a number, stands for an array of the other's dimensions. `>>` fills with
    zeros. Comparisons are methods: `==` compares objects.
    """

    __slots__ = ("build", "instruction")

    def __init__(self, build: Builder, instruction: Instruction) -> None:
        self.build = build
        self.instruction = instruction

    @property
    def shape(self) -> ArrayShape:
        """The shape of the array."""
        return array_shape(self.instruction)

    @property
    def element_type(self) -> ElementType:
        """The type of the elements."""
        return self.shape.element_type

    def of(self, instruction: Instruction) -> Term:
        """Returns the term of an instruction of the same computation."""
        return Term(self.build, instruction)

    def full(self, value: Any) -> Term:
        """Returns an array like this one with one value everywhere."""
        return self.of(self.build.full(value, self.shape))

    def __add__(self, other: Operand) -> Term:
        return self.combined(Add(), other)

    def __sub__(self, other: Operand) -> Term:
        return self.combined(Subtract(), other)

    def __mul__(self, other: Operand) -> Term:
        return self.combined(Multiply(), other)

    def __truediv__(self, other: Operand) -> Term:
        return self.combined(Divide(), other)

    def __mod__(self, other: Operand) -> Term:
        return self.combined(Remainder(), other)

    def __and__(self, other: Operand) -> Term:
        return self.combined(And(), other)

    def __or__(self, other: Operand) -> Term:
        return self.combined(Or(), other)

    def __xor__(self, other: Operand) -> Term:
        return self.combined(Xor(), other)

    def __lshift__(self, other: Operand) -> Term:
        return self.combined(ShiftLeft(), other)

    def __rshift__(self, other: Operand) -> Term:
        return self.combined(ShiftRightLogical(), other)

    def __neg__(self) -> Term:
        return self.changed(Negate())

    def __invert__(self) -> Term:
        return self.changed(Not())

    def __abs__(self) -> Term:
        return self.changed(Abs())

    def maximum(self, other: Operand) -> Term:
        """Returns the greater of both elements."""
        return self.combined(Maximum(), other)

    def compared(self, direction: str, other: Operand, kind: str | None = None) -> Term:
        """Returns whether a comparison holds: `LT`, `EQ` and so on."""
        return self.combined(Compare(direction, kind), other)

    def chosen(self, one: Operand, other: Operand) -> Term:
        """Returns `one` where this flag is true, `other` elsewhere; one of them is a term."""
        like = one if isinstance(one, Term) else other
        assert isinstance(like, Term), "the type of numbers is not known"
        shape = like.shape
        if shape.is_scalar and not self.shape.is_scalar:
            shape = self.shape.with_element_type(like.element_type)
        ours, theirs = (self._spread(part, shape) for part in (one, other))
        flags = self.instruction
        if not self.shape.is_scalar or not shape.is_scalar:
            flags = self.build.broadcast(flags, (), shape.with_element_type(self.element_type))
        return self.of(self.build.select(flags, ours, theirs))

    def changed(self, op: Op) -> Term:
        """Returns what an elementwise op of one operand makes of the array."""
        return self.of(self.build.add(op, self.instruction))

    def combined(self, op: Op, other: Operand) -> Term:
        """Returns what an elementwise op of two operands makes of this array and another."""
        whole = other.shape if isinstance(other, Term) and self.shape.is_scalar else self.shape
        shape = whole.with_element_type(self.element_type)
        ours, theirs = (self._spread(part, shape) for part in (self, other))
        return self.of(self.build.add(op, ours, theirs))

    def converted(self, element_type: ElementType) -> Term:
        """Returns the elements in another type."""
        return self.of(self.build.convert(self.instruction, element_type))

    def reread(self, element_type: ElementType) -> Term:
        """Returns the bits of the elements as another type of the same width."""
        if element_type is self.element_type:
            return self
        shape = self.shape.with_element_type(element_type)
        return self.of(self.build.add(BitcastConvert(), self.instruction, shape=shape))

    @property
    def real(self) -> Term:
        """The real part; the array itself where it is real."""
        return self.changed(Real()) if self.element_type.is_complex else self

    @property
    def conjugate(self) -> Term:
        """The array with the sign of the imaginary part changed; itself where it is real."""
        if not self.element_type.is_complex:
            return self
        return self.real.combined(Complex(), -self.changed(Imag()))

    @property
    def squared_size(self) -> Term:
        """The square of the absolute value."""
        if not self.element_type.is_complex:
            return self * self
        imaginary = self.changed(Imag())
        return self.real * self.real + imaginary * imaginary

    def broadcast(self, dimensions: Sequence[int], shape: ArrayShape) -> Term:
        """Returns the array spread over dimensions; the element type stays its own."""
        shape = shape.with_element_type(self.element_type)
        return self.of(self.build.broadcast(self.instruction, dimensions, shape))

    def spread_along(self, dimensions: Sequence[int], shape: ArrayShape) -> Term:
        """Returns the array, which has size 1 along `dimensions`, repeated up to a shape."""
        kept = [d for d in range(shape.rank) if d not in dimensions]
        sizes = [self.shape.dimensions[d] for d in kept]
        return self.reshaped(sizes).broadcast(kept, shape.with_default_layout())

    def reshaped(self, dimensions: Sequence[int]) -> Term:
        """Returns the elements in other dimensions."""
        return self.of(self.build.reshape(self.instruction, dimensions))

    def transposed(self, dimensions: Sequence[int]) -> Term:
        """Returns the dimensions in another order."""
        return self.of(self.build.transpose(self.instruction, dimensions))

    def folded(self, op: Op, initial: Any, dimensions: Sequence[int]) -> Term:
        """Returns the array without dimensions, along which an op has combined the elements."""
        start = self.build.constant(initial, self.element_type)
        reducer = self.build.scalar_function(op, self.element_type)
        made = self.build.add(Reduce(tuple(dimensions)), self.instruction, start, calls=[reducer])
        return self.of(made)

    def summed(self, dimensions: Sequence[int]) -> Term:
        """Returns sums along dimensions, which stay with size 1."""
        kept = [1 if d in dimensions else n for d, n in enumerate(self.shape.dimensions)]
        return self.folded(Add(), 0, dimensions).reshaped(kept)

    def part(self, starts: Sequence[int], limits: Sequence[int]) -> Term:
        """Returns the part from `starts` up to `limits`."""
        return self.of(self.build.slice(self.instruction, starts, limits))

    def _spread(self, operand: Operand, shape: ArrayShape) -> Instruction:
        if isinstance(operand, Term):
            return (
                operand.instruction
                if not operand.shape.is_scalar
                else self.build.broadcast(
                    operand.instruction, (), shape.with_element_type(operand.element_type)
                )
            )
        return self.build.full(operand, shape)
