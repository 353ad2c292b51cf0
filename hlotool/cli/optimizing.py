"""Runs passes over the modules of `hlo-opt`, with the dumps, checks and reports asked for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator

from hlotool.cli.arguments import MOST_DIGITS
from hlotool.cli.code_arguments import target_of
from hlotool.cli.diff_hook import DiffHook
from hlotool.cli.module_dump import ModuleDump, check_expressions
from hlotool.cli.opt_arguments import OF_PLATFORMS
from hlotool.cli.pass_reports import mismatch_error, show_decisions, show_notes, show_times
from hlotool.cli.report import Report
from hlotool.cli.xla_flags import Flags, environment_flags, xla_flags
from hlotool.errors import EvaluationError, HloError, UsageError
from hlotool.ir.attribute import near_names
from hlotool.ir.module import Module
from hlotool.passes.checking import TruthHook, ValueHook, VerifyingHook
from hlotool.passes.history import HistoryHook
from hlotool.passes.pipeline import Pipeline, Selection, names, parse_pipeline
from hlotool.passes.pipelines import PASSES_PIPELINE, backend_pipeline, platform_pipeline
from hlotool.passes.registry import BY_NAME, pass_named
from hlotool.passes.running import Hook, Runner
from hlotool.rewriting.journal import Fuel


class Optimizer:
    """What one call of the command does with each of its modules."""

    def __init__(self, arguments: Namespace, report: Report) -> None:
        self.arguments = arguments
        self.report = report
        self.flags, notes = xla_flags(
            arguments.xla_option, arguments.debug_options_file, environment_flags()
        )
        for note in notes:
            report.note(note, report.program)
        check_expressions(self.flags)
        self.selection = _selection(self.flags)
        self.fuel = Fuel(_amounts(str(self.flags["xla_fuel"])))
        self.pipeline = self._chosen_pipeline()
        platform = arguments.platform
        self.backend = None if platform == "transforms" else backend_pipeline(platform)
        self._dumped = 0
        self._note_unknown_names()

    def optimized(self, module: Module, name: str, finished: Callable[[Module], str]) -> str:
        """Runs the passes in place; returns what `finished` makes of the module at its stage.

        Raises `HloError` for what passes meet and for what checks find.
        """
        return _ModuleRun(self, module, name, self._dump_of(module)).result(finished)

    def _dump_of(self, module: Module) -> ModuleDump | None:
        most = int(self.flags["xla_dump_max_hlo_modules"])
        if 0 <= most <= self._dumped:
            return None
        found = ModuleDump.of(
            self.flags, module, self.arguments.platform, lambda: target_of(self.arguments)
        )
        self._dumped += found is not None
        return found

    def _chosen_pipeline(self) -> Pipeline:
        if self.arguments.passes:
            parts = [parse_pipeline(text, PASSES_PIPELINE) for text in self.arguments.passes]
            return Pipeline(PASSES_PIPELINE, tuple(item for part in parts for item in part.items))
        if self.arguments.platform == "transforms":
            return Pipeline(PASSES_PIPELINE, ())
        return platform_pipeline(self.arguments.platform)

    def _note_unknown_names(self) -> None:
        unknown = set(self.selection.unknown(self.pipeline))
        if self.backend is not None:
            unknown &= set(self.selection.unknown(self.backend))
        if unknown:
            for name in sorted(unknown):
                near = near_names(name, [*names(self.pipeline), *BY_NAME])
                self.report.note(
                    f"no pass or pipeline of this run is called {name}{near}", self.report.program
                )


class _ModuleRun:
    """The passes over one module, with what watches them."""

    def __init__(
        self, optimizer: Optimizer, module: Module, name: str, dump: ModuleDump | None
    ) -> None:
        self._optimizer = optimizer
        self._arguments = optimizer.arguments
        self._report = optimizer.report
        self._module = module
        self._name = name
        self._dump = dump
        self._truth = TruthHook() if self._arguments.verify_each else None
        self._values = ValueHook(self._arguments.seed) if self._arguments.check_values else None
        is_kept = self._arguments.stage == "html" or (dump is not None and dump.wants_history)
        self._history = HistoryHook() if is_kept else None
        self._runner = Runner(list(self._hooks()), optimizer.fuel)

    def result(self, finished: Callable[[Module], str]) -> str:
        """Returns what `finished` makes of the module at the stage that is asked for."""
        is_backend = self._arguments.stage in OF_PLATFORMS
        dump, module = self._dump, self._module
        try:
            if dump is not None:
                dump.begin(module, by_passes=bool(self._arguments.passes))
            self._optimize()
            text = "" if is_backend else self._text(finished)
            backend = self._optimizer.backend
            if backend is not None and (is_backend or dump is not None):
                self._runner.run(self._optimizer.selection.applied(backend), module)
            if dump is not None:
                history = None if self._history is None else self._history.history
                dump.end(
                    module, self._runner.records, history, by_passes=bool(self._arguments.passes)
                )
            text = finished(module) if is_backend else text
            self._tell_of_values()
            return text
        finally:
            self._tell()

    def _text(self, finished: Callable[[Module], str]) -> str:
        """Returns what `finished` makes of the module; a page shows the passes too."""
        history = None if self._history is None else self._history.history
        if self._arguments.stage != "html" or history is None or not history.changes:
            return finished(self._module)
        from hlotool.graph.pass_data import passes_page

        return passes_page(history)

    def _optimize(self) -> None:
        if self._module.is_scheduled and not self._arguments.passes:
            self._report.note(
                "the module is scheduled already, so that the passes of the platform are left out;"
                " to run them take the schedule away first, with --passes=hlo-descheduler -o FILE",
                self._name,
            )
            return
        optimizer = self._optimizer
        self._runner.run(optimizer.selection.applied(optimizer.pipeline), self._module)

    def _hooks(self) -> Iterator[Hook]:
        arguments = self._arguments
        if arguments.print_changed:
            is_diff = arguments.print_changed == "diff"
            yield DiffHook(self._name, is_diff=is_diff, is_json=arguments.json)
        if self._dump is not None:
            yield self._dump.hook
        if self._truth is not None:
            yield self._truth
            yield VerifyingHook()
        if self._values is not None:
            yield self._values
        if self._history is not None:
            yield self._history

    def _tell(self) -> None:
        arguments, report, name = self._arguments, self._report, self._name
        records = self._runner.records
        show_notes(records, name, as_json=arguments.json)
        for words in self._runner.warnings:
            report.note(words, name)
        for pass_name in self._optimizer.fuel.used_up():
            report.note(f"the fuel of {pass_name} is used up", name)
        if arguments.explain_fusion:
            show_decisions(records, name, as_json=arguments.json)
        if arguments.time_passes:
            show_times(records, name, as_json=arguments.json)
        if self._truth is not None:
            for lie in self._truth.lies:
                report.error(HloError(lie), name)
        if self._dump is not None:
            self._dump.close()
            for words in self._dump.unmatched():
                report.note(words, name)

    def _tell_of_values(self) -> None:
        values = self._values
        if values is None:
            return
        if values.mismatch is not None:
            self._report.error(mismatch_error(values.mismatch), self._name)
        elif values.fault:
            self._report.error(
                EvaluationError(f"no values were checked: {values.fault}"), self._name
            )
        else:
            changes = "pass that changed it" if values.checked == 1 else "passes that changed it"
            words = f"results are the same after {values.checked} {changes}"
            self._report.note(words if values.checked else "no pass changed it", self._name)


def _selection(flags: Flags) -> Selection:
    disabled, only = (
        frozenset(filter(None, str(flags[name]).split(",")))
        for name in ("xla_disable_hlo_passes", "xla_enable_hlo_passes_only")
    )
    if disabled and only:
        raise UsageError(
            "--xla_disable_hlo_passes and --xla_enable_hlo_passes_only exclude each other"
        )
    return Selection(
        disabled,
        only,
        str(flags["xla_run_hlo_passes_starting_from"]),
        bool(flags["xla_disable_all_hlo_passes"]),
    )


def _amounts(text: str) -> dict[str, int]:
    """Returns how many rewrites each pass of `pass=count,...` may do."""
    made = {}
    for part in filter(None, text.split(",")):
        name, _, amount = part.partition("=")
        if not amount.isdecimal() or len(amount) > MOST_DIGITS:
            raise UsageError(f"--xla_fuel is a list of PASS=COUNT, {part!r} given")
        made[pass_named(name).name] = int(amount)
    return made
