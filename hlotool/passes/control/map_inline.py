"""Maps become the ops that they apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.reduction import Map
from hlotool.ops.source import Constant, Parameter
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite

patterns = PatternSet("map-inline")


@patterns.rewrites(Map)
def elementwise_map(instruction: Instruction, build: Builder) -> Instruction | None:
    """map(x, y, to_apply=f) -> f(x, y) with ops on whole arrays, where f is made of such ops"""
    (body,) = instruction.calls
    shape = array_shape(instruction)
    if not shape.is_static or not _is_elementwise(body) or not _has_types_of(body, instruction):
        return None
    operands = [
        build.broadcast(operand, (), shape.with_element_type(array_shape(operand).element_type))
        if array_shape(operand).is_scalar
        else operand
        for operand in instruction.operands
    ]
    arrays = dict(zip(body.parameters, operands, strict=True))
    for scalar in body.instructions:
        if scalar in arrays:
            continue
        inside = shape.with_element_type(array_shape(scalar).element_type)
        if isinstance(scalar.op, Constant):
            constant = build.add(scalar.op, shape=scalar.shape)
            arrays[scalar] = build.broadcast(constant, (), inside)
        else:
            given = [arrays[operand] for operand in scalar.operands]
            arrays[scalar] = build.add(scalar.op, *given, shape=inside)
            arrays[scalar].annotations = scalar.annotations
    return arrays[body.root]


def _is_elementwise(body: Computation) -> bool:
    return all(
        isinstance(one.op, Elementwise | Constant | Parameter)
        and isinstance(one.shape, ArrayShape)
        and not one.control_predecessors
        for one in body.instructions
    )


def _has_types_of(body: Computation, instruction: Instruction) -> bool:
    pairs = zip((*body.parameters, body.root), (*instruction.operands, instruction), strict=True)
    return all(
        array_shape(scalar).element_type is array_shape(array).element_type
        for scalar, array in pairs
    )


@dataclass(frozen=True)
class MapInline(Pass):
    """Replaces maps of elementwise functions by the ops of the function on whole arrays."""

    name: ClassVar[str] = "map-inline"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Inlines all maps whose computation has elementwise ops alone."""
        changed = rewrite(module, patterns, journal)
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed
