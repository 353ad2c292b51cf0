"""Reads modules from serialized protos: the `.hlo.pb` files of dumps, and bare modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from google.protobuf.message import DecodeError

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.errors import HloError, ParseError, ShapeError
from hlotool.ir.attribute import near_names
from hlotool.ir.computation import MAIN_THREAD, Computation, parameters_in_order
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.names import NameUniquer, check_name
from hlotool.ir.op import OPCODES
from hlotool.ir.order import computation_order
from hlotool.ir.shape import Shape
from hlotool.proto.annotations import read_annotations
from hlotool.proto.attributes import call_order, read_op
from hlotool.proto.headers import ShowModule, read_header, read_stack_tables
from hlotool.proto.schema import HloModuleProto, HloProto, HloSnapshot, Proto
from hlotool.proto.shapes import read_shape


def read_module(data: bytes, *, show_module: ShowModule | None = None) -> Module:
    """Returns the module in an `HloProto`, an `HloModuleProto` or an `HloSnapshot`.

    What a module has no place for, buffer assignment and profiles, is left out. `show_module`
    gives the text of the modules in an origin recovery table. Raises `HloError`.
    """
    return module_of(_module_proto(data), show_module)


def module_of(proto: Proto, show_module: ShowModule | None = None) -> Module:
    """Returns the module of an `HloModuleProto`; raises `HloError` where it is amiss."""
    try:
        return _ModuleReader(proto).read(show_module)
    except ValueError as error:
        raise ParseError(str(error)) from None


def _module_proto(data: bytes) -> Proto:
    for message, path in (
        (HloProto, ("hlo_module",)), (HloModuleProto, ()), (HloSnapshot, ("hlo", "hlo_module")),
    ):  # fmt: skip
        module = decode(message, data)
        for name in path:
            module = None if module is None else getattr(module, name)
        # Messages of one kind often decode as another one, but then without instructions.
        if module is not None and any(made.instructions for made in module.computations):
            return module
    if decode(HloProto, data) is None:
        raise ParseError("this is no HLO proto, or one that is cut off")
    raise ParseError("the proto holds no HLO module")


def decode(message: type[Proto], data: bytes) -> Proto | None:
    """Returns the message that bytes hold, `None` where they hold no such message."""
    try:
        return message.FromString(data)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        # The runtime in pure Python has an error of its own for each fault.
        return None


@contextmanager
def within(what: str) -> Iterator[None]:
    """Puts `what` before the messages of errors."""
    try:
        yield
    except HloError as error:
        raise type(error)(f"{what}: {error.message}", notes=error.notes) from None
    except ValueError as error:
        raise ParseError(f"{what}: {error}") from None


class _ModuleReader:
    def __init__(self, proto: Proto) -> None:
        self._proto = proto
        self._payloads = proto.payloads
        self._shapes: dict[bytes, Shape] = {}
        self._instruction_names = NameUniquer()
        self._computation_names = NameUniquer()
        self._computations: dict[int, Computation] = {}

    def read(self, show_module: ShowModule | None) -> Module:
        proto = self._proto
        check_name(proto.name)
        with within("module header"):
            header = read_header(proto, show_module)
        called: list[tuple[Instruction, Sequence[int]]] = []
        for computation in proto.computations:
            with within(f"computation {computation.name}"):
                self._add(computation, called)
        for instruction, ids in called:
            with within(f"instruction {instruction.name}"):
                self._connect(instruction, ids)
        entry = self._computations.get(proto.entry_computation_id)
        if entry is None:
            raise ParseError(f"the entry is computation {proto.entry_computation_id}, not there")
        if header.entry_computation_layout is None:
            header = header.replace(entry_computation_layout=entry.program_shape)
        module = Module(
            proto.name,
            list(self._computations.values()),
            entry,
            header,
            read_stack_tables(proto.stack_frame_index),
        )
        _put_called_first(module)
        return module

    def _add(self, proto: Proto, called: list[tuple[Instruction, Sequence[int]]]) -> None:
        check_name(proto.name)
        if proto.id in self._computations:
            raise ParseError(f"two computations have the id {proto.id}")
        made: dict[int, Instruction] = {}
        for instruction_proto in proto.instructions:
            with within(f"instruction {instruction_proto.name}"):
                instruction = self._instruction(instruction_proto, made)
            if instruction_proto.called_computation_ids:
                called.append((instruction, instruction_proto.called_computation_ids))
            made[instruction_proto.id] = instruction
        if proto.root_id not in made:
            raise ParseError(f"the root is instruction {proto.root_id}, which is not there")
        instructions = self._scheduled(proto.id, made)
        self._computations[proto.id] = computation = Computation(
            self._computation_names.unique(proto.name),
            instructions,
            made[proto.root_id],
            execution_thread=proto.execution_thread or MAIN_THREAD,
        )
        computation.parameters = parameters_in_order(instructions)

    def _instruction(self, proto: Proto, made: dict[int, Instruction]) -> Instruction:
        check_name(proto.name)
        if proto.id in made:
            raise ParseError(f"two instructions have the id {proto.id}")
        op_class = OPCODES.get(proto.opcode)
        if op_class is None:
            near = near_names(proto.opcode, list(OPCODES))
            raise ParseError(f'unknown opcode "{proto.opcode}"{near}')
        shape = self._shape(proto.shape)
        operands = _instructions(proto.operand_ids, made, "operand")
        op = read_op(op_class, proto)
        try:
            op.check_arity(len(operands))
            op.check_call_count(len(proto.called_computation_ids))
        except ShapeError as error:
            raise ParseError(error.message) from None
        if op.adapts:
            op = op.adapted([operand.shape for operand in operands], shape)
        instruction = Instruction(
            self._instruction_names.unique(proto.name),
            shape,
            op,
            operands,
            annotations=read_annotations(proto, self._payloads),
        )
        instruction.control_predecessors = _instructions(
            proto.control_predecessor_ids, made, "control predecessor"
        )
        return instruction

    def _shape(self, proto: Proto) -> Shape:
        key = proto.SerializeToString()
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = read_shape(proto)
        return found

    def _scheduled(self, computation: int, made: dict[int, Instruction]) -> list[Instruction]:
        sequences = self._proto.schedule.sequences
        if computation not in sequences:
            # Numbers follow the order in which instructions were made; messages have another.
            found = [made[number] for number in sorted(made)]
            return found if _first_too_early(found) is None else list(made.values())
        ids = sequences[computation].instruction_ids
        if sorted(ids) != sorted(made):
            raise ParseError("the schedule does not have each instruction once")
        found = [made[number] for number in ids]
        early = _first_too_early(found)
        if early is not None:
            raise ParseError(f"the schedule has {early.name} before what it needs")
        return found

    def _connect(self, instruction: Instruction, ids: Sequence[int]) -> None:
        missing = [number for number in ids if number not in self._computations]
        if missing:
            raise ParseError(f"computation {missing[0]}, which it calls, is not there")
        found = [self._computations[number] for number in ids]
        order = call_order(instruction.op, len(found))
        pairs = sorted(zip(order, found, strict=True), key=lambda pair: pair[0])
        instruction.calls = tuple(computation for _, computation in pairs)


def _instructions(
    ids: Sequence[int], made: dict[int, Instruction], what: str
) -> tuple[Instruction, ...]:
    try:
        return tuple([made[number] for number in ids])
    except KeyError as error:
        raise ParseError(f"{what} {error} does not stand before it") from None


def _first_too_early(instructions: Sequence[Instruction]) -> Instruction | None:
    done: set[Instruction] = set()
    for instruction in instructions:
        if not done.issuperset(instruction.dependencies):
            return instruction
        done.add(instruction)
    return None


def _put_called_first(module: Module) -> None:
    if _is_called_first(module.computations):
        return
    module.computations = computation_order(module)
    if not _is_called_first(module.computations):
        raise ParseError("computations call each other in a circle")


def _is_called_first(computations: Sequence[Computation]) -> bool:
    done: set[Computation] = set()
    for computation in computations:
        for instruction in computation.instructions:
            if not all(called in done for called in instruction.calls):
                return False
        done.add(computation)
    return True
