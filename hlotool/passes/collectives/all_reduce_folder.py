"""One all-reduce in place of two, one behind the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import combination_of
from hlotool.ir.frame import Place
from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllReduce, AllReduceStart
from hlotool.passes.collectives.device_groups import Groups, device_groups, with_groups
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("all-reduce-folder")


@patterns.rewrites(AllReduce)
def all_reduce_of_all_reduce(instruction: Instruction, builder: Builder) -> Instruction | None:
    """all-reduce(all-reduce(x, {{0,1},{2,3}}), {{0,2},{1,3}}) -> all-reduce(x, {{0,1,2,3}})"""
    (inner, *_) = instruction.operands
    if len(inner.users) > 1 or not isinstance(inner.op, AllReduce):
        return None
    return folded(instruction, inner, inner.operands[0], builder)


def folded(
    outer: Instruction, inner: Instruction, operand: Instruction, builder: Builder
) -> Instruction | None:
    """Returns one all-reduce that reduces an operand as `inner` and then `outer` do.

    It is `None` where there is none. Nothing else may use what `inner` yields.
    """
    if not (_is_foldable(outer) and _is_foldable(inner)):
        return None
    element_type = array_shape(outer).element_type
    reducers = [combination_of(one.calls[0], element_type) for one in (outer, inner)]
    if None in reducers or reducers[0] != reducers[1]:
        return None
    module = builder.module
    ours, theirs = device_groups(outer, module), device_groups(inner, module)
    joined = None if ours is None or theirs is None else joined_groups(ours, theirs)
    op = outer.op
    if joined is None or not isinstance(op, AllReduce):
        return None
    return builder.add(
        with_groups(op, joined, module), operand, calls=outer.calls, shape=outer.shape
    )


def _is_foldable(instruction: Instruction) -> bool:
    op = instruction.op
    return (
        isinstance(op, AllReduce)
        and not isinstance(op, AllReduceStart)
        and len(instruction.operands) == 1
        and not instruction.control_successors
    )


def joined_groups(outer: Groups, inner: Groups) -> Groups | None:
    """Returns groups that reduce as `inner` and then `outer` do; `None` where there are none."""
    group_of: dict[Place, tuple[Place, ...]] = {p: group for group in inner for p in group}
    found: dict[frozenset[Place], tuple[Place, ...]] = {}
    for group in outer:
        places = [place for member in group for place in group_of.get(member, ())]
        joined = frozenset(places)
        # What comes in twice would count twice.
        if len(joined) != len(places) or not joined.issuperset(group):
            return None
        found.setdefault(joined, tuple(sorted(places)))
    total = sum(len(joined) for joined in found)
    is_partition = total == len(group_of) == len(frozenset().union(*found))
    return tuple(found.values()) if is_partition else None


@dataclass(frozen=True)
class AllReduceFolder(PatternPass):
    """Folds an all-reduce of an all-reduce into one with wider groups.

    Only where both reduce with the same op in any order, and each device comes in once.
    """

    name: ClassVar[str] = "all-reduce-folder"
    identities: ClassVar[PatternSet] = patterns
