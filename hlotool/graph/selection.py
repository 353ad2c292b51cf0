"""Which instructions a picture shows: all of a computation, those around one, paths between two."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from hlotool.errors import UsageError
from hlotool.graph.model import ModuleGraph, called_by, is_folded
from hlotool.ir.attribute import near_names
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction

RADIUS = 2
"""How far around an instruction a picture shows others, if nothing else is asked for."""

DEEPEST = 12
"""How many bodies a picture shows in each other; what would be deeper inside is closed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Instructions of one computation, in the order of the text.

    `marked` are those that were named. `left_out` counts what belongs to the selection and is
    not among them, since it would be too many.
    """

    computation: Computation
    instructions: list[Instruction]
    marked: frozenset[Instruction] = frozenset()
    left_out: int = 0
    is_part: bool = False
    """Whether the computation has others, which are not asked for."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person asks to see; names are those of the text, with or without `%`."""

    computation: str | None = None
    around: str | None = None
    radius: int = RADIUS
    paths: tuple[str, str] | None = None
    top_level: bool = False
    """Whether fusions, loops and calls are shown closed."""
    most_nodes: int | None = None

    @property
    def is_part(self) -> bool:
        """Whether it is not the whole module."""
        return self.computation is not None or self.around is not None or self.paths is not None


def selected(graph: ModuleGraph, choice: Choice) -> Selection:
    """Returns what a picture shows; raises `UsageError` for names that are not there."""
    if choice.around is not None:
        found = _around(graph, choice)
    elif choice.paths is not None:
        found = _between(graph, choice)
    else:
        computation = _computation(graph, choice.computation)
        found = Selection(computation, graph.instructions(computation))
    return _cut(found, choice.most_nodes)


def too_deep(graph: ModuleGraph, selection: Selection) -> list[str]:
    """Returns the names of computations inside what is selected that are too deep to be open."""
    called = {called for one in selection.instructions for called in _bodies(one)}
    for _ in range(DEEPEST):
        called = {
            inner
            for computation in called
            for one in graph.instructions(computation)
            for inner in _bodies(one)
        }
    return sorted(computation.name for computation in called)


def _bodies(instruction: Instruction) -> Iterator[Computation]:
    return (called.computation for called in called_by(instruction) if called.is_inside)


def _around(graph: ModuleGraph, choice: Choice) -> Selection:
    assert choice.around is not None
    centre = _instruction(graph, choice.around, choice.computation)
    distances = {centre: 0}
    waiting = deque([centre])
    while waiting:
        one = waiting.popleft()
        if distances[one] == choice.radius:
            continue
        for other in _neighbours(one):
            if other not in distances:
                distances[other] = distances[one] + 1
                # What many have in common, such as a zero, is no way from one to another.
                if not is_folded(other):
                    waiting.append(other)
    return _part(graph, distances, {centre})


def _between(graph: ModuleGraph, choice: Choice) -> Selection:
    assert choice.paths is not None
    start, end = (_instruction(graph, name, choice.computation) for name in choice.paths)
    if start.parent is not end.parent:
        raise UsageError(
            f"{start.name} is in {_home(start)} and {end.name} in {_home(end)}: there is no path",
            notes=("a path runs within one computation",),
        )
    found = _reached(start, end) or _reached(end, start)
    if not found:
        raise UsageError(f"no path leads from {start.name} to {end.name} or back")
    return _part(graph, found, {start, end})


def _reached(start: Instruction, end: Instruction) -> set[Instruction]:
    """Returns what lies on paths from one instruction down to another; nothing without a path."""
    below = _closure(start, down=True)
    return below & _closure(end, down=False) if end in below else set()


def _closure(start: Instruction, *, down: bool) -> set[Instruction]:
    found = {start}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        following = _after(one) if down else one.dependencies
        fresh = [other for other in following if other not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _after(instruction: Instruction) -> Iterator[Instruction]:
    yield from instruction.users
    yield from instruction.control_successors


def _neighbours(instruction: Instruction) -> Iterator[Instruction]:
    yield from instruction.dependencies
    yield from _after(instruction)


def _part(
    graph: ModuleGraph, shown: Collection[Instruction], marked: set[Instruction]
) -> Selection:
    computation = next(iter(marked)).parent
    assert computation is not None
    order = graph.instructions(computation)
    kept = [one for one in order if one in shown]
    return Selection(computation, kept, frozenset(marked), is_part=len(kept) < len(order))


def _cut(found: Selection, most: int | None) -> Selection:
    """Returns a selection with at most so many boxes, those of marked ones among them."""
    boxes = [one for one in found.instructions if not is_folded(one)]
    if most is None or len(boxes) <= most:
        return found
    others = [one for one in boxes if one not in found.marked]
    kept = found.marked.union(others[: max(0, most - len(found.marked))])
    shown = [one for one in found.instructions if one in kept or is_folded(one)]
    left_out = len(boxes) - len(kept)
    return Selection(found.computation, shown, found.marked, left_out, found.is_part)


def _computation(graph: ModuleGraph, name: str | None) -> Computation:
    if name is None:
        return graph.module.entry
    wanted = name.removeprefix("%")
    for computation in graph.computations:
        if computation.name == wanted:
            return computation
    names = [computation.name for computation in graph.computations]
    raise UsageError(f"the module has no computation {wanted}{near_names(wanted, names)}")


def _instruction(graph: ModuleGraph, name: str, computation: str | None) -> Instruction:
    """Returns the instruction of a name; of several that of the entry, else the first."""
    wanted = name.removeprefix("%")
    places = [_computation(graph, computation)]
    if computation is None:
        places += graph.computations
    for place in places:
        for instruction in graph.instructions(place):
            if instruction.name == wanted:
                return instruction
    names = list({one.name: None for place in places for one in graph.instructions(place)})
    where = "the module" if computation is None else f"computation {places[0].name}"
    raise UsageError(f"{where} has no instruction {wanted}{near_names(wanted, names)}")


def _home(instruction: Instruction) -> str:
    assert instruction.parent is not None
    return instruction.parent.name
