"""The document of a page over a directory: `docs/viewer_data.md` says what each entry is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlotool.frontends.directory_texts import (
    TEXT_LIMIT,
    TextTable,
    graph_entries,
    memory_entry,
    shown_as_text,
)
from hlotool.frontends.dump_directory import DumpDirectory, DumpedModule, DumpFile
from hlotool.frontends.dump_history import MODULE_LIMIT, DumpStates, pass_history
from hlotool.frontends.dump_names import BUFFERS, DECISIONS
from hlotool.frontends.fusion_frames import FusionDecision
from hlotool.graph.html import as_json
from hlotool.graph.page_data import page_data
from hlotool.graph.pass_data import Strings, pass_entries
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


def directory_document(directory: DumpDirectory, limits: Limits | None = None) -> dict[str, Any]:
    """Returns the document over a directory; files that turn out not to be shown then say why."""
    return _Directory(directory, limits or Limits()).document()


class _Directory:
    def __init__(self, directory: DumpDirectory, limits: Limits) -> None:
        self._directory = directory
        self._states = DumpStates(directory, limits.modules)
        self._documents = [page_data(module) for module in self._states.states.modules]
        self._file = {file.path: number for number, file in enumerate(directory.files)}
        self._shown = self._first_shown()
        self._strings = Strings(self._shown["strings"])
        self._texts = TextTable(directory, self._strings, limits.text)

    def document(self) -> dict[str, Any]:
        """Returns the document of the module that is shown first, with all others inside."""
        directory = self._directory
        modules = [self._module(module) for module in directory.modules]
        titles = self._titles()
        graphs = graph_entries(directory, self._file, self._strings, self._documents)
        titles += [str(document["title"]) for document in self._documents[len(titles) :]]
        others = [self._text(file, file.path) for file in directory.others if not file.why]
        # What files say of themselves is known when all of them have been read.
        return {
            **self._shown,
            "title": Path(directory.path).resolve().name,
            "modules": [as_json(document) for document in self._documents],
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

    def _first_shown(self) -> dict[str, Any]:
        """Returns a copy of the first module's last document that shares nothing that grows."""
        row = [stage for module in self._directory.modules[:1] for stage in module.stages]
        numbers = [n for n in map(self._states.number, row) if n >= 0]
        last = numbers[-1] if numbers else 0
        found = self._documents[last] if self._documents else page_data(parse(_NOTHING))
        return {**found, "strings": list(found["strings"])}

    def _titles(self) -> list[str]:
        """Returns what each state is called: by the first stage that is in it."""
        found: dict[int, str] = {}
        for module in self._directory.modules:
            for stage in module.stages:
                found.setdefault(self._states.number(stage), f"{module.title}, {stage.title}")
        return [found[number] for number in range(len(self._documents))]

    def _module(self, module: DumpedModule) -> dict[str, Any]:
        history = pass_history(self._directory, module, self._states)
        entries = pass_entries(history.passes, self._documents, self._strings)
        read = [
            number
            for number, stage in enumerate(module.stages)
            if stage.is_between_passes and self._states.number(stage) >= 0
        ]
        for entry, stage_number in zip(entries["passes"], read[1:], strict=True):
            entry["stage"] = stage_number
        entries["decisions"] += [self._unplaced(one) for one in history.decisions]
        memory = memory_entry(self._directory, module, self._strings)
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
