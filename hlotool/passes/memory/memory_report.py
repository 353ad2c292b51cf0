"""What buffer assignment found, in the reference's forms: buffers, values, live ranges, use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from hlotool.analysis.buffer_assignment import (
    Allocation,
    Buffer,
    BufferAssignment,
    bytes_of,
)
from hlotool.analysis.dataflow import Place, shared_operand
from hlotool.analysis.liveness import LiveRange
from hlotool.analysis.values import Value, index_text
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.text.instruction_printer import InstructionPrinter
from hlotool.text.print_options import PrintOptions

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIMES = "\N{MULTIPLICATION SIGN}"
_TABLE_HEAD = (
    "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n"
    "  ------------------------------------------------------------\n"
)


def buffer_assignment_text(module: Module, assignment: BufferAssignment) -> str:
    """Returns the allocations with their values: `P-buffer-assignment.txt`."""
    lines = ["BufferAssignment:"]
    for allocation in assignment.allocations:
        lines.append(f"allocation {allocation.number}: {_described(allocation)}:")
        for value, _, offset in allocation.values():
            lines.append(
                f" value: {_name(value, allocation)}"
                f" (size={bytes_of(value.shape)},offset={offset}): {value.shape.text}"
            )
    return "\n".join(lines) + "\n"


def values_text(module: Module, assignment: BufferAssignment) -> str:
    """Returns where each value is and what takes it: `P-buffer-assignment-values.txt`."""
    total = assignment.total_bytes
    lines = ["", f"Total bytes used: {total} ({human_size(total)})", "", "Used values:"]
    printed = _InstructionLines(module)
    reached = assignment.values.reached()
    found = [(value, a) for a in assignment.allocations for value, _, _ in a.values()]
    for value, allocation in sorted(found, key=lambda entry: entry[0].number):
        places = reached.get(value.place) or _places_within(value.place)
        uses = list(_uses(places)) or ["(none)"]
        lines += [
            _name(value, allocation),
            " positions:",
            *[f"  {_place_text(place)}" for place in places],
            " uses:",
            *[f"  {use}" for use in uses],
            f" from instruction: {printed.line(value.place[0])}",
        ]
    return "\n".join(lines) + "\n"


def live_range_text(module: Module, assignment: BufferAssignment) -> str:
    """Returns when each value is needed, and what is needed at the peak: `P-live-range.txt`."""
    liveness = assignment.liveness
    lines = [f"HloLiveRange (max {liveness.end}):", "  InstructionSequence:"]
    lines += [f"    {step}:{one.name}" for step, one in enumerate(liveness.sequence)]
    lines.append("  BufferLiveRange:")
    ranges = {value: _live_range(value, assignment) for value in assignment.values.sequential}
    lines += [f"    {_whole_name(v)}:{r.start}-{r.end}" for v, r in ranges.items()]
    step = _peak(ranges, liveness.end)
    lines.append(f"  Live ranges at {step} (peak):")
    live = [value for value, found in ranges.items() if found.start <= step <= found.end]
    live.sort(key=lambda value: (-bytes_of(value.shape), value.text))
    total = 0
    for value in live:
        size = bytes_of(value.shape)
        total += size
        lines.append(f"    {_whole_name(value)}: {size} bytes (cumulative: {total} bytes)")
    lines += _breakdown(module, live, total)
    return "\n".join(lines) + "\n"


def memory_usage_text(module: Module, assignment: BufferAssignment) -> str:
    """Returns how each allocation is used, largest first: `P-memory-usage-report.txt`."""
    parts: list[str] = []
    for color in sorted({allocation.color for allocation in assignment.allocations}):
        found = [one for one in assignment.allocations if one.color == color]
        total = sum(one.size for one in found)
        name = "default (color=0)" if color == 0 else f"(color={color})"
        parts.append(f"Memory Space: {name}\nTotal bytes: {total} ({human_size(total)})\n")
        for allocation in sorted(found, key=lambda one: -one.size):
            parts += [_TABLE_HEAD, *_usage_rows(allocation), "\n"]
        parts.append("\n")
    return "".join(parts)


def human_size(size: int) -> str:
    """Returns a number of bytes in the largest unit that it fills: `73.3KiB`."""
    if size < 1024:
        return f"{size}B"
    shown, unit = float(size), 0
    while shown >= 1024 and unit < len(_UNITS) - 1:
        shown /= 1024
        unit += 1
    return f"{shown:.1f}{_UNITS[unit]}"


def _described(allocation: Allocation) -> str:
    words = [f"size {allocation.size}"]
    if allocation.color:
        words.append(f"color {allocation.color}")
    if allocation.parameter is not None:
        number, index = allocation.parameter
        (buffer, _), *_ = allocation.buffers
        shape = _shape_of(buffer)
        words.append(f"parameter {number}, shape |{shape}| at ShapeIndex {index_text(index)}")
    if allocation.output_shape is not None:
        words.append(f"output shape is |{allocation.output_shape.plain_text}|")
    flags = (
        ("constant", allocation.is_constant),
        ("thread-local", allocation.is_thread_local),
        ("maybe-live-out", allocation.is_live_out),
        ("preallocated-temp", allocation.is_temporary),
    )
    words += [word for word, is_set in flags if is_set]
    return ", ".join(words)


def _shape_of(buffer: Buffer) -> str:
    instruction, index = buffer.places[0]
    shape = instruction.shape.subshape(index)
    return "" if shape is None else shape.plain_text


def _name(value: Value, allocation: Allocation) -> str:
    return f"<{value.number} {value.text} @{allocation.color}>"


def _whole_name(value: Value) -> str:
    instruction, index = value.place
    return f"{instruction.name}{index_text(index)}"


def _place_text(place: Place) -> str:
    instruction, index = place
    part = f" {index_text(index)}" if instruction.shape.is_tuple else ""
    return f"{instruction.name}{part}"


def _places_within(start: Place) -> list[Place]:
    """Returns the places of a value of a computation that is run for elements."""
    found = [start]
    for instruction, index in found:
        for user in instruction.users:
            numbers = [n for n, operand in enumerate(user.operands) if operand is instruction]
            if shared_operand(user, ()) in {(number, index) for number in numbers}:
                found.append((user, ()))
    return found


def _uses(places: Iterable[Place]) -> Iterator[str]:
    for instruction, index in places:
        part = f" {index_text(index)}" if instruction.shape.is_tuple else ""
        for user in instruction.users:
            for number, operand in enumerate(user.operands):
                if operand is instruction:
                    yield f"{user.name}, operand {number}{part}"


class _InstructionLines:
    def __init__(self, module: Module) -> None:
        self._printer = InstructionPrinter(module, PrintOptions())
        self._lines: dict[Computation, dict[Instruction, str]] = {}

    def line(self, instruction: Instruction) -> str:
        computation = instruction.parent
        assert computation is not None
        if computation not in self._lines:
            lines = self._printer.lines(computation, "", in_text_order=True)
            pairs = zip(computation.instructions, lines, strict=True)
            self._lines[computation] = {one: text.removeprefix("ROOT ") for one, text in pairs}
        return self._lines[computation][instruction]


def _live_range(value: Value, assignment: BufferAssignment) -> LiveRange:
    if value.shape.is_tuple:
        return assignment.liveness.range_of_tables([value.place])
    return assignment.liveness.range_of([value.place])


def _peak(ranges: dict[Value, LiveRange], end: int) -> int:
    changes = [0] * (end + 2)
    for value, found in ranges.items():
        size = bytes_of(value.shape)
        changes[found.start] += size
        changes[found.end + 1] -= size
    live = peak = step_of_peak = 0
    for step, change in enumerate(changes):
        live += change
        if live > peak:
            peak, step_of_peak = live, step
    return step_of_peak


def _breakdown(module: Module, live: list[Value], total: int) -> list[str]:
    """Returns what is needed at the peak, by the operations of the source that it is for."""
    sizes: Counter[str] = Counter()
    for value in live:
        instruction = value.place[0]
        name = instruction.annotations.metadata.op_name or instruction.name
        sizes[name] += bytes_of(value.shape)
    lines = [
        f"  Stack trace breakdown for peak usage: {_grouped(total)} bytes",
        f"    {module.entry.name} {_shares(total, 0, total, total)}",
    ]
    left = total
    ordered = sorted(sizes.items(), key=lambda entry: (-entry[1], entry[0]))
    for number, (name, size) in enumerate(ordered, 1):
        left -= size
        branch = "└──" if number == len(ordered) else "├──"
        lines.append(f"      {branch} {name} {_shares(size, size, left, total)}")
    return lines


def _shares(size: int, own: int, left: int, total: int) -> str:
    return (
        f"({_percent(size, total):.1f}%, total: {_grouped(size)} bytes,"
        f" current: {_grouped(own)} bytes, remaining: {_grouped(left)} bytes)"
    )


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 100.0


def _usage_rows(allocation: Allocation) -> Iterator[str]:
    by_spot: dict[tuple[int, int], list[Value]] = {}
    for value, buffer, offset in allocation.values():
        by_spot.setdefault((-buffer.size, offset), []).append(value)
    total = 0
    for (size, offset), values in sorted(by_spot.items()):
        total -= size
        shapes = Counter(value.shape.plain_text for value in values)
        listed = ", ".join(f"{n}{_TIMES}{shape}" if n > 1 else shape for shape, n in shapes.items())
        share = f"{human_size(total)}({_percent(total, allocation.size):3.0f}%)"
        yield (f"{share:>17};{human_size(-size):>11};{offset:>13};{len(values):>17}; {listed}\n")
