"""A computation: instructions in order, with parameters and a root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir.instruction import NOWHERE
from hlotool.ir.shape import ProgramShape

if TYPE_CHECKING:
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module

MAIN_THREAD = "main"


class Computation:
    """A function of HLO. `instructions` stand in text order, operands before their users."""

    __slots__ = (
        "execution_thread", "has_users", "instructions", "name", "offset", "parameters", "parent",
        "root", "unknown",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        instructions: list[Instruction],
        root: Instruction,
        *,
        execution_thread: str = MAIN_THREAD,
        offset: int = NOWHERE,
    ) -> None:
        self.name = name
        self.instructions = instructions
        self.root = root
        self.execution_thread = execution_thread
        self.offset = offset
        self.parent: Module | None = None
        self.has_users = False
        self.unknown = ""
        """Attributes that only lenient reading takes, as in the text: `, name=value`."""
        for instruction in instructions:
            instruction.parent = self
        self.parameters: tuple[Instruction, ...] = ()
        """The parameter instructions in the order of their numbers."""

    @property
    def program_shape(self) -> ProgramShape:
        """The signature: parameter shapes and names, and the shape of the root."""
        return ProgramShape(
            [parameter.shape for parameter in self.parameters],
            self.root.shape,
            [parameter.name for parameter in self.parameters],
        )

    def index_users(self) -> None:
        """Finds the users of every instruction; kept up by `Instruction` from then on."""
        for instruction in self.instructions:
            instruction._users = []
        for instruction in self.instructions:
            for operand in dict.fromkeys(instruction.operands):
                users = operand._users
                if users is not None:
                    users.append(instruction)
        self.has_users = True

    def __repr__(self) -> str:
        return f"<computation {self.name}, {len(self.instructions)} instructions>"
