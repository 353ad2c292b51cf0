"""Taking starts and dones together that nothing runs between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.order import unfused_computations
from hlotool.ops.asynchronous import AsyncDone, AsyncStart
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.source import Constant, Parameter
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.passes.collectives.async_forms import PAIRS, finished
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal

_STARTS: tuple[type[Op], ...] = (AsyncStart, *(start for start, _ in PAIRS.values()))
_DONES: tuple[type[Op], ...] = (AsyncDone, *(done for _, done in PAIRS.values()))
_NO_WORK = (Bitcast, Constant, GetTupleElement, Parameter, Tuple)
"""What takes no time to run."""


@dataclass(frozen=True)
class ConvertAsyncCollectivesToSync(Pass):
    """Turns pairs of a start and a done that nothing runs between into one collective."""

    name: ClassVar[str] = "convert-async-collectives-to-sync"
    is_exact: ClassVar[bool] = True

    unscheduled: bool = option(
        default=False, words="takes the order of instructions for a schedule where there is none"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Looks through scheduled computations for such pairs."""
        if not (module.is_scheduled or self.unscheduled):
            journal.note("the module is not scheduled: it does not say what runs in between")
            return False
        changed = False
        for computation in unfused_computations(module):
            for done in list(_idle_pairs(computation)):
                changed |= _join(done, computation, journal)
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


def _idle_pairs(computation: Computation) -> Iterator[Instruction]:
    """Yields the dones whose starts stand with no work in between."""
    begun: dict[Instruction, int] = {}
    work = 0
    for instruction in computation.instructions:
        if isinstance(instruction.op, _STARTS):
            begun[instruction] = work
        elif isinstance(instruction.op, _DONES):
            if begun.get(instruction.operands[0]) == work:
                yield instruction
        elif not isinstance(instruction.op, _NO_WORK):
            work += 1


def _join(done: Instruction, computation: Computation, journal: Journal) -> bool:
    (start,) = done.operands
    if len(start.users) > 1:
        return False
    builder = Builder(computation, start)
    found = finished(done, builder)
    if found is None or not journal.hit("joined"):
        builder.discard()
        computation.settle()
        return False
    found.annotations = start.annotations
    _take_edges(found, start, done)
    computation.replace_uses(done, found)
    computation.remove(done)
    computation.remove(start)
    return True


def _take_edges(made: Instruction, start: Instruction, done: Instruction) -> None:
    """Lets an instruction wait for what start and done wait for, and others wait for it."""
    before = [*start.control_predecessors, *done.control_predecessors]
    made.control_predecessors = [one for one in dict.fromkeys(before) if one is not start]
    for old in (start, done):
        made.take_successors(old)
    start.control_predecessors = ()
    done.control_predecessors = ()
