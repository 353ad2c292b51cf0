"""Writing: complete or not at all, with modes and links kept."""

import os
import stat
import sys
from pathlib import Path

import pytest

from hlotool.cli import outputs
from hlotool.cli.outputs import check_writable, write_file
from hlotool.errors import UsageError


def test_new_file_has_the_mode_that_the_mask_gives(tmp_path: Path) -> None:
    path = tmp_path / "new.hlo"
    old_mask = os.umask(0o027)
    try:
        write_file(str(path), b"x")
    finally:
        os.umask(old_mask)
    assert path.read_bytes() == b"x"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "old.hlo"
    path.write_bytes(b"old")
    path.chmod(0o754)
    write_file(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o754


def test_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.hlo"
    target.write_bytes(b"old")
    link = tmp_path / "link.hlo"
    link.symlink_to("target.hlo")
    write_file(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_old_file_stays_when_writing_fails(
    fault: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.hlo"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise fault

    monkeypatch.setattr(os, "fsync", fail)
    expected = UsageError if isinstance(fault, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_file(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_device_is_written_to_and_stays() -> None:
    write_file(os.devnull, b"x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_refuses_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*: is a directory"):
        check_writable(str(tmp_path))
    with pytest.raises(UsageError, match=r"cannot write .*none/m\.hlo: no such file or directory"):
        check_writable(str(tmp_path / "none" / "m.hlo"))
    check_writable("-")
    check_writable(str(tmp_path / "m.hlo"))


def test_refuses_a_file_that_may_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.hlo"
    path.write_bytes(b"old")
    # The superuser may write everything, so the answer is made up.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UsageError, match=r"cannot write .*old\.hlo: permission denied"):
        write_file(str(path), b"new")
    assert path.read_bytes() == b"old"


def test_terminal_gets_no_control_characters(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs.print_text("a\x1b[31m\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    outputs.print_text("a\x1b[31m\n")
    assert capsysbinary.readouterr().out == b"a\x1b[31m\na\\x1b[31m\n"


def test_bytes_that_are_no_utf8_come_out_as_they_were(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    outputs.print_text(b"\xff\n".decode("utf-8", "surrogateescape"))
    assert capsysbinary.readouterr().out == b"\xff\n"
