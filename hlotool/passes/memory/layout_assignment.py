"""The layouts in which values lie in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.control_flow import Fusion
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.host import CopyDone, CopyStart, Infeed, Outfeed
from hlotool.ops.shape_changing import Bitcast, Reshape, Transpose
from hlotool.ops.source import Constant
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy
from hlotool.passes.memory.layouts import LayoutCopies, row_major
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead, replace

_KEEPS_LAYOUTS = (Bitcast, Fusion, CopyStart)
"""Ops whose operands and results stay in their layouts."""


@dataclass(frozen=True)
class LayoutAssignment(Pass):
    """Makes all arrays row-major but where others decide, and copies between the two.

    Inputs and results of the entry have the layouts that the header gives them; fusions,
    bitcasts, infeeds, and custom calls with constraints keep theirs.
    """

    name: ClassVar[str] = "layout-assignment"
    is_exact: ClassVar[bool] = True

    bitcasts: bool = option(
        default=False, words="turns reshapes and transposes that move no bytes to bitcasts"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Sets the layouts of every computation but the bodies of fusions."""
        fused = fused_computations(module)
        changed = False
        for computation in list(module.computations):
            if computation not in fused:
                changed |= _Assigner(module, computation, journal).run()
                if self.bitcasts:
                    changed |= _make_bitcasts(computation, journal)
        if changed:
            module.settle()
        return changed


class _Assigner:
    """Sets the layouts of one computation; `_old` has the shapes that it had."""

    def __init__(self, module: Module, computation: Computation, journal: Journal) -> None:
        self._computation = computation
        self._journal = journal
        self._header = module.header.entry_computation_layout
        self._is_entry = computation is module.entry
        self._copies = LayoutCopies(computation)
        self._replaced: list[Instruction] = []
        self._old: Mapping[Instruction, Shape] = {
            instruction: instruction.shape for instruction in computation.instructions
        }

    def run(self) -> bool:
        """Returns whether anything changed."""
        root = self._computation.root
        wanted = self._wanted_result(root)
        if self._is_settled(root, wanted) or not self._journal.hit("layouts assigned"):
            return False
        for instruction in list(self._computation.instructions):
            self._assign(instruction)
        self._computation.root = self._copies.brought(root, wanted)
        self._copies.drop_unused()
        tuples = [one for one in self._replaced if isinstance(one.op, Tuple)]
        remove_dead(self._computation, [*tuples, root])
        return True

    def _is_settled(self, root: Instruction, wanted: Shape) -> bool:
        return root.shape == wanted and all(
            self._result(instruction) == instruction.shape
            and all(
                shape is None or operand.shape == shape
                for operand, shape in self._needs(instruction)
            )
            for instruction in self._computation.instructions
        )

    def _assign(self, instruction: Instruction) -> None:
        operands = [
            operand if shape is None else self._copies.brought(operand, shape)
            for operand, shape in self._needs(instruction)
        ]
        if operands != list(instruction.operands):
            before, instruction.operands = instruction.operands, operands
            self._replaced += before
        shape = self._result(instruction)
        if shape == instruction.shape:
            return
        instruction.shape = shape
        if isinstance(instruction.op, Constant) and isinstance(shape, ArrayShape):
            literal = instruction.op.literal
            made = Literal.elision(shape) if literal.elided else Literal(shape, literal.data)
            instruction.op = Constant(made)

    def _needs(self, instruction: Instruction) -> list[tuple[Instruction, Shape | None]]:
        """Returns each operand with the shape that it must have, `None` for any layout."""
        op, operands = instruction.op, instruction.operands
        if isinstance(op, Copy | Tuple | GetTupleElement | CopyDone):
            return [(operand, None) for operand in operands]
        if isinstance(op, _KEEPS_LAYOUTS):
            return [(operand, self._old[operand]) for operand in operands]
        if isinstance(op, CustomCall) and op.operand_layout_constraints is not None:
            return list(zip(operands, op.operand_layout_constraints, strict=True))
        needs: list[tuple[Instruction, Shape | None]] = [
            (operand, row_major(operand.shape)) for operand in operands
        ]
        if isinstance(op, Outfeed) and op.outfeed_shape is not None:
            needs[0] = operands[0], op.outfeed_shape
        return needs

    def _result(self, instruction: Instruction) -> Shape:
        """Returns the shape that an instruction shall have, its operands having theirs."""
        op, shape = instruction.op, instruction.shape
        if isinstance(op, Tuple):
            return TupleShape([operand.shape for operand in instruction.operands])
        if isinstance(op, GetTupleElement | CopyDone):
            index = op.index if isinstance(op, GetTupleElement) else 0
            found = instruction.operands[0].shape.subshape((index,))
            return shape if found is None else found
        number = op.parameter_number
        if number is not None and self._is_entry:
            return shape if self._header is None else self._header.parameters[number]
        is_tuple_constant = isinstance(op, Constant) and shape.is_tuple
        keeps = isinstance(op, (Copy, Infeed, *_KEEPS_LAYOUTS))
        if keeps or is_tuple_constant or (isinstance(op, CustomCall) and _is_constrained(op)):
            return shape
        return row_major(shape)

    def _wanted_result(self, root: Instruction) -> Shape:
        if not self._is_entry:
            return row_major(root.shape)
        return root.shape if self._header is None else self._header.result


def _is_constrained(op: CustomCall) -> bool:
    return op.operand_layout_constraints is not None


def _make_bitcasts(computation: Computation, journal: Journal) -> bool:
    changed = False
    for instruction in list(computation.instructions):
        if not isinstance(instruction.op, Reshape | Transpose) or not _moves_nothing(instruction):
            continue
        if journal.hit("bitcast"):
            builder = Builder(computation, instruction)
            made = builder.add(Bitcast(), *instruction.operands, shape=instruction.shape)
            replace(instruction, made, builder)
            changed = True
    return changed


def _moves_nothing(instruction: Instruction) -> bool:
    result, operand = instruction.shape, instruction.operands[0].shape
    if not isinstance(result, ArrayShape) or not isinstance(operand, ArrayShape):
        return False
    plain = all(one.is_static and not one.layout.has_tail for one in (result, operand))
    if not plain:
        return False
    if isinstance(instruction.op, Transpose):
        moved = [instruction.op.dimensions[d] for d in result.layout.minor_to_major]
        sizes = operand.dimensions
        # Dimensions of one element lie anywhere.
        given = operand.layout.minor_to_major
        return [d for d in moved if sizes[d] != 1] == [d for d in given if sizes[d] != 1]
    return result.layout.is_default and operand.layout.is_default
