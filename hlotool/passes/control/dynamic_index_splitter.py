"""One operand for each index of a dynamic slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("dynamic-index-splitter")


@patterns.rewrites(DynamicSlice)
def index_of_slice(instruction: Instruction, build: Builder) -> Instruction | None:
    """dynamic-slice(x, v) -> dynamic-slice(x, v[0], v[1], ...), as scalars"""
    return _split(instruction, instruction.operands[:1], instruction.operands[1:], build)


@patterns.rewrites(DynamicUpdateSlice)
def index_of_update(instruction: Instruction, build: Builder) -> Instruction | None:
    """dynamic-update-slice(x, y, v) -> dynamic-update-slice(x, y, v[0], v[1], ...), as scalars"""
    return _split(instruction, instruction.operands[:2], instruction.operands[2:], build)


def _split(
    instruction: Instruction,
    arrays: Sequence[Instruction],
    starts: Sequence[Instruction],
    build: Builder,
) -> Instruction | None:
    if len(starts) != 1 or array_shape(starts[0]).rank != 1:
        return None
    (vector,) = starts
    scalars = [
        build.reshape(build.slice(vector, [number], [number + 1]), [])
        for number in range(array_shape(arrays[0]).rank)
    ]
    return build.add(instruction.op, *arrays, *scalars, shape=instruction.shape)


@dataclass(frozen=True)
class DynamicIndexSplitter(PatternPass):
    """Takes vectors of indices of dynamic slices apart into scalars."""

    name: ClassVar[str] = "dynamic-index-splitter"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
