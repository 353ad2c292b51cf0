from dataclasses import dataclass
from typing import ClassVar

import pytest

from hlotool.errors import VerificationErrors
from hlotool.ir.element_type import F32
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Add, Multiply
from hlotool.passes.checking import TruthHook, ValueHook, VerifyingHook
from hlotool.passes.pass_base import Pass
from hlotool.passes.pipeline import Fix, Pipeline, parse_pipeline
from hlotool.passes.running import Hook, Record, Runner, Step
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse

TEXT = """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  unused = f32[2] multiply(x, y)
  t = (f32[2], f32[2]) tuple(x, y)
  a = f32[2] get-tuple-element(t), index=0
  ROOT r = f32[2] add(a, y)
}
"""


@dataclass(frozen=True)
class Swap(Pass):
    """Turns additions into multiplications and the other way around."""

    name: ClassVar[str] = "swap"

    def run(self, module: Module, journal: Journal) -> bool:
        root = module.entry.root
        root.op = Multiply() if isinstance(root.op, Add) else Add()
        return True


@dataclass(frozen=True)
class SwapBack(Swap):
    """Undoes what the other one has done, which no fixed point ends."""

    name: ClassVar[str] = "swap-back"


@dataclass(frozen=True)
class Deny(Swap):
    """Changes a module and denies it."""

    name: ClassVar[str] = "deny"

    def run(self, module: Module, journal: Journal) -> bool:
        super().run(module, journal)
        return False


@dataclass(frozen=True)
class Break(Pass):
    """Leaves a module that does not verify."""

    name: ClassVar[str] = "break"

    def run(self, module: Module, journal: Journal) -> bool:
        module.entry.root.shape = ArrayShape(F32, [3])
        return True


class Places(Hook):
    """Remembers where it was called."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str, str]] = []

    def started(self, step: Step, module: Module) -> None:
        self.seen.append(("started", step.pipeline, step.after, step.before))

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        self.seen.append(("after", step.pipeline, step.after, step.before))

    def ended(self, step: Step, module: Module, *, changed: bool) -> None:
        self.seen.append(("ended", step.pipeline, step.after, step.before))


def test_hooks_see_places_between_passes() -> None:
    places = Places()
    runner = Runner([places])
    assert runner.run(parse_pipeline("dce,inner(tuple-simplifier),dce", "p"), parse(TEXT))
    assert places.seen == [
        ("started", "p", "pipeline-start", "dce"),
        ("after", "p", "dce", "inner"),
        ("started", "inner", "pipeline-start", "tuple-simplifier"),
        ("after", "inner", "tuple-simplifier", "pipeline-end"),
        ("ended", "p", "inner", "dce"),
        ("after", "p", "dce", "pipeline-end"),
    ]
    counts = [(r.name, r.changed, r.instructions_before, r.instructions_after)
              for r in runner.records]  # fmt: skip
    assert counts == [("dce", True, 6, 5), ("tuple-simplifier", True, 5, 3), ("dce", False, 3, 3)]


def test_a_pipeline_that_is_repeated_ends_once() -> None:
    places = Places()
    Runner([places]).run(parse_pipeline("fix(inner(dce)),dce", "p"), parse(TEXT))
    inner = [place for place in places.seen if "inner" in place]
    kinds = [place[0] for place in inner]
    assert kinds == ["started", "started", "after", "started", "after", "ended"]


def test_a_fixed_point_runs_until_nothing_changes() -> None:
    runner = Runner()
    runner.run(parse_pipeline("fix(dce,tuple-simplifier)", "p"), parse(TEXT))
    assert [record.changed for record in runner.records] == [True, True, False, False]
    assert runner.warnings == []


@dataclass(frozen=True)
class Counted(Pass):
    """Notes its runs, and adds a dead constant in the first few of them."""

    name: ClassVar[str] = "counted"

    changes: int = 0
    notes: bool = False

    def run(self, module: Module, journal: Journal) -> bool:
        RUNS.append(module)
        if self.notes:
            journal.note("there is more to do")
        if len(RUNS) > self.changes:
            return False
        Builder(module.entry).constant(0, F32)
        module.settle()
        return True


RUNS: list[Module] = []
"""The runs of the pass that counts them, in one test."""


@pytest.mark.parametrize(
    ("one", "runs"),
    [
        (Counted(), 1),
        (Counted(changes=1), 1),
        (Counted(changes=1, notes=True), 2),
        (Counted(changes=3, notes=True), 4),
    ],
    ids=["idle", "done", "undone", "undone for long"],
)
def test_a_pass_runs_again_only_where_there_may_be_more_to_do(one: Counted, runs: int) -> None:
    RUNS.clear()
    runner = Runner()
    runner.run(Pipeline("p", (Fix((one,)), one)), parse(TEXT))
    assert len(RUNS) == runs
    assert [record.changed for record in runner.records] == [
        *([True] * one.changes), False, False,
    ]  # fmt: skip


def test_a_pass_runs_again_when_another_has_changed_the_module() -> None:
    RUNS.clear()
    Runner().run(Pipeline("p", (Counted(), Swap(), Counted(), Counted())), parse(TEXT))
    assert len(RUNS) == 2


def test_passes_that_undo_each_other_are_found() -> None:
    runner = Runner()
    runner.run(Pipeline("p", (Fix((Swap(), SwapBack())),)), parse(TEXT))
    (warning,) = runner.warnings
    assert "fix(swap,swap-back) goes in circles" in warning
    assert len(runner.records) < 20


def test_a_limit_of_iterations_is_told() -> None:
    runner = Runner()
    runner.run(Pipeline("p", (Fix((Swap(), SwapBack()), 2),)), parse(TEXT))
    (warning,) = runner.warnings
    assert "still changed the module after 2 iterations" in warning


def test_a_pass_that_lies_about_change_is_reported() -> None:
    truth = TruthHook()
    Runner([truth]).run(Pipeline("p", (Deny(), Swap())), parse(TEXT))
    assert truth.lies == ["pass deny of pipeline p reports no change and made one"]


def test_a_fault_of_a_pass_names_the_pass() -> None:
    runner = Runner([VerifyingHook()])
    with pytest.raises(
        VerificationErrors, match="after pass break of pipeline p: entry_computation_layout"
    ):
        runner.run(Pipeline("p", (Break(),)), parse(TEXT))


def test_the_first_pass_that_changes_results_is_named() -> None:
    values = ValueHook(seed=0)
    passes = parse_pipeline("dce", "p").items
    Runner([values]).run(Pipeline("p", (*passes, Swap(), Swap())), parse(TEXT))
    assert values.checked == 1
    assert values.mismatch is not None
    assert values.mismatch.step.after == "swap"
    assert not values.mismatch.comparison.agrees


def test_fuel_limits_rewrites() -> None:
    text = TEXT.replace("ROOT r = f32[2] add(a, y)", (
        "b = f32[2] get-tuple-element(t), index=1\n  ROOT r = f32[2] add(a, b)"))  # fmt: skip
    left = []
    for amount in (0, 1, 2):
        module = parse(text)
        runner = Runner(fuel=Fuel({"tuple-simplifier": amount}))
        runner.run(parse_pipeline("tuple-simplifier", "p"), module)
        left.append(sum(i.opcode == "get-tuple-element" for i in module.instructions()))
        assert sum(runner.records[0].journal.hits.values()) == amount
    assert left == [2, 1, 0]
