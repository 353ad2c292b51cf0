"""The dumps of one module of a run: what is written at its start and end, and between passes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.cli.dump_files import dump_folder
from hlotool.cli.outputs import encode
from hlotool.cli.xla_flags import Flags, debug_options
from hlotool.errors import UsageError
from hlotool.ir.module import Module
from hlotool.passes.dumping import DumpHook, DumpOptions, sanitized
from hlotool.passes.memory.memory_report import (
    buffer_assignment_text,
    live_range_text,
    memory_usage_text,
    values_text,
)
from hlotool.passes.running import Record

if TYPE_CHECKING:
    from hlotool.codegen.target import Target
    from hlotool.passes.history import PassHistory

_EXPRESSIONS = ("xla_dump_hlo_pass_re", "xla_dump_hlo_pipeline_re", "xla_dump_hlo_module_re")
_ENDS = {"cpu": "cpu_after_optimizations", "gpu": "gpu_after_optimizations"}
_INTENTS = (
    "xla_dump_to", "xla_dump_hlo_pass_re", "xla_dump_hlo_pipeline_re", "xla_dump_hlo_module_re",
    "xla_dump_hlo_as_text", "xla_dump_hlo_as_dot", "xla_dump_hlo_as_html",
    "xla_dump_hlo_as_proto", "xla_dump_fusion_visualization", "xla_dump_module_metadata",
)  # fmt: skip
"""The flags that ask for a dump, each alone."""


def check_expressions(flags: Flags) -> None:
    """Raises `UsageError` for a flag that is no regular expression."""
    for name in _EXPRESSIONS:
        try:
            with warnings.catch_warnings():
                # What a later Python may read in another way is no matter of the user's.
                warnings.simplefilter("ignore")
                re.compile(str(flags[name]))
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"--{name} is no regular expression: {error}") from None


class ModuleDump:
    """Dumps one module; `hook` does so around passes."""

    def __init__(
        self, flags: Flags, module: Module, platform: str, target: Callable[[], Target]
    ) -> None:
        self._flags = flags
        self._platform = platform
        self._target = target
        options = DumpOptions(
            hlo_pass_re=str(flags["xla_dump_hlo_pass_re"]),
            hlo_pipeline_re=str(flags["xla_dump_hlo_pipeline_re"]),
            include_timestamp=bool(flags["xla_dump_include_timestamp"]),
        )
        self.hook = DumpHook(module, options, dump_folder(flags, module))

    @classmethod
    def of(
        cls, flags: Flags, module: Module, platform: str, target: Callable[[], Target]
    ) -> ModuleDump | None:
        """Returns the dump of a module, `None` where the flags ask for none of it.

        `target` is asked where code is dumped too.
        """
        if not flags["xla_enable_dumping"] or not any(flags[name] for name in _INTENTS):
            return None
        if re.search(str(flags["xla_dump_hlo_module_re"]), module.name) is None:
            return None
        return cls(flags, module, platform, target)

    def begin(self, module: Module, *, by_passes: bool) -> None:
        """Writes the module as it was read; with `by_passes` under the name of that mode."""
        self.hook.write_module(
            module, "before_optimization" if by_passes else "before_optimizations"
        )

    @property
    def wants_history(self) -> bool:
        """Whether `end` needs the history of the passes."""
        return any(
            self._flags[name] for name in ("xla_dump_hlo_as_html", "xla_dump_fusion_visualization")
        )

    def end(
        self, module: Module, records: Sequence[Record], history: PassHistory | None, *,
        by_passes: bool,
    ) -> None:  # fmt: skip
        """Writes the module after all passes, and what there is to say of it and of them."""
        name = "after_optimization" if by_passes else _ENDS.get(self._platform)
        if name is not None:
            self.hook.write_module(module, name)
            if module.is_scheduled and not by_passes:
                self._write_buffers(module, name)
                if self._platform == "cpu":
                    self._write_code(module)
        if self._flags["xla_dump_fusion_visualization"]:
            self._write_fusions(module, records)
        if history is not None and history.changes:
            self._write_pages(module, history)
        self.hook.write("debug_options", "", encode(debug_options(self._flags)))
        if self._flags["xla_dump_module_metadata"]:
            self.hook.write_metadata(module)

    def close(self) -> None:
        """Ends the dump, whole or not."""
        self.hook.finish()

    def _write_buffers(self, module: Module, name: str) -> None:
        assignment = buffer_assignment(module)
        reports = {"-buffer-assignment": buffer_assignment_text(module, assignment)}
        if self._flags["xla_dump_buffer_assignment_analysis"]:
            reports["-buffer-assignment-values"] = values_text(module, assignment)
            reports["-live-range"] = live_range_text(module, assignment)
        reports["-memory-usage-report"] = memory_usage_text(module, assignment)
        for end, text in reports.items():
            self.hook.write(name + end, ".txt", encode(text))

    def _write_code(self, module: Module) -> None:
        # LLVM comes with this, which dumps of other platforms do not need.
        from hlotool.runtime.stages import Stages

        made = Stages(module, self._target())
        self.hook.write("ir-no-opt", ".ll", made.llvm_before_optimizations())
        self.hook.write("ir-with-opt", ".ll", made.llvm())
        self.hook.write("obj-file", ".o", made.object())

    def unmatched(self) -> Iterator[str]:
        """Yields a remark for each expression that nothing of the run matched."""
        passes = str(self._flags["xla_dump_hlo_pass_re"])
        pipelines = str(self._flags["xla_dump_hlo_pipeline_re"])
        if passes and not self.hook.is_pass_matched:
            yield f"no pass of the run matches --xla_dump_hlo_pass_re={passes}"
        if pipelines and not passes:
            yield "--xla_dump_hlo_pipeline_re dumps nothing without --xla_dump_hlo_pass_re"
        elif pipelines and not self.hook.is_pipeline_matched:
            yield f"no pipeline of the run matches --xla_dump_hlo_pipeline_re={pipelines}"

    def _write_pages(self, module: Module, history: PassHistory) -> None:
        from hlotool.graph.pass_data import decisions_page, passes_page

        if self._flags["xla_dump_hlo_as_html"]:
            self.hook.write("passes", ".html", encode(passes_page(history)))
        if self._flags["xla_dump_fusion_visualization"]:
            made = decisions_page(history)
            if made is not None:
                prefix = f"{sanitized(module.entry.name)}."
                self.hook.write("_fusion", ".html", encode(made), prefix=prefix)

    def _write_fusions(self, module: Module, records: Sequence[Record]) -> None:
        lines = [
            f"{record.name}: {one.producer} into {one.consumer}:"
            f" {'fused' if one.is_fused else 'not fused'}, {one.reason}\n"
            for record in records
            for one in record.journal.decisions
        ]
        self.hook.write(
            "_fusion", ".txt", encode("".join(lines)), prefix=f"{sanitized(module.entry.name)}."
        )
