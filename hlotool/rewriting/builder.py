"""Building new instructions in a computation, with shapes inferred and names free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.lazy import numpy as np
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Elementwise, Select, resized_layout
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice
from hlotool.ops.shape_changing import Broadcast, Reshape, Slice, Transpose
from hlotool.ops.source import Constant, Iota, Parameter
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy


class Builder:
    """Adds instructions to one computation.

    With `like`, new instructions say that they come from the same source line as that one.
    `made` has them in the order in which they were added.
    """

    def __init__(self, computation: Computation, like: Instruction | None = None) -> None:
        self.computation = computation
        self.like = like
        self.made: list[Instruction] = []
        self._computations_before: int | None = None

    @property
    def module(self) -> Module:
        """The module of the computation."""
        assert self.computation.parent is not None, "a computation is built inside a module"
        return self.computation.parent

    def add(
        self,
        op: Op,
        *operands: Instruction,
        calls: Sequence[Computation] = (),
        shape: Shape | None = None,
        name: str = "",
    ) -> Instruction:
        """Returns a new instruction; its shape is inferred where none is given.

        Inferred arrays are row-major, but for elementwise ops, which keep their operands' layout,
        and for ops that pass on an operand, or an element of it, as it is.
        """
        if shape is None:
            signatures = [computation.program_shape for computation in calls]
            shape = op.infer_shape([operand.shape for operand in operands], signatures)
            is_kept = isinstance(op, Elementwise) or op.passes((), len(operands)) is not None
            if isinstance(shape, ArrayShape) and not is_kept:
                shape = shape.with_default_layout()
        made = Instruction(
            self.module.instruction_name(name or op.opcode),
            shape,
            op,
            operands,
            tuple(calls),
        )
        if self.like is not None:
            made.take_metadata(self.like)
        self.made.append(made)
        return self.computation.add(made)

    def parameter(self, shape: Shape, name: str = "") -> Instruction:
        """Returns a new last parameter of the computation."""
        number = len(self.computation.parameters)
        made = self.add(Parameter(number), shape=shape, name=name or "parameter")
        self.computation.parameters = (*self.computation.parameters, made)
        return made

    def literal(self, literal: Literal) -> Instruction:
        """Returns a constant."""
        return self.add(Constant(literal), shape=literal.shape)

    def constant(self, value: Any, element_type: ElementType) -> Instruction:
        """Returns the constant of a number, or of what numpy makes an array of."""
        return self.literal(Literal.from_array(np.asarray(value), element_type))

    def full(self, value: Any, shape: ArrayShape) -> Instruction:
        """Returns an array that has one value everywhere."""
        return self.broadcast(self.constant(value, shape.element_type), (), shape)

    def broadcast(
        self, operand: Instruction, dimensions: Sequence[int], shape: ArrayShape
    ) -> Instruction:
        """Returns `operand` with its dimension `i` as dimension `dimensions[i]` of the shape."""
        if operand.shape.compatible(shape) and list(dimensions) == sorted(dimensions):
            return operand
        return self.add(Broadcast(tuple(dimensions)), operand, shape=shape)

    def convert(self, operand: Instruction, element_type: ElementType) -> Instruction:
        """Returns the elements in another type; the operand where it has it."""
        shape = array_shape(operand)
        if shape.element_type is element_type:
            return operand
        made = shape.with_element_type(element_type)
        layout = resized_layout(shape.layout, element_type)
        return self.add(Convert(), operand, shape=made.with_layout(layout))

    def reshape(self, operand: Instruction, dimensions: Sequence[int]) -> Instruction:
        """Returns the elements in other dimensions; the operand where it has them."""
        shape = array_shape(operand)
        if shape.dimensions == tuple(dimensions):
            return operand
        made = ArrayShape(shape.element_type, dimensions)
        return self.add(Reshape(), operand, shape=made)

    def transpose(self, operand: Instruction, dimensions: Sequence[int]) -> Instruction:
        """Returns dimension `dimensions[i]` as dimension `i`; the operand where all stay."""
        if tuple(dimensions) == tuple(range(len(dimensions))):
            return operand
        return self.add(Transpose(tuple(dimensions)), operand)

    def slice(
        self,
        operand: Instruction,
        starts: Sequence[int],
        limits: Sequence[int],
        strides: Sequence[int] = (),
    ) -> Instruction:
        """Returns the part from `starts` up to `limits`; strides are 1 where none are given."""
        steps = strides or [1] * len(starts)
        bounds = tuple(zip(starts, limits, steps, strict=True))
        return self.add(Slice(bounds), operand)

    def dynamic_slice(
        self, operand: Instruction, starts: Sequence[Instruction], sizes: Sequence[int]
    ) -> Instruction:
        """Returns the part of these sizes that starts at scalars."""
        return self.add(DynamicSlice(tuple(sizes)), operand, *starts)

    def dynamic_update_slice(
        self, operand: Instruction, update: Instruction, starts: Sequence[Instruction]
    ) -> Instruction:
        """Returns the array with the part that starts at scalars replaced."""
        return self.add(DynamicUpdateSlice(), operand, update, *starts)

    def iota(self, dimension: int, shape: ArrayShape) -> Instruction:
        """Returns the index along a dimension."""
        return self.add(Iota(dimension), shape=shape)

    def select(self, flag: Instruction, one: Instruction, other: Instruction) -> Instruction:
        """Returns elements of `one` where the flag is true, of `other` elsewhere."""
        return self.add(Select(), flag, one, other, shape=one.shape)

    def in_layout(self, operand: Instruction, shape: Shape) -> Instruction:
        """Returns the operand with the layout that a shape has: a copy where it has another."""
        return operand if operand.shape == shape else self.add(Copy(), operand, shape=shape)

    def joined(self, results: Sequence[Instruction], shape: Shape) -> Instruction:
        """Returns results in the element types and layouts of a shape: one, or their tuple."""
        placed = []
        for result, (_, leaf) in zip(results, shape.leaves(), strict=True):
            assert isinstance(leaf, ArrayShape), "what is joined are arrays"
            placed.append(self.in_layout(self.convert(result, leaf.element_type), leaf))
        return placed[0] if shape.is_array else self.tuple(*placed)

    def tuple(self, *elements: Instruction) -> Instruction:
        """Returns the tuple of elements."""
        return self.add(Tuple(), *elements)

    def element(self, operand: Instruction, index: int) -> Instruction:
        """Returns an element of a tuple; what the tuple was made of, where that is seen."""
        if isinstance(operand.op, Tuple):
            return operand.operands[index]
        shape = tuple_shape(operand).elements[index]
        return self.add(GetTupleElement(index), operand, shape=shape)

    def computation_named(self, name: str, shapes: Sequence[Shape]) -> Builder:
        """Returns the builder of a new computation of the module, with parameters of `shapes`.

        Its root is to be set by `finish`.
        """
        if self._computations_before is None:
            self._computations_before = len(self.module.computations)
        thread = self.computation.execution_thread
        made = Computation(
            self.module.computation_name(name), [], _NO_ROOT, execution_thread=thread
        )
        self.module.add_computation(made)
        inside = Builder(made, self.like)
        for shape in shapes:
            inside.parameter(shape)
        return inside

    def finish(self, root: Instruction) -> Computation:
        """Makes an instruction the root, and returns the computation, which is whole then."""
        self.computation.root = root
        self.computation.settle()
        return self.computation

    def scalar_function(self, op: Op, element_type: ElementType) -> Computation:
        """Returns a computation of an op on two scalars, as reductions take it.

        A module gets one for each op and type.
        """
        built = self.module.scalar_functions
        found = built.get((op, element_type))
        if (
            found is None
            or found.parent is not self.module
            or not _computes(found, op, element_type)
        ):
            name = f"{op.opcode}_{element_type.name}"
            inside = self.computation_named(name, [ArrayShape(element_type)] * 2)
            found = inside.finish(inside.add(op, *inside.computation.parameters))
            built[op, element_type] = found
        return found

    def discard(self) -> None:
        """Takes what was made and is not used out again, last first, computations too."""
        if not self.made and self._computations_before is None:
            return
        for instruction in reversed(self.made):
            is_used = instruction.users or self.computation.root is instruction
            if not is_used and instruction.parent is not None:
                self.computation.remove(instruction)
        self.made = []
        if self._computations_before is not None:
            added = self.module.computations[self._computations_before :]
            del self.module.computations[self._computations_before :]
            for computation in added:
                computation.parent = None
            self._computations_before = None


def array_shape(instruction: Instruction) -> ArrayShape:
    """Returns the shape of an instruction that yields an array."""
    shape = instruction.shape
    assert isinstance(shape, ArrayShape), f"{instruction.name} is no array"
    return shape


def tuple_shape(instruction: Instruction) -> TupleShape:
    """Returns the shape of an instruction that yields a tuple."""
    shape = instruction.shape
    assert isinstance(shape, TupleShape), f"{instruction.name} is no tuple"
    return shape


def _computes(function: Computation, op: Op, element_type: ElementType) -> bool:
    """Whether a function is still as it was built; passes may have changed it."""
    shapes = [parameter.shape for parameter in function.parameters]
    root = function.root
    is_same = root.op == op and tuple(root.operands) == function.parameters
    return is_same and shapes == [ArrayShape(element_type)] * 2


_NO_ROOT = Instruction("", TupleShape(), Tuple())
"""Stands for the root of a computation until `finish`; it is in none."""
