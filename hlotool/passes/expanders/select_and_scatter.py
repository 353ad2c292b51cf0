"""Select-and-scatter as a choice in windows, and a scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.indexing import Scatter
from hlotool.ops.reduction import ReduceWindow, SelectAndScatter
from hlotool.passes.expanders.expander import Expander, index_type
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class SelectAndScatterExpander(Expander):
    """Writes select-and-scatter as a reduce-window that yields places, and a scatter to them."""

    name: ClassVar[str] = "select_and_scatter_expander"

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a select-and-scatter of one element type throughout."""
        if not isinstance(instruction.op, SelectAndScatter):
            return False
        scatter = instruction.calls[1]
        arrays = (instruction, *instruction.operands, *scatter.parameters, scatter.root)
        return len({array_shape(one).element_type for one in arrays}) == 1

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """select-and-scatter(x, source, init) -> scatter(init, reduce-window(x, iota), source)"""
        operand, source, init = instruction.operands
        shape = array_shape(operand)
        count = array_shape(source).element_count
        flat = ArrayShape(shape.element_type, [shape.element_count])
        places = build.reshape(_picked(instruction, build), [count])
        scatter = Scatter(
            update_window_dims=(),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            index_vector_dim=1,
        )
        target = build.broadcast(init, (), flat)
        values = build.reshape(source, [count])
        combiner = _swapped(instruction.calls[1], build)
        made = build.add(scatter, target, places, values, calls=[combiner])
        return build.reshape(made, shape.dimensions)


def _picked(instruction: Instruction, build: Builder) -> Instruction:
    """Returns the place among all elements of what each window picks, -1 where it is empty."""
    operand = instruction.operands[0]
    op = instruction.op
    assert isinstance(op, SelectAndScatter)
    shape = array_shape(operand)
    element_type = index_type(shape.element_count)
    numbers = build.iota(0, ArrayShape(element_type, [shape.element_count]))
    places = build.reshape(numbers, shape.dimensions)
    none, zero = build.constant(-1, element_type), build.constant(0, shape.element_type)
    picking = _picking(instruction.calls[0], shape.element_type, element_type, build)
    window = ReduceWindow(op.window)
    return build.element(build.add(window, operand, places, zero, none, calls=[picking]), 1)


def _picking(
    select: Computation, value_type: ElementType, place_type: ElementType, build: Builder
) -> Computation:
    """Returns the reducer of values and places that keeps what `select` does."""
    scalars = [ArrayShape(value_type), ArrayShape(place_type)] * 2
    inside = build.computation_named(f"{select.name}_place", scalars)
    value, place, other_value, other_place = inside.computation.parameters
    is_kept = Term(inside, inlined(select, [value, other_value], inside))
    # A place of -1 stands for no element yet, and for the padding.
    is_there = Term(inside, place).compared("GE", 0)
    is_alone = Term(inside, other_place).compared("LT", 0)
    keeps = (is_kept & is_there) | is_alone
    results = [
        keeps.chosen(Term(inside, one), Term(inside, other)).instruction
        for one, other in ((value, other_value), (place, other_place))
    ]
    return inside.finish(inside.tuple(*results))


def _swapped(scatter: Computation, build: Builder) -> Computation:
    """Returns the computation with its parameters swapped: a scatter has the update last."""
    shapes = [parameter.shape for parameter in scatter.parameters]
    inside = build.computation_named(f"{scatter.name}_swapped", shapes)
    there, given = inside.computation.parameters
    return inside.finish(inlined(scatter, [given, there], inside))
