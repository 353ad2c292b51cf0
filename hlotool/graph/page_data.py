"""The data of a page: `docs/viewer_data.md` says what each entry is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hlotool.graph.memory import Peak
from hlotool.graph.model import ModuleGraph, called_by, part_number, updated_in_place
from hlotool.graph.numbering import differences
from hlotool.graph.overlays import Datum, Overlay, overlays
from hlotool.graph.page_tables import PageTables
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module


def page_data(
    module: Module, given: Mapping[str, Mapping[str, Datum]] | None = None
) -> dict[str, Any]:
    """Returns the document of a page over one module; `given` are overlays by their names."""
    tables = PageTables()
    return whole_document(module_document(module, tables, given), tables)


def whole_document(own: Mapping[str, Any], tables: PageTables) -> dict[str, Any]:
    """Returns the document of a page over one module, of what is its own and what pages share."""
    nothing: dict[str, Any] = {"modules": [], "passes": [], "decisions": [], "difference": None}
    return {**tables.entries(), **own, **nothing}


def module_document(
    module: Module, tables: PageTables, given: Mapping[str, Mapping[str, Datum]] | None = None
) -> dict[str, Any]:
    """Returns the part of a document that is about one module; texts and the like join `tables`."""
    graph = ModuleGraph(module)
    # The text is there by now, and annotations that nothing has read are quicker to print.
    tables.read_annotations(module)
    return _Document(graph, tables).made(given or {})


class _Document:
    def __init__(self, graph: ModuleGraph, tables: PageTables) -> None:
        self._graph = graph
        self._tables = tables
        self._strings = tables.strings
        self._annotated = tables.annotated(graph.module)
        self._number = {one: number for number, one in enumerate(graph.computations)}
        self._same = tables.same.numbers(graph)
        self._line = 0
        """Of the computation before."""

    def made(self, given: Mapping[str, Mapping[str, Datum]]) -> dict[str, Any]:
        """Returns the entries of the document that are about the module."""
        module = self._graph.module
        computations = [self._computation(one) for one in self._graph.computations]
        found = [self._overlay(one) for one in overlays(self._graph, given)]
        return {
            "title": module.name,
            "entry": self._number[module.entry],
            "text": self._graph.text.text,
            "computations": computations,
            "overlays": [one for one in found if one is not None],
        }

    def _computation(self, computation: Computation) -> dict[str, Any]:
        order = self._graph.instructions(computation)
        lines = self._graph.text.line
        line = lines.get(computation, 0)
        before, self._line = self._line, line
        known = self._tables.same.columns
        number = self._same[computation]
        if number not in known:
            known[number] = self._columns(computation, order)
        return {
            **known[number],
            "line": line - before,
            "kind": self._graph.kind(computation),
            "lines": differences(lines.get(one, 0) - line for one in order),
            "calls": [number for at, one in enumerate(order) for number in self._calls(one, at)],
        }

    def _columns(self, computation: Computation, order: list[Instruction]) -> dict[str, Any]:
        """Returns what does not depend on where a computation stands."""
        at = {instruction: number for number, instruction in enumerate(order)}
        strings, shape = self._strings, self._tables.shape
        ops = [self._tables.of_op(one.op) for one in order]
        return {
            "name": strings(computation.name),
            "root": at[computation.root],
            "op": [self._op(one) for one in order],
            "names": differences(strings(one.name) for one in order),
            "title": [strings(self._graph.title(one)) for one in order],
            "shape": [shape(one.shape) for one in order],
            "index": [-1 if (n := part_number(one)) is None else n for one in order],
            "value": [one.value for one in ops],
            "attributes": [one.attributes for one in ops],
            **self._annotations(order),
            "operands": [at[one] - at[operand] for one in order for operand in one.operands],
            "ends": [len(one.operands) for one in order],
            "control": [
                number
                for one in order
                for predecessor in one.control_predecessors
                for number in (at[one], at[predecessor])
            ],
            "alias": [
                n for one in order for place in updated_in_place(one) for n in (at[one], place)
            ],
        }

    def _annotations(self, order: list[Instruction]) -> dict[str, list[int]]:
        numbers = [self._annotated(one.annotations) for one in order]
        return {
            "scope": [one.scope for one in numbers],
            "source": [one.source for one in numbers],
            "frames": [one.frames for one in numbers],
            "sharding": [one.sharding for one in numbers],
        }

    def _op(self, instruction: Instruction) -> int:
        return self._tables.op(instruction.op, self._graph.category(instruction))

    def _calls(self, instruction: Instruction, at: int) -> Iterable[int]:
        for called in called_by(instruction):
            yield from (at, self._number[called.computation], self._strings(called.part))

    def _data(self, overlay: Overlay, computation: Computation) -> list[Any]:
        known = self._tables.same.data
        key = self._same[computation], overlay.name
        if overlay.is_local and key in known:
            return known[key]
        data: list[Any] = [overlay.of(one) for one in self._graph.instructions(computation)]
        if overlay.kind == "categorical":
            data = [-1 if datum is None else self._strings(str(datum)) for datum in data]
        if overlay.is_local:
            known[key] = data
        return data

    def _overlay(self, overlay: Overlay) -> dict[str, Any] | None:
        columns = []
        is_empty = True
        nothing = -1 if overlay.kind == "categorical" else None
        for computation in self._graph.computations:
            data = self._data(overlay, computation)
            is_empty = is_empty and all(datum == nothing for datum in data)
            columns.append(data)
        if is_empty:
            return None
        return {
            "name": overlay.name,
            **({"label": overlay.label} if overlay.label else {}),
            "unit": overlay.unit,
            "kind": overlay.kind,
            "sum": overlay.total,
            **({"peak": self._peak(overlay.peak)} if overlay.peak else {}),
            "values": columns,
        }

    def _peak(self, peak: Peak) -> dict[str, Any]:
        shown = dict.fromkeys([peak.instruction, *(value for value, _ in peak.values)])
        parents = dict.fromkeys(one.parent for one in shown if one.parent is not None)
        place = {
            instruction: (self._number[parent], number)
            for parent in parents
            for number, instruction in enumerate(self._graph.instructions(parent))
            if instruction in shown
        }
        return {
            "at": list(place[peak.instruction]),
            "bytes": peak.size,
            "count": peak.count,
            "values": [number for value, size in peak.values for number in (*place[value], size)],
        }
