"""Files of numpy that were crafted: none is believed, and none is read further than wanted."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hlotool.errors import HloError, ParseError
from hlotool.evaluation.files.argument_files import (
    RESULTS,
    read_argument_lists,
    read_arguments,
    read_results,
    write_npz,
)
from hlotool.evaluation.files.npz_files import names_in_npz, read_npy, read_npz
from tests.evaluation.constraints.generating import module_of

VECTOR = module_of("x = f32[2] parameter(0)\nROOT y = f32[2] negate(x)")
ONE = np.array([1, 2], np.float32)


def npy(descr: str, sizes: str, data: bytes = b"") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {sizes}}}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


def npz(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return stream.getvalue()


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy("'<f4'", "(True, 4)", bytes(16)), "a.npy is no .npy, or a broken one: a size is no "),
        (npy("'<f4'", "(-1, -4)", bytes(16)), "a.npy is no .npy, or a broken one: a size is negat"),
        (npy("'<f4'", f"({2**62}, 4, 0)"), "a.npy is no .npy, or a broken one: cannot reshape"),
        (npy("('<f4', (2,))", "(2,)", bytes(16)), "a.npy holds records, numbers are wanted"),
        (npy("[('a', '<f4')]", "(2,)", bytes(8)), "a.npy holds records, numbers are wanted"),
        (npy("'<f4'", "(2,)", bytes(9)),
         "a.npy has more than 8 bytes of data, 8 are wanted for float32[2]"),
        (npy("'<f4'", "(2,)", bytes(7)),
         "a.npy has 7 bytes of data, 8 are wanted for float32[2]"),
        (npy("'<f4'", "(" * 900 + "2" + ")" * 900), "a.npy is no .npy, or a broken one: its hea"),
        (npy("'<f4'", "9 .bit_count()"), "a.npy is no .npy, or a broken one: its header is broken"),
        (b"", "a.npy is no .npy, or a broken one: EOF: reading magic string"),
    ],
)  # fmt: skip
def test_crafted_arrays_are_told(data: bytes, message: str) -> None:
    for read in (lambda: read_npy(data, "a.npy"), lambda: read_arguments(VECTOR, data, "a.npy")):
        with pytest.raises(ParseError) as caught:
            read()
        assert caught.value.message.startswith(message)
        assert len(caught.value.message) < 200
        assert "0x" not in caught.value.message


def test_memory_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "frombuffer", refuse)
    with pytest.raises(ParseError, match=r"a\.npy is no .*: it does not fit into memory"):
        read_npy(saved(ONE), "a.npy")


def test_bytes_without_a_type_are_of_types_that_numpy_lacks() -> None:
    void = npz(in0=npy("'|V4'", "(2,)", ONE.tobytes()))
    with pytest.raises(HloError, match=re.escape("a.npz: in0 is void32[2], parameter x is f32[2]")):
        read_arguments(VECTOR, void, "a.npz")
    byte = module_of("x = s1[2] parameter(0)\nROOT y = s1[2] copy(x)")
    with pytest.raises(HloError, match=re.escape("a.npz: in0 is void8[2], parameter x is s1[2]")):
        read_arguments(byte, npz(in0=npy("'|V1'", "(2,)", bytes(2))), "a.npz")
    half = module_of("x = s4[2] parameter(0)\nROOT y = s4[2] copy(x)")
    numbers = np.array([-8, 7], ml_dtypes.int4)
    assert read_arguments(half, npz(in0=saved(numbers)), "a.npz")[0].tolist() == [-8, 7]
    with pytest.raises(ParseError, match=r"a\.npz: in0 has the bits 0x10, s4 has 4 of them"):
        read_arguments(half, npz(in0=npy("'|V1'", "(2,)", b"\x01\x10")), "a.npz")


@pytest.fixture
def inflated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the bytes that come out of archives."""
    counts: list[int] = []
    read: Callable[..., bytes] = zipfile.ZipExtFile.read

    def counted(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        found = read(self, n)
        counts.append(len(found))
        return found

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    return counts


LARGE = 1 << 22
BOMBS = {
    "in0 has more data than its header says": saved(ONE) + bytes(LARGE),
    "in0 is large": saved(np.zeros(LARGE // 4, np.float32)),
    "in0 has a large header": b"\x93NUMPY\2\0" + struct.pack("<I", LARGE) + bytes(LARGE),
}


@pytest.mark.parametrize("name", BOMBS)
def test_archives_are_inflated_as_far_as_wanted(name: str, inflated: list[int]) -> None:
    with pytest.raises(ParseError, match=r"a\.npz: in0\.npy "):
        read_arguments(VECTOR, npz(in0=BOMBS[name]), "a.npz")
    assert 0 < sum(inflated) < LARGE // 16


def test_what_no_parameter_wants_stays_unread(inflated: list[int]) -> None:
    data = npz(in0=saved(ONE), out0=bytes(LARGE))
    assert read_arguments(VECTOR, data, "a.npz")[0].tolist() == [1, 2]
    assert names_in_npz(data, "a.npz") == ["in0", "out0"]
    with pytest.raises(HloError, match=r"more given beside the 1 array wanted"):
        read_arguments(VECTOR, npz(in0=saved(ONE), more=bytes(LARGE)), "a.npz")
    assert sum(inflated) < LARGE // 16
    assert list(read_npz(data, "a.npz", {"in0": 8})) == ["in0"]


def test_large_arrays_are_read_where_they_are_wanted() -> None:
    whole = np.arange(LARGE // 4, dtype=np.float32)
    large = module_of(f"x = f32[{len(whole)}] parameter(0)\nROOT y = f32[{len(whole)}] negate(x)")
    assert (read_arguments(large, write_npz([whole]), "a.npz")[0] == whole).all()
    assert (read_results(large, write_npz([whole], RESULTS), "a.npz")[0] == whole).all()
    open_ended = module_of("x = f32[?] parameter(0)\nROOT y = f32[?] negate(x)")
    assert (read_arguments(open_ended, write_npz([whole]), "a.npz")[0] == whole).all()
    # The tile of one of many devices is a small part.
    tile = module_of("x = f32[1024] parameter(0)\nROOT y = f32[1024] negate(x)")
    ((found,),) = read_argument_lists(tile, write_npz([whole]), "a.npz", wholes=True)
    assert (found == whole).all()
