"""Reducing in the type of the sum that the result goes into."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import combination_of
from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllReduce, AllReduceStart, ReduceScatter
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Add
from hlotool.passes.pass_base import option
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

REDUCED = "all-reduce"
SCATTERED = "reduce-scatter"

patterns = PatternSet("reorder-convert-reduce-add")


@patterns.rewrites(Add, assumes=SCATTERED)
def convert_before_scatter(instruction: Instruction, builder: Builder) -> Instruction | None:
    """add(convert(reduce-scatter(x: bf16)) to f32, y) -> add(reduce-scatter(convert(x)), y)"""
    return _converted_first(instruction, ReduceScatter, builder)


@patterns.rewrites(Add, assumes=REDUCED)
def convert_before_reducing(instruction: Instruction, builder: Builder) -> Instruction | None:
    """add(convert(all-reduce(x: bf16)) to f32, y) -> add(all-reduce(convert(x)), y)"""
    return _converted_first(instruction, AllReduce, builder)


def _converted_first(
    instruction: Instruction,
    collective: type[AllReduce | ReduceScatter],
    builder: Builder,
) -> Instruction | None:
    operands = [_reduced_wide(one, collective, builder) or one for one in instruction.operands]
    if operands == list(instruction.operands):
        return None
    return builder.add(instruction.op, *operands, shape=instruction.shape)


def _reduced_wide(
    converted: Instruction,
    collective: type[AllReduce | ReduceScatter],
    builder: Builder,
) -> Instruction | None:
    """Returns the collective made in the wider type that its result is converted to."""
    match converted:
        case Instruction(op=Convert(), operands=[reduced]) if isinstance(reduced.op, collective):
            pass
        case _:
            return None
    is_used_once = len(converted.users) == len(reduced.users) == 1
    is_bound = any(one.has_control_edges for one in (converted, reduced))
    is_start = isinstance(reduced.op, AllReduceStart)
    if not is_used_once or is_bound or is_start or len(reduced.operands) > 1:
        return None
    narrow, wide = array_shape(reduced).element_type, array_shape(converted).element_type
    operand = reduced.operands[0]
    if not (narrow.is_float and wide.is_float and wide.bits > narrow.bits):
        return None
    combination = combination_of(reduced.calls[0], narrow)
    if combination is None or combination.op is not Add:
        return None
    if array_shape(operand).element_type is not narrow:
        return None
    reducer = builder.scalar_function(Add(), wide)
    source = builder.convert(operand, wide)
    return builder.add(reduced.op, source, calls=[reducer], shape=converted.shape)


@dataclass(frozen=True)
class ReorderConvertReduceAdd(PatternPass):
    """Converts before a reduce-scatter or all-reduce whose result is added to wider numbers.

    Nothing is rounded to the narrow type in between then; more is sent for it.
    """

    name: ClassVar[str] = "reorder-convert-reduce-add"
    identities: ClassVar[PatternSet] = patterns

    reduce_scatter: bool = option(default=True, words="whether to do so for reduce-scatter")
    all_reduce: bool = option(default=False, words="whether to do so for all-reduce")

    def allowed(self) -> Collection[str]:
        """Returns the collectives that are reordered."""
        wanted = {SCATTERED: self.reduce_scatter, REDUCED: self.all_reduce}
        return {name for name, is_wanted in wanted.items() if is_wanted}
