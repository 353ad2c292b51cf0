"""The best elements of rows: the op `topk` and the custom call of that name.

Few are chosen in one walk along the row, which keeps the best in order and compares all others
with the last of them. More are sorted out of those whose keys begin as the best ones do, and a
large part of a row are the first ones of the sorted row.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.kernels.custom_calls import custom_call_kernel
from hlotool.codegen.kernels.kernel import Kernel, Launch, kernel
from hlotool.codegen.kernels.sorting.choosing import Selection, Walk
from hlotool.codegen.kernels.sorting.keys import MOST_KEY_BITS, Key, joined, order_of
from hlotool.codegen.kernels.sorting.lines import Line, Numbering, place_of
from hlotool.codegen.kernels.sorting.records import KeyedRecords, KeyOf, RecordArray
from hlotool.codegen.kernels.sorting.room import Room
from hlotool.codegen.kernels.sorting.sorting import LONGEST_LINE, LineSort
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ops.ordering import TopK

_MOST_CHOSEN = 128
_MOST_CHOSEN_OF_MANY = 32
"""So many are chosen by a walk along the row, which is slow where the best come last."""
_LEAST_SELECTED_FROM = 4096
_PART_SELECTED = 16
"""More than this part of a row are sorted with all of it."""


@kernel(TopK)
def emit_topk(kernel: Kernel) -> Launch:
    """Writes the kernel of `topk`."""
    op = kernel.body.instruction.op
    if not isinstance(op, TopK):
        raise NotCompiled("topk inside a fusion")
    return _TopK(kernel, *_total_order(kernel, is_descending=op.largest)).write()


@custom_call_kernel("TopK", "mhlo.topk", "__gpu$TopK")
def emit_topk_call(kernel: Kernel) -> Launch:
    """Writes the kernel of the custom call, with a comparator or without one."""
    instruction = kernel.body.instruction
    if len(instruction.operands) != 1 or len(kernel.body.outputs) != 2:
        raise NotCompiled("topk of several operands")
    annotations = instruction.annotations
    if instruction.calls:
        return _TopK(kernel, *_compared(instruction.calls[0])).write()
    if annotations.backend_config or annotations.frontend_attributes:
        raise NotCompiled("topk by what a backend's configuration says")
    return _TopK(kernel, *_total_order(kernel, is_descending=True)).write()


class _TopK:
    def __init__(self, kernel: Kernel, key_of: KeyOf, key_bits: int) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._emitter = ElementEmitter(kernel.function, kernel.target, {})
        source, stored = kernel.source(0), [kernel.destination(n) for n in range(2)]
        if stored[1].shape.element_type is not S32 or kernel.shared:
            raise NotCompiled("topk with other indices, or in place")
        shape = source.shape
        self._length = shape.dimensions[-1]
        self._count = stored[0].shape.dimensions[-1]
        if self._length > LONGEST_LINE or self._count > self._length:
            raise NotCompiled(f"topk of {self._length} elements in a row")
        self._numbering = Numbering(shape, source.order, shape.rank - 1)
        if stored[0].shape.element_type is not shape.element_type:
            raise NotCompiled("topk with values of another type")
        self._key_of, self._key_bits = key_of, key_bits
        self._line = Line(source, self._numbering)
        self._results = [Line(one, self._numbering) for one in stored]

    def write(self) -> Launch:
        """Writes a loop over rows."""
        room = Room(self._kernel, self._numbering, self._length)
        is_long = self._length >= _LEAST_SELECTED_FROM
        most = _MOST_CHOSEN_OF_MANY if is_long else _MOST_CHOSEN
        is_walk = self._count <= min(most, self._length // 2)
        with room.each_line():
            lines = room.copied(self._emitter, [self._line])
            records = KeyedRecords(lines, self._results, self._key_of, self._key_bits)
            if is_walk:
                ordered = Walk(self._emitter, records, self._length, self._count).write()
            else:
                ordered = self._first_sorted(records, room)
            each_strip(self._emitter, self._count, 1, lambda at: self._store(records, ordered, at))
        each = 0.5 if is_walk else 4 + 3 * log2(self._length)
        return room.launch(self._length * each + 20 * self._count)

    def _first_sorted(self, records: KeyedRecords, room: Room) -> Value:
        sort = LineSort(self._emitter, records.lines, self._results)

        def sort_all() -> Value:
            return sort.by_keys(records, room)[1]

        if self._length < max(_LEAST_SELECTED_FROM, _PART_SELECTED * self._count):
            return sort_all()
        arrays = room.arrays(records.type, self._length)
        selection = Selection(self._emitter, records, self._length, self._count, arrays)
        return selection.write(sort_all)

    def _store(self, records: KeyedRecords, ordered: Value, position: Value) -> None:
        function = self._function
        record = RecordArray(function, records.type).load(ordered, position)
        number = records.number(self._emitter, record)
        values, numbers = self._results
        (line,) = records.lines
        raw = line.load(function, place_of(number, self._length), 1)
        values.store(function, raw, place_of(position, self._length))
        numbers.store(
            function, function.cast("trunc", number, "i32"), place_of(position, self._length)
        )


def _total_order(kernel: Kernel, *, is_descending: bool) -> tuple[KeyOf, int]:
    element_type = kernel.input_shape(0).element_type
    if element_type.is_complex:
        raise NotCompiled("topk of complex numbers")
    key = Key(element_type, is_descending, is_total=True)

    def key_of(emitter: ElementEmitter, elements: Sequence[Element]) -> Value:
        return joined(emitter.function, [key], elements)

    return key_of, key.bits


def _compared(comparator: Computation) -> tuple[KeyOf, int]:
    """Returns the key of a comparator of elements, whose indices it may have and not look at."""
    order = order_of(comparator)
    if order is None or order.bits > MOST_KEY_BITS or any(map(_uses_indices, order.instructions)):
        raise NotCompiled("topk by a comparator that says no order of elements")
    has_indices = len(comparator.parameters) == 4

    def key_of(emitter: ElementEmitter, elements: Sequence[Element]) -> Value:
        unused = [Element(S32, (constant("i32", 0),))] if has_indices else []
        return order.integer(emitter, [*elements, *unused])

    return key_of, order.bits


def _uses_indices(instruction: Instruction) -> bool:
    number = instruction.op.parameter_number
    if number is not None:
        return number >= 2
    return any(map(_uses_indices, instruction.operands))
