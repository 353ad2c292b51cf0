"""Writes modules before, between and after passes, under the reference's flags and names."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.passes.running import Hook, Record, Step

EVERYTHING = ".*"
"""The one expression that leaves out passes which changed nothing."""
LONGEST_NAME = 255
"""What file systems take, in characters of ASCII."""

_ODD = re.compile(r"[^A-Za-z0-9_.-]")

ModuleWriter = Callable[[Module, str], bytes]
"""Gives the content of a file for a module; the text is a title, for formats that show one."""


@dataclass(frozen=True)
class DumpOptions:
    """What is dumped; the names are those of the reference's flags without `xla_dump_`."""

    hlo_pass_re: str = ""
    hlo_pipeline_re: str = ""
    include_timestamp: bool = False


@dataclass
class DumpFolder:
    """Where the files of one run go; `write` takes a name and a content.

    `claim` gives a module a number that no other run has, and `release` ends the claim, when
    files have the number in their names.
    """

    write: Callable[[str, bytes], None]
    claim: Callable[[], int]
    release: Callable[[int], None]
    writers: Mapping[str, ModuleWriter]
    """The formats by the ends of file names, such as `.txt`."""


class DumpHook(Hook):
    """Dumps one module; after the run `unmatched` says which expressions met nothing."""

    def __init__(self, module: Module, options: DumpOptions, folder: DumpFolder) -> None:
        self._options = options
        self._folder = folder
        self._passes = re.compile(options.hlo_pass_re) if options.hlo_pass_re else None
        self._pipelines = re.compile(options.hlo_pipeline_re)
        self._number = folder.claim()
        self._name = sanitized(module.name)
        self._steps = 0
        self._files: list[str] = []
        self._metadata: list[PassMetadata] = []
        self._started_at = 0
        self.is_pass_matched = False
        self.is_pipeline_matched = False

    @property
    def number(self) -> int:
        """The number of the module in names of files."""
        return self._number

    def write_module(self, module: Module, what: str) -> None:
        """Writes `P.what` in every format; P is the number and the name of the module."""
        for suffix, writer in self._folder.writers.items():
            title = self._file_name(what, "", "")
            self.write(what, suffix, writer(module, title))

    def write(self, what: str, suffix: str, data: bytes, *, prefix: str = "") -> None:
        """Writes one file: `prefix` and `P.what` with the suffix."""
        name = self._file_name(what, suffix, prefix)
        self._folder.write(name, data)
        self._files.append(name)

    def finish(self) -> None:
        """Lets go of the number, which files have by now."""
        self._folder.release(self._number)

    def write_metadata(self, module: Module) -> None:
        """Writes when which pass ran, and which files show it: `module_NNNN.metadata.textproto`."""
        text = _metadata_text(self._number, module.name, self._metadata)
        name = f"module_{self._number:04}.metadata.textproto"
        self._folder.write(name, text.encode("utf-8", "surrogateescape"))

    def started(self, step: Step, module: Module) -> None:
        """Dumps what a pipeline begins with, before a pass that is asked for."""
        self._dump(step, module, changed=True)

    def before(self, one: Pass, step: Step, module: Module) -> None:
        """Notes when the pass begins."""
        self._started_at = time.time_ns() // 1000

    def within(self, one: Pass, words: str, module: Module) -> None:
        """Dumps a part of a pass's work: `P.0037.copy-insertion.after_....txt`."""
        if self._passes is not None and self._passes.search(one.name):
            self.write_module(module, f"{self._next_step()}.{one.name}.{sanitized(words)}")

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        """Dumps what a pass has made."""
        ended_at = time.time_ns() // 1000
        files = len(self._files)
        self._dump(step, module, changed=record.changed)
        self._metadata.append(
            PassMetadata(
                one.name, step.pipeline, tuple(self._files[files:]), record.changed,
                self._started_at, ended_at,
            )
        )  # fmt: skip

    def ended(self, step: Step, module: Module, *, changed: bool) -> None:
        """Dumps what an inner pipeline has made."""
        self._dump(step, module, changed=changed)

    def _dump(self, step: Step, module: Module, *, changed: bool) -> None:
        if self._passes is None:
            return
        is_pipeline = self._pipelines.search(step.pipeline) is not None
        is_pass = any(self._passes.search(name) for name in (step.after, step.before))
        self.is_pipeline_matched |= is_pipeline
        self.is_pass_matched |= is_pass
        if not is_pipeline or not is_pass:
            return
        if self._options.hlo_pass_re == EVERYTHING and not changed:
            return
        pipeline, after, before = map(sanitized, (step.pipeline, step.after, step.before))
        self.write_module(module, f"{self._next_step()}.{pipeline}.after_{after}.before_{before}")

    def _next_step(self) -> str:
        number = f"{self._steps:04}"
        self._steps += 1
        return number

    def _file_name(self, what: str, suffix: str, prefix: str) -> str:
        stamp = f"{time.time_ns() // 1000}." if self._options.include_timestamp else ""
        start = f"{prefix}{stamp}module_{self._number:04}."
        name = f"{start}{self._name}.{what}{suffix}"
        if len(name) <= LONGEST_NAME:
            return name
        # Steps are told apart by their numbers, which come first.
        short = f"{start}{what}"
        return short[: LONGEST_NAME - len(suffix)] + suffix


@dataclass(frozen=True)
class PassMetadata:
    """What is recorded of one run of a pass; times are microseconds since 1970."""

    name: str
    pipeline: str
    files: tuple[str, ...]
    changed: bool
    start: int
    end: int


def sanitized(name: str) -> str:
    """Returns a name with what file names should not hold replaced by underscores."""
    return _ODD.sub("_", name).lstrip(".") or "_"


def _metadata_text(number: int, name: str, passes: list[PassMetadata]) -> str:
    lines = [f"canonical_module_id: {number}", f"module_name: {_quoted(name)}"]
    for position, one in enumerate(passes, 1):
        lines += [
            "pass_metadata {",
            f"  pass_id: {position}",
            f"  pass_name: {_quoted(one.name)}",
            f"  pipeline_name: {_quoted(one.pipeline)}",
            *[f"  dump_filenames: {_quoted(file)}" for file in one.files],
            f"  module_changed: {str(one.changed).lower()}",
            f"  module_id: {number}",
            f"  start_timestamp_usec: {one.start}",
            f"  end_timestamp_usec: {one.end}",
            "}",
        ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
