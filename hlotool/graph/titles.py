"""What the box of a fusion says first, and of an op that applies a function of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.cost import Cost, element_count
from hlotool.ir.instruction import Instruction

_MOST_TITLES = 3
_FACTORS = {Category.CONTRACTION: 8.0, Category.REDUCTION: 4.0, Category.INDEXING: 2.0}
"""How much more an operation of a category says about a fusion than one of another."""
_TRANSCENDENTAL = 4.0
_MOVED = 0.25
"""What an element that is only moved weighs, beside an operation on one."""
_PLAIN = frozenset({Drawn.BOX, Drawn.FUSION, Drawn.WHILE, Drawn.CONDITIONAL, Drawn.CALL})


@dataclass(frozen=True, slots=True)
class Weighed:
    """What all instructions with one title weigh together."""

    weight: float
    category: Category


def weights(
    instructions: Iterable[Instruction], cost: Callable[[Instruction], Cost]
) -> dict[str, Weighed]:
    """Returns the weight of each title among the instructions of a fusion.

    What only hands values on counts where there is nothing else; parameters never do.
    """
    given = [one for one in instructions if not _is_parameter(one)]
    chosen = [one for one in given if one.op.drawn in _PLAIN and one.op.runs_code] or given
    found: dict[str, Weighed] = {}
    for one in chosen:
        # Where there is just one, there is room to say what it applies.
        title = one.op.opcode if len(chosen) > 1 else applied_title(one)
        category = one.op.category
        spent = cost(one)
        work = spent.flops + _TRANSCENDENTAL * spent.transcendentals
        weight = (work + _MOVED * element_count(one.shape)) * _FACTORS.get(category, 1.0)
        before = found[title].weight if title in found else 0.0
        found[title] = Weighed(before + weight, category)
    return found


def leading(weighed: Mapping[str, Weighed]) -> str:
    """Returns the weightiest titles, those of equal weight as they stand: `reduce · add …`."""
    titles = sorted(weighed, key=lambda title: -weighed[title].weight)
    more = " …" if len(titles) > _MOST_TITLES else ""
    return " · ".join(titles[:_MOST_TITLES]) + more


def applied_title(caller: Instruction) -> str:
    """Returns `reduce add` for a reduce by a sum; the title alone where the function is longer."""
    title = caller.op.title
    bodies = caller.calls[:1]
    inside = [one for body in bodies for one in body.instructions if not _is_parameter(one)]
    if len(inside) != 1:
        return title
    return f"{title} {inside[0].op.title}"


def _is_parameter(instruction: Instruction) -> bool:
    return instruction.op.drawn is Drawn.PARAMETER
