"""Which parts of the state of a loop anything depends on."""

from __future__ import annotations

from hlotool.analysis.effects import has_side_effect
from hlotool.ir.instruction import Instruction
from hlotool.ops.tuples import GetTupleElement
from hlotool.rewriting.builder import tuple_shape
from hlotool.rewriting.tuple_state import used_elements


def live_elements(loop: Instruction) -> set[int]:
    """Returns the elements that the users of a loop, its condition or its effects depend on.

    The body ends with a tuple.
    """
    live = used_elements(loop)
    condition, body = loop.calls
    needed = [condition.root, *filter(has_side_effect, condition.instructions)]
    live |= _elements_needed(needed, condition.parameters[0], set())
    visited: set[Instruction] = set()
    effects = list(filter(has_side_effect, body.instructions))
    fresh = live | _elements_needed(effects, body.parameters[0], visited)
    live = set()
    while fresh:
        live |= fresh
        made = [body.root.operands[index] for index in fresh]
        fresh = _elements_needed(made, body.parameters[0], visited) - live
    return live


def _elements_needed(
    needed: list[Instruction], parameter: Instruction, visited: set[Instruction]
) -> set[int]:
    """Returns the elements of a parameter that instructions need, those visited before left out."""
    found: set[int] = set()
    waiting = list(needed)
    while waiting:
        instruction = waiting.pop()
        if instruction in visited:
            continue
        visited.add(instruction)
        match instruction.op:
            case GetTupleElement(index=index) if instruction.operands[0] is parameter:
                found.add(index)
            case _ if instruction is parameter:
                found.update(range(len(tuple_shape(parameter).elements)))
            case _:
                waiting += instruction.dependencies
    return found
