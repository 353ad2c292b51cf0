"""The devices that evaluate a module."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Frame, Value

MOST_ITERATIONS = 10_000_000
"""How many rounds all loops of a run may take together, unless told otherwise."""
_FIRST_RANDOM_STATE = 0x7012395


class LoneDevice:
    """A device that runs a module by itself: collectives give it back what it gives."""

    def __init__(
        self,
        seed: int = 0,
        most_iterations: int = MOST_ITERATIONS,
        infeed: Iterable[Value] = (),
    ) -> None:
        self.replica = 0
        self.partition = 0
        self.replicas = 1
        self.partitions = 1
        self.generator = np.random.default_rng(seed)
        self.random_state = _FIRST_RANDOM_STATE
        self.outfed: list[Value] = []
        """What the module has put into the queue for the host."""
        self._infeed = deque(infeed)
        self._most_iterations = most_iterations
        self._iterations = 0
        self._sent: dict[Hashable, deque[Value]] = {}

    def exchange(
        self, frame: Frame, members: Sequence[tuple[int, int]], value: Value
    ) -> list[Value]:
        """Returns `value` alone; raises `EvaluationError` for other members than this device."""
        if list(members) != [(0, 0)]:
            raise EvaluationError(
                f"{frame.instruction.opcode} works with devices that are not there",
                notes=["run on more devices with --num-replicas or --num-partitions"],
            )
        return [value]

    def send(self, channel: Hashable, target: tuple[int, int], value: Value) -> None:
        """Leaves a value for the device itself."""
        self._sent.setdefault(channel, deque()).append(value)

    def receive(self, channel: Hashable, source: tuple[int, int]) -> Value:
        """Returns what was sent first; raises `EvaluationError` where nothing was."""
        waiting = self._sent.get(channel)
        if not waiting:
            raise EvaluationError(f"nothing was sent on channel {channel}")
        return waiting.popleft()

    def infeed(self) -> Value:
        """Returns the next value for the module; raises `EvaluationError` after the last."""
        if not self._infeed:
            raise EvaluationError("the infeed queue is empty")
        return self._infeed.popleft()

    def outfeed(self, value: Value) -> None:
        """Keeps a value of the module."""
        self.outfed.append(value)

    def count_iteration(self) -> None:
        """Counts one more round of a loop; raises `EvaluationError` after the most allowed."""
        self._iterations += 1
        if self._iterations > self._most_iterations:
            raise EvaluationError(
                f"loops have run {self._most_iterations} rounds and go on",
                notes=["an endless loop, or allow more with --max-steps"],
            )
