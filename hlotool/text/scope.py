"""One computation while its text is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import names
from hlotool.text.forms_attribute import FormError

if TYPE_CHECKING:
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.shape import Shape


class Scope:
    """The names, instructions and root that a computation has so far.

    `result` is the shape that the head declares, `offset` where the head stands.
    """

    __slots__ = (
        "instructions", "is_entry", "name", "names", "nested", "offset", "result", "root",
    )  # fmt: skip

    def __init__(
        self, name: str, offset: int, result: Shape | None = None, *, is_entry: bool = False
    ) -> None:
        self.name = name
        self.offset = offset
        self.result = result
        self.is_entry = is_entry
        self.names: dict[str, Instruction] = {}
        self.nested: dict[str, int] = {}
        """The number that the next nested operand of an opcode tries first."""
        self.instructions: list[Instruction] = []
        self.root: Instruction | None = None

    def add(self, instruction: Instruction, *, is_root: bool = False) -> None:
        """Appends an instruction; raises `FormError` where name or root are taken."""
        name = instruction.name
        if name in self.names:
            raise FormError(f"instruction {name} already exists", instruction.offset)
        if name in names.TYPE_WORDS or name.startswith("__"):
            check_name(name, instruction.offset)
        self.names[name] = instruction
        self.instructions.append(instruction)
        if is_root:
            if self.root is not None:
                raise FormError(f"{self.root.name} is ROOT already", instruction.offset)
            self.root = instruction


def check_name(name: str, offset: int) -> None:
    """Raises `FormError` for a name that the reference would not keep."""
    try:
        names.check_name(name)
    except ValueError as error:
        raise FormError(str(error), offset) from None
