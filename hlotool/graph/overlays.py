"""Data of instructions that pages show as colours, bars and sums."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from hlotool.errors import UsageError
from hlotool.graph.memory import Memory, Peak
from hlotool.graph.model import ModuleGraph
from hlotool.ir.cost import Cost, byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ops.source import Constant

Datum = int | float | str | None

_OPERATIONS = "flops and transcendentals"


@dataclass(frozen=True, slots=True)
class Overlay:
    """A number or a word for each instruction, `None` where there is none.

    `kind` is sequential, diverging or categorical; `total` is how a stage shows its
    instructions: sum, max, none. An instruction that calls others counts with all of them.
    `label` says more than the name where that could be taken for something else, `peak` what
    there is where memory is used most.
    """

    name: str
    unit: str
    kind: str
    total: str
    of: Callable[[Instruction], Datum]
    label: str = ""
    peak: Peak | None = None
    is_local: bool = True
    """Whether it depends on nothing but an instruction and what it calls."""


def overlays(graph: ModuleGraph, given: Mapping[str, Mapping[str, Datum]]) -> list[Overlay]:
    """Returns the overlays that have data for a module.

    `given` are more: a number or a word by the names of instructions, under their own names.
    Raises `UsageError` where one of these is the name of an overlay that there is anyway.
    """
    found = [
        Overlay("bytes", "B", "sequential", "sum", _counted(graph, _bytes), "bytes accessed"),
        Overlay("output bytes", "B", "sequential", "sum", _output_bytes),
        Overlay("flops", "flop", "sequential", "sum", _counted(graph, _operations), _OPERATIONS),
        Overlay("intensity", "flop/B", "sequential", "none", _counted(graph, _intensity)),
        *_memory(Memory(graph)),
        Overlay("source scope", "", "categorical", "none", _scope),
        Overlay("sharding", "", "categorical", "none", _sharding),
    ]
    found[-2:-2] = _profiled(graph, {overlay.name for overlay in found})
    names = {overlay.name for overlay in found}
    for name in given:
        if name in names:
            raise UsageError(
                f"pages have an overlay {name} of their own: yours would have the same name",
                notes=(f'call it otherwise: rename the file, or write {{"my {name}": {{...}}}}',),
            )
    return found + [_given(name, data) for name, data in given.items()]


def _counted(graph: ModuleGraph, figure: Callable[[Cost], Datum]) -> Callable[[Instruction], Datum]:
    return lambda instruction: figure(graph.cost(instruction))


def _bytes(cost: Cost) -> Datum:
    return cost.bytes_accessed or None


def _output_bytes(instruction: Instruction) -> Datum:
    """Returns the size of a value; of one that only passes on what others hold, None."""
    op = instruction.op
    holds = op.runs_code or op.parameter_number is not None or isinstance(op, Constant)
    is_yielded = bool(instruction.calls) and not instruction.shape.is_tuple
    return (byte_count(instruction.shape) or None) if holds or is_yielded else None


def _operations(cost: Cost) -> Datum:
    return cost.flops + cost.transcendentals or None


def _intensity(cost: Cost) -> Datum:
    operations = cost.flops + cost.transcendentals
    return round(operations / cost.bytes_accessed, 3) if cost.bytes_accessed else None


def _memory(memory: Memory) -> list[Overlay]:
    live = memory.live_bytes.get
    found = [
        Overlay(memory.title, "B", "sequential", "max", live, peak=memory.peak, is_local=False)
    ]
    if memory.buffers:
        buffer = memory.buffers.get
        found.append(Overlay("buffer", "", "categorical", "none", buffer, is_local=False))
    return found


def _profiled(graph: ModuleGraph, names: Collection[str]) -> list[Overlay]:
    """Returns an overlay for each name that a profile has left in statistics.

    One of the given `names` of other overlays gets `profile: ` in front.
    """
    data: dict[str, dict[Instruction, float]] = {}
    for instruction in graph.module.instructions():
        for name, value in instruction.annotations.statistics.values:
            data.setdefault(name, {})[instruction] = value
    return [
        Overlay(f"profile: {name}" if name in names else name, "", "sequential", "sum", of.get)
        for name, of in data.items()
    ]


def _scope(instruction: Instruction) -> Datum:
    name = instruction.annotations.metadata.op_name
    return name.rpartition("/")[0] or name or None


def _sharding(instruction: Instruction) -> Datum:
    sharding = instruction.annotations.sharding
    return None if sharding is None else sharding.without_metadata().text


def _given(name: str, data: Mapping[str, Datum]) -> Overlay:
    is_text = any(isinstance(value, str) for value in data.values())
    has_negative = any(isinstance(value, int | float) and value < 0 for value in data.values())
    kind = "categorical" if is_text else "diverging" if has_negative else "sequential"

    def of(instruction: Instruction) -> Datum:
        value = data.get(instruction.name)
        return str(value) if is_text and value is not None else value

    return Overlay(name, "", kind, "none" if is_text else "sum", of)
