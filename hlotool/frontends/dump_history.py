"""The passes of dumped modules: what each of them changed, when it ran, what it decided."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from hlotool.errors import HloError
from hlotool.frontends.dump_directory import DumpDirectory, DumpedModule, DumpFile, Stage
from hlotool.frontends.dump_names import DECISIONS, FLAGS, OWN_PAGE, TIMES
from hlotool.frontends.dump_reading import fault, module_content, parsed_module, whole_text
from hlotool.frontends.fusion_frames import FusionDecision, fusion_decisions
from hlotool.frontends.pass_times import pass_times
from hlotool.passes.history import PassHistory, States
from hlotool.passes.running import START
from hlotool.rewriting.journal import Decision

MODULE_LIMIT = 16 << 20
"""The bytes of different modules that are read of one directory, unless asked otherwise."""
BEGINNING = "start of "
"""What the name of a pipeline has in front where a stage is the one that it begins with."""
_LARGEST_TEXT = 16 << 20
_EVERY_CHANGE = re.compile(r'^xla_dump_hlo_pass_re: "\.\*"$', re.MULTILINE)
"""Asked for in this way, each pass that changed the module has a dump behind it."""


class DumpStates:
    """The modules of a directory, each different content once; `states` holds them.

    First and last stages are read before those between passes. Files that cannot be read, and
    those over the limit, say so from then on in `why`.
    """

    def __init__(self, directory: DumpDirectory, limit: int = MODULE_LIMIT) -> None:
        self.states = States()
        self._directory = directory
        self._limit = limit
        self._left = limit
        self._numbers: dict[str, int] = {}
        self._sizes: set[tuple[str, int]] = set()
        stages = [stage for module in directory.modules for stage in module.stages]
        for stage in sorted(stages, key=lambda one: one.step is not None):
            if not stage.file.why:
                self._read(stage.file)

    def number(self, stage: Stage) -> int:
        """Returns the number of a stage's state, -1 where it was not read."""
        return self._numbers.get(stage.file.path, -1)

    def _read(self, file: DumpFile) -> None:
        size = file.name.format, file.size
        # What is too large is read only where it may be what is there already.
        if self._left <= 0 or (file.size > self._left and size not in self._sizes):
            file.why = self._over_limit()
            return
        try:
            content = module_content(self._directory, file)
            # A proto and a text are different content, also where they are the same module.
            key = file.name.format, blake2b(content, digest_size=16).digest()
            if not self.states.has(key):
                if len(content) > self._left:
                    file.why = self._over_limit()
                    return
                self._left -= len(content)
            self._numbers[file.path] = self.states.number(key, lambda: parsed_module(content, file))
            self._sizes.add(size)
        except HloError as error:
            file.why = fault(error)

    def _over_limit(self) -> str:
        return f"over the limit of {self._limit / (1 << 20):g} MiB of modules: see --module-limit"


@dataclass(frozen=True, slots=True)
class DumpedHistory:
    """What is known of the passes of one module."""

    passes: PassHistory
    decisions: list[FusionDecision]
    """Those of passes that the dump has no state behind, since they changed nothing."""


class ReadDump:
    """What is read of a directory once, for a page and for tables.

    `histories` are those of its modules, in their order, and `states` what these speak of.
    """

    def __init__(self, directory: DumpDirectory, limit: int = MODULE_LIMIT) -> None:
        self.states = DumpStates(directory, limit)
        self.histories = [
            pass_history(directory, module, self.states) for module in directory.modules
        ]


def pass_history(
    directory: DumpDirectory, module: DumpedModule, states: DumpStates
) -> DumpedHistory:
    """Returns what lies between the stages of a module that were read."""
    history = PassHistory(states.states)
    seconds = _seconds(directory, module)
    decisions = _decisions(directory, module)
    is_every_change = _has_every_change(directory, module)
    row = [s for s in module.stages if s.is_between_passes and states.number(s) >= 0]
    for one, other in pairwise(row):
        name, pipeline = _pass_of(other)
        is_next = one.step is not None and one.step.before == name
        is_known = other.step is None or other.step.after != START
        before, after = states.number(one), states.number(other)
        own = decisions.pop(_plain(name), []) if before != after else []
        history.passed(
            name, pipeline, before, after,
            seconds=seconds.get(other.file.path.rpartition("/")[2]),
            is_alone=is_known and (is_every_change or is_next),
            decisions=[Decision(d.producer, d.consumer, d.is_fused, d.reason) for d in own],
        )  # fmt: skip
    return DumpedHistory(history, [one for left in decisions.values() for one in left])


def _pass_of(stage: Stage) -> tuple[str, str]:
    """Returns the pass that ran before a stage, and its pipeline."""
    step = stage.step
    if step is None:
        return stage.title, ""
    if step.after == START:
        # What changed here did so between two pipelines, as schedulers do.
        return f"{BEGINNING}{step.pipeline}", step.pipeline
    if not step.before:
        return f"{step.pipeline}: {step.after.removeprefix('after_').replace('_', ' ')}", ""
    return step.after, step.pipeline


def _has_every_change(directory: DumpDirectory, module: DumpedModule) -> bool:
    for file in module.of_kind(FLAGS):
        with suppress(HloError):
            if _EVERY_CHANGE.search(whole_text(directory, file, _LARGEST_TEXT)):
                return True
    return False


def _seconds(directory: DumpDirectory, module: DumpedModule) -> dict[str, float]:
    """Returns how long passes ran, by the names of the files behind them."""
    found: dict[str, float] = {}
    for file in module.of_kind(TIMES):
        # The text itself is shown, whatever is in it.
        with suppress(HloError):
            for one in pass_times(whole_text(directory, file, _LARGEST_TEXT), file.path):
                found.update(dict.fromkeys(one.files, one.seconds))
    return found


def _decisions(directory: DumpDirectory, module: DumpedModule) -> dict[str, list[FusionDecision]]:
    """Returns decisions by their passes, whose names are written as `_plain` does."""
    found: dict[str, list[FusionDecision]] = {}
    files = list(module.of_kind(DECISIONS))
    paths = {file.path for file in files}
    for file in files:
        if file.path.endswith(".html") and f"{file.path.removesuffix('.html')}.txt" in paths:
            file.why = file.why or f"{OWN_PAGE}: the .txt beside it says the same"
        if file.why:
            continue
        try:
            text = whole_text(directory, file, _LARGEST_TEXT)
            for one in fusion_decisions(text, file.path):
                # The reference writes the name of the pass's class.
                name = _plain(one.pass_name).removeprefix("instruction")
                found.setdefault(name, []).append(one)
        except HloError as error:
            file.why = fault(error)
    return found


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()
