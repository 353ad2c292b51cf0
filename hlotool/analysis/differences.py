"""What is added, removed and changed between two modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hlotool.analysis.fingerprint import fingerprint
from hlotool.analysis.matching import Matching
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants

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

    @property
    def is_equal(self) -> bool:
        """Whether the modules are the same graph."""
        return not (self.header or self.computations or self.removed or self.added)

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
        return ModuleDifferences((), (), (), ())
    matching = Matching(one, other)
    found = [
        _of_computations(ours, theirs, matching) for ours, theirs in matching.computations.items()
    ]
    counterparts = set(matching.computations.values())
    return ModuleDifferences(
        tuple(_header_differences(one, other)),
        tuple(differences for differences in found if differences),
        tuple(c for c in one.computations if c not in matching.computations),
        tuple(c for c in other.computations if c not in counterparts),
    )


def _header_differences(one: Module, other: Module) -> Iterator[str]:
    for field in one.header.fields:
        ours, theirs = getattr(one.header, field.name), getattr(other.header, field.name)
        if field.name == "entry_computation_layout":
            ours = ours or one.entry.program_shape
            theirs = theirs or other.entry.program_shape
        if ours != theirs:
            texts = (_short(field.kind.write(value)) for value in (ours, theirs))
            yield f"{field.text_name}: {' -> '.join(texts)}"


def _of_computations(
    one: Computation, other: Computation, matching: Matching
) -> ComputationDifferences:
    pairs = matching.instructions
    counterparts = {pairs[i] for i in one.instructions if i in pairs}
    changed = []
    for instruction in one.instructions:
        partner = pairs.get(instruction)
        if partner is None:
            continue
        differences = tuple(_differences(instruction, partner, matching))
        if instruction.is_root != partner.is_root:
            differences += ("is the root" if partner.is_root else "is no longer the root",)
        if differences:
            changed.append(Change(instruction, partner, differences))
    return ComputationDifferences(
        one,
        other,
        tuple(i for i in one.instructions if i not in pairs),
        tuple(i for i in other.instructions if i not in counterparts),
        tuple(changed),
    )


def _differences(one: Instruction, other: Instruction, matching: Matching) -> Iterator[str]:
    if matching.same_structure(one, other):
        # Operands that compute the same are as good as each other.
        return
    if one.shape != other.shape:
        yield f"shape: {one.shape.text} -> {other.shape.text}"
    yield from _attribute_differences(one, other)
    yield from _operand_differences(one, other, matching)
    for ours, theirs in zip(one.calls, other.calls, strict=False):
        if matching.computations.get(ours) is not theirs:
            yield f"calls: {ours.name} -> {theirs.name}"


def _attribute_differences(one: Instruction, other: Instruction) -> Iterator[str]:
    if one.op != other.op and one.op.payload is not None and other.op.payload is not None:
        texts = [i.op.payload_text(LargeConstants.ELIDED) for i in (one, other)]
        yield f"value: {_short(texts[0])} -> {_short(texts[1])}"
    ours, theirs = dict(one.op.written()), dict(other.op.written())
    annotations = one.annotations.sharding, other.annotations.sharding
    if annotations[0] != annotations[1]:
        ours["sharding"], theirs["sharding"] = ("" if a is None else a.text for a in annotations)
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            yield f"{name}: {_short(ours.get(name))} -> {_short(theirs.get(name))}"


def _operand_differences(one: Instruction, other: Instruction, matching: Matching) -> Iterator[str]:
    if len(one.operands) != len(other.operands):
        yield f"operands: {len(one.operands)} -> {len(other.operands)}"
        return
    for number, (ours, theirs) in enumerate(zip(one.operands, other.operands, strict=True)):
        is_same = matching.instructions.get(ours) is theirs
        if not is_same and not matching.same_structure(ours, theirs):
            yield f"operand {number}: {ours.name} -> {theirs.name}"
    before = {matching.instructions.get(p) for p in one.control_predecessors}
    if before != set(other.control_predecessors):
        yield "control predecessors"


def _short(text: str | None) -> str:
    if not text:
        return "none"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
