"""What is added, removed and changed between two modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hlotool.analysis.equal_computations import meaning_of_annotations
from hlotool.analysis.fingerprint import fingerprint
from hlotool.analysis.matching import Matching
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants, Op
from hlotool.ops.source import Constant

_MEANINGFUL = frozenset({"sharding", "frontend_attributes", "result_accuracy", "backend_config"})
"""The annotations that count."""
_LONGEST = 60
"""How many characters of an attribute's value are shown."""


@dataclass(frozen=True)
class Change:
    """An instruction that is there on both sides, and in what it differs, in words."""

    old: Instruction
    new: Instruction
    differences: tuple[str, ...]


@dataclass(frozen=True)
class ComputationDifferences:
    """What differs between a computation and its counterpart."""

    old: Computation
    new: Computation
    removed: tuple[Instruction, ...]
    added: tuple[Instruction, ...]
    changed: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.changed)


@dataclass(frozen=True)
class ModuleDifferences:
    """What differs between two modules, whatever names and order are."""

    header: tuple[str, ...]
    """Differences of the headers, in words."""
    computations: tuple[ComputationDifferences, ...]
    """Those that differ, called ones before their callers."""
    removed: tuple[Computation, ...]
    added: tuple[Computation, ...]
    is_equal: bool = False
    """Whether the modules are the same graph."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many instructions are removed, added, and changed."""
        removed = sum(len(one.removed) for one in self.computations)
        added = sum(len(one.added) for one in self.computations)
        removed += sum(len(computation.instructions) for computation in self.removed)
        added += sum(len(computation.instructions) for computation in self.added)
        return removed, added, sum(len(one.changed) for one in self.computations)


def module_differences(one: Module, other: Module) -> ModuleDifferences:
    """Returns how `other` differs from `one`; names, order and metadata do not count."""
    if fingerprint(one) == fingerprint(other):
        return ModuleDifferences((), (), (), (), is_equal=True)
    return differences_of_unlike(one, other)


def differences_of_unlike(one: Module, other: Module) -> ModuleDifferences:
    """Returns how `other` differs from `one`, which has another fingerprint."""
    matching = Matching(one, other)
    found = _found(matching, _Comparison(matching))
    if not found:
        # Then it is which of several equal instructions is used, and that may matter: two random
        # numbers are made alike.
        found = _found(matching, _Comparison(matching, tells_equal_apart=True))
    counterparts = set(matching.computations.values())
    return ModuleDifferences(
        tuple(_header_differences(one, other)),
        tuple(found),
        tuple(c for c in one.computations if c not in matching.computations),
        tuple(c for c in other.computations if c not in counterparts),
    )


def _found(matching: Matching, comparison: _Comparison) -> list[ComputationDifferences]:
    pairs = matching.computations.items()
    found = [comparison.of_computations(ours, theirs) for ours, theirs in pairs]
    return [differences for differences in found if differences]


def _header_differences(one: Module, other: Module) -> Iterator[str]:
    for field in one.header.fields:
        ours, theirs = getattr(one.header, field.name), getattr(other.header, field.name)
        if field.name == "entry_computation_layout":
            ours = ours or one.entry.program_shape
            theirs = theirs or other.entry.program_shape
        if ours != theirs:
            texts = (_short(field.kind.write(value)) for value in (ours, theirs))
            yield f"{field.text_name}: {' -> '.join(texts)}"


class _Comparison:
    """Compares paired computations and instructions.

    Operands that compute the same are as good as each other, unless it `tells_equal_apart`.
    """

    def __init__(self, matching: Matching, *, tells_equal_apart: bool = False) -> None:
        self._matching = matching
        self._tells_equal_apart = tells_equal_apart

    def of_computations(self, one: Computation, other: Computation) -> ComputationDifferences:
        """Returns what differs between a computation and its counterpart."""
        pairs = self._matching.instructions
        counterparts = {pairs[i] for i in one.instructions if i in pairs}
        changed = []
        for instruction in one.instructions:
            partner = pairs.get(instruction)
            differences = () if partner is None else tuple(self._of_pair(instruction, partner))
            if partner is not None and differences:
                changed.append(Change(instruction, partner, differences))
        return ComputationDifferences(
            one,
            other,
            tuple(i for i in one.instructions if i not in pairs),
            tuple(i for i in other.instructions if i not in counterparts),
            tuple(changed),
        )

    def _of_pair(self, one: Instruction, other: Instruction) -> Iterator[str]:
        if self._tells_equal_apart or not self._matching.same_structure(one, other):
            yield from self._differences(one, other)
        if one.is_root != other.is_root:
            yield "is the root" if other.is_root else "is no longer the root"

    def _differences(self, one: Instruction, other: Instruction) -> Iterator[str]:
        if one.shape != other.shape:
            yield f"shape: {one.shape.text} -> {other.shape.text}"
        yield from _attribute_differences(one, other)
        if len(one.operands) != len(other.operands):
            yield f"operands: {len(one.operands)} -> {len(other.operands)}"
        else:
            yield from self._operand_differences(one, other)
        for ours, theirs in zip(one.calls, other.calls, strict=False):
            if self._matching.computations.get(ours) is not theirs:
                yield f"calls: {ours.name} -> {theirs.name}"

    def _operand_differences(self, one: Instruction, other: Instruction) -> Iterator[str]:
        for number, (ours, theirs) in enumerate(zip(one.operands, other.operands, strict=True)):
            if not self._are_same(ours, theirs):
                yield f"operand {number}: {ours.name} -> {theirs.name}"
        before, after = one.control_predecessors, other.control_predecessors
        pairs = self._matching.instructions
        if {pairs.get(predecessor) for predecessor in before} != set(after):
            names = (", ".join(p.name for p in some) or "none" for some in (before, after))
            yield f"control predecessors: {' -> '.join(names)}"

    def _are_same(self, ours: Instruction, theirs: Instruction) -> bool:
        if self._matching.instructions.get(ours) is theirs:
            return True
        return not self._tells_equal_apart and self._matching.same_structure(ours, theirs)


def _attribute_differences(one: Instruction, other: Instruction) -> Iterator[str]:
    if one.op != other.op and one.op.payload is not None and other.op.payload is not None:
        yield _value_difference(one.op, other.op)
    ours, theirs = (dict(_attributes(instruction)) for instruction in (one, other))
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            yield f"{name}: {_short(ours.get(name))} -> {_short(theirs.get(name))}"


def _attributes(instruction: Instruction) -> Iterator[tuple[str, str]]:
    yield from instruction.op.written()
    if meaning_of_annotations(instruction) is None:
        # Most have no more than metadata, and reading that would take longest of all.
        return
    for name, text in instruction.annotations.written():
        if name in _MEANINGFUL:
            yield name, text


def _value_difference(one: Op, other: Op) -> str:
    ours, theirs = (op.payload_text(LargeConstants.ELIDED) for op in (one, other))
    if ours == theirs and isinstance(one, Constant) and isinstance(other, Constant):
        return f"value: {_first_difference(one.literal, other.literal)}"
    return f"value: {_short(ours)} -> {_short(theirs)}"


def _first_difference(ours: Literal, theirs: Literal) -> str:
    """Returns where two literals differ of which the text shows no element."""
    if not ours.shape.is_array or ours.elided or theirs.elided:
        return "another"
    for number, (old, new) in enumerate(zip(ours, theirs, strict=False)):
        if old != new:
            return f"element {number} in row-major order: {old} -> {new}"
    return "another"


def _short(text: str | None) -> str:
    if not text:
        return "none"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
