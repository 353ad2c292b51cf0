"""Elements that lie near to each other, but not side by side: loaded at once, then sorted."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.codegen.llvm.value import Value, constant, vector_type
from hlotool.codegen.llvm.writer import FunctionWriter, type_code
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory, in_register, memory_type

_MOST_STEP = 4


def is_near(step: int, lanes: int) -> bool:
    """Whether elements that lie so far from each other are in a few registers together."""
    return lanes >= 4 and (step == -1 or 1 < step <= _MOST_STEP)


def near_elements(
    function: FunctionWriter, memory: Memory, first: Value, step: int, lanes: int
) -> Element:
    """Writes the load of an element for each lane; nothing but what lies between is read.

    `first` is the address of that of the first lane, `step` how far the next one lies.
    """
    beside = Memory(first, memory.type, is_written=memory.is_written)
    if step < 0:
        address = beside.at(function, constant("i64", step * (lanes - 1)))
        found = memory.load_held(function, address, lanes)
        order = range(lanes - 1, -1, -1)
        return memory.element(function, [function.shuffle(part, part, order) for part in found])
    # The last load ends with the last element: what lies behind it may not be memory.
    begins = [number * lanes for number in range(step)]
    begins[-1] = step * (lanes - 1) + 1 - lanes
    loads = [
        memory.load_held(function, beside.at(function, constant("i64", begin)), lanes)
        for begin in begins
    ]
    places = [step * lane for lane in range(lanes)]
    parts = zip(*loads, strict=True)
    return memory.element(function, [_picked(function, part, begins, places) for part in parts])


def can_be_gathered(memory: Memory) -> bool:
    """Whether processors may have an instruction that loads from an address for each lane."""
    is_plain = not memory.type.is_complex and not memory.is_written
    return is_plain and memory_type(memory.type) in ("i32", "i64", "float", "double")


def gathered_elements(function: FunctionWriter, memory: Memory, places: Value) -> Element:
    """Writes the load of an element for each lane, at a place of its own."""
    kind, lanes = memory_type(memory.type), places.lanes
    addresses = memory.at(function, places)
    result, flags = vector_type(kind, lanes), vector_type("i1", lanes)
    name = f"@llvm.masked.gather.{type_code(kind, lanes)}.{type_code('ptr', lanes)}"
    function.declarations.add(
        f"declare {result} {name}({addresses.full_type}, i32, {flags}, {result})"
    )
    text = (
        f"call {result} {name}({addresses.text}, i32 {memory.part_bytes},"
        f" {flags} splat (i1 true), {result} poison)"
    )
    held = function.pure(text, (addresses,), kind, lanes, pinned=True)
    return Element(memory.type, (in_register(function, memory.type, held),))


def _picked(
    function: FunctionWriter, loads: Sequence[Value], begins: list[int], places: list[int]
) -> Value:
    """Writes a vector of the values at places, of loads that begin at others."""
    lanes = len(places)
    found = loads[0]
    chosen = [place if place < lanes else -1 for place in places]
    for load, begin in zip(loads[1:], begins[1:], strict=True):
        taken = [lane for lane, place in enumerate(places) if begin <= place < begin + lanes]
        new = [lanes + places[n] - begin if n in taken else max(0, chosen[n]) for n in range(lanes)]
        found = function.shuffle(found, load, new)
        chosen = list(range(lanes))
    return found
