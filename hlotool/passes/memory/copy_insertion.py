"""Copies where values that must share memory are needed at one time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import (
    Dataflow,
    Index,
    Place,
    array_indices,
    bindings,
    updated_operand,
)
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import While
from hlotool.ops.tuples import Tuple
from hlotool.ops.unary import Copy
from hlotool.passes.memory.leaf_copies import LeafCopies
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead

_ROUNDS = 8
"""How often interference is looked for again: copies part classes, and parts may interfere."""
_LARGEST_CLASS = 1000
"""Up to how many places share memory where a copy is tried to be done without."""


@dataclass(frozen=True)
class CopyInsertion(Pass):
    """Adds the copies without which values in shared memory would be overwritten too early.

    Loops, updates in place, branches, and aliased inputs and outputs share memory. Each array
    of the result lies in memory of its own, which is neither an input's nor a constant's.
    """

    name: ClassVar[str] = "copy-insertion"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Adds copies for interference, removes needless ones, adds those of results."""
        module.settle()
        dataflow = Dataflow(module)
        if dataflow.shared:
            journal.note(
                f"nothing is done: {dataflow.shared[0].name} is called more than once;"
                " flatten-call-graph gives each caller a computation of its own"
            )
            return False
        changed = _resolve_interference(dataflow, journal)
        journal.step("after_adding_copies_to_resolve_interference", module)
        changed |= _remove_unneeded(module, journal)
        journal.step("after_removing_unnecessary_copies", module)
        if _copy_results(module, journal):
            # A copy before may be needless beside that of the result.
            _remove_unneeded(module, journal)
            changed = True
        journal.step("after_adding_special-case_copies", module)
        return changed


def _resolve_interference(dataflow: Dataflow, journal: Journal) -> bool:
    module = dataflow.module
    changed = False
    for _ in range(_ROUNDS):
        classes = BufferClasses(dataflow)
        conflicts = {place for members in classes.conflicts() for place in members}
        if not conflicts:
            return changed
        if not _Inserter(module, classes, conflicts, journal).run():
            break
        changed = True
        module.settle()
        dataflow = Dataflow(module)
    journal.note("some values still interfere, and no more copies are added")
    return changed


class _Inserter:
    """Adds a copy at each border that classes in conflict cross."""

    def __init__(
        self,
        module: Module,
        classes: BufferClasses,
        conflicts: Collection[Place],
        journal: Journal,
    ) -> None:
        self._module = module
        self._classes = classes
        self._dataflow = classes.dataflow
        self._conflicts = conflicts
        self._journal = journal

    def run(self) -> bool:
        """Returns whether copies were added."""
        added = False
        for computation in self._dataflow.computations:
            for instruction in list(computation.instructions):
                if isinstance(instruction.op, While):
                    added |= self._around_loop(instruction)
                elif bindings(instruction):
                    added |= self._around_calls(instruction)
                else:
                    added |= self._before_update(instruction)
        return self._of_aliases() | added

    def _wanted(self, instruction: Instruction, indices: Iterable[Index]) -> list[Index]:
        return [index for index in indices if (instruction, index) in self._conflicts]

    def _uncopied(self, instruction: Instruction) -> list[Index]:
        wanted = self._wanted(instruction, array_indices(instruction.shape))
        return [index for index in wanted if _copy_at(instruction, index) is None]

    def _around_loop(self, loop: Instruction) -> bool:
        changing = [
            index
            for index in array_indices(loop.shape)
            if not self._dataflow.passes_through(loop, index)
        ]
        body = loop.calls[1]
        wanted = [
            index
            for index in self._wanted(loop, changing)
            if _copy_at(loop.operands[0], index) is None
            or not self._is_read_before_written(body, body.parameters[0], index, index)
        ]
        if not wanted or not self._journal.hit("loop state copied"):
            return False
        self._copy_operand(loop, 0, wanted)
        self._copy_state(body, body.parameters[0], {index: index for index in wanted})
        return True

    def _around_calls(self, caller: Instruction) -> bool:
        added = False
        for binding in bindings(caller):
            for number in binding.operands:
                wanted = self._uncopied(caller.operands[number])
                if wanted and self._journal.hit("operand of a call copied"):
                    self._copy_operand(caller, number, wanted)
                    added = True
            wanted = self._uncopied(binding.computation.root)
            if wanted and self._journal.hit("result of a call copied"):
                _copy_root(binding.computation, wanted)
                added = True
        return added

    def _before_update(self, instruction: Instruction) -> bool:
        added = False
        for index in self._wanted(instruction, array_indices(instruction.shape)):
            found = updated_operand(instruction, index)
            if found is None:
                continue
            number, within = found
            is_copy = _copy_at(instruction.operands[number], within) is not None
            if not is_copy and self._journal.hit("operand that is updated in place copied"):
                self._copy_operand(instruction, number, [within])
                added = True
        return added

    def _of_aliases(self) -> bool:
        entry = self._module.entry
        added = False
        by_parameter: dict[Instruction, dict[Index, Index]] = {}
        for alias in self._module.header.input_output_alias:
            parameter = entry.parameters[alias.parameter]
            source, result = tuple(alias.parameter_index), tuple(alias.output_index)
            is_wanted = (parameter, source) in self._conflicts
            if is_wanted and not self._is_read_before_written(entry, parameter, source, result):
                by_parameter.setdefault(parameter, {})[source] = result
        for parameter, pairs in by_parameter.items():
            if self._journal.hit("aliased parameter copied"):
                self._copy_state(entry, parameter, pairs)
                added = True
        return added

    def _is_read_before_written(
        self, computation: Computation, parameter: Instruction, source: Index, result: Index
    ) -> bool:
        """Whether a part of the new state is a copy, made when nothing reads the old one more."""
        written = _copy_at(computation.root, result)
        if written is None:
            return False
        if written not in self._dataflow.position:
            # It was added in this round: the next one tells whether that was enough.
            return True
        old = self._dataflow.origin((parameter, source))
        readers = {use.user for use in self._dataflow.uses.get(old, ())} - {written}
        return all(
            reader is not None and self._classes.runs_before(reader, written) for reader in readers
        )

    def _copy_operand(self, user: Instruction, number: int, wanted: Collection[Index]) -> None:
        assert user.parent is not None
        made = LeafCopies(user.operands[number], wanted, Builder(user.parent, user))
        operands = list(user.operands)
        old, operands[number] = operands[number], made.value
        user.operands = operands
        remove_dead(user.parent, [old])

    def _copy_state(
        self, computation: Computation, parameter: Instruction, pairs: dict[Index, Index]
    ) -> None:
        # The new state lies where the old one does: the old one is copied away first.
        before = LeafCopies(parameter, list(pairs), Builder(computation, parameter))
        before.redirect_users(parameter)
        after = _copy_root(computation, list(pairs.values()))
        for source, result in pairs.items():
            written = after.copies[result]
            first = before.copies.get(source)
            if first is not None:
                written.control_predecessors = (*written.control_predecessors, first)


