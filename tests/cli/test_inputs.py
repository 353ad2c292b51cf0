"""Reading: files that are none, bytes that are no text, files of several modules."""

import io
import sys
from pathlib import Path

import pytest

from hlotool.cli.inputs import decode, expand, is_empty, read_bytes, split_text
from hlotool.errors import ParseError, UsageError


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none\.hlo: no such file"):
        read_bytes(str(tmp_path / "none.hlo"))
    with pytest.raises(UsageError, match=r"cannot read .*: it is a folder"):
        read_bytes(str(tmp_path))
    with pytest.raises(UsageError, match="null byte"):
        read_bytes("a\0b")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xffx")))
    assert read_bytes("-") == b"\xffx"
    monkeypatch.setattr(sys, "stdin", io.StringIO("x"))
    assert read_bytes("-") == b"x"


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        (b"ab\n\xc3\xa9\xffx", 2, 2, "byte 0xff is not valid UTF-8"),
        (b"\xef\xbb\xbf\xc3(", 1, 1, "byte 0xc3 is not valid UTF-8"),
        (b"ab\xe2\x82", 1, 3, "byte 0xe2 is not valid UTF-8"),
        (b"ab\nc\0d", 2, 2, "NUL byte in the text"),
    ],
)
def test_bytes_that_are_no_text(data: bytes, line: int, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        decode(data, "m.hlo")
    location = caught.value.location
    assert location is not None
    assert (location.line, location.column, caught.value.message) == (line, column, message)
    assert "--format=pb" in caught.value.notes[0]


def test_byte_order_mark_is_no_text() -> None:
    assert decode("\ufeffé".encode(), "m") == "é"


def test_split_keeps_line_numbers() -> None:
    parts = split_text("a\nb\n// -----\nc\n  // -----  \r\nd\n", "m")
    assert [part.strip() for part in parts] == ["a\nb", "c", "d"]
    assert [part.count("\n", 0, part.index(part.strip())) + 1 for part in parts] == [1, 4, 6]


def test_split_leaves_out_parts_of_comments_alone() -> None:
    text = "// RUN\n// -----\na\n// -----\n\n// -----\n/* b */ // c"
    assert [part.strip() for part in split_text(text, "m")] == ["a"]
    assert len(split_text(text, "m", keep_empty=True)) == 4
    assert split_text("// only", "m") == ["// only"]
    assert split_text("a", "m") == ["a"]


@pytest.mark.parametrize("line", ["// ---", "// ------", "// ----- x", "a // -----", "//  // ---"])
def test_dashes_that_do_not_separate(line: str) -> None:
    with pytest.raises(ParseError) as caught:
        split_text(f"a\n// -----\n{line}\n", "m")
    location = caught.value.location
    assert location is not None
    assert (location.line, location.column) == (3, line.index("// ---") + 1)


def test_is_empty() -> None:
    assert is_empty(" \n// x\r\n/* y\n */ ")
    assert not is_empty("// x\ny")
    assert not is_empty("/* x")
    assert not is_empty("/" * 100_001 + "\n" + "x" * 100_000)


def test_folders_give_their_files_in_order(tmp_path: Path) -> None:
    for name in ("b.hlo", "a.hlo", "c.txt", ".hidden.hlo", "sub/d.hlo", ".git/e.hlo"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = list(expand(["x.hlo", str(tmp_path)], (".hlo",)))
    assert found == ["x.hlo", *[str(tmp_path / name) for name in ("a.hlo", "b.hlo", "sub/d.hlo")]]
    assert list(expand([str(tmp_path)], ())) == [str(tmp_path)]
    with pytest.raises(UsageError, match=r"no file named \*\.pb in"):
        list(expand([str(tmp_path)], (".pb",)))


def test_standard_input_is_read_once() -> None:
    with pytest.raises(UsageError, match="given twice"):
        list(expand(["-", "a", "-"], ()))
