"""A module: computations, one of them the entry, and what the header says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hlotool.ir.header import ModuleHeader
from hlotool.ir.upward import Upward

if TYPE_CHECKING:
    from hlotool.errors import HloError, Source
    from hlotool.ir.annotations import Annotations
    from hlotool.ir.computation import Computation
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.stack_tables import StackTables

_evaluation: Any = Upward("hlotool.evaluation.api")
_notebook: Any = Upward("hlotool.text.notebook")


class Module:
    """A whole HLO program.

    `computations` stand in text order, a called computation before its callers. `source` is
    the text it was read from, for error locations, `None` for a module that was built.
    """

    __slots__ = (
        "annotation_reader", "computations", "entry", "header", "name", "offset", "source",
        "stack_tables", "warnings",
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

    def evaluate(self, *arguments: Any, seed: int = 0, max_steps: int | None = None) -> Any:
        """Returns what the module yields for arrays, as `hlotool.evaluate` does."""
        limits = {} if max_steps is None else {"max_steps": max_steps}
        return _evaluation.evaluate(self, *arguments, seed=seed, **limits)

    def _repr_html_(self) -> str:
        """Returns what a notebook shows for the module."""
        shown: str = _notebook.module_html(self)
        return shown

    def __repr__(self) -> str:
        return f"<module {self.name}, {len(self.computations)} computations>"
