"""Where in a program an instruction comes from: the frames of its stack."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir.module import Module


def stack_frames(module: Module, number: int) -> Iterator[tuple[str, str]]:
    """Yields the place, `path/file.py:12`, and the function of each frame, the innermost first.

    `number` is that of the innermost one, 0 for none.
    """
    tables = module.stack_tables
    passed = set()
    while tables is not None and number and number not in passed:
        passed.add(number)
        frame = tables.frame(number)
        if frame is None:
            return
        location = tables.file_locations[frame.file_location_id - 1]
        file_name = tables.file_names[location.file_name_id - 1]
        function_name = tables.function_names[location.function_name_id - 1]
        yield f"{file_name}:{location.line}", function_name
        number = frame.parent_frame_id
