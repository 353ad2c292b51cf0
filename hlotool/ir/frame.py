"""What an op sees of the run when it is evaluated, and what its values are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy

    from hlotool.ir.computation import Computation
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.shape import Shape

Array: TypeAlias = "numpy.ndarray[Any, Any]"
"""The value of an array shape: of the element type's numpy type, indexed as in HLO.

Layouts never show. A dynamic dimension has as many elements as are live, at most its bound.
Arrays are shared between instructions: no op may write into an operand.
"""
Value: TypeAlias = Any
"""An `Array`, a tuple of values for a tuple shape, or `None` for a token or an opaque value."""


Place: TypeAlias = tuple[int, int]
"""A device in the grid: its replica and its partition."""


class Callee(Protocol):
    """A called computation, ready to be called with the values of its parameters."""

    computation: Computation
    device: Device

    def __call__(self, *arguments: Value) -> Value:
        """Returns the value of the root."""


class Device(Protocol):
    """The device that evaluates: its place among the others, and its state.

    Devices form a grid of `replicas` rows and `partitions` columns; a device is named by its
    row and column.
    """

    replica: int
    partition: int
    replicas: int
    partitions: int
    random_state: int
    """The 128 bits that `rng-get-and-update-state` counts on."""

    @property
    def generator(self) -> numpy.random.Generator:
        """Where `rng` takes its numbers from."""

    def exchange(
        self,
        frame: Frame,
        members: Sequence[Place],
        value: Value,
        combine: Callable[[list[Value]], Value] = list,
    ) -> Value:
        """Gives `value` to all of `members`; returns what `combine` makes of theirs, in order.

        All members, this device among them, come here for the same instruction with the same
        members, and with functions that do the same: one of them is called once for all.
        Raises `EvaluationError` where some never come.
        """

    def send(self, channel: Hashable, target: Place, value: Value) -> None:
        """Leaves `value` for a device; does not wait."""

    def receive(self, frame: Frame, channel: Hashable, source: Place) -> Value:
        """Returns what a device has sent here, waiting for it; first in, first out.

        Raises `EvaluationError` where it never comes.
        """

    def infeed(self) -> Value:
        """Returns the next value of the queue that the host fills."""

    def outfeed(self, value: Value) -> None:
        """Puts a value into the queue that the host empties."""

    def count_call(self) -> None:
        """Notes that a computation is called; raises `EvaluationError` after too many."""

    def count_iteration(self) -> None:
        """Notes that a loop begins its body; raises `EvaluationError` after too many."""


class Frame:
    """One instruction as it is evaluated: its shapes, its called computations, its device."""

    __slots__ = ("calls", "device", "instruction", "operand_shapes", "shape")

    def __init__(self, instruction: Instruction, calls: Sequence[Callee], device: Device) -> None:
        self.instruction = instruction
        self.shape: Shape = instruction.shape
        """The declared shape of the result."""
        self.operand_shapes: tuple[Shape, ...] = tuple(
            operand.shape for operand in instruction.operands
        )
        self.calls = tuple(calls)
        """The called computations, in the order of the op's roles."""
        self.device = device


Observer: TypeAlias = "Callable[[Instruction, Value], None]"
"""Is shown every instruction with its value as soon as it has one."""
