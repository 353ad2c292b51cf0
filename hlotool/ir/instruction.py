"""An instruction: a node of a computation's graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.errors import Location
from hlotool.ir.annotations import NO_ANNOTATIONS, Annotations

if TYPE_CHECKING:
    from hlotool.ir.computation import Computation
    from hlotool.ir.op import Op
    from hlotool.ir.shape import Shape

NOWHERE = -1
"""The offset of an instruction that no text holds."""


class Instruction:
    """An op on operands, with a name and a shape.

    Operands, called computations and control predecessors are edges: replace them through the
    methods here, which keep the users of the computation right. Two instructions are equal
    only when they are the same object.
    """

    __slots__ = (
        "_annotations", "_operands", "_users", "calls", "control_predecessors", "name", "offset",
        "op", "parent", "shape",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        shape: Shape,
        op: Op,
        operands: tuple[Instruction, ...] = (),
        calls: tuple[Computation, ...] = (),
        annotations: Annotations | str = NO_ANNOTATIONS,
        offset: int = NOWHERE,
    ) -> None:
        self.name = name
        self.shape = shape
        self.op = op
        self._operands = operands
        self.calls = calls
        # A string is the annotations as they stand in the text, parsed when asked for.
        self._annotations = annotations
        self.offset = offset
        self.control_predecessors: tuple[Instruction, ...] = ()
        self.parent: Computation | None = None
        self._users: list[Instruction] | None = None

    @property
    def opcode(self) -> str:
        """The opcode as the text spells it."""
        return self.op.opcode

    @property
    def operands(self) -> tuple[Instruction, ...]:
        """The instructions whose values this one takes, in order."""
        return self._operands

    @operands.setter
    def operands(self, operands: Sequence[Instruction]) -> None:
        parent = self.parent
        if parent is not None and parent.has_users:
            for operand in set(self._operands):
                operand.users.remove(self)
            for operand in dict.fromkeys(operands):
                operand.users.append(self)
        self._operands = tuple(operands)

    @property
    def dependencies(self) -> tuple[Instruction, ...]:
        """What must have run before: the operands, then the control predecessors."""
        before = self.control_predecessors
        return self._operands + before if before else self._operands

    @property
    def users(self) -> list[Instruction]:
        """The instructions that take this one as operand, each once, in text order."""
        if self._users is None:
            if self.parent is None:
                return []
            self.parent.index_users()
        assert self._users is not None
        return self._users

    @property
    def annotations(self) -> Annotations:
        """Metadata, sharding and whatever else any instruction may carry."""
        found = self._annotations
        if isinstance(found, str):
            found = self._read_annotations(found)
            self._annotations = found
        return found

    @annotations.setter
    def annotations(self, annotations: Annotations) -> None:
        self._annotations = annotations

    @property
    def annotation_text(self) -> str | None:
        """The annotations as they stood in the text, as long as nothing has parsed them."""
        return self._annotations if isinstance(self._annotations, str) else None

    @property
    def location(self) -> Location | None:
        """Where the instruction stands in the text that the module was read from."""
        module = None if self.parent is None else self.parent.parent
        if module is None or module.source is None or self.offset == NOWHERE:
            return None
        return Location(module.source, self.offset)

    @property
    def is_root(self) -> bool:
        """Whether this is what its computation yields."""
        return self.parent is not None and self.parent.root is self

    def _read_annotations(self, text: str) -> Annotations:
        module = None if self.parent is None else self.parent.parent
        assert module is not None, "annotations in text belong to a module that was read"
        assert module.annotation_reader is not None
        return module.annotation_reader(text, self)

    def __repr__(self) -> str:
        names = ", ".join(operand.name for operand in self._operands)
        return f"<{self.name} = {self.shape.plain_text} {self.opcode}({names})>"
