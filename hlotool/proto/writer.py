"""Writes modules as serialized protos."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.errors import HloError, UnsupportedError
from hlotool.ir.computation import MAIN_THREAD, Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations, instruction_order
from hlotool.proto.annotations import write_annotations
from hlotool.proto.attributes import call_order, write_op
from hlotool.proto.headers import write_header, write_stack_tables
from hlotool.proto.schema import HloProto, Proto
from hlotool.proto.shapes import write_program_shape, write_shape
from hlotool.proto.strings import write_string


def write_module(module: Module) -> bytes:
    """Returns the `HloProto` of a module, serialized.

    Computations are numbered in text order, instructions within their computation. Raises
    `UnsupportedError` for what a proto has no place for.
    """
    proto = HloProto()
    fill_module(proto.hlo_module, module)
    return bytes(proto.SerializeToString(deterministic=True))


def fill_module(proto: Proto, module: Module) -> None:
    """Fills an empty `HloModuleProto`."""
    writer = _ModuleWriter(proto, module)
    try:
        writer.write()
    except HloError as error:
        raise type(error)(f"{writer.place}{error.message}", notes=error.notes) from None
    except ValueError as error:
        # Numbers that the fields of messages are too narrow for.
        raise UnsupportedError(f"{writer.place}{error}") from None


class _ModuleWriter:
    def __init__(self, proto: Proto, module: Module) -> None:
        self._proto = proto
        self._module = module
        self._payloads: dict[bytes, int] = {}
        self._computation_ids = {
            computation: number for number, computation in enumerate(module.computations)
        }
        self._instruction_ids = dict(_numbered(module))
        self._fused = fused_computations(module)
        self.place = ""
        """Where writing is, for messages of errors."""

    def write(self) -> None:
        proto, module = self._proto, self._module
        write_string(proto, "name", module.name)
        write_string(proto, "entry_computation_name", module.entry.name)
        proto.entry_computation_id = self._computation_ids[module.entry]
        self.place = "module header: "
        write_header(proto, module)
        if module.stack_tables is not None:
            write_stack_tables(proto.stack_frame_index, module.stack_tables)
        if module.is_scheduled:
            proto.schedule.SetInParent()
        for computation in module.computations:
            self._write_computation(proto.computations.add(), computation)
            if module.is_scheduled and computation not in self._fused:
                sequence = proto.schedule.sequences[self._computation_ids[computation]]
                sequence.instruction_ids.extend(
                    self._instruction_ids[instruction] for instruction in computation.instructions
                )
        proto.payloads.extend(self._payloads)

    def _write_computation(self, proto: Proto, computation: Computation) -> None:
        self.place = f"computation {computation.name}: "
        write_string(proto, "name", computation.name)
        proto.id = self._computation_ids[computation]
        proto.root_id = self._instruction_ids[computation.root]
        write_program_shape(proto.program_shape, computation.program_shape)
        proto.is_fusion_computation = computation in self._fused
        if computation.execution_thread != MAIN_THREAD:
            write_string(proto, "execution_thread", computation.execution_thread)
        # Messages have this order even where a schedule has another.
        for instruction in instruction_order(computation):
            self._write_instruction(proto.instructions.add(), instruction)

    def _write_instruction(self, proto: Proto, instruction: Instruction) -> None:
        self.place = f"instruction {instruction.name}: "
        ids = self._instruction_ids
        write_string(proto, "name", instruction.name)
        proto.id = ids[instruction]
        write_shape(proto.shape, instruction.shape)
        write_op(proto, instruction.op, [operand.shape for operand in instruction.operands])
        proto.operand_ids.extend(ids[operand] for operand in instruction.operands)
        proto.control_predecessor_ids.extend(
            ids[predecessor] for predecessor in instruction.control_predecessors
        )
        calls = instruction.calls
        proto.called_computation_ids.extend(
            self._computation_ids[calls[number]]
            for number in call_order(instruction.op, len(calls))
        )
        write_annotations(proto, instruction.annotations, self._payloads)


def _numbered(module: Module) -> Iterator[tuple[Instruction, int]]:
    for computation_id, computation in enumerate(module.computations):
        for number, instruction in enumerate(computation.instructions):
            yield instruction, computation_id << 32 | number
