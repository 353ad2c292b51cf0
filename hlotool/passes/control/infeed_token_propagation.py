"""Tokens of infeeds and outfeeds, handed through loops and branches up to the entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import TOKEN, TupleShape
from hlotool.ops.control_flow import Conditional, While
from hlotool.ops.host import AfterAll, Infeed, Outfeed
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, tuple_shape
from hlotool.rewriting.calls import call_counts, own_called
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.loop_state import LoopState
from hlotool.rewriting.rewriter import remove_dead
from hlotool.rewriting.tuple_state import append_elements


@dataclass(frozen=True)
class InfeedTokenPropagation(Pass):
    """Hands tokens of infeeds and outfeeds into loops and branches and out of them again.

    What keeps them in order is seen then, also when bodies and branches are inlined.
    """

    name: ClassVar[str] = "infeed-token-propagation"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Threads every feed below the entry whose token begins, and ends, beside it."""
        changed = False
        counts = call_counts(module)
        callers = _callers(module)
        for feed in list(module.instructions()):
            chain = _chain(feed, callers, counts)
            if chain is None:
                continue
            if not chain:
                journal.note(f"{feed.opcode}: its token cannot be handed up to the entry", feed)
            elif journal.hit("token"):
                _hand_up(feed, chain, counts)
                changed = True
        if changed:
            module.settle()
        return changed


def _callers(module: Module) -> dict[Computation, Instruction]:
    return {called: one for one in module.instructions() for called in one.calls}


def _chain(
    feed: Instruction, callers: dict[Computation, Instruction], counts: Counter[Computation]
) -> list[Instruction] | None:
    """Returns the loops and conditionals around a feed, the innermost first.

    It is `None` where there is nothing to hand up, and empty where that is not possible.
    """
    computation = feed.parent
    if not isinstance(feed.op, Infeed | Outfeed) or computation not in callers:
        return None
    token = feed.operands[-1]
    begins_here = isinstance(token.op, AfterAll) and not token.operands
    if not begins_here or list(token.users) != [feed] or _ends(feed):
        return None
    chain: list[Instruction] = []
    while computation in callers:
        caller = callers[computation]
        if counts[computation] != 1 or not _hands_on(caller, computation):
            return []
        chain.append(caller)
        computation = caller.parent
    return chain


def _ends(feed: Instruction) -> list[Instruction]:
    """Returns who waits for the token that a feed yields."""
    if isinstance(feed.op, Outfeed):
        return [*feed.users, *([feed] if feed.is_root else [])]
    taken = [user for user in feed.users if user.op != GetTupleElement(0)]
    return [*taken, *([feed] if feed.is_root else [])]


def _hands_on(caller: Instruction, computation: Computation) -> bool:
    """Whether a caller can be given one more element, and its computation one more result."""
    parameter = computation.parameters[0].shape if computation.parameters else None
    if isinstance(caller.op, While):
        is_body = caller.calls[1] is computation
        return is_body and isinstance(computation.root.op, Tuple)
    return (
        isinstance(caller.op, Conditional)
        and isinstance(caller.shape, TupleShape)
        and isinstance(parameter, TupleShape)
        and all(isinstance(one.parameters[0].shape, TupleShape) for one in caller.calls)
    )


def _hand_up(feed: Instruction, chain: list[Instruction], counts: Counter[Computation]) -> None:
    begin, computation = feed.operands[-1], feed.parent
    assert computation is not None, "the feed stands in a computation"
    end = feed
    if isinstance(feed.op, Infeed):
        end = Builder(computation, feed).element(feed, 1)
    for caller in chain:
        if isinstance(caller.op, While):
            begin, end = _through_loop(caller, begin, end, counts)
        else:
            begin, end = _through_branches(caller, begin, end, counts)


Ends = tuple[Instruction, Instruction]
"""The token that a thread begins with, and the one that it ends with."""


def _through_loop(
    loop: Instruction, begin: Instruction, end: Instruction, counts: Counter[Computation]
) -> Ends:
    state = LoopState(loop, counts)
    number = state.count
    outer = Builder(state.computation, loop)
    token = outer.add(AfterAll())
    (inside,) = state.append([token])
    state.body.replace_uses(begin, inside)
    remove_dead(state.body, [begin])
    root = state.body.root
    root.operands = (*root.operands[:number], end)
    return token, outer.element(loop, number)


def _through_branches(
    one: Instruction, begin: Instruction, end: Instruction, counts: Counter[Computation]
) -> Ends:
    computation, own = one.parent, begin.parent
    assert computation is not None, "the conditional stands in a computation"
    own_called(one, counts)
    outer = Builder(computation, one)
    token = outer.add(AfterAll())
    given = [one.operands[0]]
    for operand, branch in zip(one.operands[1:], one.calls, strict=True):
        parameter = branch.parameters[0]
        last = len(tuple_shape(parameter).elements)
        given.append(outer.tuple(*_elements(operand, outer), token))
        append_elements(parameter, [TOKEN])
        build = Builder(branch, branch.root)
        inside = build.element(parameter, last)
        handed_on = inside
        if branch is own:
            branch.replace_uses(begin, inside)
            remove_dead(branch, [begin])
            handed_on = end
        branch.root = build.tuple(*_elements(branch.root, build), handed_on)
    one.operands = given
    number = len(tuple_shape(one).elements)
    append_elements(one, [TOKEN])
    return token, outer.element(one, number)


def _elements(joined: Instruction, build: Builder) -> Iterator[Instruction]:
    for number in range(len(tuple_shape(joined).elements)):
        yield build.element(joined, number)
