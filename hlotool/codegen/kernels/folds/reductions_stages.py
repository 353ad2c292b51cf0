"""Bodies that fold more than once: what must be there first is computed in phases of its own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from hlotool.codegen.elements.shapes import first_array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.folds.nested import goes_one_by_one, is_read_once
from hlotool.codegen.kernels.folds.reductions_plan import Plan, kinds_of, plan_of
from hlotool.codegen.kernels.kernel import NAME, Kernel, Launch, Phase
from hlotool.codegen.kernels.loops.work import lanes_for
from hlotool.codegen.kernels.workspace import WorkspaceArray, workspace_array
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.reduction import Reduce
from hlotool.ops.tuples import GetTupleElement

Write: TypeAlias = Callable[[Callable[[], Kernel]], tuple[Kernel, Launch]]
"""Writes a kernel into what a function begins, as often as it must be begun."""
WriteRows: TypeAlias = Callable[[Callable[[], Kernel], Plan], tuple[Kernel, Launch]]
"""The same, by a plan."""


class StagedKernel(Kernel):
    """A kernel that reads, beside inputs, arrays that earlier phases have left in the workspace.

    Its outputs are those of the whole, or what `stored` says: arrays in the workspace, or some
    of the outputs by their numbers.
    """

    def __init__(
        self,
        whole: Kernel,
        body: Body,
        held: Mapping[Instruction, WorkspaceArray],
        stored: Sequence[WorkspaceArray | int] | None = None,
    ) -> None:
        super().__init__(whole.body, whole.target, whole.shared if stored is None else frozenset())
        self.body = body
        self.workspace_bytes = whole.workspace_bytes
        self._held = held
        self._stored = stored

    def source(self, number: int) -> Source:
        """Returns an input, or an array in the workspace."""
        instruction, _, _ = self.body.inputs[number]
        found = self._held.get(instruction)
        return super().source(number) if found is None else found.source(self, is_written=False)

    def destination(self, number: int) -> Source:
        """Returns an output, or an array in the workspace."""
        where = number if self._stored is None else self._stored[number]
        if isinstance(where, WorkspaceArray):
            return where.source(self, is_written=True)
        made = super().destination(number)
        memory = replace(made.memory, address=Value(f"%out{where}", "ptr"))
        return replace(made, memory=memory)


class Stages:
    """The phases of a kernel, as they are added, and what is left to do."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._held: dict[Instruction, WorkspaceArray] = {}

    def next_folds(self, *, everything: bool = False) -> list[Instruction]:
        """Returns folds of one kind of rows that need no other fold of another kind.

        Those of the kind that the result has are left out, and those that are best computed
        inside these, unless `everything` is wanted.
        """
        body = self._body(self._kernel.body.outputs)
        kinds, main = kinds_of(body)
        waiting = {fold for folds in kinds for fold in folds}
        for folds in kinds:
            if not everything and (folds is main or self._are_nested(folds, main, body)):
                continue
            if not any(_needs(fold, waiting - set(folds), set(self._held)) for fold in folds):
                return folds
        return []

    def _are_nested(
        self, folds: Sequence[Instruction], main: Sequence[Instruction], body: Body
    ) -> bool:
        """Whether folds need no phase, since those of the main kind can compute them."""
        if not all(is_read_once(body, fold, main) for fold in folds):
            return False
        alone = self._body([(fold, index) for fold in folds for index, _ in _arrays(fold)])
        try:
            plan = plan_of(alone)
        except NotCompiled:
            return False
        return goes_one_by_one(plan, folds, lanes_for(alone, self._kernel.target))

    def plan(self) -> Plan | None:
        """Returns how what is left is done row by row; `None` where it has no rows."""
        last = frozenset(output for _, output in self._kernel.shared)
        try:
            return plan_of(self._body(self._kernel.body.outputs), last)
        except NotCompiled:
            return None

    def add_phase(
        self,
        folds: Sequence[Instruction],
        write: WriteRows,
    ) -> None:
        """Adds a phase that leaves the results of folds in the workspace."""
        outputs = [(fold, index) for fold in folds for index, _ in _arrays(fold)]
        body = self._body(outputs)
        stored = [
            workspace_array(self._kernel, shape.with_default_layout())
            for fold in folds
            for _, shape in _arrays(fold)
        ]
        plan = plan_of(body)
        made, launch = write(lambda: StagedKernel(self._kernel, body, self._held, stored), plan)
        self._take(made)
        self._enter(Phase(made.function, launch))
        for (fold, index), room in zip(outputs, stored, strict=True):
            if not index:
                self._held[fold] = room
            for user in fold.users:
                if index and isinstance(user.op, GetTupleElement) and user.op.index == index[0]:
                    self._held[user] = room

    def finish(self, write: Write) -> Launch:
        """Writes the kernel's own function."""
        body = self._body(self._kernel.body.outputs)
        made, launch = write(lambda: StagedKernel(self._kernel, body, self._held))
        self._take(made)
        self._kernel.function = made.function
        return launch

    def finish_apart(self, write_rows: WriteRows, write_loops: Write) -> Launch:
        """Writes the kernel's own function where outputs have no loops in common.

        Outputs of other sizes than the last ones have phases of their own.
        """
        *others, last = self._alike()
        if others and self._kernel.shared:
            raise NotCompiled("results of different rows in one kernel, computed in place")
        if not others:
            return self.finish(write_loops)
        for numbers in (*others, last):
            outputs = [self._kernel.body.outputs[number] for number in numbers]
            made, launch = self._written(self._body(outputs), numbers, write_rows, write_loops)
            self._take(made)
            if numbers is last:
                self._kernel.function = made.function
                made.function.name = NAME
            else:
                self._enter(Phase(made.function, launch))
        return launch

    def _written(
        self, body: Body, numbers: Sequence[int], write_rows: WriteRows, write_loops: Write
    ) -> tuple[Kernel, Launch]:
        def make() -> Kernel:
            return StagedKernel(self._kernel, body, self._held, numbers)

        if isinstance(body.outputs[0][0].op, Reduce) and body.outputs[0][0] not in self._held:
            return write_rows(make, plan_of(body))
        return write_loops(make)

    def _alike(self) -> list[list[int]]:
        """Returns the numbers of the outputs that one nest of loops can run through."""
        found: dict[Hashable, list[int]] = {}
        for number, (output, _) in enumerate(self._kernel.body.outputs):
            is_fold = isinstance(output.op, Reduce) and output not in self._held
            key = output if is_fold else first_array_shape(output).element_count
            found.setdefault(key, []).append(number)
        return list(found.values())

    def _body(self, outputs: Sequence[tuple[Instruction, tuple[int, ...]]]) -> Body:
        held = tuple((one, -1, ()) for one in self._held)
        whole = self._kernel.body
        return Body(whole.instruction, (*whole.inputs, *held), tuple(outputs))

    def _take(self, made: Kernel) -> None:
        self._kernel.workspace_bytes = made.workspace_bytes
        self._kernel.functions += made.functions
        for phase in made.phases:
            self._enter(phase)

    def _enter(self, phase: Phase) -> None:
        phase.function.name = f"{NAME}.phase{len(self._kernel.phases)}"
        self._kernel.phases.append(phase)


def _arrays(fold: Instruction) -> list[tuple[tuple[int, ...], ArrayShape]]:
    return [(index, leaf) for index, leaf in fold.shape.leaves() if isinstance(leaf, ArrayShape)]


def _needs(fold: Instruction, others: set[Instruction], held: set[Instruction]) -> bool:
    waiting, seen = list(fold.operands), set(held)
    while waiting:
        one = waiting.pop()
        if one in others:
            return True
        if one not in seen:
            seen.add(one)
            waiting += one.operands
    return False
