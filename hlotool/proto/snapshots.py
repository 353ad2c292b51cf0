"""Snapshots: a module together with the arguments it was run on and what it gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.errors import ParseError
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.proto.literals import read_literal, write_literal
from hlotool.proto.reader import decode, module_of, within
from hlotool.proto.schema import HloSnapshot, Proto
from hlotool.proto.strings import write_string
from hlotool.proto.writer import fill_module


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One run of a module. `result` is `None` where the file has none."""

    module: Module
    arguments: tuple[Literal, ...] = ()
    result: Literal | None = None
    execution_platform: str = ""


def read_snapshot(data: bytes) -> Snapshot:
    """Returns the snapshot in a serialized `HloSnapshot`; raises `HloError` for other bytes."""
    proto = decode(HloSnapshot, data)
    if proto is None or not proto.hlo.hlo_module.computations:
        raise ParseError("this is no HLO snapshot, or one that is cut off")
    return Snapshot(
        module_of(proto.hlo.hlo_module),
        _read_literals(proto.arguments, "argument"),
        _read_literals([proto.result], "result")[0] if proto.HasField("result") else None,
        proto.execution_platform,
    )


def read_snapshot_arguments(data: bytes) -> tuple[Literal, ...]:
    """Returns the arguments in a serialized `HloSnapshot`, none for a proto of a module alone.

    The module is not read. Raises `HloError` for arguments that are no literals.
    """
    proto = decode(HloSnapshot, data)
    if proto is None or not proto.hlo.hlo_module.computations:
        return ()
    return _read_literals(proto.arguments, "argument")


def _read_literals(protos: Sequence[Proto], what: str) -> tuple[Literal, ...]:
    found = []
    for number, proto in enumerate(protos):
        with within(f"{what} {number}"):
            found.append(read_literal(proto))
    return tuple(found)


def write_snapshot(snapshot: Snapshot) -> bytes:
    """Returns the serialized `HloSnapshot`; raises `UnsupportedError` as `write_module` does."""
    proto = HloSnapshot()
    fill_module(proto.hlo.hlo_module, snapshot.module)
    for argument in snapshot.arguments:
        write_literal(proto.arguments.add(), argument)
    if snapshot.result is not None:
        write_literal(proto.result, snapshot.result)
    write_string(proto, "execution_platform", snapshot.execution_platform)
    return bytes(proto.SerializeToString(deterministic=True))
