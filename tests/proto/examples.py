"""Messages that the reference wrote, each with the text it was made from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from hlotool.proto.schema import HloModuleProto, HloProto

DATA = Path(__file__).parent / "data"
PROTOS = sorted(DATA.glob("*.pb"))
NAMES = [path.stem for path in PROTOS]
NO_PLACE = re.compile(
    r", (?:allow_spmd_sharding_propagation_to_\w+=\{[\w,]+\}|alias_passthrough_params=true)"
)
"""What the header of a text says and a message does not."""
SMALLEST = (DATA / "stack_frames.pb").read_bytes()


def text_of(path: Path) -> str:
    """Returns the text that a message was made from."""
    return path.with_suffix(".hlo").read_text(encoding="utf-8")


def bare(data: bytes) -> Any:
    """Returns the module message in an `HloProto`."""
    return HloProto.FromString(data).hlo_module


def example(name: str) -> Any:
    """Returns the module message of an example, for a test to spoil."""
    return HloModuleProto.FromString((DATA / f"{name}.pb").read_bytes())


def instruction(module: Any, name: str) -> Any:
    """Returns the message of an instruction."""
    found = [i for c in module.computations for i in c.instructions if i.name == name]
    assert len(found) == 1
    return found[0]


def unknown_fields(message: Any, path: str = "") -> list[str]:
    """Returns the places of fields, in a message and those in it, that the schema lacks."""
    unknown: Any = UnknownFieldSet(message)
    found = [f"{path}.{field.field_number}" for field in unknown]
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for part in [value] if isinstance(value, Message) else value:
            found += unknown_fields(part, f"{path}.{field.name}")
    return found
