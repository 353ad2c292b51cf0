"""An instruction: a node of a computation's graph."""

from __future__ import annotations

from collections.abc import KeysView, Sequence
from typing import TYPE_CHECKING

from hlotool.errors import Location
from hlotool.ir.annotations import NO_ANNOTATIONS, Annotations
from hlotool.ir.metadata import DEFAULT_ACCURACY, ResultAccuracy

if TYPE_CHECKING:
    from hlotool.ir.computation import Computation
    from hlotool.ir.op import Op
    from hlotool.ir.shape import Shape

NOWHERE = -1
"""The offset of an instruction that no text holds."""
_NO_USERS: KeysView[Instruction] = {}.keys()
_MANY_OPERANDS = 64
"""From so many on, operands that are replaced one by one are written out together."""


class Instruction:
    """An op on operands, with a name and a shape.

    Operands, called computations and control predecessors are edges: replace them through the
    methods here, which keep the users of the computation right. Two instructions are equal
    only when they are the same object.
    """

    __slots__ = (
        "_annotations", "_control_predecessors", "_operands", "_replaced", "_users", "calls",
        "name", "offset", "op", "parent", "shape",
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
        # What takes the place of operands as soon as somebody asks for them.
        self._replaced: dict[Instruction, Instruction] | None = None
        self.calls = calls
        # A string is the annotations as they stand in the text, parsed when asked for.
        self._annotations = annotations
        self.offset = offset
        self._control_predecessors: tuple[Instruction, ...] = ()
        self.parent: Computation | None = None
        # A dictionary is an ordered set: some constants have tens of thousands of users.
        self._users: dict[Instruction, None] | None = None

    @property
    def opcode(self) -> str:
        """The opcode as the text spells it."""
        return self.op.opcode

    @property
    def operands(self) -> tuple[Instruction, ...]:
        """The instructions whose values this one takes, in order."""
        if self._replaced is not None:
            self._write_operands(self._replaced)
        return self._operands

    @operands.setter
    def operands(self, operands: Sequence[Instruction]) -> None:
        parent = self.parent
        if parent is not None:
            parent.is_settled = False
            if parent.has_users:
                for operand in self.operands:
                    if operand._users is not None:
                        operand._users.pop(self, None)
                for operand in operands:
                    assert operand._users is not None, f"{operand.name} is in no computation"
                    operand._users[self] = None
        self._operands = tuple(operands)
        self._replaced = None

    def replace_operand(self, old: Instruction, new: Instruction) -> None:
        """Takes `new` wherever it took `old`; of many operands all can be replaced one by one."""
        parent = self.parent
        if len(self._operands) < _MANY_OPERANDS or parent is None or not parent.has_users:
            self.operands = [new if one is old else one for one in self.operands]
            return
        assert old._users is not None, f"{old.name} is in no computation"
        assert new._users is not None, f"{new.name} is in no computation"
        if self._replaced is not None and new in self._replaced:
            # It was replaced itself before: what it takes the place of now is not.
            self._write_operands(self._replaced)
        parent.is_settled = False
        del old._users[self]
        new._users[self] = None
        if self._replaced is None:
            self._replaced = {}
        self._replaced[old] = new

    def _write_operands(self, replaced: dict[Instruction, Instruction]) -> None:
        # What was replaced by something that was replaced itself stands before that.
        for old, new in reversed(replaced.items()):
            replaced[old] = replaced.get(new, new)
        self._operands = tuple([replaced.get(one, one) for one in self._operands])
        self._replaced = None

    @property
    def control_predecessors(self) -> tuple[Instruction, ...]:
        """What must have run before without giving this one a value."""
        return self._control_predecessors

    @control_predecessors.setter
    def control_predecessors(self, predecessors: Sequence[Instruction]) -> None:
        parent = self.parent
        if parent is not None:
            parent.is_settled = False
            if parent.has_users:
                parent.index_control_edges(self, predecessors)
        self._control_predecessors = tuple(predecessors)

    def take_successors(self, old: Instruction) -> None:
        """Lets what waits for `old` wait for this instruction instead."""
        for successor in old.control_successors:
            waiting = [self if one is old else one for one in successor.control_predecessors]
            successor.control_predecessors = tuple(dict.fromkeys(waiting))

    @property
    def has_control_edges(self) -> bool:
        """Whether anything waits for this, or this for anything, but for values."""
        return bool(self._control_predecessors or self.control_successors)

    @property
    def control_successors(self) -> tuple[Instruction, ...]:
        """The instructions that have this one as a control predecessor."""
        return () if self.parent is None else self.parent.control_successors(self)

    @property
    def dependencies(self) -> tuple[Instruction, ...]:
        """What must have run before: the operands, then the control predecessors."""
        before = self._control_predecessors
        return self.operands + before if before else self.operands

    @property
    def users(self) -> KeysView[Instruction]:
        """The instructions that take this one as operand, each once.

        It is a view: take a copy of it to change operands on the way.
        """
        if self._users is None:
            if self.parent is None:
                return _NO_USERS
            self.parent.index_users()
        assert self._users is not None
        return self._users.keys()

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
    def has_metadata_alone(self) -> bool:
        """Whether there are no annotations but metadata, as far as is seen without parsing."""
        found = self._annotations
        if isinstance(found, str):
            return found.startswith(", metadata={") and found.find("}") == len(found) - 1
        return found is NO_ANNOTATIONS

    def take_metadata(self, other: Instruction) -> None:
        """Carries the metadata of another instruction of the module, and no other annotations."""
        if other.has_metadata_alone:
            self._annotations = other._annotations
            return
        metadata = other.annotations.metadata
        is_empty = metadata == NO_ANNOTATIONS.metadata
        self._annotations = (
            NO_ANNOTATIONS if is_empty else NO_ANNOTATIONS.replace(metadata=metadata)
        )

    @property
    def result_accuracy(self) -> ResultAccuracy:
        """How exact the result must be; a text of annotations is parsed only if it says."""
        text = self._annotations
        if isinstance(text, str) and "result_accuracy" not in text:
            return DEFAULT_ACCURACY
        return self.annotations.result_accuracy

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

    def copied(
        self, operands: Sequence[Instruction], calls: Sequence[Computation] | None = None
    ) -> Instruction:
        """Returns a copy with other operands for a computation of the same module or a copy of it.

        It calls `calls`, by default what this one calls; it has the same name and no control
        predecessors.
        """
        called = self.calls if calls is None else tuple(calls)
        return Instruction(
            self.name, self.shape, self.op, tuple(operands), called, self._annotations, self.offset
        )

    def _read_annotations(self, text: str) -> Annotations:
        module = None if self.parent is None else self.parent.parent
        assert module is not None, "annotations in text belong to a module that was read"
        assert module.annotation_reader is not None
        return module.annotation_reader(text, self)

    def __repr__(self) -> str:
        names = ", ".join(operand.name for operand in self.operands)
        return f"<{self.name} = {self.shape.plain_text} {self.opcode}({names})>"
