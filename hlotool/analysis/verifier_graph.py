"""Checks one computation as a graph: what belongs to it, its parameters, its order, cycles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import TypeVar

from hlotool.analysis.faults import Faults
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction

Node = TypeVar("Node")


def check_graph(computation: Computation, faults: Faults, *, is_scheduled: bool) -> None:
    """Adds what is wrong with a computation as a graph.

    In a scheduled module the order of instructions is that of execution.
    """
    if not computation.instructions:
        faults.add(computation, f"computation {computation.name} has no instructions")
        return
    if not _check_order(computation, faults, is_scheduled=is_scheduled):
        check_acyclic(computation, faults)
    _check_membership(computation, faults)
    _check_parameters(computation, faults)


def _check_order(computation: Computation, faults: Faults, *, is_scheduled: bool) -> bool:
    # Whether every instruction stands behind all that it depends on: then there is no cycle.
    seen: set[Instruction] = set()
    late: list[tuple[Instruction, Instruction]] = []
    for instruction in computation.instructions:
        late += [(instruction, needed) for needed in instruction.dependencies if needed not in seen]
        seen.add(instruction)
    for instruction, needed in late:
        word = "operand" if needed in instruction.operands else "control predecessor"
        if needed not in seen:
            faults.add(
                instruction,
                f"{instruction.opcode}: {word} {needed.name} is not in computation"
                f" {computation.name}",
            )
        elif is_scheduled:
            faults.add(
                instruction,
                f"{instruction.opcode}: {word} {needed.name} is scheduled later",
            )
    return not late


def check_acyclic(computation: Computation, faults: Faults) -> None:
    """Adds an error for each way in which an instruction depends on itself."""
    for instruction, needed in back_edges(computation.instructions, attrgetter("dependencies")):
        faults.add(
            instruction,
            f"{instruction.opcode}: {instruction.name} depends on itself"
            + (f" through {needed.name}" if needed is not instruction else ""),
        )


def back_edges(
    nodes: Iterable[Node], successors: Callable[[Node], Iterable[Node]]
) -> Iterator[tuple[Node, Node]]:
    """Yields an edge of each cycle that a depth-first walk meets, from its last node to its first.

    A graph without cycles has none. Keeps its own stack: graphs are deep.
    """
    is_open: dict[Node, bool] = {}
    for start in nodes:
        if start in is_open:
            continue
        is_open[start] = True
        stack = [(start, iter(successors(start)))]
        while stack:
            node, following = stack[-1]
            target = next(following, None)
            if target is None:
                is_open[node] = False
                stack.pop()
            elif target not in is_open:
                is_open[target] = True
                stack.append((target, iter(successors(target))))
            elif is_open[target]:
                yield node, target


def _check_membership(computation: Computation, faults: Faults) -> None:
    name = computation.name
    names: set[str] = set()
    has_root = False
    for instruction in computation.instructions:
        has_root = has_root or instruction is computation.root
        if instruction.parent is not computation:
            faults.add(instruction, f"{instruction.name} stands in computation {name} but"
                                    " belongs to another")  # fmt: skip
        if instruction.name in names:
            faults.add(instruction, f"computation {name} has another {instruction.name} already")
        names.add(instruction.name)
    if not has_root:
        faults.add(computation, f"the root {computation.root.name} is not in computation {name}")


def _check_parameters(computation: Computation, faults: Faults) -> None:
    found: dict[int, Instruction] = {}
    for instruction in computation.instructions:
        number = instruction.op.parameter_number
        if number is None:
            continue
        if number in found:
            faults.add(instruction, f"parameter: number {number} is taken by {found[number].name}")
        found.setdefault(number, instruction)
    missing = [number for number in range(len(found)) if number not in found]
    if missing:
        shown = ", ".join(map(str, missing))
        faults.add(
            computation,
            f"computation {computation.name} has {len(found)} parameters, none with number {shown}",
        )
    elif computation.parameters != tuple(found[number] for number in range(len(found))):
        faults.add(
            computation, f"computation {computation.name} lists other parameters than it has"
        )
