"""A computation: instructions in order, with parameters and a root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """A function of HLO. `instructions` stand in text order, operands before their users.

    While a computation is being changed they stand in no order, and removed ones may still
    be among them (their `parent` is `None`), until `settle` is called.
    """

    __slots__ = (
        "_control_successors", "execution_thread", "has_users", "instructions", "is_settled",
        "name", "offset", "parameters", "parent", "root", "unknown",
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
        self.is_settled = True
        self._control_successors: dict[Instruction, dict[Instruction, None]] = {}
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
            instruction._users = {}
        self._control_successors = {}
        for instruction in self.instructions:
            if instruction.parent is self:
                self._index(instruction)
        self.has_users = True

    def _index(self, instruction: Instruction) -> None:
        for operand in instruction.operands:
            if operand._users is not None:
                operand._users[instruction] = None
        if instruction.control_predecessors:
            self.index_control_edges(instruction, instruction.control_predecessors)

    def index_control_edges(
        self, instruction: Instruction, predecessors: Sequence[Instruction]
    ) -> None:
        """Notes that an instruction will have these control predecessors."""
        for old in instruction.control_predecessors:
            self._control_successors.get(old, {}).pop(instruction, None)
        for predecessor in predecessors:
            self._control_successors.setdefault(predecessor, {})[instruction] = None

    def control_successors(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Returns the instructions that have this one as a control predecessor."""
        if not self.has_users:
            self.index_users()
        found = self._control_successors.get(instruction)
        return tuple(found) if found else ()

    def add(self, instruction: Instruction) -> Instruction:
        """Takes a new instruction in and returns it; `settle` puts it before its users."""
        instruction.parent = self
        self.instructions.append(instruction)
        self.is_settled = False
        if self.has_users:
            instruction._users = {}
            self._index(instruction)
        return instruction

    def replace_uses(self, old: Instruction, new: Instruction) -> None:
        """Lets every user of `old` take `new`, and makes it the root where `old` was it.

        Control edges stay as they are. `new` itself may go on using `old`.
        """
        for user in list(old.users):
            if user is not new:
                user.replace_operand(old, new)
        if self.root is old:
            self.root = new

    def remove(self, instruction: Instruction) -> None:
        """Takes an instruction out that nothing uses.

        What had to run before it now runs before what had to run after it.
        """
        assert not instruction.users, f"{instruction.name} is still used"
        assert self.root is not instruction, f"{instruction.name} is the root"
        before = instruction.control_predecessors
        for successor in instruction.control_successors:
            kept = [one for one in successor.control_predecessors if one is not instruction]
            successor.control_predecessors = tuple(dict.fromkeys([*kept, *before]))
        instruction.control_predecessors = ()
        instruction.operands = ()
        instruction.parent = None
        self.is_settled = False

    def settle(self) -> None:
        """Drops what was removed and puts operands and control predecessors before their users.

        All else keeps its place: a new instruction goes before the first that needs it.
        """
        if self.is_settled:
            return
        order: dict[Instruction, None] = {}
        for start in self.instructions:
            if start.parent is self and start not in order:
                _append_after_dependencies(start, order)
        self.instructions = list(order)
        self.is_settled = True

    def __repr__(self) -> str:
        return f"<computation {self.name}, {len(self.instructions)} instructions>"


def _append_after_dependencies(start: Instruction, order: dict[Instruction, None]) -> None:
    # The walk is not recursive: chains of instructions are longer than Python's stack.
    open_walks = [(start, iter(start.dependencies))]
    while open_walks:
        current, dependencies = open_walks[-1]
        for dependency in dependencies:
            if dependency not in order:
                open_walks.append((dependency, iter(dependency.dependencies)))
                break
        else:
            open_walks.pop()
            order[current] = None
