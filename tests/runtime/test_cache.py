"""The cache on disk keeps what is whole and ours, and never more than it may."""

import os
from pathlib import Path

import pytest

from hlotool.cli.driver import main
from hlotool.errors import UsageError
from hlotool.runtime.cache import SHARED, CodeCache, key_of, user_cache


@pytest.fixture
def cache(tmp_path: Path) -> CodeCache:
    return CodeCache(tmp_path / "cache", limit=4096)


def test_reads_what_was_written(cache: CodeCache) -> None:
    assert cache.read("a") is None
    cache.write("a", b"first")
    cache.write("b", b"")
    cache.write("a", b"second")
    assert (cache.read("a"), cache.read("b"), cache.read("c")) == (b"second", b"", None)
    assert [path.name for path in cache.folder.iterdir() if path.name.startswith(".")] == []


def test_a_file_is_not_taken_for_another_one(cache: CodeCache) -> None:
    cache.write("a", b"code of a")
    (entry,) = cache.entries()
    entry.path.rename(entry.path.with_stem("b"))
    assert (cache.read("a"), cache.read("b")) == (None, None)


@pytest.mark.parametrize("keep", [0, 3, 20, 60, 1_000_000])
def test_damaged_files_are_not_there(cache: CodeCache, keep: int) -> None:
    cache.write("a", b"some code" * 10)
    (entry,) = cache.entries()
    data = bytearray(entry.path.read_bytes())
    if keep > len(data):
        data[-1] ^= 1
    entry.path.write_bytes(data[:keep])
    assert cache.read("a") is None
    cache.write("a", b"again")
    assert cache.read("a") == b"again"


def test_others_cannot_bring_in_code(cache: CodeCache) -> None:
    cache.write("a", b"code")
    cache.folder.chmod(0o777)
    assert cache.read("a") is None
    cache.write("b", b"code")
    cache.folder.chmod(0o700)
    assert (cache.read("a"), cache.read("b")) == (b"code", None)


def test_what_was_not_used_for_longest_goes_first(cache: CodeCache) -> None:
    for number, key in enumerate("abc"):
        cache.write(key, bytes(1500))
        for entry in cache.entries():
            if entry.path.stem == key:
                os.utime(entry.path, (number, number))
    assert sum(entry.size for entry in cache.entries()) <= cache.limit
    assert cache.read("b") == bytes(1500)
    cache.write("d", bytes(1500))
    assert cache.read("b") == bytes(1500)
    assert cache.read("c") is None
    cache.write("e", bytes(5000))
    assert cache.read("e") is None
    assert cache.read("b") == bytes(1500)


def test_what_is_too_large_makes_room_for_what_came_before(cache: CodeCache) -> None:
    for key in "abcd":
        cache.write(key, bytes(1500), shrink=False)
    assert sum(entry.size for entry in cache.entries()) > cache.limit
    cache.write("e", bytes(5000))
    assert sum(entry.size for entry in cache.entries()) <= cache.limit


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = CodeCache(tmp_path / "file" / "cache")
    cache.write("a", b"code")
    assert cache.read("a") is None
    assert cache.entries() == []


def test_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLOTOOL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("HLOTOOL_CACHE_SIZE", "123")
    assert (user_cache().folder, user_cache().limit) == (tmp_path, 123)
    monkeypatch.delenv("HLOTOOL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache().folder == tmp_path / "hlotool"
    monkeypatch.setenv("HLOTOOL_CACHE_SIZE", "much")
    with pytest.raises(UsageError, match="a number of bytes is wanted"):
        user_cache()
    for size, count in (("1G", 1 << 30), ("2 MB", 2 << 20), ("3KiB", 3 << 10), ("7", 7)):
        monkeypatch.setenv("HLOTOOL_CACHE_SIZE", size)
        assert user_cache().limit == count


def test_keys_tell_parts_apart() -> None:
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of("a") == key_of("a")
    # Names may hold what UTF-8 has no bytes for.
    assert key_of("\ud800") != key_of("\udcff")


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HLOTOOL_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    user_cache().write("a", bytes(2000))
    assert main(["cache"]) == 0
    assert "1 compiled module, 2.00 KiB of at most 1 GiB" in capsys.readouterr().out
    assert main(["cache", "clear", "--json"]) == 0
    assert '"removed": 1' in capsys.readouterr().out
    assert main(["cache", "--json"]) == 0
    assert '"files": 0, "bytes": 0, "fault": ""' in capsys.readouterr().out
    assert main(["cache", "burn"]) == 2
    user_cache().write(f"{SHARED}a", bytes(2000))
    assert main(["cache"]) == 0
    assert "0 compiled modules and code that modules share" in capsys.readouterr().out
    tmp_path.chmod(0o777)
    assert main(["cache"]) == 0
    assert "nothing is kept: others than this user may write" in capsys.readouterr().out


def test_folder_with_characters_that_terminals_obey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HLOTOOL_CACHE_DIR", str(tmp_path / "a\x1b[31m\nb"))
    for words in (["cache"], ["cache", "clear"]):
        assert main(words) == 0
        assert "\x1b" not in capsys.readouterr().out
