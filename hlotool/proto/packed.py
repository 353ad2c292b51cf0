"""Module files that gzip has packed, as `--xla_dump_compress_protos` writes them."""

from __future__ import annotations

import zlib

from hlotool.errors import ParseError, UsageError

SUFFIX = ".gz"
LARGEST_MODULE = 64 << 20
"""How many bytes a packed module may have; the largest we know of have 20 MiB."""
_BEGINNING = b"\x1f\x8b"
_GZIP_FORM = 31


def is_packed(data: bytes) -> bool:
    """Whether bytes begin as gzip's do, which neither a text nor a proto of a module does."""
    return data.startswith(_BEGINNING)


def unpacked(data: bytes) -> bytes:
    """Returns what gzip has packed.

    Raises `ParseError` for other bytes and `UsageError` for more than `LARGEST_MODULE` of them.
    """
    unpacking = zlib.decompressobj(wbits=_GZIP_FORM)
    try:
        made = unpacking.decompress(data, LARGEST_MODULE)
    except zlib.error as error:
        raise ParseError(f"this is not what gzip makes: {error}") from None
    if unpacking.unconsumed_tail:
        raise UsageError(f"larger than {LARGEST_MODULE >> 20} MiB when unpacked")
    if not unpacking.eof:
        raise ParseError("the file ends before what it holds does")
    return made