def _copy_root(computation: Computation, wanted: Collection[Index]) -> LeafCopies:
    root = computation.root
    made = LeafCopies(root, wanted, Builder(computation, root))
    computation.root = made.value
    remove_dead(computation, [root])
    return made


def _copy_at(instruction: Instruction, index: Index) -> Instruction | None:
    """Returns the copy that a part of a tuple is, where nothing else has a use for it."""
    for number in index:
        if not isinstance(instruction.op, Tuple) or not _is_used_once(instruction):
            return None
        instruction = instruction.operands[number]
    is_own_copy = isinstance(instruction.op, Copy) and _is_used_once(instruction)
    return instruction if is_own_copy else None


def _is_used_once(instruction: Instruction) -> bool:
    if len(instruction.users) + instruction.is_root != 1:
        return False
    # One user may take it several times.
    return all(user.operands.count(instruction) == 1 for user in instruction.users)


def _remove_unneeded(module: Module, journal: Journal) -> bool:
    changed = False
    while _remove_some(module, journal):
        changed = True
    return changed


def _remove_some(module: Module, journal: Journal) -> bool:
    if not any(isinstance(instruction.op, Copy) for instruction in module.instructions()):
        return False
    classes = BufferClasses(Dataflow(module))
    changed = False
    for computation in classes.dataflow.computations:
        for instruction in list(computation.instructions):
            if isinstance(instruction.op, Copy):
                changed |= _removed(instruction, classes, journal)
    module.settle()
    return changed


def _removed(copy: Instruction, classes: BufferClasses, journal: Journal) -> bool:
    (operand,) = copy.operands
    bound = copy.control_predecessors, copy.control_successors
    # Only edges between copies, as this pass adds them, are given up with a copy.
    if operand.shape != copy.shape or not all(isinstance(one.op, Copy) for one in sum(bound, ())):
        return False
    ours = classes.members[classes.find((copy, ()))]
    theirs = classes.members[classes.find((operand, ()))]
    # A copy that lies where its operand does anyway is needless as well.
    members = ours if ours is theirs else ours + theirs
    if len(members) > _LARGEST_CLASS:
        return False
    restore = _without_edges(copy)
    undo = classes.dataflow.merge(copy)
    is_bad = classes.in_conflict(members) or classes.breaks_result(members)
    if is_bad or not journal.hit("copy removed"):
        undo()
        restore()
        return False
    classes.unite((copy, ()), (operand, ()))
    computation = copy.parent
    assert computation is not None
    computation.replace_uses(copy, operand)
    computation.remove(copy)
    return True


def _without_edges(copy: Instruction) -> Callable[[], None]:
    """Takes the control edges of a copy away; returns what puts them back."""
    before = copy.control_predecessors
    after = [(one, one.control_predecessors) for one in copy.control_successors]
    copy.control_predecessors = ()
    for one, predecessors in after:
        one.control_predecessors = [p for p in predecessors if p is not copy]

    def restore() -> None:
        copy.control_predecessors = before
        for one, predecessors in after:
            one.control_predecessors = predecessors

    return restore


def _copy_results(module: Module, journal: Journal) -> bool:
    classes = BufferClasses(Dataflow(module))
    root = module.entry.root
    aliased = {tuple(alias.output_index) for alias in module.header.input_output_alias}
    taken: set[Place] = set()
    wanted: list[Index] = []
    # A result that must lie in the memory of an input is not the one to be copied.
    for index in sorted(array_indices(root.shape), key=lambda index: index not in aliased):
        if not isinstance(root.shape.subshape(index), ArrayShape):
            continue
        found = classes.find((root, index))
        is_fixed = classes.is_read_only(classes.dataflow.origin((root, index)))
        if (found in taken or is_fixed) and journal.hit("result copied"):
            wanted.append(index)
        taken.add(found)
    if not wanted:
        return False
    _copy_root(module.entry, wanted)
    module.settle()
    return True
