"""Taking apart what was just put together, and the other way around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import TupleShape
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("tuple-simplifier")


@patterns.rewrites(GetTupleElement)
def element_of_tuple(instruction: Instruction, _: Builder) -> Instruction | None:
    """get-tuple-element(tuple(x, y), index=0) -> x"""
    match instruction:
        case Instruction(
            op=GetTupleElement(index=index), operands=[Instruction(op=Tuple(), operands=elements)]
        ):
            return elements[index]
    return None


@patterns.rewrites(Tuple)
def tuple_of_all_elements(instruction: Instruction, _: Builder) -> Instruction | None:
    """tuple(get-tuple-element(x, index=0), get-tuple-element(x, index=1)) -> x"""
    sources: set[Instruction] = set()
    for index, element in enumerate(instruction.operands):
        match element:
            case Instruction(op=GetTupleElement(index=number), operands=[source]) if (
                number == index
            ):
                sources.add(source)
            case _:
                return None
    if len(sources) != 1:
        return None
    (source,) = sources
    shape = source.shape
    is_whole = isinstance(shape, TupleShape) and len(shape.elements) == len(instruction.operands)
    return source if is_whole and shape == instruction.shape else None


@dataclass(frozen=True)
class TupleSimplifier(PatternPass):
    """Cancels tuples against the taking of their elements."""

    name: ClassVar[str] = "tuple-simplifier"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
