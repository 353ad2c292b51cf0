"""Updates of a part of an array in its own memory: only the part is written."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.analysis.updates_in_place import below_bitcasts, reads_part
from hlotool.codegen.elements.dynamic_indices import part_starts
from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Index, delinear
from hlotool.codegen.kernels.kernel import BYTES_A_NANOSECOND, Kernel, Launch, kernel
from hlotool.codegen.kernels.loops.loops import loops_into
from hlotool.codegen.kernels.loops.work import Work, Write, element_works
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.cost import byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice
from hlotool.ops.shape_changing import Bitcast


@kernel(DynamicUpdateSlice)
def _update(kernel: Kernel) -> Launch:
    for number, _ in kernel.shared:
        _check_reads(kernel, number)
    return loops_into(kernel, _works)


def _works(kernel: Kernel) -> list[Work]:
    """Returns the work for outputs; those in place are last, when nothing needs what was there."""
    numbers = range(len(kernel.body.outputs))
    parts = [number for number in numbers if _updated_in_place(kernel, number) is not None]
    others = [number for number in numbers if number not in parts]
    works = [*element_works(kernel, others), *(_PartWork(kernel, number) for number in parts)]
    if len(works) > 1 and not all(_is_only_updated(kernel, n) for n, _ in kernel.shared):
        raise NotCompiled("several updates in place of what is also read")
    return works


def _updated_in_place(kernel: Kernel, output: int) -> Instruction | None:
    """Returns the update that an output is, where its operand lies there already."""
    found = below_bitcasts(kernel.body.outputs[output][0])
    if not isinstance(found.op, DynamicUpdateSlice):
        return None
    operand = below_bitcasts(found.operands[0])
    numbers = [n for n, (one, _, _) in enumerate(kernel.body.inputs) if one is operand]
    return found if any((number, output) in kernel.shared for number in numbers) else None


def _is_only_updated(kernel: Kernel, number: int) -> bool:
    """Whether an input is nothing but the array of one update."""
    one = kernel.body.inputs[number][0]
    users = kernel.body.users.get(one, ())
    while len(users) == 1 and isinstance(users[0].op, Bitcast):
        (one,) = users
        users = kernel.body.users.get(one, ())
    return len(users) == 1 and one not in users[0].operands[1:]


def _check_reads(kernel: Kernel, number: int) -> None:
    """Raises `NotCompiled` where elements of an input are needed after they are overwritten."""
    body = kernel.body
    seen = set()
    waiting = [body.inputs[number][0]]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for user in body.users.get(one, ()):
            if not _keeps_place(user, one):
                raise NotCompiled(f"{user.name} reads what is updated in place")
            waiting.append(user)


def _keeps_place(user: Instruction, operand: Instruction) -> bool:
    """Whether each element of a user needs only that element of an operand in the same memory."""
    match user.op:
        case DynamicUpdateSlice():
            return operand not in user.operands[1:] or _is_part_of(user, operand)
        case DynamicSlice():
            return any(reads_part(user, one) for one in _updates_below(user))
        case Bitcast():
            return array_shape(user).element_type is array_shape(operand).element_type
        case Elementwise():
            ours, theirs = array_shape(user), array_shape(operand)
            return ours.dimensions == theirs.dimensions and ours.layout == theirs.layout
    return False


def _is_part_of(update: Instruction, operand: Instruction) -> bool:
    """Whether what is written into an array comes from the very part of it."""
    if operand is not update.operands[1] or operand in update.operands[2:]:
        return False
    array = below_bitcasts(update.operands[0])
    waiting = [operand]
    while waiting:
        one = waiting.pop()
        is_part = isinstance(one.op, DynamicSlice) and one.operands[0] is array
        if is_part and not reads_part(one, update):
            return False
        if isinstance(one.op, Elementwise):
            waiting += one.operands
    return True


def _updates_below(part: Instruction) -> Iterator[Instruction]:
    waiting = [part]
    while waiting:
        for user in waiting.pop().users:
            if isinstance(user.op, DynamicUpdateSlice):
                yield user
            elif isinstance(user.op, Elementwise):
                waiting.append(user)


class _PartWork(Work):
    """The elements of the part are computed, and stored where they belong."""

    def __init__(self, kernel: Kernel, number: int) -> None:
        super().__init__(kernel)
        found = _updated_in_place(kernel, number)
        assert found is not None
        self._update = found
        memory = self.destination(number).memory
        self._output = Source(memory, array_shape(found))
        part = array_shape(found.operands[1])
        spared = byte_count(found.shape) + byte_count(found.operands[0].shape) - byte_count(part)
        self.nanoseconds = max(self.nanoseconds - spared / BYTES_A_NANOSECOND, 1.0)
        self._sizes = tuple(part.dimensions[d] for d in self._output.order)

    @property
    def count(self) -> int:
        """The number of elements of the part."""
        return array_shape(self._update.operands[1]).element_count

    def writes(self, emitter: ElementEmitter, place: Index, /) -> list[Write]:
        """Returns an element of the part, and its place in the array."""
        order, sizes = self._output.order, array_shape(self._update.operands[1]).dimensions
        along = delinear(place, self._sizes)
        index = [along[order.index(d)] for d in range(len(sizes))]
        starts = part_starts(emitter, self._update, sizes, first=2)
        found = [start + one for start, one in zip(starts, index, strict=True)]
        return [Write(self._update.operands[1], index, self._output, self._output.place(found))]
