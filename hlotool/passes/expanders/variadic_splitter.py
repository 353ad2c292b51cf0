"""Ops of too many operands, split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.shape_changing import Concatenate
from hlotool.passes.expanders.expander import Expander
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder


@dataclass(frozen=True)
class VariadicOpSplitter(Expander):
    """Splits concatenations of many operands into a tree of smaller ones."""

    name: ClassVar[str] = "variadic-op-splitter"
    is_exact: ClassVar[bool] = True

    most_operands: int = option(128, "how many operands a concatenation may keep", least=2)

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a concatenation of too many operands."""
        count = len(instruction.operands)
        return isinstance(instruction.op, Concatenate) and count > self.most_operands

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """concatenate(a, b, c, d) -> concatenate(concatenate(a, b), concatenate(c, d))"""
        pieces = list(instruction.operands)
        while len(pieces) > 1:
            groups = [
                pieces[start : start + self.most_operands]
                for start in range(0, len(pieces), self.most_operands)
            ]
            pieces = [
                build.add(instruction.op, *group) if len(group) > 1 else group[0]
                for group in groups
            ]
        return pieces[0]
