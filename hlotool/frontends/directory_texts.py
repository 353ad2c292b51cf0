"""What a page over a directory holds of files that are no modules: texts, memory, graphs."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from hlotool.errors import HloError
from hlotool.frontends.buffer_assignment import MemoryUse, memory_use
from hlotool.frontends.dump_directory import DumpDirectory, DumpedModule, DumpFile
from hlotool.frontends.dump_names import BUFFERS, DECISIONS, LIVE_RANGES, MODULE
from hlotool.frontends.dump_reading import fault, read_text, whole_text
from hlotool.frontends.graph_document import GraphDocument, graph_document
from hlotool.frontends.tf_graph import ClusterGraph, cluster_module, tf_graphs
from hlotool.graph.numbering import Strings, differences

TEXT_LIMIT = 256 << 10
"""The bytes that a page has of one text, unless asked otherwise."""
ALL_TEXTS = 16 << 20
"""The bytes that a page has of all texts together."""
ALL_MEMORY = 64 << 20
"""The bytes of dumps that the memory of all modules in one page is read from."""
_LARGEST_GRAPH = 16 << 20


class TextTable:
    """The texts of a page, deflated, up to a limit for each and one for all."""

    def __init__(self, directory: DumpDirectory, strings: Strings, limit: int = TEXT_LIMIT) -> None:
        self.rows: list[dict[str, Any]] = []
        self._directory = directory
        self._strings = strings
        self._limit = limit
        self._left = ALL_TEXTS

    def add(self, file: DumpFile, title: str, number: int) -> int:
        """Takes a text in and returns its place in `rows`, -1 where that cannot be."""
        if self._left <= 0:
            file.why = f"over the limit of {ALL_TEXTS >> 20} MiB of texts in one page"
            return -1
        try:
            found = read_text(self._directory, file, min(self._limit, self._left))
        except HloError as error:
            file.why = fault(error)
            return -1
        data = found.text.encode()
        self._left -= len(data)
        self.rows.append(
            {
                "title": self._strings(title),
                "kind": self._strings(file.kind),
                "file": number,
                "size": found.size,
                "cut": int(found.is_cut),
                "data": base64.b64encode(zlib.compress(data, 9)).decode(),
            }
        )
        return len(self.rows) - 1


def shown_as_text(module: DumpedModule) -> Iterable[DumpFile]:
    """Yields the files of a module that a page shows as they are."""
    return (f for f in module.files if not f.why and f.kind not in {MODULE, DECISIONS})


class MemoryTable:
    """How modules use memory, as far as dumps up to a limit for all of them say."""

    def __init__(self, directory: DumpDirectory, strings: Strings, limit: int = ALL_MEMORY) -> None:
        self._directory = directory
        self._strings = strings
        self._limit = limit
        self._left = limit

    def entry(self, module: DumpedModule) -> dict[str, Any] | None:
        """Returns the entry `memory` of a module, `None` where nothing of it can be shown."""
        files = [file for kind in (BUFFERS, LIVE_RANGES) for file in module.of_kind(kind)[:1]]
        if not files:
            return None
        size = sum(file.size for file in files)
        if size > self._left:
            words = f"no memory over time: over the limit of {self._limit >> 20} MiB in one page"
            self._directory.remarks.append((files[0], words))
            return None
        try:
            texts = [whole_text(self._directory, file, self._left) for file in files]
            found = _memory(memory_use(texts, module.title), self._strings)
        except HloError:
            # The texts themselves are shown all the same.
            return None
        self._left -= size
        return found


def _memory(use: MemoryUse, strings: Strings) -> dict[str, Any]:
    return {
        "total": use.total_bytes,
        "steps": [strings(name) for name in use.sequence],
        "curve": differences(use.curve()),
        "allocations": [
            {
                "number": one.number, "size": one.size, "kind": one.kind, "color": one.color,
                "words": strings(one.words),
            }
            for one in use.allocations
        ],
        "values": {
            "name": [strings(one.instruction) for one in use.values],
            "index": [strings.optional(one.index) for one in use.values],
            "shape": [strings(one.shape) for one in use.values],
            "allocation": [one.allocation for one in use.values],
            "offset": [one.offset for one in use.values],
            "size": [one.size for one in use.values],
            "start": [one.start for one in use.values],
            "end": [one.end for one in use.values],
        },
    }  # fmt: skip


def graph_entries(
    directory: DumpDirectory,
    numbers: dict[str, int],
    strings: Strings,
    first: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the entry `graphs`, and of each graph a document that says what it looks like.

    Equal files have one graph; `numbers` are those of paths, and `first` is that of the first
    document among the modules of the page.
    """
    names = [module.name for module in directory.modules]
    found: dict[str, list[int]] = {}
    graphs: dict[str, list[ClusterGraph]] = {}
    left = _LARGEST_GRAPH
    for file in directory.graphs:
        if file.why:
            continue
        try:
            text = whole_text(directory, file, _LARGEST_GRAPH)
            if text not in graphs and len(text) > left:
                file.why = f"over the limit of {_LARGEST_GRAPH >> 20} MiB of graphs in one page"
                continue
            if text not in graphs:
                graphs[text] = tf_graphs(text, file.path)
                left -= len(text)
        except HloError as error:
            file.why = fault(error)
            continue
        found.setdefault(text, []).append(numbers[file.path])
    made: list[dict[str, Any]] = []
    documents: list[dict[str, Any]] = []
    for text, several in graphs.items():
        title = directory.files[found[text][0]].path
        for graph in several:
            shown = graph_document(graph, f"{title}, {graph.name}" if graph.name else title)
            entry = _graph(graph, shown, names, strings)
            made.append({"files": found[text], "document": first + len(documents), **entry})
            documents.append(shown.document)
    return made, documents


def _graph(
    graph: ClusterGraph, shown: GraphDocument, names: Sequence[str], strings: Strings
) -> dict[str, Any]:
    return {
        "function": strings.optional(graph.name),
        "nodes": len(graph.nodes),
        "lost": graph.lost,
        "loops": shown.loops,
        "clusters": [
            {
                "name": strings(name),
                "module": cluster_module(name, names),
                "places": [number for node in nodes for number in shown.places[node]],
            }
            for name, nodes in graph.clusters().items()
        ],
    }
