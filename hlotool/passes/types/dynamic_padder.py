"""Computing with the bounds of dynamic dimensions, and with live sizes beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ir.shape import UNBOUNDED, ArrayShape, Shape, TupleShape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.indexing import SetDimensionSize
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.pass_base import Pass
from hlotool.passes.types import dynamic_sums  # noqa: F401  # enters its rules
from hlotool.passes.types.dynamic_rules import rule_of
from hlotool.passes.types.padded_array import PaddedArray, static
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import kept_annotations, remove_dead


@dataclass(frozen=True)
class DynamicPadder(Pass):
    """Makes arrays with dynamic dimensions static, and masks what is not live where it counts.

    Sizes are computed beside the arrays. Results of the entry, and what goes into ops that have
    no rule (loops, calls, collectives, gathers), get their dynamic dimensions back.
    """

    name: ClassVar[str] = "dynamic_padder"

    def run(self, module: Module, journal: Journal) -> bool:
        """Pads what is dynamic in each computation but the bodies of fusions."""
        changed = False
        for computation in unfused_computations(module):
            if any(map(_is_dynamic, computation.instructions)):
                changed |= _Padding(computation, journal).run()
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


class _Padding:
    """Works through one computation.

    Instructions that a rule has an answer for stay until the end, so that others can go on
    using them; then what is left of those uses takes the padded array with its live sizes.
    """

    def __init__(self, computation: Computation, journal: Journal) -> None:
        self._computation = computation
        self._journal = journal
        self._padded: dict[Instruction, list[PaddedArray]] = {}
        self._resolved: dict[Instruction, None] = {}
        self._static: dict[Instruction, PaddedArray] = {}
        self._made: list[Instruction] = []

    def run(self) -> bool:
        """Returns whether any instruction was replaced."""
        order = list(self._computation.instructions)
        for instruction in order:
            if self._concerns(instruction):
                self._visit(instruction)
        for instruction in self._resolved:
            self._give_back(instruction)
        if self._resolved:
            remove_dead(self._computation, [*order, *reversed(self._made)])
        # Rules may have made instructions that were not needed.
        self._computation.settle()
        return bool(self._resolved)

    def _concerns(self, instruction: Instruction) -> bool:
        operands = instruction.operands
        return (
            not instruction.has_control_edges
            and not any(_is_unbounded(one.shape) for one in (*operands, instruction))
            and any(map(_is_dynamic, (*operands, instruction)))
        )

    def _visit(self, instruction: Instruction) -> None:
        operands = instruction.operands
        op = instruction.op
        if isinstance(op, GetTupleElement):
            parts = self._padded.get(operands[0])
            if parts is not None:
                self._padded[instruction] = [parts[op.index]]
                self._resolved[instruction] = None
            return
        if isinstance(op, SetDimensionSize) and self._is_source(instruction):
            return
        rule = rule_of(op)
        if rule is None or not all(isinstance(one.shape, ArrayShape) for one in operands):
            return
        builder = Builder(self._computation, instruction)
        found = rule(instruction, [self._operand(one, builder) for one in operands], builder)
        if found is None or not _fit(found, instruction.shape):
            builder.discard()
            self._journal.note("dynamic dimensions stay", instruction)
        elif self._journal.hit("pad_dynamic_dimensions"):
            self._padded[instruction] = found
            self._resolved[instruction] = None
            self._made += builder.made
        else:
            builder.discard()

    def _is_source(self, instruction: Instruction) -> bool:
        """Notes what a size that is set for the first time makes of a static dimension."""
        operand, size = instruction.operands
        op, shape = instruction.op, operand.shape
        assert isinstance(op, SetDimensionSize)
        assert isinstance(shape, ArrayShape)
        if shape.is_dynamic(op.dimensions) or operand in self._resolved:
            return False
        known = self._padded.get(operand)
        if known is None and not shape.is_static:
            return False
        before = PaddedArray.whole(operand) if known is None else known[0]
        sizes = list(before.sizes)
        sizes[op.dimensions] = size
        self._padded[instruction] = [PaddedArray(before.array, tuple(sizes))]
        return True

    def _operand(self, operand: Instruction, builder: Builder) -> PaddedArray:
        known = self._padded.get(operand)
        if known is not None:
            return known[0]
        shape = operand.shape
        assert isinstance(shape, ArrayShape)
        if shape.is_static:
            return PaddedArray.whole(operand)
        found = self._static.get(operand)
        # What was made for an instruction that no rule has an answer for is gone again.
        if found is None or any(part.parent is None for part in found.parts):
            found = _padded_to_static(operand, shape, builder)
            self._static[operand] = found
        return found

    def _give_back(self, instruction: Instruction) -> None:
        """Lets uses that no rule has replaced take the padded array with its live sizes."""
        users = [user for user in instruction.users if user not in self._resolved]
        if not users and not instruction.is_root:
            return
        builder = Builder(self._computation, instruction)
        parts = [part.dynamic(builder) for part in self._padded[instruction]]
        whole = builder.tuple(*parts) if instruction.shape.is_tuple else parts[0]
        if whole in builder.made:
            whole.annotations = kept_annotations(instruction.annotations, whole)
        self._computation.replace_uses(instruction, whole)


def _padded_to_static(operand: Instruction, shape: ArrayShape, builder: Builder) -> PaddedArray:
    """Returns a dynamic array padded to its bounds, with the sizes that it turns out to have."""
    sizes = [ArrayShape(S32)] * shape.rank
    call = CustomCall(custom_call_target="PadToStatic")
    both = builder.add(call, operand, shape=TupleShape([static(shape), *sizes]))
    live = tuple(
        builder.element(both, number + 1) if shape.is_dynamic(number) else None
        for number in range(shape.rank)
    )
    return PaddedArray(builder.element(both, 0), live)


def _is_dynamic(instruction: Instruction) -> bool:
    return any(
        isinstance(leaf, ArrayShape) and not leaf.is_static
        for _, leaf in instruction.shape.leaves()
    )


def _is_unbounded(shape: Shape) -> bool:
    return any(
        isinstance(leaf, ArrayShape) and UNBOUNDED in leaf.dimensions for _, leaf in shape.leaves()
    )


def _fit(found: list[PaddedArray], shape: Shape) -> bool:
    """Whether just the dynamic dimensions of a shape have live sizes."""
    parts = shape.elements if isinstance(shape, TupleShape) else (shape,)
    return len(parts) == len(found) and all(
        isinstance(part, ArrayShape)
        and part.dynamic_flags() == tuple(size is not None for size in padded.sizes)
        for part, padded in zip(parts, found, strict=True)
    )
