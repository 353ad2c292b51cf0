"""Constant folding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hlotool.analysis.evaluation_work import EvaluationWork
from hlotool.errors import HloError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.evaluator import Evaluator
from hlotool.ir.computation import Computation
from hlotool.ir.cost import element_count
from hlotool.ir.frame import Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart
from hlotool.ops.collective_groups import Collective
from hlotool.ops.control_flow import Domain, Fusion, OptBarrier
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.host import AddDependency, CopyDone, CopyStart
from hlotool.ops.random import RngBitGenerator
from hlotool.ops.shape_changing import Broadcast
from hlotool.ops.source import Constant, DeviceNumber, Iota
from hlotool.ops.tuples import Tuple
from hlotool.ops.unary import Copy
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace

_SMALL_AS_THEY_ARE = (Broadcast, Iota, Tuple, Copy, Fusion)
"""What would only be larger as a constant, and what is there for the sake of its buffer."""
_NEVER_FOLDED = (
    AddDependency, AsyncContinuation, AsyncStart, Collective, CopyDone, CopyStart, CustomCall,
    DeviceNumber, Domain, OptBarrier, RngBitGenerator,
)  # fmt: skip
"""What another device, backend or step has a part in."""


@dataclass(frozen=True)
class ConstantFolding(Pass):
    """Evaluates instructions whose operands are constants, as far as that is not much work."""

    name: ClassVar[str] = "constant_folding"

    max_elements: int = option(1 << 20, "the most elements of a result larger than its operands")
    max_work: int = option(10_000_000, "the most elements computed or read to fold an instruction")

    def run(self, module: Module, journal: Journal) -> bool:
        """Folds in text order, so that what folding makes constant is folded too."""
        fused = fused_computations(module)
        folding = _Folding(module, self, journal)
        changed = False
        for computation in module.computations:
            folding.learn(computation)
            if computation in fused:
                continue
            for instruction in list(computation.instructions):
                if instruction.parent is computation:
                    changed |= folding.fold(instruction, computation)
            # Those that call this one are measured with what is left of it.
            computation.settle()
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


class _TooMuchWorkError(Exception):
    """Ends an evaluation that takes longer than is allowed."""


class _Folding:
    """Folds the instructions of one module."""

    def __init__(self, module: Module, limits: ConstantFolding, journal: Journal) -> None:
        self._limits = limits
        self._journal = journal
        self._work = EvaluationWork(module)
        self._illegal: dict[Computation, bool] = {}

    def learn(self, computation: Computation) -> None:
        """Takes note of a computation, before those that call it."""
        self._illegal[computation] = any(map(self._is_illegal, computation.instructions))

    def fold(self, instruction: Instruction, computation: Computation) -> bool:
        """Puts a constant in the place of an instruction where possible; returns whether it did."""
        if not self._may_be_folded(instruction) or not self._is_small(instruction):
            return False
        value = self._value(instruction)
        if value is None or not self._journal.hit(instruction.opcode):
            return False
        builder = Builder(computation, instruction)
        replace(instruction, _constant(value, instruction.shape, builder), builder)
        return True

    def _may_be_folded(self, instruction: Instruction) -> bool:
        operands = instruction.operands
        return (
            any(isinstance(operand.op, Constant) for operand in operands)
            and all(map(_is_known, operands))
            and not isinstance(instruction.op, _SMALL_AS_THEY_ARE)
            and _holds_static_arrays(instruction.shape)
            and not self._is_illegal(instruction)
            and not instruction.has_control_edges
        )

    def _is_illegal(self, instruction: Instruction) -> bool:
        if isinstance(instruction.op, _NEVER_FOLDED) or instruction.op.has_side_effect:
            return True
        return any(self._illegal[called] for called in instruction.calls)

    def _is_small(self, instruction: Instruction) -> bool:
        count = element_count(instruction.shape)
        held = sum(
            element_count(operand.shape)
            for operand in instruction.operands
            if isinstance(operand.op, Constant)
        )
        work = self._work.of(instruction)
        is_large = count > max(self._limits.max_elements, held)
        if is_large or work > self._limits.max_work:
            limit = "max-elements" if is_large else "max-work"
            self._skip(instruction, f"{count} elements, work {work}: more than {limit}")
            return False
        return True

    def _value(self, instruction: Instruction) -> Value:
        """Returns the value of an instruction, `None` where there is none without much work."""
        done = 0

        def observe(evaluated: Instruction, _: Value) -> None:
            nonlocal done
            done += self._work.own(evaluated) + 1
            if done > self._limits.max_work:
                raise _TooMuchWorkError

        evaluator = Evaluator(LoneDevice(), observe)
        try:
            with np.errstate(all="ignore"):
                return evaluator.run(_alone(instruction), [])
        except _TooMuchWorkError:
            self._skip(instruction, f"the loops in it are more work than {self._limits.max_work}")
        except HloError as error:
            self._skip(instruction, error.message)
        return None

    def _skip(self, instruction: Instruction, why: str) -> None:
        name, opcode = instruction.name, instruction.opcode
        self._journal.note(f"{opcode} {name} is not folded: {why}", instruction)


def _is_known(operand: Instruction) -> bool:
    if isinstance(operand.op, Broadcast):
        (operand,) = operand.operands
    return isinstance(operand.op, Constant) and not operand.op.literal.has_elision


def _holds_static_arrays(shape: Shape) -> bool:
    leaves = [leaf for _, leaf in shape.leaves()]
    return all(isinstance(leaf, ArrayShape) and leaf.is_static for leaf in leaves)


def _alone(instruction: Instruction) -> Computation:
    """Returns a computation of a copy of an instruction with constant operands."""
    copies: dict[Instruction, Instruction] = {}
    for operand in instruction.operands:
        for needed in (*operand.operands, operand):
            if needed not in copies:
                copies[needed] = needed.copied([copies[inner] for inner in needed.operands])
    root = instruction.copied([copies[operand] for operand in instruction.operands])
    return Computation(instruction.name, [*copies.values(), root], root)


def _constant(value: Value, shape: Shape, builder: Builder) -> Instruction:
    if isinstance(shape, TupleShape):
        parts = zip(value, shape.elements, strict=True)
        return builder.tuple(*[_constant(part, element, builder) for part, element in parts])
    assert isinstance(shape, ArrayShape), "only arrays are folded"
    return builder.literal(Literal.from_array(value, shape))
