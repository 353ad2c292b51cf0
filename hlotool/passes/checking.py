"""Hooks that check what passes promise: good modules, the truth about change, equal results."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError, HloError, UnsupportedError, VerificationErrors
from hlotool.evaluation.comparison.compare import Comparison, compare
from hlotool.evaluation.generation.arguments import generated_arguments
from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.ir.cloning import cloned_module
from hlotool.ir.frame import Value
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.passes.running import Hook, Record, Step
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module


class VerifyingHook(Hook):
    """Verifies the module after each pass that changed it."""

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        """Raises `VerificationErrors` that name the pass."""
        if record.changed:
            check_made_well(module, step, one)


def check_made_well(module: Module, step: Step, one: Pass) -> None:
    """Raises `VerificationErrors` for faults that a pass has made."""
    errors = [
        type(error)(
            f"after pass {one.name} of pipeline {step.pipeline}: {error.message}",
            error.location,
            error.notes,
        )
        for error in verify(module)
    ]
    if errors:
        raise VerificationErrors(errors)


class TruthHook(Hook):
    """Compares the text before and after each pass with what the pass says about change."""

    def __init__(self) -> None:
        self.lies: list[str] = []
        self._before = ""

    def before(self, one: Pass, step: Step, module: Module) -> None:
        """Remembers the text."""
        self._before = print_module(module, PRESETS["long"])

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        """Notes a pass that changes a module and denies it, or the other way around."""
        is_changed = print_module(module, PRESETS["long"]) != self._before
        if is_changed != record.changed:
            said = "a change and made none" if record.changed else "no change and made one"
            self.lies.append(f"pass {one.name} of pipeline {step.pipeline} reports {said}")


@dataclass(frozen=True)
class Mismatch:
    """The pass after which results are others than before the run, and how they differ."""

    step: Step
    comparison: Comparison


class ValueHook(Hook):
    """Evaluates the module before the run and after each pass that changed it.

    After the first pass that changes results nothing is evaluated any more.
    """

    def __init__(self, seed: int) -> None:
        self.fault = ""
        """Why nothing could be evaluated."""
        self.mismatch: Mismatch | None = None
        self.checked = 0
        """After how many passes results were the same."""
        self._seed = seed
        self._original: Module | None = None
        self._arguments: list[Value] = []
        self._expected: list[Value] = []

    def started(self, step: Step, module: Module) -> None:
        """Evaluates the module as it was before the first pass."""
        if self._original is not None:
            return
        self._original = cloned_module(module)
        try:
            self._arguments = generated_arguments(module, self._seed).values
            self._expected = self._values(module)
        except (EvaluationError, UnsupportedError) as error:
            self.fault = f"the module cannot be evaluated: {error}"

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        """Compares what the module yields now with what it yielded at first."""
        if self.fault or self.mismatch is not None or not record.changed:
            return
        assert self._original is not None
        try:
            actual = self._values(module)
        except (EvaluationError, UnsupportedError) as error:
            raise _unevaluable(one, step, error) from None
        for value, wanted in zip(actual, self._expected, strict=True):
            comparison = compare(self._original, value, wanted)
            if not comparison.agrees:
                self.mismatch = Mismatch(step, comparison)
                return
        self.checked += 1

    def _values(self, module: Module) -> list[Value]:
        header = module.header
        replicas, partitions = header.replica_count, header.num_partitions
        given = [self._arguments] * (replicas * partitions)
        return evaluate_on_devices(module, given, replicas, partitions)


def _unevaluable(one: Pass, step: Step, error: HloError) -> HloError:
    return EvaluationError(
        f"after pass {one.name} of pipeline {step.pipeline}: {error.message}",
        error.location,
        error.notes,
    )
