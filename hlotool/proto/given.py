"""Modules that other programs hand over in memory: as serialized protos, or as what gives one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hlotool.errors import ParseError
from hlotool.ir.lazy import LazyModule

if TYPE_CHECKING:
    from hlotool.ir.module import Module

_METHOD = "as_serialized_hlo_module_proto"
"""What the modules and computations of jaxlib have."""
_MLIR_BYTECODE = b"ML\xefR"
# Who reads text alone does without protos, whose library takes long to load.
_reader = LazyModule("hlotool.proto.reader")


def is_given(value: object) -> bool:
    """Whether a value is the bytes of a proto, or a module or computation of jaxlib."""
    return isinstance(value, bytes | bytearray | memoryview) or hasattr(value, _METHOD)


def given_module(value: object) -> Module:
    """Returns the module of what `is_given` accepts; raises `HloError` for what holds none."""
    method = getattr(value, _METHOD, None)
    data = bytes(value if method is None else method())  # type: ignore[arg-type]
    if data.startswith(_MLIR_BYTECODE):
        raise ParseError("this is MLIR bytecode, such as StableHLO, and a proto of HLO is wanted")
    return cast("Module", _reader.read_module(data))
