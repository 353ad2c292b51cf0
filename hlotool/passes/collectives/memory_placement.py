"""Spelling requests for a memory as later passes look for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import FrontendAttributes
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ops.custom_call import CustomCall
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal

_REQUEST = "annotate_device_placement"
_PLACEMENT = "_xla_buffer_placement"
_TARGETS = {
    "device": "MoveToDevice",
    "pinned_host": "MoveToHost",
    "unpinned_host": "MoveToHost",
}


@dataclass(frozen=True)
class ConvertMemoryPlacement(Pass):
    """Turns custom calls that request a memory into MoveToHost and MoveToDevice."""

    name: ClassVar[str] = "convert-memory-placement-to-internal-annotations"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Replaces the requests of all computations but the bodies of fusions."""
        changed = False
        for computation in unfused_computations(module):
            for instruction in list(computation.instructions):
                target = _target(instruction)
                if target is not None and journal.hit("placement"):
                    _move(instruction, target, computation)
                    changed = True
        if changed:
            module.settle()
        return changed


def _target(instruction: Instruction) -> str | None:
    op = instruction.op
    if not isinstance(op, CustomCall) or op.custom_call_target != _REQUEST:
        return None
    placement = instruction.annotations.frontend_attributes.get(_PLACEMENT, "")
    return _TARGETS.get(placement) if len(instruction.operands) == 1 else None


def _move(instruction: Instruction, target: str, computation: Computation) -> None:
    """Puts a call that may be removed in the place of the request."""
    builder = Builder(computation, instruction)
    call = CustomCall(custom_call_target=target)
    made = builder.add(call, *instruction.operands, shape=instruction.shape)
    annotations = instruction.annotations
    kept = {k: v for k, v in annotations.frontend_attributes.items() if k != _PLACEMENT}
    made.annotations = annotations.replace(frontend_attributes=FrontendAttributes(kept))
    made.control_predecessors = instruction.control_predecessors
    made.take_successors(instruction)
    instruction.control_predecessors = ()
    computation.replace_uses(instruction, made)
    computation.remove(instruction)
