"""Computing bf16 in f32, with a rounding behind each op, where a machine has no bf16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.errors import UsageError
from hlotool.ir.element_type import BF16, F32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import OPCODES
from hlotool.passes.pass_base import Pass, option
from hlotool.passes.types.computing_type import compute_in, computes_numbers
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class FloatNormalizationBf16(Pass):
    """Computes bf16 in f32 and rounds after each op, but for ops that support bf16."""

    name: ClassVar[str] = "float-normalization-bf16"

    supported: str = option("", "opcodes that take and yield bf16, joined with +")

    def run(self, module: Module, journal: Journal) -> bool:
        """Inserts conversions around ops without support, in reducers too."""
        supported = {opcode for opcode in self.supported.split("+") if opcode}
        for opcode in supported - OPCODES.keys():
            raise UsageError(f"{self.name}: {opcode} is no opcode")

        def concerns(instruction: Instruction) -> bool:
            return instruction.opcode not in supported and computes_numbers(instruction)

        return compute_in(module, journal, BF16, F32, concerns)
