"""A text that is one instruction: its operands become the parameters of a module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lark.lexer import Token

from hlotool.ir.instruction import Instruction
from hlotool.ir.names import NameUniquer
from hlotool.ops.source import Parameter
from hlotool.text.forms_attribute import FormError, offset
from hlotool.text.module_builder import ModuleBuilder
from hlotool.text.scope import Scope

if TYPE_CHECKING:
    from hlotool.ir.module import Module
    from hlotool.ir.shape import Shape
    from hlotool.text.instruction_builder import Call
    from hlotool.text.op_reader import Attribute

NAMELESS = "_"


class SingleInstructionBuilder(ModuleBuilder):
    """Makes a module of one instruction; operands must have a shape, a name they need not."""

    _parameter_count = 0

    def read(self, rule: str) -> Module:
        """Returns the module of the whole text."""
        self._name = NAMELESS
        self.scopes.append(Scope(NAMELESS, 0, is_entry=True))
        return super().read(rule)

    def operand(self, shape: Shape | None, name: Token) -> Instruction:
        """Returns the parameter that an operand stands for."""
        if str(name) in self.scopes[-1].names:
            return super().operand(shape, name)
        if shape is None:
            raise FormError(f"operand {name} needs a shape in front", offset(name))
        return self._parameter(str(name), shape, offset(name))

    def unnamed_operand(self, shape: Shape) -> Instruction:
        """Returns a new parameter of some shape, named after its number."""
        name = f"_{self._parameter_count}"
        while name in self.scopes[-1].names:
            name += ".1"
        return self._parameter(name, shape, 0)

    def _parameter(self, name: str, shape: Shape, start: int) -> Instruction:
        made = Instruction(name, shape, Parameter(self._parameter_count), offset=start)
        self.scopes[-1].add(made)
        self._parameter_count += 1
        return made

    def add_single(self, name: Token | None, call: Call, attributes: Sequence[Attribute]) -> None:
        """Takes the instruction that the text is."""
        _, opcode, _ = call
        shown = Token("NAME", NAMELESS, opcode.start_pos) if name is None else name
        self.add_instruction(shown, call, attributes, offset(shown), is_root=True)
        scope = self.scopes.pop()
        self._entry = self._finish(scope)
        self._name_entry_first(scope)
        self._header = self._header.replace(is_scheduled=True)

    def _name_entry_first(self, scope: Scope) -> None:
        # Computations in place of names were read before the entry was, and took its names.
        assert self._entry is not None, "the caller has made it"
        for name, instruction in scope.names.items():
            instruction.name = name
        instruction_names, computation_names = NameUniquer(), NameUniquer()
        self._entry.name = NAMELESS
        for computation in (self._entry, *self.finished[:-1]):
            computation.name = computation_names.unique(computation.name)
            for instruction in computation.instructions:
                instruction.name = instruction_names.unique(instruction.name)
