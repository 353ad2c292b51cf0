"""The base of passes that write single instructions out in simpler ones."""

from __future__ import annotations

from abc import abstractmethod

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ELEMENT_TYPES, F32, S32, S64, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.unary import Copy
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import change_each, remove_dead, replace


class Expander(Pass):
    """Base of passes that put several instructions in the place of one, each by itself.

    What an expansion is made of is not looked at again.
    """

    @abstractmethod
    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is one to write out."""

    @abstractmethod
    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """Returns a new instruction with the same value."""

    def run(self, module: Module, journal: Journal) -> bool:
        """Writes out what the pass takes, but for instructions with dynamic dimensions."""

        def expand(computation: Computation) -> bool:
            changed = False
            for instruction in list(computation.instructions):
                if instruction.parent is computation and self.takes(instruction):
                    changed |= self._expand(instruction, Builder(computation, instruction), journal)
            return changed

        return change_each(module, expand)

    def _expand(self, instruction: Instruction, build: Builder, journal: Journal) -> bool:
        if not has_static_shapes(instruction):
            journal.note("not written out: dimensions are dynamic", instruction)
            return False
        if not journal.hit(instruction.opcode):
            return False
        made = self.expanded(instruction, build)
        if made not in build.made:
            # What stood there before cannot take over control edges.
            made = build.add(Copy(), made, shape=instruction.shape)
        operands = instruction.operands
        replace(instruction, made, build)
        if instruction.parent is not None:
            # What the expansion is made of has the side effect now.
            build.computation.remove(instruction)
        remove_dead(build.computation, [*reversed(build.made), *operands])
        return True


def has_static_shapes(instruction: Instruction) -> bool:
    """Whether sizes of all operands, and of the result, are known."""
    shapes = [instruction.shape, *(operand.shape for operand in instruction.operands)]
    leaves = [leaf for shape in shapes for _, leaf in shape.leaves()]
    return all(leaf.is_static for leaf in leaves if isinstance(leaf, ArrayShape))


def computing_type(element_type: ElementType) -> ElementType:
    """Returns the type that many steps are computed in: f32 for narrower floats."""
    return F32 if element_type.is_float and element_type.bits < 32 else element_type


def index_type(count: int) -> ElementType:
    """Returns the integers that count so many elements: s32 where it does, else s64."""
    return S32 if count < 1 << 31 else S64


def integer_like(letter: str, element_type: ElementType) -> ElementType | None:
    """Returns the signed `s` or unsigned `u` integers of as many bits, if there are any."""
    return ELEMENT_TYPES.get(f"{letter}{element_type.bits}")
