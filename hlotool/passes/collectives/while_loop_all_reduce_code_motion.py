"""Adding up in a loop, and over the devices once behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import combination_of
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllReduce, AllReduceStart
from hlotool.ops.control_flow import While
from hlotool.ops.elementwise import Add
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, array_shape, tuple_shape
from hlotool.rewriting.calls import call_counts
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead


@dataclass(frozen=True)
class _Accumulation:
    """The sum in a loop's state to which each round adds an all-reduce."""

    index: int
    sum: Instruction
    reduced: Instruction


@dataclass(frozen=True)
class WhileLoopAllReduceCodeMotion(Pass):
    """Moves all-reduces whose results a loop only adds up behind the loop.

    Numbers are added up in another order then.
    """

    name: ClassVar[str] = "while-loop-all-reduce-code-motion"

    def run(self, module: Module, journal: Journal) -> bool:
        """Looks for sums in loops whose body nothing else calls."""
        counts = call_counts(module)
        changed = False
        for computation in unfused_computations(module):
            for instruction in list(computation.instructions):
                if not isinstance(instruction.op, While) or counts[instruction.calls[1]] > 1:
                    continue
                found = _accumulations(instruction)
                if found and journal.hit("moved_behind_loop"):
                    _move(instruction, found, computation)
                    changed = True
        if changed:
            module.settle()
        return changed


def _accumulations(loop: Instruction) -> list[_Accumulation]:
    condition, body = loop.calls
    root, (state,) = body.root, body.parameters
    if not isinstance(root.op, Tuple) or root.users:
        return []
    used = _elements_used(condition.parameters[0])
    elements = _elements_used(state)
    if used is None or elements is None:
        return []
    found = []
    for index, total in enumerate(root.operands):
        taken = elements.get(index, [])
        if index in used or len(taken) != 1 or root.operands.count(total) > 1:
            continue
        reduced = _reduced_addend(total, taken[0])
        if reduced is not None:
            found.append(_Accumulation(index, total, reduced))
    return found


def _elements_used(state: Instruction) -> dict[int, list[Instruction]] | None:
    """Returns the uses of each element of a tuple; `None` where the whole is used."""
    found: dict[int, list[Instruction]] = {}
    for user in state.users:
        if not isinstance(user.op, GetTupleElement):
            return None
        found.setdefault(user.op.index, []).append(user)
    return None if state.is_root else found


def _reduced_addend(total: Instruction, before: Instruction) -> Instruction | None:
    """Returns the all-reduce that is added to an element of the state, and used for that alone."""
    if not isinstance(total.op, Add) or len(total.users) > 1 or len(before.users) > 1:
        return None
    one, other = total.operands
    reduced = other if one is before else one
    if before not in total.operands or before is reduced:
        return None
    op = reduced.op
    if not isinstance(op, AllReduce) or isinstance(op, AllReduceStart):
        return None
    shape = array_shape(reduced)
    if len(reduced.users) > 1 or len(reduced.operands) > 1 or reduced.has_control_edges:
        return None
    combination = combination_of(reduced.calls[0], shape.element_type)
    shapes = (reduced.operands[0].shape, before.shape)
    same = shape.is_static and all(map(shape.compatible, shapes))
    return reduced if same and combination is not None and combination.op is Add else None


def _move(loop: Instruction, found: list[_Accumulation], computation: Computation) -> None:
    """Lets the loop add up from zero on its device alone, and reduces what it has added up."""
    body = loop.calls[1]
    builder = Builder(computation, loop)
    (before,) = loop.operands
    count = len(tuple_shape(loop).elements)
    firsts = [builder.element(before, number) for number in range(count)]
    starts = list(firsts)
    for one in found:
        starts[one.index] = _zeros(array_shape(one.reduced), builder)
    made = builder.add(
        loop.op, builder.tuple(*starts), calls=loop.calls, shape=loop.shape, name=loop.name
    )
    made.annotations = loop.annotations
    made.control_predecessors = loop.control_predecessors
    loop.control_predecessors = ()
    results = [builder.add(GetTupleElement(number), made) for number in range(count)]
    for one in found:
        total = builder.add(
            one.reduced.op, results[one.index], calls=one.reduced.calls, shape=one.reduced.shape
        )
        results[one.index] = builder.add(Add(), firsts[one.index], total)
        body.replace_uses(one.reduced, one.reduced.operands[0])
        remove_dead(body, [one.reduced])
    whole = builder.tuple(*results)
    made.take_successors(loop)
    computation.replace_uses(loop, whole)
    computation.remove(loop)
    remove_dead(computation, reversed(builder.made))


def _zeros(shape: ArrayShape, builder: Builder) -> Instruction:
    # Only -0 leaves a sum of -0 as it is.
    return builder.full(-0.0 if shape.element_type.is_float else 0, shape)
