"""What the documents of one page have in common: texts, ops, shapes and stacks, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from hlotool.graph.numbering import Strings, Table
from hlotool.graph.palette import category_entries
from hlotool.graph.same_computations import SameComputations
from hlotool.graph.stack_frames import stack_frames
from hlotool.ir.annotations import Annotations
from hlotool.ir.appearance import Category
from hlotool.ir.cost import byte_count
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.version import __version__

VERSION = 2
MOST_VALUE_CHARACTERS = 40
"""How much of a constant stands in a box."""
_PLACES = {category: place for place, category in enumerate(Category)}

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Remembered(Generic[Item, Answer]):
    """What a function says of objects, which it is asked for once for each.

    Objects count as the same when they are one: the states of a run share most of their ops, and
    hashing an op reads all of its attributes. They are kept, so that no other has their place.
    """

    def __init__(self, function: Callable[[Item], Answer]) -> None:
        self._function = function
        self._known: dict[int, tuple[Item, Answer]] = {}

    def __call__(self, item: Item) -> Answer:
        """Returns what the function says."""
        found = self._known.get(id(item))
        if found is None:
            found = self._known[id(item)] = item, self._function(item)
        return found[1]


@dataclass(frozen=True, slots=True)
class OpNumbers:
    """Numbers of texts: what stands in the box of an op, and its attributes; -1 for none."""

    value: int
    attributes: int


@dataclass(frozen=True, slots=True)
class AnnotationNumbers:
    """Numbers of texts, and that of a stack; -1 for none."""

    scope: int
    source: int
    frames: int
    sharding: int


class PageTables:
    """The tables of a page; `docs/viewer_data.md` says what they are."""

    def __init__(self) -> None:
        self.strings = Strings()
        self._ops = Table[tuple[str, int, str]]()
        self._shapes: dict[Shape, int] = {}
        self._shape_rows: list[dict[str, Any]] = []
        self._stacks = Table[tuple[int, ...]]()
        self.same = SameComputations()
        self.of_op = Remembered[Op, OpNumbers](self._op_numbers)
        self.shape = Remembered[Shape, int](self._shape)
        self._read = Remembered[object, dict[tuple[str, Shape], Annotations]](lambda _: {})
        self._annotated: dict[int, Remembered[Annotations, AnnotationNumbers]] = {}

    def entries(self) -> dict[str, Any]:
        """Returns the tables as a document has them; the lists grow as long as anything is added.

        Only ops and stacks are as they are now.
        """
        return {
            "version": VERSION,
            "tool": f"hlotool {__version__}",
            "strings": self.strings.listed,
            **category_entries(),
            "ops": [
                {"opcode": opcode, "category": category, "role": role}
                for opcode, category, role in self._ops.listed
            ],
            "shapes": self._shape_rows,
            "stacks": [list(stack) for stack in self._stacks.listed],
        }

    def op(self, op: Op, category: Category) -> int:
        """Returns the number of an op in a category."""
        return self._ops((op.opcode, _PLACES[category], op.drawn.value))

    def stack(self, frames: Iterable[tuple[str, str]]) -> int:
        """Returns the number of a stack of places and functions, -1 for an empty one."""
        numbers = tuple(self.strings(" ".join(one)) for one in frames)
        return self._stacks(numbers) if numbers else -1

    def annotated(self, module: Module) -> Callable[[Annotations], AnnotationNumbers]:
        """Returns what gives the numbers of the annotations of a module."""
        stack_tables = module.stack_tables
        found = self._annotated.get(id(stack_tables))
        if found is None:
            # It keeps the module, and with it the tables, so that no others have their place.
            reader = _AnnotationNumbering(self, module)
            found = self._annotated[id(stack_tables)] = Remembered(reader.numbers)
        return found

    def read_annotations(self, module: Module) -> None:
        """Reads the annotations of a module; those of its other states as well are read once."""
        known = self._read(module.annotation_reader)
        for computation in module.computations:
            for instruction in computation.instructions:
                text = instruction.annotation_text
                if text is not None:
                    # Which shardings there are depends on the shape too.
                    key = text, instruction.shape
                    found = known.get(key)
                    if found is None:
                        found = known[key] = instruction.annotations
                    instruction.annotations = found

    def _op_numbers(self, op: Op) -> OpNumbers:
        optional = self.strings.optional
        return OpNumbers(optional(_value(op)), optional(_attributes(op)))

    def _shape(self, shape: Shape) -> int:
        found = self._shapes.get(shape)
        if found is None:
            parts = shape.elements if isinstance(shape, TupleShape) else ()
            numbers = [self.shape(part) for part in parts]
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


class _AnnotationNumbering:
    """The numbers of annotations, where frames are those of a module."""

    def __init__(self, tables: PageTables, module: Module) -> None:
        self._tables = tables
        self._module = module
        self._stacks: dict[int, tuple[int, int]] = {}
        """By the number of the innermost frame: the stack, and where that frame is."""

    def numbers(self, annotations: Annotations) -> AnnotationNumbers:
        """Returns the numbers of what annotations say."""
        optional = self._tables.strings.optional
        metadata, sharding = annotations.metadata, annotations.sharding
        frames, source = self._stack(metadata.stack_frame_id)
        if metadata.source_file:
            name = PurePath(metadata.source_file).name
            source = self._tables.strings(f"{name}:{metadata.source_line}")
        shown = "" if sharding is None else sharding.without_metadata().text
        return AnnotationNumbers(optional(metadata.op_name), source, frames, optional(shown))

    def _stack(self, number: int) -> tuple[int, int]:
        """Returns the stack whose innermost frame is given, and where that one is; -1 for none."""
        if not number:
            return -1, -1
        found = self._stacks.get(number)
        if found is None:
            frames = list(stack_frames(self._module, number))
            source = self._tables.strings(PurePath(frames[0][0]).name) if frames else -1
            found = self._stacks[number] = self._tables.stack(frames), source
        return found


def _value(op: Op) -> str:
    text = op.short_value
    left = len(text) - MOST_VALUE_CHARACTERS
    return f"{text[:MOST_VALUE_CHARACTERS]}…" if left > 0 else text


def _attributes(op: Op) -> str:
    pairs = [*op.written(), *op.written(after_calls=True)]
    return ", ".join(f"{name}={text}" for name, text in pairs)
