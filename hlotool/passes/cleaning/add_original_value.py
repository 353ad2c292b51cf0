"""Every value gets the name under which it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import Origin, OriginalArray, OriginTree
from hlotool.ir.module import Module
from hlotool.ir.shape import Shape, TupleShape
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class AddOriginalValue(Pass):
    """Notes with each instruction which arrays of the module, as it is now, it yields."""

    name: ClassVar[str] = "add-original-value"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Adds an origin where there is none; tuples have those of their elements."""
        changed = False
        for one in module.instructions():
            annotations = one.annotations
            if annotations.origin is not None:
                continue
            origin = _origin(one)
            if origin is not None and journal.hit("origin"):
                one.annotations = annotations.replace(origin=origin)
                changed = True
        return changed


def _origin(one: Instruction) -> Origin | None:
    given = [operand.annotations.origin for operand in one.operands]
    known = [origin for origin in given if origin is not None and not origin.is_synthetic_call]
    match one.op:
        case Tuple():
            is_known = len(known) == len(given)
            return Origin(tuple(origin.tree for origin in known)) if is_known else None
        case GetTupleElement(index=index):
            tree = known[0].tree if known else None
            return Origin(tree[index]) if isinstance(tree, tuple) else None
    return Origin(_tree(one.name, one.shape, ()))


def _tree(name: str, shape: Shape, index: tuple[int, ...]) -> OriginTree:
    if isinstance(shape, TupleShape):
        elements = enumerate(shape.elements)
        return tuple(_tree(name, element, (*index, number)) for number, element in elements)
    return OriginalArray(name, index)
