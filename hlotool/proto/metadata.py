"""Metadata as messages, and the texts that messages keep apart as payloads."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ParseError
from hlotool.ir.metadata import NO_METADATA, PROFILE_TYPES, Metadata
from hlotool.proto.schema import Proto
from hlotool.proto.strings import as_bytes, as_text, write_string

_SAME_NAME = (
    "op_type", "op_name", "source_file", "source_line", "source_end_line", "source_column",
    "source_end_column", "deduplicated_name", "scheduling_name", "stack_frame_id",
)  # fmt: skip


def read_metadata(proto: Proto, payloads: Sequence[bytes] = ()) -> Metadata:
    """Returns the metadata of an `OpMetadata`; `payloads` are those of the module."""
    if not proto.ListFields():
        return NO_METADATA
    values = {name: getattr(proto, name) for name in _SAME_NAME}
    if proto.HasField("metadata_payload"):
        values["metadata_payload"] = as_text(read_payload(proto.metadata_payload, payloads))
    unknown = [number for number in proto.profile_type if number not in PROFILE_TYPES]
    if unknown:
        raise ParseError(f"unknown value {unknown[0]} of profile_type")
    return Metadata(profile_type=tuple(proto.profile_type), **values)


def read_payload(proto: Proto, payloads: Sequence[bytes]) -> bytes:
    """Returns the bytes that a `Payload` has or names."""
    if proto.WhichOneof("payload_source") != "id":
        return bytes(proto.value)
    if not 0 <= proto.id < len(payloads):
        raise ParseError(f"payload {proto.id} is named, the module has {len(payloads)}")
    return bytes(payloads[proto.id])


def write_metadata(
    proto: Proto, metadata: Metadata, payloads: dict[bytes, int] | None = None
) -> None:
    """Fills an empty `OpMetadata`; a payload goes to `payloads` where these are given."""
    proto.SetInParent()
    if metadata is NO_METADATA:
        return
    for name in _SAME_NAME:
        value = getattr(metadata, name)
        if isinstance(value, str):
            write_string(proto, name, value)
        else:
            setattr(proto, name, value)
    proto.profile_type.extend(metadata.profile_type)
    if metadata.metadata_payload:
        payload = as_bytes(metadata.metadata_payload)
        if payloads is None:
            proto.metadata_payload.value = payload
        else:
            proto.metadata_payload.id = payloads.setdefault(payload, len(payloads))
