"""Reductions of known sizes: what they are made of, and how like ones are added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.analysis.combinations import combination_of
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Layout, Shape, TupleShape
from hlotool.ops.callees.reducers import Combination
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import are_static


@dataclass(frozen=True)
class KnownReduction:
    """A reduction of arrays, and the arrays that it yields, whose sizes are all known."""

    op: Reduce
    inputs: tuple[Instruction, ...]
    inits: tuple[Instruction, ...]
    results: tuple[ArrayShape, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of each of the inputs."""
        return array_shape(self.inputs[0]).dimensions

    @property
    def kept(self) -> list[int]:
        """The dimensions of the inputs that the results have too."""
        return [d for d in range(len(self.sizes)) if d not in self.op.dimensions]

    def layout(self) -> Layout | None:
        """Returns the layout of all inputs; `None` where they differ or say more than an order."""
        layouts = {array_shape(one).layout for one in self.inputs}
        layout = layouts.pop()
        return None if layouts or layout.has_tail else layout


def known_reduction(instruction: Instruction) -> KnownReduction | None:
    """Returns the parts of a reduction of known sizes; `None` for any other instruction."""
    if not isinstance(instruction.op, Reduce):
        return None
    half = len(instruction.operands) // 2
    inputs, inits = instruction.operands[:half], instruction.operands[half:]
    results = [leaf for _, leaf in instruction.shape.leaves() if isinstance(leaf, ArrayShape)]
    if not all(shape.is_static for shape in (*map(array_shape, inputs), *results)):
        return None
    return KnownReduction(instruction.op, inputs, inits, tuple(results))


def add_reduce(
    build: Builder,
    instruction: Instruction,
    inputs: Sequence[Instruction],
    dimensions: Sequence[int],
    layout: Layout | None = None,
) -> list[Instruction]:
    """Returns the results of a reduction like another one, of other inputs.

    Initial values and reducer are those of `instruction`; all results have the layout.
    """
    reduction = known_reduction(instruction)
    assert reduction is not None
    sizes = array_shape(inputs[0]).dimensions
    kept = [size for d, size in enumerate(sizes) if d not in dimensions]
    leaves = [ArrayShape(result.element_type, kept, layout) for result in reduction.results]
    is_alone = instruction.shape.is_array
    shape: Shape = leaves[0] if is_alone else TupleShape(leaves)
    op = Reduce(tuple(dimensions))
    made = build.add(op, *inputs, *reduction.inits, calls=instruction.calls, shape=shape)
    return [made] if is_alone else [build.element(made, n) for n in range(len(leaves))]


def reduction_combination(instruction: Instruction) -> Combination | None:
    """Returns the op that a reduction of one array folds with, all in one element type.

    `None` where the reducer does something else, or where sizes are not known.
    """
    if not isinstance(instruction.op, (Reduce, ReduceWindow)) or len(instruction.operands) != 2:
        return None
    found = combination_of(instruction.calls[0])
    if found is None or not are_static(instruction, *instruction.operands):
        return None
    types = {array_shape(one).element_type for one in (instruction, *instruction.operands)}
    return found if types == {found.element_type} else None
