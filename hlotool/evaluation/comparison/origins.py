"""Where an array of a module's result comes from: the instruction, and the source line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlotool.evaluation.following import maker
from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import Metadata
from hlotool.ir.module import Module
from hlotool.ir.stack_tables import StackTables

_MOST_FRAMES = 16


@dataclass(frozen=True, slots=True)
class Origin:
    """The instruction that made an array.

    `location` is its place in the module's text, `source` and `op_name` are what its metadata
    say, `frames` the call stack from the innermost function on: all empty where nobody knows.
    """

    instruction: str
    opcode: str
    shape: str
    location: str = ""
    op_name: str = ""
    source: str = ""
    frames: tuple[str, ...] = ()


def origin(module: Module, index: Sequence[int]) -> Origin:
    """Returns where the array at a tuple index of the result comes from."""
    instruction, _ = maker(module.entry.root, tuple(index))
    return origin_of(module, instruction)


def origin_of(module: Module, instruction: Instruction) -> Origin:
    """Returns what there is to say of where an instruction comes from."""
    metadata = instruction.annotations.metadata
    location = instruction.location
    return Origin(
        instruction.name,
        instruction.opcode,
        instruction.shape.plain_text,
        "" if location is None else str(location),
        metadata.op_name,
        _source(metadata),
        tuple(_frames(module.stack_tables, metadata.stack_frame_id)),
    )


def _source(metadata: Metadata) -> str:
    if not metadata.source_file:
        return ""
    numbers = [metadata.source_line, metadata.source_column]
    return ":".join([metadata.source_file, *(str(number) for number in numbers if number)])


def _frames(tables: StackTables | None, number: int) -> Iterator[str]:
    frame = None if tables is None else tables.frame(number)
    shown = 0
    while tables is not None and frame is not None and shown < _MOST_FRAMES:
        place = tables.file_locations[frame.file_location_id - 1]
        file_name = tables.file_names[place.file_name_id - 1]
        function = tables.function_names[place.function_name_id - 1]
        yield f"{file_name}:{place.line}:{place.column} in {function}"
        frame = tables.frame(frame.parent_frame_id)
        shown += 1
