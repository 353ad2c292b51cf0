"""Giving all floats of an op one width, with conversions in place of mixed operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import BF16, F32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace


@dataclass(frozen=True)
class Bf16MixedPrecisionRemoval(Pass):
    """Converts bf16 to f32 around ops that mix both, so that each op has one float width."""

    name: ClassVar[str] = "bf16-mixed-precision-removal"

    def run(self, module: Module, journal: Journal) -> bool:
        """Converts operands, results and the values that reducers take and yield."""
        widener = _Widener()
        changed = False
        for computation in unfused_computations(module):
            for instruction in list(computation.instructions):
                if not _is_mixed(instruction) or not journal.hit("widen_mixed_op"):
                    continue
                widener.widen(instruction, computation)
                changed = True
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


def _is_mixed(instruction: Instruction) -> bool:
    op = instruction.op
    if not (op.allows_mixed_precision or isinstance(op, (Dot, Convolution))):
        return False
    shapes = [operand.shape for operand in instruction.operands] + [instruction.shape]
    for computation in instruction.calls:
        signature = computation.program_shape
        shapes += [*signature.parameters, signature.result]
    types = {
        leaf.element_type
        for shape in shapes
        for _, leaf in shape.leaves()
        if isinstance(leaf, ArrayShape)
    }
    return {BF16, F32} <= types


class _Widener:
    """Makes ops of f32; computations that they call are widened once each."""

    def __init__(self) -> None:
        self._wide: dict[Computation, Computation] = {}

    def widen(self, instruction: Instruction, computation: Computation) -> None:
        """Puts an op of f32 in the place of one that mixes widths."""
        builder = Builder(computation, instruction)
        operands = [_converted(operand, _wide(operand.shape), builder)
                    for operand in instruction.operands]  # fmt: skip
        calls = [self._widened(called, builder) for called in instruction.calls]
        made = builder.add(instruction.op, *operands, calls=calls, shape=_wide(instruction.shape))
        replace(instruction, _converted(made, instruction.shape, builder), builder)

    def _widened(self, called: Computation, builder: Builder) -> Computation:
        """Returns the computation with parameters and result of f32, which it rounds inside."""
        found = self._wide.get(called)
        if found is not None:
            return found
        signature = called.program_shape
        shapes = [_wide(shape) for shape in signature.parameters]
        result = _wide(signature.result)
        if all(map(Shape.compatible, shapes, signature.parameters)) and result.compatible(
            signature.result
        ):
            return called
        inside = builder.computation_named(called.name, shapes)
        arguments = [
            _converted(parameter, shape, inside)
            for parameter, shape in zip(
                inside.computation.parameters, signature.parameters, strict=True
            )
        ]
        found = inside.finish(_converted(inlined(called, arguments, inside), result, inside))
        self._wide[called] = found
        return found


def _wide(shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape([_wide(element) for element in shape.elements])
    if isinstance(shape, ArrayShape) and shape.element_type is BF16:
        return shape.with_element_type(F32)
    return shape


def _converted(value: Instruction, shape: Shape, builder: Builder) -> Instruction:
    """Returns a value with its floats in the widths of a shape."""
    if value.shape.compatible(shape):
        return value
    if isinstance(shape, TupleShape):
        parts = [
            _converted(builder.element(value, number), part, builder)
            for number, part in enumerate(shape.elements)
        ]
        return builder.tuple(*parts)
    assert isinstance(shape, ArrayShape), f"{shape} has no floats"
    return builder.convert(value, shape.element_type)
