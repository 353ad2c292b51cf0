"""Constants that loops are given move into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

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
            for index, value in enumerate(state.initial or ()):
                if self._may_sink(value) and state.stays(index):
                    changed |= _is_sunk(state, index, value, journal)
        return changed

    def _may_sink(self, value: Instruction) -> bool:
        if isinstance(value.op, Broadcast) and self.sink_broadcasts:
            scalar = value.operands[0].shape
            return isinstance(value.operands[0].op, Constant) and (
                isinstance(scalar, ArrayShape) and scalar.is_scalar
            )
        return isinstance(value.op, Constant)


def _is_sunk(state: LoopState, index: int, value: Instruction, journal: Journal) -> bool:
    if not any(_uses(parameter, index) for parameter in state.inside):
        return False
    if not journal.hit("sunk-constant"):
        return False
    state.own()
    for parameter in state.inside:
        uses = _uses(parameter, index)
        if not uses:
            continue
        assert parameter.parent is not None, "the parameter stands in a computation"
        builder = Builder(parameter.parent, value)
        operands = [builder.add(one.op, shape=one.shape) for one in value.operands]
        sunk = builder.add(value.op, *operands, shape=value.shape)
        for user, number in uses:
            if user is None:
                parameter.parent.root = sunk
            else:
                given = list(user.operands)
                given[number] = sunk
                user.operands = given
    return True


def _uses(parameter: Instruction, index: int) -> list[tuple[Instruction | None, int]]:
    """Returns who uses an element, as which operand, but for the root that hands it on.

    The user is `None` where the element is the root itself.
    """
    computation = parameter.parent
    assert computation is not None, "the parameter stands in a computation"
    found: list[tuple[Instruction | None, int]] = []
    for taken in parameter.users:
        if taken.op != GetTupleElement(index):
            continue
        if taken.is_root:
            found.append((None, 0))
        for user in taken.users:
            places = [n for n, operand in enumerate(user.operands) if operand is taken]
            found += [(user, n) for n in places if not (user.is_root and n == index)]
    return found
