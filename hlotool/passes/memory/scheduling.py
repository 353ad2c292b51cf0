"""Orders of a computation's instructions, and the memory that each of them takes."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.buffer_assignment import bytes_of, has_bound
from hlotool.analysis.dataflow import (
    Dataflow,
    Place,
    array_indices,
    bindings,
    indices,
    shared_operand,
)
from hlotool.analysis.effects import SideEffects
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import instruction_order
from hlotool.ops.source import Constant


def plain_order(computation: Computation) -> list[Instruction]:
    """Returns the instructions as they print, operands right before their users.

    They stay as they stand where side effects would change places.
    """
    order = instruction_order(computation)
    if order == computation.instructions:
        return order
    side_effects = SideEffects()
    effects = [one for one in computation.instructions if side_effects.of(one)]
    kept_apart = set(effects)
    if [one for one in order if one in kept_apart] == effects:
        return order
    return list(computation.instructions)


def take_back_unsound(module: Module, before: Mapping[Computation, list[Instruction]]) -> None:
    """Takes back orders in which a value is overwritten that is still needed.

    Copies that were left out because of the order before are missing in another one.
    """
    while changed := [one for one, order in before.items() if one.instructions != order]:
        conflicts = BufferClasses(Dataflow(module), in_order=True).conflicts()
        touched = {place[0].parent for members in conflicts for place in members}
        again = [one for one in changed if one in touched]
        if not again:
            return
        for computation in again:
            computation.instructions = before[computation]


def dependencies_in_order(order: Sequence[Instruction]) -> dict[Instruction, list[Instruction]]:
    """Returns what must run before each instruction, the side effect before a side effect too."""
    found: dict[Instruction, list[Instruction]] = {}
    last_effect: Instruction | None = None
    side_effects = SideEffects()
    for instruction in order:
        needed = dict.fromkeys(instruction.dependencies)
        if side_effects.of(instruction):
            if last_effect is not None:
                needed[last_effect] = None
            last_effect = instruction
        found[instruction] = list(needed)
    return found


class MemoryModel:
    """The memory that one computation takes beside its parameters and constants.

    `inner` has what called computations take, at most, while they run.
    """

    def __init__(
        self, computation: Computation, classes: BufferClasses, inner: Mapping[Computation, int]
    ) -> None:
        self._computation = computation
        self._classes = classes
        self.bytes: dict[Place, int] = {}
        """The size of each class of places that memory is needed for."""
        self.touched: dict[Instruction, list[Place]] = {}
        """The classes that an instruction reads or writes."""
        self.kept: set[Place] = set()
        """Those that are needed to the end."""
        self._inner: dict[Instruction, int] = {}
        for instruction in computation.instructions:
            self._add(instruction, inner)
        root = computation.root
        self.kept.update(classes.find((root, index)) for index in array_indices(root.shape))
        self._leave_out_given()

    def peak(self, order: Sequence[Instruction]) -> int:
        """Returns the most bytes that are needed at one time where instructions run so."""
        return max(self.timeline(order), default=0)

    def timeline(self, order: Sequence[Instruction]) -> list[int]:
        """Returns the bytes that are needed while each instruction runs."""
        left = self.touch_counts()
        started: set[Place] = set()
        found: list[int] = []
        live = 0
        for instruction in order:
            touched = self.touched[instruction]
            for place in touched:
                if place not in started:
                    started.add(place)
                    live += self.bytes[place]
            found.append(live + self._inner.get(instruction, 0))
            for place in touched:
                left[place] -= 1
                if not left[place] and place not in self.kept:
                    live -= self.bytes[place]
        return found

    def touch_counts(self) -> dict[Place, int]:
        """Returns how many instructions read or write each class."""
        counts = dict.fromkeys(self.bytes, 0)
        for touched in self.touched.values():
            for place in touched:
                counts[place] += 1
        return counts

    def own_bytes(self, instruction: Instruction) -> int:
        """Returns the memory that an array alone takes; 0 for what shares memory or is given."""
        found = self._classes.find((instruction, ()))
        is_alone = len(self._classes.members[found]) == 1 and found not in self.kept
        return self.bytes.get(found, 0) if is_alone else 0

    def is_always_there(self, instruction: Instruction) -> bool:
        """Whether an array is a constant or an input that nothing overwrites."""
        origin = self._classes.dataflow.origin((instruction, ()))
        return self._classes.is_read_only(origin)

    def _add(self, instruction: Instruction, inner: Mapping[Computation, int]) -> None:
        find = self._classes.find
        touched: dict[Place, None] = {}
        for index, shape in indices(instruction.shape):
            if shared_operand(instruction, index) is None and not shape.is_tuple:
                found = find((instruction, index))
                touched[found] = None
                size = bytes_of(shape) if has_bound(shape) else 0
                self.bytes[found] = max(self.bytes.get(found, 0), size)
        for operand in instruction.operands:
            for index in array_indices(operand.shape):
                touched[find((operand, index))] = None
        self.touched[instruction] = list(touched)
        called = [inner.get(binding.computation, 0) for binding in bindings(instruction)]
        if called:
            self._inner[instruction] = max(called)

    def _leave_out_given(self) -> None:
        for instruction in self._computation.instructions:
            is_parameter = instruction.op.parameter_number is not None
            if is_parameter or isinstance(instruction.op, Constant):
                for index in array_indices(instruction.shape):
                    self.bytes[self._classes.find((instruction, index))] = 0


def order_for_memory(computation: Computation, model: MemoryModel) -> list[Instruction]:
    """Returns an order in which each instruction frees as much memory as one that could run.

    Side effects stay in order.
    """
    return _ListScheduler(computation, model).run()


class _ListScheduler:
    def __init__(self, computation: Computation, model: MemoryModel) -> None:
        self._model = model
        order = plain_order(computation)
        self._number = {instruction: number for number, instruction in enumerate(order)}
        self._order = order
        self._waiting_for: dict[Instruction, int] = {}
        self._followers: dict[Instruction, list[Instruction]] = {one: [] for one in order}
        self._find_dependencies()
        self._left = model.touch_counts()
        self._sum_left = dict.fromkeys(self._left, 0)
        self._touching: dict[Place, list[Instruction]] = {place: [] for place in self._left}
        for instruction, touched in model.touched.items():
            for place in touched:
                self._sum_left[place] += self._number[instruction]
                self._touching[place].append(instruction)
        self._started: set[Place] = set()
        self._gain = {instruction: self._first_gain(instruction) for instruction in order}
        self._ready: list[tuple[int, int]] = []

    def run(self) -> list[Instruction]:
        """Returns the order."""
        for instruction in self._order:
            if not self._waiting_for[instruction]:
                self._push(instruction)
        found: dict[Instruction, None] = {}
        while self._ready:
            loss, number = heapq.heappop(self._ready)
            instruction = self._order[number]
            if instruction in found or -loss != self._gain[instruction]:
                continue
            found[instruction] = None
            self._touch(instruction)
            for follower in self._followers[instruction]:
                self._waiting_for[follower] -= 1
                if not self._waiting_for[follower]:
                    self._push(follower)
        return list(found)

    def _push(self, instruction: Instruction) -> None:
        heapq.heappush(self._ready, (-self._gain[instruction], self._number[instruction]))

    def _find_dependencies(self) -> None:
        for instruction, needed in dependencies_in_order(self._order).items():
            self._waiting_for[instruction] = len(needed)
            for one in needed:
                self._followers[one].append(instruction)

    def _first_gain(self, instruction: Instruction) -> int:
        gain = 0
        for place in self._model.touched[instruction]:
            size = self._model.bytes[place]
            gain -= size
            if self._left[place] == 1 and place not in self._model.kept:
                gain += size
        return gain

    def _touch(self, instruction: Instruction) -> None:
        for place in self._model.touched[instruction]:
            size = self._model.bytes[place]
            if place not in self._started:
                self._started.add(place)
                for other in self._touching[place]:
                    self._improve(other, size)
            self._left[place] -= 1
            self._sum_left[place] -= self._number[instruction]
            if self._left[place] == 1 and place not in self._model.kept:
                # What is left is the number of the last one that touches it.
                self._improve(self._order[self._sum_left[place]], size)

    def _improve(self, instruction: Instruction, size: int) -> None:
        if not size:
            return
        self._gain[instruction] += size
        if not self._waiting_for[instruction]:
            self._push(instruction)
