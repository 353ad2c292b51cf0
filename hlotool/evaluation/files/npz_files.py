"""The files of numpy: `.npz` and `.npy` as bytes, with types that numpy lacks as raw bits.

An array of such a type stands as unsigned integers of its width, its name followed by `__` and
the name of its type: `in0__bfloat16`. Nothing pickled is ever read.
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


def read_npz(data: bytes, file: str) -> dict[str, Array]:
    """Returns the arrays of an `.npz` by name; raises `ParseError`. `file` is for messages."""
    found: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                stored = archive.read(member)
                name, array = _named(member.removesuffix(".npy"), read_npy(stored, file, member))
                if name in found:
                    raise ParseError(f"{file}: {name} is there twice")
                found[name] = array
    except _FAULTS as fault:
        raise ParseError(f"{file}: this is no .npz, or a broken one: {_reason(fault)}") from None
    return found


def read_npy(data: bytes, file: str, member: str = "") -> Array:
    """Returns the array of an `.npy`, in the byte order of this machine; raises `ParseError`."""
    place = f"{file}: {member}" if member else file
    stream = io.BytesIO(data)
    try:
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
    except _FAULTS as fault:
        raise ParseError(f"{place} is no .npy, or a broken one: {_reason(fault)}") from None
    if numpy_type.hasobject:
        raise ParseError(f"{place} holds pickled objects, which are not read")
    rest = data[stream.tell() :]
    wanted = math.prod(sizes) * numpy_type.itemsize
    if min(sizes, default=0) < 0 or len(rest) != wanted:
        shown = ",".join(map(str, sizes))
        raise ParseError(
            f"{place} has {len(rest)} bytes of data, {wanted} are wanted for {numpy_type}[{shown}]"
        )
    flat = np.frombuffer(rest, numpy_type) if wanted else np.zeros(math.prod(sizes), numpy_type)
    array = flat.reshape(sizes, order="F" if is_fortran else "C")
    return array.astype(numpy_type.newbyteorder("="), copy=False)


def _reason(fault: Exception) -> str:
    words = str(fault) or type(fault).__name__
    return (words[:1].lower() + words[1:]).splitlines()[0].rstrip(".")


def _named(key: str, array: Array) -> tuple[str, Array]:
    match = _WITH_TYPE.fullmatch(key)
    element_type = None if match is None else _NAMES.get(match["type"])
    if match is None or element_type is None:
        return key, array
    return match["name"], of_bits(array, element_type, key)


def of_bits(bits: Array, element_type: ElementType, key: str) -> Array:
    """Returns the numbers that raw bits mean; raises `ParseError` for other widths or bits."""
    width = element_type.storage_bytes
    if bits.dtype.kind not in "uV" or bits.dtype.itemsize != width:
        raise ParseError(
            f"{key} is {bits.dtype}, raw bits of {element_type} are wanted: uint{8 * width}"
        )
    if bits.dtype.kind == "V":
        return np.frombuffer(bits.tobytes(), element_type.numpy).reshape(bits.shape)
    if element_type.bits < 8 and bits.size and int(bits.max()) >> element_type.bits:
        raise ParseError(
            f"{key} has the bits {int(bits.max()):#x},"
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
