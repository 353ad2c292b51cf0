"""When which pass ran, as `--xla_dump_module_metadata` writes it."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.frontends.text_proto import text_of, text_proto

_SCHEMA = {
    "Pass": "pass_name:bytes pipeline_name:bytes dump_filenames:bytes* module_changed:bool"
    " start_timestamp_usec:int end_timestamp_usec:int",
    "Metadata": "canonical_module_id:int pass_metadata:Pass*",
}
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class PassTime:
    """One run of a pass."""

    name: str
    pipeline: str
    files: tuple[str, ...]
    """The names of the files that show what it made, without folders."""
    is_changed: bool
    seconds: float


def pass_times(text: str, name: str = "<string>") -> list[PassTime]:
    """Returns the runs in a `metadata.textproto`, in order; raises `ParseError` for other texts."""
    message = text_proto(text, name, _SCHEMA, "Metadata")
    return [
        PassTime(
            text_of(one.pass_name),
            text_of(one.pipeline_name),
            tuple(text_of(file).rpartition("/")[2] for file in one.dump_filenames),
            bool(one.module_changed),
            max(0, one.end_timestamp_usec - one.start_timestamp_usec) / _MICROSECONDS,
        )
        for one in message.pass_metadata
    ]
