"""The values of a module with their numbers, and every place that each of them reaches."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.analysis.dataflow import (
    Binding,
    Dataflow,
    Index,
    Place,
    bindings,
    indices,
    shared_operand,
)
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.order import computation_order, fused_computations, instruction_order
from hlotool.ir.shape import Shape
from hlotool.ops.control_flow import While


@dataclass(frozen=True, slots=True)
class Value:
    """Something that an instruction makes; `number` counts through the module."""

    number: int
    place: Place
    shape: Shape

    @property
    def text(self) -> str:
        """The value as reports name it: `name`, with the part of a tuple behind it."""
        instruction, index = self.place
        part = index_text(index) if instruction.shape.is_tuple else ""
        return f"{instruction.name}{part}"


def index_text(index: Index) -> str:
    """Returns a tuple index as reports have it: `{0,1}`."""
    return f"{{{','.join(map(str, index))}}}"


class Values:
    """Every value, in print order; those of computations that run for elements come first."""

    def __init__(self, dataflow: Dataflow) -> None:
        module = dataflow.module
        self._dataflow = dataflow
        self._sequential = set(dataflow.computations)
        fused = fused_computations(module)
        self.sequential: list[Value] = []
        """Values of the computations that run one at a time."""
        self.per_element: list[Value] = []
        """Values of the computations that are run for elements: those of a reduction, say."""
        number = 0
        order = computation_order(module)
        others = [one for one in order if one not in self._sequential and one not in fused]
        apart = set(others)
        for computation in [*others, *(one for one in order if one not in apart)]:
            for instruction in instruction_order(computation):
                for index, shape in indices(instruction.shape):
                    if self._comes_from(instruction, index):
                        continue
                    made = Value(number, (instruction, index), shape)
                    number += 1
                    if computation in self._sequential:
                        self.sequential.append(made)
                    elif computation not in fused:
                        self.per_element.append(made)

    def reached(self) -> dict[Place, list[Place]]:
        """Returns the places that hold each value, by where it is made; that comes first."""
        following: dict[Place, list[Place]] = {}
        for value_place, _ in self._dataflow.places():
            for source in self._comes_from(*value_place):
                following.setdefault(source, []).append(value_place)
        found: dict[Place, list[Place]] = {}
        for value in self.sequential:
            order = {value.place: None}
            waiting = [value.place]
            while waiting:
                fresh = [one for one in following.get(waiting.pop(), ()) if one not in order]
                order.update(dict.fromkeys(fresh))
                waiting += fresh
            found[value.place] = list(order)
        return found

    def _comes_from(self, instruction: Instruction, index: Index) -> list[Place]:
        """Returns the places that a place has its value from; none where it is made there."""
        source = shared_operand(instruction, index)
        if source is not None:
            return [(instruction.operands[source[0]], source[1])]
        computation = instruction.parent
        assert computation is not None
        number = instruction.op.parameter_number
        if number is not None:
            return self._given(computation, number, index)
        found: list[Place] = []
        for binding in bindings(instruction):
            prefix = binding.result
            if prefix is not None and index[: len(prefix)] == prefix:
                found.append((binding.computation.root, index[len(prefix) :]))
        if found and isinstance(instruction.op, While):
            found.append((instruction.operands[0], index))
        return found

    def _given(self, computation: Computation, number: int, index: Index) -> list[Place]:
        caller = self._dataflow.callers.get(computation)
        if caller is None or computation not in self._sequential:
            return []
        bound = next(b for b in bindings(caller) if b.computation is computation)
        found: list[Place] = [(caller.operands[bound.operands[number]], index)]
        if isinstance(caller.op, While):
            found.append((_body(bound, caller).root, index))
        return found


def _body(bound: Binding, loop: Instruction) -> Computation:
    return bound.computation if bound.result is not None else loop.calls[1]
