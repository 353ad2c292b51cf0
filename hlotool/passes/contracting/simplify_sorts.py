"""Sorts without operands that nobody asks for, and no sorts of single elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ops.elementwise import Compare
from hlotool.ops.ordering import Sort
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import replace, rewrite
from hlotool.rewriting.tuple_state import remove_unused_elements, used_elements

patterns = PatternSet("simplify-sorts")


@patterns.rewrites(Sort)
def sort_of_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """sort(x[m,1], y[m,1]), dimensions={1} -> tuple(x, y)"""
    op = instruction.op
    shape = array_shape(instruction.operands[0])
    if not isinstance(op, Sort) or not _are_static(instruction):
        return None
    if shape.dimensions[op.dimensions] > 1 and shape.element_count:
        return None
    return build.joined(instruction.operands, instruction.shape)


@patterns.rewrites(Sort)
def equals_are_the_same(instruction: Instruction, build: Builder) -> Instruction | None:
    """sort(x), is_stable=true -> sort(x), for integers in their order"""
    op = instruction.op
    if not isinstance(op, Sort) or not op.is_stable or len(instruction.operands) != 1:
        return None
    (operand,) = instruction.operands
    element_type = array_shape(operand).element_type
    (comparator,) = instruction.calls
    is_order = (
        isinstance(comparator.root.op, Compare)
        and comparator.root.op.direction in {"LT", "GT"}
        and set(comparator.root.operands) == set(comparator.parameters)
    )
    if element_type.is_float or element_type.is_complex or not is_order:
        return None
    return build.add(
        op.replace(is_stable=False), operand, calls=[comparator], shape=instruction.shape
    )


def _are_static(instruction: Instruction) -> bool:
    return all(array_shape(operand).is_static for operand in instruction.operands)


@dataclass(frozen=True)
class SimplifySorts(Pass):
    """Drops operands of sorts that are neither compared nor used, and sorts that do nothing."""

    name: ClassVar[str] = "simplify-sorts"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Removes unused operands, then what is left to simplify."""
        changed = False
        for computation in unfused_computations(module):
            for instruction in list(computation.instructions):
                changed |= _drop_operands(computation, instruction, journal)
        if changed:
            module.drop_unreachable()
            module.settle()
        return rewrite(module, patterns, journal) or changed


def _drop_operands(computation: Computation, instruction: Instruction, journal: Journal) -> bool:
    """Sorts only what is compared or used; returns whether that is less than before."""
    if not isinstance(instruction.op, Sort) or instruction.shape.is_array:
        return False
    if instruction.has_control_edges:
        return False
    used = used_elements(instruction)
    if not used:
        # What nothing uses is left to dce.
        return False
    (comparator,) = instruction.calls
    count = len(instruction.operands)
    kept = [
        number
        for number in range(count)
        if number in used
        or any(_is_needed(one) for one in comparator.parameters[2 * number : 2 * number + 2])
    ]
    if not kept or len(kept) == count or not journal.hit("drop_unused_operands"):
        return False
    remove_unused_elements(instruction)
    build = Builder(computation, instruction)
    fewer = _with_fewer(build, comparator, kept)
    operands = [instruction.operands[number] for number in kept]
    made = build.add(instruction.op, *operands, calls=[fewer])
    for element in list(instruction.users):
        assert isinstance(element.op, GetTupleElement)
        own = Builder(computation, element)
        number = kept.index(element.op.index)
        replace(element, made if len(kept) == 1 else own.element(made, number), own)
    return True


def _is_needed(parameter: Instruction) -> bool:
    return bool(parameter.users) or parameter.is_root


def _with_fewer(build: Builder, comparator: Computation, kept: Sequence[int]) -> Computation:
    """Returns a comparator of only some of the operands."""
    numbers = [2 * number + side for number in kept for side in range(2)]
    shapes = [comparator.parameters[number].shape for number in numbers]
    inside = build.computation_named(comparator.name, shapes)
    given = dict(zip(numbers, inside.computation.parameters, strict=True))
    # What stands for a parameter that nothing uses does not matter.
    first = inside.computation.parameters[0]
    arguments = [given.get(number, first) for number in range(len(comparator.parameters))]
    return inside.finish(inlined(comparator, arguments, inside))
