"""Stack tables: what is kept, how it is counted, how it prints."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.errors import ParseError
from hlotool.ir.stack_tables import FileLocation, StackFrame, StackTables
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.strategies import stack_tables

FILES = """\
FileNames
1 "a.py"
2 "b.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}
2 {file_name_id=2 function_name_id=1 line=4 end_line=5 column=1 end_column=9}

"""
TABLES = f"""\
{FILES}StackFrames
1 {{file_location_id=1 parent_frame_id=1}}
2 {{file_location_id=2 parent_frame_id=2}}

"""
FIRST_FRAME_ONLY = """\
FileNames
1 "a.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

"""


def printed(tables: str, *frames: int) -> str:
    """Returns the print of a module with an instruction for each of these frames."""
    lines = "\n".join(
        f'p{place} = f32[] parameter({place}), metadata={{op_name="n" stack_frame_id={frame}}}'
        for place, frame in enumerate(frames)
    )
    return print_module(parse(f"HloModule m\n\n{tables}\n\nENTRY e {{\n{lines}\n}}"))


def frames_in(text: str) -> list[str]:
    return [part.split("}")[0].split(" ")[0] for part in text.split("stack_frame_id=")[1:]]


def test_tables_print_between_header_and_computations() -> None:
    text = printed(TABLES, 2)
    assert text.split("\n\n", 1)[1].startswith(TABLES + "\nENTRY %e")
    assert frames_in(text) == ["2"]


def test_only_what_is_used_is_kept() -> None:
    text = printed(TABLES, 1)
    assert text.split("\n\n", 1)[1].startswith(FIRST_FRAME_ONLY + "\nENTRY %e")


def test_entries_are_counted_by_their_place() -> None:
    numbered = TABLES.replace("\n1 ", "\n7 ").replace("\n2 ", "\n7 ")
    assert printed(numbered, 2) == printed(TABLES, 2)


def test_parts_may_stand_in_any_order_with_commas() -> None:
    other = TABLES.replace(
        "{file_location_id=2 parent_frame_id=2}", "{ parent_frame_id=2, file_location_id=2 }"
    )
    assert printed(other, 2) == printed(TABLES, 2)


@pytest.mark.parametrize(
    "frames",
    [
        "",
        "1 {file_location_id=1 parent_frame_id=0}",
        "1 {file_location_id=1 parent_frame_id=-1}",
        "1 {file_location_id=1 parent_frame_id=2}",
        "1 {file_location_id=1 parent_frame_id=3}",
        "1 {file_location_id=3 parent_frame_id=1}",
        "1 {file_location_id=0 parent_frame_id=1}",
    ],
)
def test_a_frame_without_its_callers_or_place_is_dropped(frames: str) -> None:
    text = printed(f"{FILES}StackFrames\n{frames}\n", 1)
    assert "StackFrames" not in text
    assert 'metadata={op_name="n"}' in text


@pytest.mark.parametrize("number", [0, 3, -1])
def test_the_number_of_no_frame_is_dropped(number: int) -> None:
    assert 'metadata={op_name="n"}' in printed(TABLES, number)


def test_frames_are_counted_in_order_of_use() -> None:
    tables = TABLES + "3 {file_location_id=2 parent_frame_id=1}"
    text = printed(tables, 3, 2, 3)
    assert frames_in(text) == ["1", "3", "1"]
    assert text.index('1 "b.py"') < text.index('2 "a.py"')


def test_equal_frames_are_one() -> None:
    tables = TABLES + "3 {file_location_id=2 parent_frame_id=2}"
    assert frames_in(printed(tables, 3, 2)) == ["2", "2"]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ("FileNames\n", "FunctionNames|function names"),
        (TABLES.replace(" parent_frame_id=2", ""), "file_location_id, parent_frame_id"),
        (TABLES.replace("line=3 ", "row=3 "), "the parts must be file_name_id"),
        (TABLES.replace('"main"', "main"), "a string"),
    ],
)
def test_faulty_tables_are_refused(tables: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        printed(tables, 1)


def test_a_frame_is_there_when_its_place_has_names() -> None:
    frames = [StackFrame(1, 0), StackFrame(2, 0), StackFrame(3, 0)]
    locations = [FileLocation(1, 1, 1, 1, 1, 1), FileLocation(2, 1, 1, 1, 1, 1)]
    tables = StackTables(["f"], ["g"], locations, frames)
    assert [tables.frame(number) for number in range(5)] == [None, frames[0], None, None, None]
    assert not StackTables()
    assert tables


@given(stack_tables(), st.lists(st.integers(0, 5), max_size=5))
def test_tables_of_used_frames_say_the_same_of_them(
    tables: StackTables, numbers: list[int]
) -> None:
    used = tables.used_by(numbers)
    for number in numbers:
        before = places(tables, number)
        if before:
            assert places(used, used.numbers_in_text[number]) == before
        else:
            assert number not in used.numbers_in_text
    again = used.used_by(used.numbers_in_text[n] for n in numbers if n in used.numbers_in_text)
    assert again == used
    assert again.text() == used.text()


def places(tables: StackTables, number: int) -> list[tuple[object, ...]]:
    """Returns where a frame and its callers are, by names; nothing where one is missing."""
    found: list[tuple[object, ...]] = []
    while number:
        frame = tables.frame(number)
        if frame is None or len(found) > len(tables.stack_frames):
            return []
        location = tables.file_locations[frame.file_location_id - 1]
        file = tables.file_names[location.file_name_id - 1]
        function = tables.function_names[location.function_name_id - 1]
        found.append((file, function, replace(location, file_name_id=0, function_name_id=0)))
        number = frame.parent_frame_id
    return found
