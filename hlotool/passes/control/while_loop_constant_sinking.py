"""Constants that loops are given move into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_changing import Broadcast
from hlotool.ops.source import Constant
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.control.loops import loops_inside_out
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import call_counts
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.loop_state import LoopState, has_one_shape
from hlotool.rewriting.tuple_state import taken_elements


@dataclass(frozen=True)
class WhileLoopConstantSinking(Pass):
    """Gives loops constants of their own in place of elements that stay and begin as constants."""

    name: ClassVar[str] = "while-loop-constant-sinking"
    is_exact: ClassVar[bool] = True

    sink_broadcasts: bool = option(
        default=True, words="whether broadcasts of scalar constants sink too"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Sinks into outer loops first, so that constants may go on into inner ones."""
        changed = False
        while self._sinks_any(module, journal):
            module.drop_unreachable()
            module.settle()
            changed = True
        return changed

    def _sinks_any(self, module: Module, journal: Journal) -> bool:
        counts = call_counts(module)
        changed = False
        for loop in list(loops_inside_out(module))[::-1]:
            state = LoopState.of(loop, counts)
            if state is None or not has_one_shape(loop):
                continue
            constants = {
                index: value
                for index, value in enumerate(state.initial or ())
                if self._may_sink(value) and state.stays(index)
            }
            changed |= _sinks(state, constants, journal)
        return changed

    def _may_sink(self, value: Instruction) -> bool:
        if isinstance(value.op, Broadcast) and self.sink_broadcasts:
            scalar = value.operands[0].shape
            return isinstance(value.operands[0].op, Constant) and (
                isinstance(scalar, ArrayShape) and scalar.is_scalar
            )
        return isinstance(value.op, Constant)


def _sinks(state: LoopState, constants: dict[int, Instruction], journal: Journal) -> bool:
    """Puts copies of constants in the place of what the loop uses of these elements."""
    used = {index for parameter in state.inside for index in _uses(state, parameter)}
    sunk = [index for index in constants if index in used and journal.hit("sunk-constant")]
    if not sunk:
        return False
    state.own()
    for parameter in state.inside:
        assert parameter.parent is not None, "the parameter stands in a computation"
        uses = _uses(state, parameter)
        copies: dict[Instruction, Instruction] = {}
        for index in sunk:
            if index in uses:
                copied = _copied(constants[index], parameter.parent)
                copies.update(dict.fromkeys(uses[index], copied))
        _use_copies(state, copies, parameter.parent)
    return True


def _copied(value: Instruction, computation: Computation) -> Instruction:
    builder = Builder(computation, value)
    operands = [builder.add(one.op, shape=one.shape) for one in value.operands]
    return builder.add(value.op, *operands, shape=value.shape)


def _use_copies(
    state: LoopState, copies: dict[Instruction, Instruction], inside: Computation
) -> None:
    root = state.body.root
    before = root.operands
    for taken, copied in copies.items():
        inside.replace_uses(taken, copied)
    # What the body hands on in its own place stays as it is.
    root.operands = [
        old if _is_element(old, place) else new
        for place, (old, new) in enumerate(zip(before, root.operands, strict=True))
    ]


def _uses(state: LoopState, parameter: Instruction) -> dict[int, list[Instruction]]:
    """Returns what takes elements that are used, but for the root that hands them on."""
    root = state.body.root
    moved = {one for place, one in enumerate(root.operands) if not _is_element(one, place)}
    return {
        index: taken
        for index, taken in taken_elements(parameter).items()
        if any(
            one.is_root or one in moved or any(user is not root for user in one.users)
            for one in taken
        )
    }


def _is_element(instruction: Instruction, index: int) -> bool:
    return instruction.op == GetTupleElement(index)
