"""The text of a module, with the line that each instruction stands in."""

from __future__ import annotations

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import computation_order, fused_computations, instruction_order
from hlotool.text.async_sugar import hidden_computations
from hlotool.text.instruction_printer import INDENT, InstructionPrinter
from hlotool.text.printer import DEFAULT, print_head, print_opening


class ModuleText:
    """A module as it prints by default. Lines count from 0.

    A computation that the text does not show, since a sugared opcode stands for it, has the
    line of its caller.
    """

    def __init__(self, module: Module) -> None:
        self.computations = computation_order(module)
        """All computations in the order of the text, called ones before their callers."""
        self.instructions: dict[Computation, list[Instruction]] = {}
        """The instructions of each in the order of the text."""
        self.line: dict[Instruction | Computation, int] = {}
        self._printer = InstructionPrinter(module, DEFAULT)
        self._unscheduled = (
            fused_computations(module) if module.is_scheduled else set(module.computations)
        )
        self._entry = module.entry
        head = print_head(module)
        self._count = head.count("\n")
        self._parts = [head]
        hidden = hidden_computations(module)
        for computation in self.computations:
            in_text_order = computation not in self._unscheduled
            order = computation.instructions if in_text_order else instruction_order(computation)
            self.instructions[computation] = order
            if computation not in hidden:
                self._print(computation, in_text_order=in_text_order)
        self._place_hidden()
        self.text = "".join(self._parts).rstrip("\n") + "\n"

    def _print(self, computation: Computation, *, in_text_order: bool) -> None:
        entry = "ENTRY " if computation is self._entry else ""
        opening = entry + print_opening(computation, self._printer)
        self.line[computation] = self._count
        count = self._count + opening.count("\n") + 1
        lines = self._printer.lines(computation, INDENT, in_text_order=in_text_order)
        for instruction, line in zip(self.instructions[computation], lines, strict=True):
            self.line[instruction] = count
            # A name that was read from a proto may hold whatever there is.
            count += line.count("\n") + 1
        closing = self._printer.closing(computation)
        self._parts.append("\n".join([opening, *lines, closing, "\n"]))
        self._count = count + closing.count("\n") + 2

    def _place_hidden(self) -> None:
        # Callers stand behind what they call.
        for caller in reversed(self.computations):
            for instruction in self.instructions[caller]:
                for called in instruction.calls:
                    line = self.line.get(instruction, 0)
                    if called not in self.line:
                        self.line[called] = line
                        self.line.update(dict.fromkeys(self.instructions[called], line))
