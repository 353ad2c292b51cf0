"""Adding up before scattering instead of behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import combination_of
from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import ReduceScatter
from hlotool.ops.elementwise import Binary
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reduce-scatter-reassociate")


@patterns.rewrites(Binary)
def combine_before_scatter(instruction: Instruction, builder: Builder) -> Instruction | None:
    """add(reduce-scatter(x), reduce-scatter(y)) -> reduce-scatter(add(x, y))"""
    one, other = instruction.operands
    match one.op, other.op:
        case ReduceScatter() as first, ReduceScatter() as second if one is not other:
            pass
        case _:
            return None
    if first.replace(channel_id=None) != second.replace(channel_id=None):
        return None
    if (first.channel_id is None) != (second.channel_id is None):
        return None
    if not all(_is_only_combined(each) for each in (one, other)):
        return None
    element_type = array_shape(instruction).element_type
    combinations = [combination_of(each.calls[0], element_type) for each in (one, other)]
    x, y = one.operands[0], other.operands[0]
    if combinations[0] is None or combinations[0] != combinations[1]:
        return None
    if combinations[0].op is not type(instruction.op) or not x.shape.compatible(y.shape):
        return None
    whole = builder.add(instruction.op, x, y, shape=x.shape)
    return builder.add(first, whole, calls=one.calls, shape=instruction.shape)


def _is_only_combined(scattered: Instruction) -> bool:
    return (
        len(scattered.users) == 1
        and len(scattered.operands) == 1
        and not scattered.has_control_edges
    )


@dataclass(frozen=True)
class ReduceScatterReassociate(PatternPass):
    """Makes one reduce-scatter of the sum of two, which are added up in another order then."""

    name: ClassVar[str] = "reduce-scatter-reassociate"
    identities: ClassVar[PatternSet] = patterns
