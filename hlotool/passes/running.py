"""Runs pipelines over modules, with hooks around every pass and a record of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hlotool.analysis.fingerprint import fingerprint
from hlotool.ir.garbage import rare_collection
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.passes.pipeline import Fix, Item, Pipeline
from hlotool.rewriting.journal import Fuel, Journal

START = "pipeline-start"
END = "pipeline-end"
_ITERATIONS_BEFORE_WATCHING = 3
"""Most fixed points are reached sooner; from then on states are remembered, which takes time."""


@dataclass(frozen=True)
class Step:
    """A place between two passes of a pipeline."""

    pipeline: str
    after: str
    """The pass or inner pipeline that has just run, or `pipeline-start`."""
    before: str
    """The one that comes next, or `pipeline-end`."""


@dataclass(frozen=True)
class Record:
    """What one run of one pass did, how long it took, and how many instructions there were."""

    name: str
    text: str
    pipeline: str
    changed: bool
    seconds: float
    instructions_before: int
    instructions_after: int
    journal: Journal = field(repr=False)


class Hook:
    """Is called around the passes of a run; a hook does what it overrides."""

    def started(self, step: Step, module: Module) -> None:
        """A pipeline begins."""

    def before(self, one: Pass, step: Step, module: Module) -> None:
        """A pass is about to run; `step` is the place in front of it."""

    def within(self, one: Pass, words: str, module: Module) -> None:
        """A pass has done a part of its work that has a name."""

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        """A pass has run; `step` is the place behind it."""

    def ended(self, step: Step, module: Module, *, changed: bool) -> None:
        """An inner pipeline has run; `step` is the place behind it."""


@dataclass
class Runner:
    """Runs pipelines over one module after the other; `records` has every run of a pass.

    A pass is not run again before another has changed the module: by what `Pass.run` promises it
    would find nothing to do, unless it has noted that it left something undone.
    """

    hooks: Sequence[Hook] = ()
    fuel: Fuel = field(default_factory=Fuel)
    records: list[Record] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What is wrong with the run, but not with the module."""
    _idle: set[Pass] = field(default_factory=set)
    """Passes that have nothing to do on the module as it is."""

    @rare_collection()
    def run(self, pipeline: Pipeline, module: Module) -> bool:
        """Runs a pipeline in place; returns whether it changed the module.

        One without a name is a list of pipelines, for which no hook is called.
        """
        # Whoever calls may have changed the module since the last run.
        self._idle.clear()
        if pipeline.name:
            return self._pipeline(pipeline, module)
        changed = False
        for item in pipeline.items:
            assert isinstance(item, Pipeline), "what runs has the name of a pipeline"
            changed |= self._pipeline(item, module)
        return changed

    def _pipeline(self, pipeline: Pipeline, module: Module) -> bool:
        if not pipeline.items:
            return False
        for hook in self.hooks:
            hook.started(Step(pipeline.name, START, _name(pipeline.items[0])), module)
        return self._items(pipeline.items, pipeline.name, START, END, module)

    def _items(
        self, items: Sequence[Item], pipeline: str, first: str, last: str, module: Module
    ) -> bool:
        changed = False
        names = [first, *[_name(item) for item in items], last]
        for position, item in enumerate(items):
            ahead = Step(pipeline, names[position], names[position + 1])
            behind = Step(pipeline, names[position + 1], names[position + 2])
            if isinstance(item, Pass):
                changed |= self._pass(item, ahead, behind, module)
                continue
            if isinstance(item, Fix):
                is_changed = self._fix(item, pipeline, ahead.after, behind.before, module)
            else:
                is_changed = self._pipeline(item, module)
            changed |= is_changed
            if _inner_pipeline(item) is not None:
                for hook in self.hooks:
                    hook.ended(behind, module, changed=is_changed)
        return changed

    def _fix(self, fix: Fix, pipeline: str, first: str, last: str, module: Module) -> bool:
        inner = _inner_pipeline(fix)
        changed = False
        states: dict[str, int] = {}
        for iteration in range(fix.limit):
            if inner is not None:
                is_changed = self._pipeline(inner, module)
            else:
                is_changed = self._items(fix.items, pipeline, first, last, module)
            if not is_changed:
                return changed
            changed = True
            if iteration < _ITERATIONS_BEFORE_WATCHING:
                continue
            seen = states.setdefault(fingerprint(module), iteration)
            if seen != iteration:
                self.warnings.append(
                    f"{pipeline}: {fix.text} goes in circles: after {iteration + 1} iterations the"
                    f" module is as it was after {seen + 1}"
                )
                return changed
        self.warnings.append(
            f"{pipeline}: {fix.text} still changed the module after {fix.limit} iterations"
        )
        return changed

    def _pass(self, one: Pass, ahead: Step, behind: Step, module: Module) -> bool:
        for hook in self.hooks:
            hook.before(one, ahead, module)
        record = self._record(one, behind.pipeline, module)
        if record.changed:
            self._idle.clear()
        if not record.changed or not record.journal.notes:
            self._idle.add(one)
        self.records.append(record)
        for hook in self.hooks:
            hook.after(one, behind, module, record)
        return record.changed

    def _record(self, one: Pass, pipeline: str, module: Module) -> Record:
        """Runs a pass that may have something to do; returns what it did."""
        journal = Journal(one.name, self.fuel, self._watcher(one))
        before = instruction_count(module)
        start = time.perf_counter()
        changed = one not in self._idle and one.run(module, journal)
        seconds = time.perf_counter() - start
        return Record(
            one.name, one.text, pipeline, changed, seconds,
            before, instruction_count(module), journal,
        )  # fmt: skip

    def _watcher(self, one: Pass) -> Callable[[str, Module], None]:
        def watch(words: str, module: Module) -> None:
            for hook in self.hooks:
                hook.within(one, words, module)

        return watch


def instruction_count(module: Module) -> int:
    """Returns how many instructions a module has in all computations."""
    return sum(len(computation.instructions) for computation in module.computations)


def _name(item: Item) -> str:
    """Returns what places name an item by: a fixed point has the name of what it begins with."""
    return _name(item.items[0]) if isinstance(item, Fix) else item.name


def _inner_pipeline(item: Item) -> Pipeline | None:
    """Returns the pipeline that an item is, or that is repeated as a whole, if any."""
    if isinstance(item, Fix):
        return _inner_pipeline(item.items[0]) if len(item.items) == 1 else None
    return item if isinstance(item, Pipeline) else None
