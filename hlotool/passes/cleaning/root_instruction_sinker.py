"""The root last in a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.shape_changing import Bitcast
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import kept_annotations


@dataclass(frozen=True)
class RootInstructionSinker(Pass):
    """Lets each scheduled computation end with its root."""

    name: ClassVar[str] = "root-instruction-sinker"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Gives computations whose root stands before others a new root that names its value."""
        if not module.is_scheduled:
            return False
        fused = fused_computations(module)
        changed = False
        for computation in module.computations:
            if computation in fused or computation.root is computation.instructions[-1]:
                continue
            is_named = isinstance(computation.root.shape, ArrayShape | TupleShape)
            if is_named and journal.hit("root"):
                computation.root = _named_again(computation)
                changed = True
        if changed:
            module.settle()
        return changed


def _named_again(computation: Computation) -> Instruction:
    """Returns a new last instruction that has the value of the root."""
    root = computation.root
    builder = Builder(computation, root)
    if isinstance(root.shape, TupleShape):
        count = len(root.shape.elements)
        made = builder.tuple(*[builder.element(root, number) for number in range(count)])
    else:
        made = builder.add(Bitcast(), root, shape=root.shape)
    made.annotations = kept_annotations(root.annotations, made).replace(origin=None)
    return made
