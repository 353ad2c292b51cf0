"""The files of numpy: `.npz` and `.npy` as bytes, with types that numpy lacks as raw bits.

An array of such a type stands as unsigned integers of its width, its name followed by `__` and
the name of its type: `in0__bfloat16`. `numpy.savez` leaves out the name and makes it plain bytes of
that width, void types; records are refused. Nothing pickled is ever read, and of an archive no
more than is wanted.
"""

from __future__ import annotations

import io
import math
import re
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from hlotool.errors import ParseError
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.frame import Array

NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK"
_NAMES = {
    element_type.numpy_name: element_type
    for element_type in ELEMENT_TYPES.values()
    # One-bit types are held in the bytes of others.
    if element_type.bits > 1
}
_WITH_TYPE = re.compile(r"(?P<name>.+?)__(?P<type>\w+)", re.DOTALL)
_FAULTS = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError,
    RuntimeError, KeyError, TypeError, OverflowError, MemoryError, SyntaxError,
    struct.error, tokenize.TokenError, AttributeError,
)  # fmt: skip
"""What zipfile and numpy raise for broken files."""
_LONGEST_REASON = 120
_LONGEST_HEADER = 1 << 14


def names_in_npz(data: bytes, file: str) -> list[str]:
    """Returns the names of the arrays in an `.npz`; raises `ParseError` as `read_npz` does."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return list(_members(archive, file))
    except _FAULTS as fault:
        raise ParseError(f"{file}: this is no .npz, or a broken one: {_reason(fault)}") from None


def read_npz(data: bytes, file: str, most: Mapping[str, int] | None = None) -> dict[str, Array]:
    """Returns the arrays of an `.npz` by name; raises `ParseError`. `file` is for messages.

    With `most` only the names in it are read, and an array of more bytes is refused unread.
    """
    found: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name, member in _members(archive, file).items():
                if most is not None and name not in most:
                    continue
                limit = None if most is None else most[name]
                with archive.open(member) as stream:
                    array = _read_array(stream, f"{file}: {member}", limit)
                found[name] = _typed(member.removesuffix(".npy"), array, file)
    except _FAULTS as fault:
        raise ParseError(f"{file}: this is no .npz, or a broken one: {_reason(fault)}") from None
    return found


def _members(archive: zipfile.ZipFile, file: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for member in archive.namelist():
        name, _ = _name_and_type(member.removesuffix(".npy"))
        if name in found:
            raise ParseError(f"{file}: {name} is there twice")
        found[name] = member
    return found


def read_npy(data: bytes, file: str) -> Array:
    """Returns the array of an `.npy`, in the byte order of this machine; raises `ParseError`."""
    return _read_array(io.BytesIO(data), file, None)


def _read_array(stream: IO[bytes], place: str, most: int | None) -> Array:
    """Returns the array that begins here; the file may hold nothing else."""
    try:
        # A header that numpy takes is shorter than this, one of a bomb says anything.
        start = io.BytesIO(stream.read(_LONGEST_HEADER))
        sizes, is_fortran, numpy_type = _read_header(start)
        _check_type(numpy_type, place)
        count = math.prod(sizes)
        shown = f"{numpy_type}[{','.join(map(str, sizes))}]"
        wanted = count * numpy_type.itemsize
        if most is not None and wanted > most:
            raise ParseError(f"{place} has {shown}, {wanted} bytes; {most} are the most to read")
        # One byte more tells whether there are more.
        found = start.read(wanted + 1)
        found += stream.read(wanted + 1 - len(found))
        if len(found) != wanted:
            there = f"more than {wanted}" if len(found) > wanted else f"{len(found)}"
            raise ParseError(f"{place} has {there} bytes of data, {wanted} are wanted for {shown}")
        flat = np.frombuffer(found, numpy_type) if wanted else np.zeros(count, numpy_type)
        array = flat.reshape(sizes, order="F" if is_fortran else "C")
        return array.astype(numpy_type.newbyteorder("="), copy=False)
    except _FAULTS as fault:
        raise ParseError(f"{place} is no .npy, or a broken one: {_reason(fault)}") from None


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    with warnings.catch_warnings():
        # What numpy remarks on headers of old Pythons is nothing a user could act on.
        warnings.simplefilter("ignore")
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        sizes, is_fortran, numpy_type = read(stream)
    # To numpy True is a size.
    if not all(type(size) is int for size in sizes):
        raise ValueError("a size is no whole number")
    if min(sizes, default=0) < 0:
        raise ValueError("a size is negative")
    return sizes, is_fortran, numpy_type


def _check_type(numpy_type: np.dtype[Any], place: str) -> None:
    if numpy_type.hasobject:
        raise ParseError(f"{place} holds pickled objects, which are not read")
    if numpy_type.names is not None or numpy_type.subdtype is not None:
        raise ParseError(f"{place} holds records, numbers are wanted")


def _reason(fault: Exception) -> str:
    if isinstance(fault, MemoryError):
        return "it does not fit into memory"
    words = str(fault).strip() or "it is cut off"
    # What numpy quotes of a header may be long, and differ from run to run.
    if len(words) > _LONGEST_REASON or " object at 0x" in words:
        return "its header is broken"
    first = words.split(maxsplit=1)[0]
    if first[1:].islower() or len(first) == 1:
        words = words[:1].lower() + words[1:]
    return words.splitlines()[0].rstrip(".")


def _name_and_type(key: str) -> tuple[str, ElementType | None]:
    match = _WITH_TYPE.fullmatch(key)
    element_type = None if match is None else _NAMES.get(match["type"])
    if match is None or element_type is None:
        return key, None
    return match["name"], element_type


def _typed(key: str, array: Array, file: str) -> Array:
    _, element_type = _name_and_type(key)
    return array if element_type is None else of_bits(array, element_type, f"{file}: {key}")


def of_bits(bits: Array, element_type: ElementType, what: str) -> Array:
    """Returns the numbers that raw bits mean; raises `ParseError` for other widths or bits.

    `what` begins the message.
    """
    width = element_type.storage_bytes
    if bits.dtype.kind not in "uV" or bits.dtype.itemsize != width:
        raise ParseError(
            f"{what} is {bits.dtype}, raw bits of {element_type} are wanted: uint{8 * width}"
        )
    if bits.dtype.kind == "V":
        bits = np.frombuffer(bits.tobytes(), f"u{width}").reshape(bits.shape)
    if element_type.bits < 8 and bits.size and int(bits.max()) >> element_type.bits:
        raise ParseError(
            f"{what} has the bits {int(bits.max()):#x},"
            f" {element_type} has {element_type.bits} of them"
        )
    return np.ascontiguousarray(bits).view(element_type.numpy).reshape(bits.shape)


def npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """Returns the `.npz` of arrays by name; equal arrays give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            key, stored = _stored(name, np.asarray(array))
            member = io.BytesIO()
            np.lib.format.write_array(member, stored, allow_pickle=False)
            # An entry made by name alone has the same date always.
            archive.writestr(zipfile.ZipInfo(f"{key}.npy"), member.getvalue())
    return stream.getvalue()


def _stored(name: str, array: Array) -> tuple[str, Array]:
    if array.dtype.kind in "biufc" and array.dtype.isbuiltin == 1:
        return name, array
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
    return f"{name}__{array.dtype.name}", bits
