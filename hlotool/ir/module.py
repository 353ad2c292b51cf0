"""A module: computations, one of them the entry, and what the header says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.ir.header import ModuleHeader
from hlotool.ir.names import NameUniquer
from hlotool.ir.order import append_with_called
from hlotool.ir.upward import Upward

if TYPE_CHECKING:
    from hlotool.errors import HloError, Source
    from hlotool.ir.annotations import Annotations
    from hlotool.ir.computation import Computation
    from hlotool.ir.element_type import ElementType
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.op import Op
    from hlotool.ir.stack_tables import StackTables

_evaluation: Any = Upward("hlotool.evaluation.api")
_notebook: Any = Upward("hlotool.graph.notebook")


class Module:
    """A whole HLO program.

    `computations` stand in text order, a called computation before its callers. `source` is
    the text it was read from, for error locations, `None` for a module that was built.
    """

    __slots__ = (
        "_computation_names", "_instruction_names", "annotation_reader", "computations", "entry",
        "header", "name", "offset", "scalar_functions", "source", "stack_tables",
        "warnings",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        computations: list[Computation],
        entry: Computation,
        header: ModuleHeader | None = None,
        stack_tables: StackTables | None = None,
        source: Source | None = None,
    ) -> None:
        self.name = name
        self.computations = computations
        self.entry = entry
        self.header = header or ModuleHeader()
        self.stack_tables = stack_tables
        self.source = source
        self.offset = 0
        """Where the header stands in `source`."""
        self.warnings: tuple[HloError, ...] = ()
        """What was read and is not kept, as errors with their places."""
        self.scalar_functions: dict[tuple[Op, ElementType], Computation] = {}
        """Computations of an op on two scalars that were built; they may be gone or changed."""
        self._instruction_names: NameUniquer | None = None
        self._computation_names: NameUniquer | None = None
        self.annotation_reader: Callable[[str, Instruction], Annotations] | None = None
        for computation in computations:
            computation.parent = self

    @property
    def is_scheduled(self) -> bool:
        """Whether the order of instructions is the order of execution."""
        return self.header.is_scheduled

    def instructions(self) -> Iterator[Instruction]:
        """Yields every instruction of every computation, in text order."""
        for computation in self.computations:
            yield from computation.instructions

    def instruction_name(self, name: str) -> str:
        """Returns `name`, or where an instruction has it a like one that is free; it is taken."""
        if self._instruction_names is None:
            self._instruction_names = NameUniquer()
            for instruction in self.instructions():
                self._instruction_names.unique(instruction.name)
        return self._instruction_names.unique(name)

    def computation_name(self, name: str) -> str:
        """Returns `name`, or where a computation has it a like one that is free; it is taken."""
        if self._computation_names is None:
            self._computation_names = NameUniquer()
            for computation in self.computations:
                self._computation_names.unique(computation.name)
        return self._computation_names.unique(name)

    def add_computation(self, computation: Computation) -> Computation:
        """Takes a new computation in and returns it; `settle` puts it before its callers."""
        computation.parent = self
        self.computations.append(computation)
        return computation

    def drop_unreachable(self) -> bool:
        """Takes computations out that the entry does not lead to; returns whether there were."""
        for computation in self.computations:
            computation.settle()
        order: list[Computation] = []
        append_with_called(self.entry, {self.entry}, order)
        reachable = set(order)
        kept = [computation for computation in self.computations if computation in reachable]
        dropped = len(kept) < len(self.computations)
        for computation in self.computations:
            if computation not in reachable:
                computation.parent = None
        self.computations = kept
        return dropped

    def settle(self) -> None:
        """Puts instructions after what they need and computations before their callers."""
        for computation in self.computations:
            computation.settle()
        if not _calls_stand_before_callers(self.computations):
            order: list[Computation] = []
            visited: set[Computation] = set()
            for computation in self.computations:
                if computation not in visited:
                    visited.add(computation)
                    append_with_called(computation, visited, order)
            self.computations = order

    def evaluate(self, *arguments: Any, seed: int = 0, max_steps: int | None = None) -> Any:
        """Returns what the module yields for arrays, as `hlotool.evaluate` does."""
        limits = {} if max_steps is None else {"max_steps": max_steps}
        return _evaluation.evaluate(self, *arguments, seed=seed, **limits)

    def _repr_html_(self) -> str:
        """Returns what a notebook shows for the module."""
        shown: str = _notebook.module_view(self)
        return shown

    def __repr__(self) -> str:
        return f"<module {self.name}, {len(self.computations)} computations>"


def _calls_stand_before_callers(computations: Sequence[Computation]) -> bool:
    seen: set[Computation] = set()
    for computation in computations:
        for instruction in computation.instructions:
            if instruction.calls and not seen.issuperset(instruction.calls):
                return False
        seen.add(computation)
    return True
