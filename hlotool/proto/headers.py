"""What the header of a module says, as messages: aliases, layouts, counts, stack tables.

A message has no place for the rest: how shardings may propagate, and whether parameters pass
through. The counts of replicas and partitions stand in the assignment of devices.
"""

from __future__ import annotations

from collections.abc import Callable

from hlotool.errors import ParseError, UnsupportedError
from hlotool.ir.header import Alias, BufferDonor, ModuleHeader, Recovery
from hlotool.ir.module import Module
from hlotool.ir.shape import ProgramShape
from hlotool.ir.stack_tables import FileLocation, StackFrame, StackTables
from hlotool.ir.tile_assignment import MOST_LISTED
from hlotool.proto.annotations import (
    read_frontend_attributes,
    read_original_array,
    write_frontend_attributes,
    write_original_array,
)
from hlotool.proto.schema import Proto, enumeration
from hlotool.proto.shapes import read_program_shape, write_program_shape

_ALIAS_KINDS = enumeration("Kind")
_ALIAS_WORDS = {
    _ALIAS_KINDS["MAY_ALIAS"]: "may-alias",
    _ALIAS_KINDS["MUST_ALIAS"]: "must-alias",
}
_ALIAS_NUMBERS = {word: number for number, word in _ALIAS_WORDS.items()}
_LOCATION_PARTS = ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column")

ShowModule = Callable[[Proto], str]
"""Returns the text of an `HloModuleProto`."""


def read_header(proto: Proto, show_module: ShowModule | None = None) -> ModuleHeader:
    """Returns the header of an `HloModuleProto`; raises `HloError` where it is amiss."""
    devices = proto.device_assignment
    layout = None
    if proto.HasField("host_program_shape"):
        layout = read_program_shape(proto.host_program_shape)
    return ModuleHeader(
        is_scheduled=proto.HasField("schedule"),
        input_output_alias=_read_aliases(proto.input_output_alias),
        buffer_donor=_read_donors(proto.buffer_donor),
        entry_computation_layout=layout,
        replica_count=_count(devices.replica_count, "replicas"),
        num_partitions=_count(devices.computation_count, "partitions"),
        frontend_attributes=read_frontend_attributes(proto.frontend_attributes),
        origin_recovery_table=tuple(
            _read_recovery(entry, show_module)
            for entry in proto.original_value_recovery_table.entries
        ),
    )


def _count(number: int, what: str) -> int:
    if number < 0:
        raise ParseError(f"the device assignment has {number} {what}")
    return number or 1


def _read_aliases(proto: Proto) -> tuple[Alias, ...]:
    aliases = {}
    for entry in proto.entries:
        kind = _ALIAS_WORDS.get(entry.kind)
        output = tuple(entry.output_shape_index)
        if kind is None:
            raise ParseError(f"unknown kind {entry.kind} of alias")
        if output in aliases:
            raise ParseError(f"output {output} is aliased twice")
        index = tuple(entry.parameter_shape_index)
        aliases[output] = Alias(output, entry.parameter_number, index, kind)
    return tuple(aliases[output] for output in sorted(aliases))


def _read_donors(proto: Proto) -> tuple[BufferDonor, ...]:
    found = {
        (entry.parameter_number, tuple(entry.parameter_shape_index)) for entry in proto.entries
    }
    return tuple(BufferDonor(*donor) for donor in sorted(found))


def _read_recovery(entry: Proto, show_module: ShowModule | None) -> Recovery:
    text = ""
    if entry.HasField("recovery_module"):
        if show_module is None:
            raise UnsupportedError("the origin recovery table has a module, which is not read")
        text = show_module(entry.recovery_module)
    return Recovery(
        read_original_array(entry.old_original_array),
        read_original_array(entry.new_original_array),
        text,
    )


def write_header(proto: Proto, module: Module) -> None:
    """Adds the header of `module`, but for the schedule, to an `HloModuleProto`."""
    header = module.header
    shape = header.entry_computation_layout or module.entry.program_shape
    names = [f"p{number}" for number in range(len(shape.parameters))]
    write_program_shape(
        proto.host_program_shape, ProgramShape(shape.parameters, shape.result, names)
    )
    proto.input_output_alias.SetInParent()
    for alias in header.input_output_alias:
        proto.input_output_alias.entries.add(
            output_shape_index=alias.output_index,
            parameter_number=alias.parameter,
            parameter_shape_index=alias.parameter_index,
            kind=_ALIAS_NUMBERS[alias.kind],
        )
    proto.buffer_donor.SetInParent()
    for donor in header.buffer_donor:
        proto.buffer_donor.entries.add(
            parameter_number=donor.parameter, parameter_shape_index=donor.parameter_index
        )
    write_frontend_attributes(proto.frontend_attributes, header.frontend_attributes)
    _write_devices(proto, header)
    for recovery in header.origin_recovery_table:
        _write_recovery(proto.original_value_recovery_table.entries.add(), recovery)


def _write_devices(proto: Proto, header: ModuleHeader) -> None:
    replicas, partitions = header.replica_count, header.num_partitions
    if replicas * partitions == 1:
        return
    # Each device takes its place in the file.
    if replicas * partitions > MOST_LISTED:
        raise UnsupportedError(f"{replicas} replicas of {partitions} partitions are too many")
    devices = proto.device_assignment
    devices.replica_count = replicas
    devices.computation_count = partitions
    # The reference numbers devices like this where nobody says otherwise.
    for partition in range(partitions):
        devices.computation_devices.add(
            replica_device_ids=range(partition * replicas, (partition + 1) * replicas)
        )


def _write_recovery(proto: Proto, recovery: Recovery) -> None:
    if recovery.module:
        raise UnsupportedError("the origin recovery table has a module, which is not written")
    write_original_array(proto.old_original_array, *recovery.old)
    write_original_array(proto.new_original_array, *recovery.new)


def read_stack_tables(proto: Proto) -> StackTables | None:
    """Returns the tables of a `StackFrameIndexProto`, `None` where all are empty."""
    if not proto.ListFields():
        return None
    locations = [
        FileLocation(*(getattr(location, part) for part in _LOCATION_PARTS))
        for location in proto.file_locations
    ]
    frames = [
        StackFrame(frame.file_location_id, frame.parent_frame_id) for frame in proto.stack_frames
    ]
    return StackTables(proto.file_names, proto.function_names, locations, frames)


def write_stack_tables(proto: Proto, tables: StackTables) -> None:
    """Fills an empty `StackFrameIndexProto`."""
    proto.file_names.extend(tables.file_names)
    proto.function_names.extend(tables.function_names)
    for location in tables.file_locations:
        proto.file_locations.add(**{part: getattr(location, part) for part in _LOCATION_PARTS})
    for frame in tables.stack_frames:
        proto.stack_frames.add(
            file_location_id=frame.file_location_id, parent_frame_id=frame.parent_frame_id
        )
