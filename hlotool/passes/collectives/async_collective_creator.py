"""Letting collectives run beside other work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.passes.collectives.async_forms import PAIRS, WRAPPED, has_async_form, started
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace


@dataclass(frozen=True)
class AsyncCollectiveCreator(Pass):
    """Turns collectives into pairs of a start and a done."""

    name: ClassVar[str] = "async-collective-creator"
    is_exact: ClassVar[bool] = True

    all_gather: bool = option(default=True, words="whether to turn all-gather")
    all_reduce: bool = option(default=True, words="whether to turn all-reduce")
    all_to_all: bool = option(default=True, words="whether to turn all-to-all")
    collective_broadcast: bool = option(default=True, words="whether to turn collective-broadcast")
    collective_permute: bool = option(default=True, words="whether to turn collective-permute")
    ragged_all_to_all: bool = option(default=True, words="whether to turn ragged-all-to-all")
    reduce_scatter: bool = option(default=True, words="whether to turn reduce-scatter")

    def run(self, module: Module, journal: Journal) -> bool:
        """Starts each collective where it stood, and waits for it at once."""
        # In computations of async-starts collectives stand by themselves already.
        left_alone = fused_computations(module) | {
            called
            for instruction in module.instructions()
            if instruction.opcode == "async-start"
            for called in instruction.calls
        }
        wanted = {one for one in (*PAIRS, *WRAPPED) if getattr(self, one.opcode.replace("-", "_"))}
        changed = False
        for computation in list(module.computations):
            if computation in left_alone:
                continue
            for instruction in list(computation.instructions):
                is_wanted = type(instruction.op) in wanted and has_async_form(instruction)
                if is_wanted and journal.hit("started"):
                    _start(instruction, computation)
                    changed = True
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


def _start(instruction: Instruction, computation: Computation) -> None:
    """Puts start and done in the place of a collective; only the start waits for what it did."""
    builder = Builder(computation, instruction)
    done = started(instruction, builder)
    (start,) = done.operands
    start.control_predecessors = instruction.control_predecessors
    instruction.control_predecessors = ()
    replace(instruction, done, builder)
