"""A device that evaluates: its place among others, its random numbers, its queues."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property

import numpy as np

from hlotool.errors import EvaluationError, counted
from hlotool.ir.frame import Frame, Place, Value

MOST_ITERATIONS = 10_000_000
"""How many rounds all loops of a device may take together, unless told otherwise."""
_CALLS_A_ROUND = 4
"""How many calls of computations are allowed for each round of a loop that is."""
_FIRST_RANDOM_STATE = 0x7012395


class DeviceState:
    """What a device keeps during a run: a part of what ops see as `Device`."""

    def __init__(
        self,
        place: Place = (0, 0),
        sizes: tuple[int, int] = (1, 1),
        seed: int = 0,
        most_iterations: int = MOST_ITERATIONS,
        infeed: Iterable[Value] = (),
    ) -> None:
        self.replica, self.partition = place
        self.replicas, self.partitions = sizes
        self._seed = seed
        self.random_state = _FIRST_RANDOM_STATE
        self.outfed: list[Value] = []
        """What the module has put into the queue for the host."""
        self._infeed = deque(infeed)
        self._most_iterations = most_iterations
        self._iterations = 0
        self._calls = 0

    @cached_property
    def generator(self) -> np.random.Generator:
        """Where `rng` takes its numbers from; most runs need none."""
        # Each device has numbers of its own, the first the same ones in any grid.
        return np.random.default_rng([self._seed, self.number])

    @property
    def place(self) -> Place:
        """Its row and column in the grid."""
        return self.replica, self.partition

    @property
    def number(self) -> int:
        """Its number, counted replica by replica."""
        return self.replica * self.partitions + self.partition

    def infeed(self) -> Value:
        """Returns the next value for the module; raises `EvaluationError` after the last."""
        if not self._infeed:
            raise EvaluationError("the infeed queue is empty")
        return self._infeed.popleft()

    def outfeed(self, value: Value) -> None:
        """Keeps a value of the module."""
        self.outfed.append(value)

    def count_call(self) -> None:
        """Counts one more call of a computation; raises `EvaluationError` after too many."""
        self._calls += 1
        if self._calls > _CALLS_A_ROUND * self._most_iterations:
            raise EvaluationError(
                f"computations have been called {self._calls - 1} times and are called again",
                notes=["calls that double at every level, or allow more with max_steps"],
            )

    def count_iteration(self) -> None:
        """Counts one more round of a loop; raises `EvaluationError` after the most allowed."""
        self._iterations += 1
        if self._iterations > self._most_iterations:
            raise EvaluationError(
                f"loops have run {counted(self._most_iterations, 'round')} and go on",
                notes=["an endless loop, or allow more with max_steps"],
            )


class LoneDevice(DeviceState):
    """A device that runs a module by itself: collectives give it back what it gives."""

    def __init__(
        self,
        seed: int = 0,
        most_iterations: int = MOST_ITERATIONS,
        infeed: Iterable[Value] = (),
    ) -> None:
        super().__init__(seed=seed, most_iterations=most_iterations, infeed=infeed)
        self._sent: dict[Hashable, deque[Value]] = {}

    def exchange(
        self,
        frame: Frame,
        members: Sequence[Place],
        value: Value,
        combine: Callable[[list[Value]], Value] = list,
    ) -> Value:
        """Combines `value` alone; raises `EvaluationError` for other members than this device."""
        if list(members) != [self.place]:
            raise EvaluationError(f"{frame.instruction.opcode} works with devices of another run")
        return combine([value])

    def send(self, channel: Hashable, target: Place, value: Value) -> None:
        """Leaves a value for the device itself."""
        self._sent.setdefault((channel, target), deque()).append(value)

    def receive(self, frame: Frame, channel: Hashable, source: Place) -> Value:
        """Returns what was sent first; raises `EvaluationError` where nothing was."""
        waiting = self._sent.get((channel, source))
        if not waiting:
            raise EvaluationError(
                f"{frame.instruction.opcode}: nothing was sent on channel {channel}"
            )
        return waiting.popleft()
