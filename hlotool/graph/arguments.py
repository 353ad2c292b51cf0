"""What the parameters of opened fusions and calls stand for, which pictures do not draw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction


class Arguments:
    """The operands behind parameters, while the bodies that these belong to are drawn."""

    def __init__(self) -> None:
        self._meant: dict[Instruction, Instruction] = {}

    def __contains__(self, instruction: object) -> bool:
        return instruction in self._meant

    def meant(self, instruction: Instruction) -> Instruction:
        """Returns what an instruction stands for: mostly itself."""
        return self._meant.get(instruction, instruction)

    @contextmanager
    def passed(self, caller: Instruction, body: Computation) -> Iterator[None]:
        """Lets the parameters of a body stand for the operands of its caller."""
        # A module that was not verified may have too few of either.
        pairs = list(zip(body.parameters, caller.operands, strict=False))
        self._meant.update([(parameter, self.meant(one)) for parameter, one in pairs])
        yield
        for parameter, _ in pairs:
            self._meant.pop(parameter, None)
