"""The data of a page: `docs/viewer_data.md` says what each entry is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from hlotool.graph.model import ModuleGraph, called_by, part_number, updated_in_place
from hlotool.graph.numbering import Strings, Table, differences
from hlotool.graph.overlays import Datum, Overlay, overlays
from hlotool.graph.stack_frames import stack_frames
from hlotool.ir.appearance import Category
from hlotool.ir.computation import Computation
from hlotool.ir.cost import byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import Metadata
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.version import __version__

VERSION = 1
MOST_VALUE_CHARACTERS = 40
"""How much of a constant stands in a box."""
_CATEGORIES = list(Category)


def page_data(
    module: Module, given: Mapping[str, Mapping[str, Datum]] | None = None
) -> dict[str, Any]:
    """Returns the document of a page over one module; `given` are overlays by their names."""
    return _Document(ModuleGraph(module)).made(given or {})


class _Document:
    def __init__(self, graph: ModuleGraph) -> None:
        self._graph = graph
        self._strings = Strings()
        self._ops = Table[tuple[str, int, str]]()
        self._shapes: dict[Shape, int] = {}
        self._shape_rows: list[dict[str, Any]] = []
        self._stacks = Table[tuple[int, ...]]()
        self._stack_of: dict[int, int] = {}
        self._source_of: dict[int, int] = {}
        """By the number of a stack: where its innermost frame is."""
        self._number = {one: number for number, one in enumerate(graph.computations)}

    def made(self, given: Mapping[str, Mapping[str, Datum]]) -> dict[str, Any]:
        """Returns the whole document."""
        module = self._graph.module
        computations = [self._computation(one) for one in self._graph.computations]
        found = [self._overlay(one) for one in overlays(self._graph, given)]
        return {
            "version": VERSION,
            "tool": f"hlotool {__version__}",
            "title": module.name,
            "entry": self._number[module.entry],
            "text": self._graph.text.text,
            "strings": self._strings.listed,
            "categories": [category.value for category in _CATEGORIES],
            "ops": [
                {"opcode": opcode, "category": category, "role": role}
                for opcode, category, role in self._ops.listed
            ],
            "shapes": self._shape_rows,
            "computations": computations,
            "stacks": [list(stack) for stack in self._stacks.listed],
            "overlays": [one for one in found if one is not None],
            "modules": [],
            "passes": [],
            "decisions": [],
            "difference": None,
        }

    def _computation(self, computation: Computation) -> dict[str, Any]:
        order = self._graph.instructions(computation)
        line = self._graph.text.line
        at = {instruction: number for number, instruction in enumerate(order)}
        return {
            "name": self._strings(computation.name),
            "line": line.get(computation, 0),
            "root": at[computation.root],
            "kind": self._graph.kind(computation),
            "op": [self._op(one) for one in order],
            "names": differences(self._strings(one.name) for one in order),
            "title": [self._strings(self._graph.title(one)) for one in order],
            "shape": [self._shape(one.shape) for one in order],
            "lines": differences(line.get(one, 0) for one in order),
            "index": [-1 if (n := part_number(one)) is None else n for one in order],
            "value": [self._strings.optional(_value(one)) for one in order],
            "attributes": [self._strings.optional(_attributes(one)) for one in order],
            **self._annotations(order),
            "operands": [at[one] - at[operand] for one in order for operand in one.operands],
            "ends": [len(one.operands) for one in order],
            "calls": [number for one in order for number in self._calls(one, at)],
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
        columns: dict[str, list[int]] = {"scope": [], "source": [], "frames": [], "sharding": []}
        for instruction in order:
            annotations = instruction.annotations
            metadata, sharding = annotations.metadata, annotations.sharding
            frames = self._frames(metadata.stack_frame_id)
            columns["scope"].append(self._strings.optional(metadata.op_name))
            columns["source"].append(self._source(metadata, frames))
            columns["frames"].append(frames)
            shown = "" if sharding is None else sharding.without_metadata().text
            columns["sharding"].append(self._strings.optional(shown))
        return columns

    def _op(self, instruction: Instruction) -> int:
        category = _CATEGORIES.index(self._graph.category(instruction))
        op = instruction.op
        return self._ops((op.opcode, category, op.drawn.value))

    def _shape(self, shape: Shape) -> int:
        found = self._shapes.get(shape)
        if found is None:
            parts = shape.elements if isinstance(shape, TupleShape) else ()
            numbers = [self._shape(part) for part in parts]
            is_one = isinstance(shape, ArrayShape) and shape.element_count == 1
            found = self._shapes[shape] = len(self._shape_rows)
            self._shape_rows.append(
                {
                    "text": shape.text,
                    "plain": shape.plain_text,
                    "bytes": byte_count(shape),
                    "scalar": int(is_one),
                    "tuple": numbers,
                }
            )
        return found

    def _calls(self, instruction: Instruction, at: Mapping[Instruction, int]) -> Iterable[int]:
        for called in called_by(instruction):
            yield from (
                at[instruction], self._number[called.computation], self._strings(called.part),
            )  # fmt: skip

    def _frames(self, number: int) -> int:
        """Returns the number of the stack whose innermost frame is given, -1 for none."""
        if not number:
            return -1
        found = self._stack_of.get(number)
        if found is None:
            frames = list(stack_frames(self._graph.module, number))
            found = self._stacks(tuple(self._strings(" ".join(one)) for one in frames))
            found = self._stack_of[number] = found if frames else -1
            if frames:
                self._source_of[found] = self._strings(PurePath(frames[0][0]).name)
        return found

    def _source(self, metadata: Metadata, frames: int) -> int:
        if metadata.source_file:
            name = PurePath(metadata.source_file).name
            return self._strings(f"{name}:{metadata.source_line}")
        return self._source_of.get(frames, -1)

    def _overlay(self, overlay: Overlay) -> dict[str, Any] | None:
        columns = []
        is_empty = True
        for computation in self._graph.computations:
            data = [overlay.of(one) for one in self._graph.instructions(computation)]
            is_empty = is_empty and all(datum is None for datum in data)
            if overlay.kind == "categorical":
                data = [-1 if datum is None else self._strings(str(datum)) for datum in data]
            columns.append(data)
        if is_empty:
            return None
        return {
            "name": overlay.name,
            "unit": overlay.unit,
            "kind": overlay.kind,
            "sum": overlay.total,
            "values": columns,
        }


def _value(instruction: Instruction) -> str:
    text = instruction.op.short_value
    left = len(text) - MOST_VALUE_CHARACTERS
    return f"{text[:MOST_VALUE_CHARACTERS]}…" if left > 0 else text


def _attributes(instruction: Instruction) -> str:
    op = instruction.op
    pairs = [*op.written(), *op.written(after_calls=True)]
    return ", ".join(f"{name}={text}" for name, text in pairs)
