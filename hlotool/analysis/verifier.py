"""Checks that a module keeps the rules of the language, beyond what parsing has seen."""

from __future__ import annotations

from hlotool.analysis.faults import Faults
from hlotool.analysis.verifier_calls import check_calls
from hlotool.analysis.verifier_graph import check_graph
from hlotool.analysis.verifier_header import check_header
from hlotool.analysis.verifier_pairs import check_pairs
from hlotool.analysis.verifier_sharding import check_sharding
from hlotool.errors import HloError, ShapeError
from hlotool.ir.annotations import NO_ANNOTATIONS
from hlotool.ir.computation import Computation
from hlotool.ir.header import ModuleHeader
from hlotool.ir.instruction import Instruction
from hlotool.ir.metadata import DEFAULT_ACCURACY
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import ProgramShape
from hlotool.ops.collective_groups import Collective
from hlotool.ops.shape_checks import check_layouts


def verify(module: Module) -> list[HloError]:
    """Returns every error of a module in text order, each with its location; none if it is fine."""
    faults = Faults(module)
    check_header(module, faults)
    check_calls(module, faults)
    check_pairs(module, faults)
    rules = _InstructionRules(module.header)
    for computation in module.computations:
        check_graph(computation, faults, is_scheduled=module.is_scheduled)
        for instruction in computation.instructions:
            error = rules.error(instruction)
            if error is not None:
                faults.add_error(instruction, error)
            _check_annotations(instruction, module.header.num_partitions, faults)
    return faults.in_text_order()


class _InstructionRules:
    # Ops and shapes are shared, so most instructions were judged before. The memo goes by
    # identity, which is safe as long as the module holds them all; an op that was adapted to
    # the shapes of its instruction is not shared, and goes by value.
    def __init__(self, header: ModuleHeader) -> None:
        self._header = header
        self._memo: dict[tuple[Op | int, ...], HloError | None] = {}
        self._signatures: dict[Computation, ProgramShape] = {}

    def error(self, instruction: Instruction) -> HloError | None:
        op = instruction.op
        key = (
            op if op.adapts else id(op),
            id(instruction.shape),
            *[id(operand.shape) for operand in instruction.operands],
            *[id(computation) for computation in instruction.calls],
        )
        try:
            return self._memo[key]
        except KeyError:
            found = self._memo[key] = self._judge(instruction)
            return found

    def _judge(self, instruction: Instruction) -> HloError | None:
        op = instruction.op
        try:
            op.check_arity(len(instruction.operands))
            op.check_call_count(len(instruction.calls))
            check_layouts(instruction.shape, op.opcode)
            operands = [operand.shape for operand in instruction.operands]
            calls = [self._signature(computation) for computation in instruction.calls]
            op.check_shape(operands, calls, instruction.shape)
            if isinstance(op, Collective):
                op.check_devices(
                    self._header.replica_count,
                    self._header.num_partitions,
                    operands,
                    instruction.shape,
                )
        except ShapeError as error:
            return error
        except (ValueError, ArithmeticError) as error:
            # Numbers of thousands of digits, which no message can show.
            return ShapeError(f"{op.opcode}: {error}")
        return None

    def _signature(self, computation: Computation) -> ProgramShape:
        found = self._signatures.get(computation)
        if found is None:
            found = self._signatures[computation] = computation.program_shape
        return found


def _check_annotations(instruction: Instruction, partitions: int, faults: Faults) -> None:
    text = instruction.annotation_text
    # Reading annotations costs more than all other checks; most texts hold only metadata.
    if text is not None and "sharding=" not in text and "result_accuracy" not in text:
        return
    try:
        annotations = instruction.annotations
    except HloError as error:
        faults.add_error(instruction, error)
        return
    if annotations is NO_ANNOTATIONS:
        return
    if annotations.result_accuracy != DEFAULT_ACCURACY and not instruction.op.takes_result_accuracy:
        faults.add(instruction, f"{instruction.opcode}: takes no result_accuracy")
    if annotations.sharding is not None:
        check_sharding(instruction, annotations.sharding, partitions, faults)
