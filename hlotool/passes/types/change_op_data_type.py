"""Multiplying matrices in a wider type than the one that they are given in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.passes.pass_base import Pass, option
from hlotool.passes.types.computing_type import compute_in, computes_numbers, float_type
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class ChangeOpDataType(Pass):
    """Lets dots and convolutions of f16 compute in f32, and rounds what they yield."""

    name: ClassVar[str] = "change-op-data-type"

    from_: str = option("f16", "the type of the operands")
    to: str = option("f32", "the type that products are computed in")

    def run(self, module: Module, journal: Journal) -> bool:
        """Converts operands and results of dots and convolutions."""
        given, wanted = float_type(self.from_, self.name), float_type(self.to, self.name)
        if given is wanted:
            return False
        return compute_in(module, journal, given, wanted, _is_product)


def _is_product(instruction: Instruction) -> bool:
    return isinstance(instruction.op, (Dot, Convolution)) and computes_numbers(instruction)
