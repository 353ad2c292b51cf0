"""The document of a page over a directory: `docs/viewer_data.md` says what each entry is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlotool.frontends.directory_texts import (
    TEXT_LIMIT,
    MemoryTable,
    TextTable,
    graph_entries,
    shown_as_text,
)
from hlotool.frontends.dump_directory import DumpDirectory, DumpedModule, DumpFile
from hlotool.frontends.dump_history import MODULE_LIMIT, ReadDump
from hlotool.frontends.dump_names import BUFFERS, DECISIONS
from hlotool.frontends.fusion_frames import FusionDecision
from hlotool.graph.html import as_json
from hlotool.graph.page_states import PageStates
from hlotool.graph.pass_data import pass_entries
from hlotool.text.parser import parse

_NOTHING = "HloModule nothing\nENTRY nothing { ROOT nothing = () tuple() }"
"""What a page shows where a directory has no module: only graphs, say."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a directory a page holds, in bytes."""

    modules: int = MODULE_LIMIT
    """Of the contents of different modules."""
    text: int = TEXT_LIMIT
    """Of each text that is shown as it is."""


def directory_document(
    directory: DumpDirectory, limits: Limits | None = None, read: ReadDump | None = None
) -> dict[str, Any]:
    """Returns the document over a directory; files that turn out not to be shown then say why.

    `read` is what was read of it before, which is then not read again.
    """
    limits = limits or Limits()
    return _Directory(directory, limits, read or ReadDump(directory, limits.modules)).document()


class _Directory:
    def __init__(self, directory: DumpDirectory, limits: Limits, read: ReadDump) -> None:
        self._directory = directory
        self._read = read
        self._states = read.states
        read_modules = self._states.states.modules
        self._pages = PageStates(read_modules or [parse(_NOTHING)])
        self._strings = self._pages.strings
        self._file = {file.path: number for number, file in enumerate(directory.files)}
        self._texts = TextTable(directory, self._strings, limits.text)
        self._memory = MemoryTable(directory, self._strings)

    def document(self) -> dict[str, Any]:
        """Returns the document of the module that is shown first, with all others inside."""
        directory = self._directory
        modules = [self._module(number) for number in range(len(directory.modules))]
        titles = self._titles()
        graphs, shown = graph_entries(directory, self._file, self._strings, len(titles))
        titles += [str(one["title"]) for one in shown]
        others = [self._text(file, file.path) for file in directory.others if not file.why]
        # What files say of themselves is known when all of them have been read.
        entries = self._pages.entries(self._first_shown())
        states = entries["modules"] if self._states.states.modules else []
        return {
            **entries,
            "title": Path(directory.path).resolve().name,
            "modules": [*states, *map(as_json, shown)],
            "titles": titles,
            "directory": {
                "path": directory.path,
                "files": self._files(),
                "modules": modules,
                "graphs": graphs,
                "texts": self._texts.rows,
                "others": [number for number in others if number >= 0],
            },
        }

    def _first_shown(self) -> int:
        """Returns the state that the page shows first: the last one of the first module."""
        row = [stage for module in self._directory.modules[:1] for stage in module.stages]
        numbers = [n for n in map(self._states.number, row) if n >= 0]
        return numbers[-1] if numbers else 0

    def _titles(self) -> list[str]:
        """Returns what each state is called: by the first stage that is in it."""
        found: dict[int, str] = {}
        titles = self._directory.titles()
        for title, module in zip(titles, self._directory.modules, strict=True):
            for stage in module.stages:
                found.setdefault(self._states.number(stage), f"{title}, {stage.title}")
        return [found[number] for number in range(len(self._states.states.modules))]

    def _module(self, place: int) -> dict[str, Any]:
        module, history = self._directory.modules[place], self._read.histories[place]
        entries = pass_entries(history.passes, self._pages)
        read = [
            number
            for number, stage in enumerate(module.stages)
            if stage.is_between_passes and self._states.number(stage) >= 0
        ]
        for entry, stage_number in zip(entries["passes"], read[1:], strict=True):
            entry["stage"] = stage_number
        entries["decisions"] += [self._unplaced(one) for one in history.decisions]
        memory = self._memory.entry(module)
        if memory is not None:
            memory["module"] = self._module_of(module, BUFFERS)
        texts = [self._text(file, module.part(file)) for file in shown_as_text(module)]
        return {
            "title": module.title,
            "name": module.name,
            "number": -1 if module.number is None else module.number,
            "folder": "" if module.folder == "." else module.folder,
            "stages": [
                {
                    "title": self._strings(stage.title),
                    "module": self._states.number(stage),
                    "file": self._file[stage.file.path],
                }
                for stage in module.stages
            ],
            **entries,
            "decided": [
                self._file[file.path] for file in module.of_kind(DECISIONS) if not file.why
            ],
            "memory": memory,
            "texts": [number for number in texts if number >= 0],
        }

    def _module_of(self, module: DumpedModule, kind: str) -> int:
        """Returns the state that the first file of a kind is about, -1 where it was not read."""
        part = module.part(module.of_kind(kind)[0])
        of_stage = (stage for stage in module.stages if part.startswith(f"{stage.title}-"))
        return next(map(self._states.number, of_stage), -1)

    def _text(self, file: DumpFile, title: str) -> int:
        return self._texts.add(file, title, self._file[file.path])

    def _unplaced(self, one: FusionDecision) -> dict[str, Any]:
        strings = self._strings
        return {
            "pass": -1,
            "producer": strings(one.producer),
            "consumer": strings(one.consumer),
            "kind": "fused" if one.is_fused else "not fused",
            "reason": strings.optional(f"{one.pass_name}: {one.reason}"),
            "saved": 0,
            "module": -1,
        }

    def _files(self) -> list[dict[str, Any]]:
        modules = {
            file.path: number
            for number, module in enumerate(self._directory.modules)
            for file in module.files
        }
        return [
            {
                "path": file.path,
                "size": file.size,
                "kind": self._strings(file.kind),
                "why": self._strings.optional(file.why),
                "module": modules.get(file.path, -1),
            }
            for file in self._directory.files
        ]
