"""A computation: instructions in order, with parameters and a root."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hlotool.ir.instruction import NOWHERE
from hlotool.ir.shape import ProgramShape

if TYPE_CHECKING:
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module

MAIN_THREAD = "main"
"""The execution thread of a computation that names none."""


class ParameterError(ValueError):
    """Parameters whose numbers are not 0 and up, each once; `instruction` is one of them."""

    def __init__(self, message: str, instruction: Instruction) -> None:
        super().__init__(message)
        self.instruction = instruction


def parameters_in_order(instructions: Iterable[Instruction]) -> tuple[Instruction, ...]:
    """Returns the parameters among instructions, ordered by number; raises `ParameterError`."""
    found: dict[int, Instruction] = {}
    for instruction in instructions:
        number = instruction.op.parameter_number
        if number is None:
            continue
        if number in found:
            raise ParameterError(
                f"parameter number {number} is taken by {found[number].name}", instruction
            )
        found[number] = instruction
    for number, instruction in found.items():
        if not 0 <= number < len(found):
            raise ParameterError(
                f"parameter numbers must be 0 to {len(found) - 1} without a gap, found {number}",
                instruction,
            )
    return tuple(found[number] for number in range(len(found)))


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
