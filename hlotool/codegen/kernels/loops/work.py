"""What plain loops compute: which elements, and where they are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Index
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.kernel import BYTES_A_NANOSECOND, Kernel
from hlotool.codegen.kernels.loops.moved_bodies import raw_moves
from hlotool.codegen.numbers.element import register_type
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.cost import byte_count
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.indexing import DynamicSlice, Gather
from hlotool.ops.shape_changing import Slice


@dataclass(frozen=True)
class Write:
    """An element of an instruction, and the place in memory where it is stored."""

    instruction: Instruction
    index: Sequence[Index]
    destination: Source
    place: Index


class Work(ABC):
    """What a nest of plain loops does for each of `count` places."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.raw = raw_moves(kernel.body)
        self.lanes = lanes_for(kernel.body, kernel.target, self.raw)
        self.is_costly = _is_costly(kernel.body)
        self.nanoseconds = estimated_nanoseconds(kernel.body)

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of places."""

    @abstractmethod
    def writes(self, emitter: ElementEmitter, place: Index, /) -> list[Write]:
        """Returns what is stored for one place, or for one in each lane."""

    def sources(self) -> dict[Instruction, Source]:
        """Returns the inputs; those that are only moved are arrays of bits."""
        found = self.kernel.sources()
        return {one: self._as_held(one, source) for one, source in found.items()}

    def destination(self, number: int) -> Source:
        """Returns an output, which is an array of bits where it is only moved."""
        source = self.kernel.destination(number)
        return self._as_held(self.kernel.body.outputs[number][0], source)

    def _as_held(self, instruction: Instruction, source: Source) -> Source:
        if instruction not in self.raw:
            return source
        return replace(source, memory=replace(source.memory, type=self.raw[instruction]))


class ElementWork(Work):
    """Every element of the outputs is computed at its index.

    Those that other work has `written` before are loaded again.
    """

    def __init__(self, kernel: Kernel, numbers: Sequence[int], written: Sequence[int] = ()) -> None:
        super().__init__(kernel)
        self._written = written
        self._instructions = [kernel.body.outputs[n][0] for n in numbers]
        self._outputs = [self.destination(n) for n in numbers]
        count = kernel.output_shape(numbers[0]).element_count
        total = sum(kernel.output_shape(n).element_count for n in range(len(kernel.body.outputs)))
        self.nanoseconds *= count * len(numbers) / max(1, total)

    def sources(self) -> dict[Instruction, Source]:
        """Returns the inputs, and what is in memory already."""
        found = super().sources()
        for number in self._written:
            instruction, source = self.kernel.body.outputs[number][0], self.destination(number)
            if isinstance(instruction.shape, ArrayShape):
                found[instruction] = replace(
                    source, memory=replace(source.memory, is_written=False)
                )
        return found

    @property
    def count(self) -> int:
        """The number of elements of each output."""
        return self._outputs[0].shape.element_count

    def writes(self, _: ElementEmitter, place: Index, /) -> list[Write]:
        """Returns the element of each output that lies at a place in memory."""
        return [
            Write(instruction, output.index(place), output, place)
            for instruction, output in zip(self._instructions, self._outputs, strict=True)
        ]


def element_works(kernel: Kernel, numbers: Sequence[int] | None = None) -> list[Work]:
    """Returns the work for outputs, all or those with some numbers; equal sizes together."""
    if numbers is None:
        numbers = range(len(kernel.body.outputs))
    groups: dict[int, list[int]] = {}
    orders = set()
    for number in numbers:
        shape = kernel.output_shape(number)
        if shape.element_count:
            groups.setdefault(shape.element_count, []).append(number)
            order = kernel.destination(number).order
            orders.add(tuple(shape.dimensions[d] for d in order if shape.dimensions[d] != 1))
    if len(orders) > 1 and any(output in numbers for _, output in kernel.shared):
        raise NotCompiled("outputs of different layouts, computed in place")
    position = {one: number for number, one in enumerate(kernel.body.members)}
    ordered = sorted(
        groups.values(),
        key=lambda group: max(position.get(kernel.body.outputs[n][0], -1) for n in group),
    )
    return [
        ElementWork(kernel, group, [n for before in ordered[:place] for n in before])
        for place, group in enumerate(ordered)
    ]


def lanes_for(
    body: Body, target: Target, raw: Mapping[Instruction, ElementType] | None = None
) -> int:
    """Returns how many elements a kernel handles at once: the widest type fills a register."""
    widths = [8]
    for one in (*body.members, *(loaded for loaded, _, _ in body.inputs)):
        if isinstance(one.shape, ArrayShape) and not one.shape.is_scalar:
            element_type = one.shape.element_type
            widths.append(_width((raw or {}).get(one, element_type)))
    return target.lanes(max(widths))


def estimated_nanoseconds(body: Body) -> float:
    """Returns about how long one thread takes for a body of plain loops."""
    total = 0.0
    for member in body.members:
        cost = member.op.cost([operand.shape for operand in member.operands], member.shape)
        total += 0.1 * cost.flops + 2.0 * cost.transcendentals
    traffic = sum(_bytes_read(body, one) for one, _, _ in body.inputs)
    traffic += byte_count(body.instruction.shape)
    return max(total, traffic / BYTES_A_NANOSECOND, 1.0)


def _bytes_read(body: Body, one: Instruction) -> int:
    """Returns how much is read of an input: no more than there is of parts that are taken."""
    whole, total = byte_count(one.shape), 0
    for user in body.users.get(one, ()):
        takes_part = isinstance(user.op, DynamicSlice | Gather | Slice)
        is_part = takes_part and one not in user.operands[1:]
        total += byte_count(user.shape) if is_part else whole
    return min(whole, total)


def _is_costly(body: Body) -> bool:
    for member in body.members:
        cost = member.op.cost([operand.shape for operand in member.operands], member.shape)
        if cost.transcendentals:
            return True
    return False


def _width(element_type: ElementType) -> int:
    lane = register_type(element_type)
    return {"float": 32, "double": 64, "i1": 8}.get(lane) or max(8, int(lane[1:]))
