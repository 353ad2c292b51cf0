"""Several devices in one process: a thread for each, meeting where they work together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

from hlotool.errors import EvaluationError, HloError
from hlotool.evaluation.interpreter.devices import MOST_ITERATIONS, DeviceState, LoneDevice
from hlotool.evaluation.interpreter.turns import Turns
from hlotool.ir.frame import Frame, Place, Value
from hlotool.ir.instruction import Instruction

_MOST_SHOWN = 16
"""How many devices, or places, a message tells of at most."""


class _Wait:
    """What a device waits for: an instruction, and who has not come there yet."""

    __slots__ = ("absent", "instruction")

    def __init__(self, instruction: Instruction, absent: Callable[[], Sequence[Place]]) -> None:
        self.instruction = instruction
        self.absent = absent


class _Meeting:
    """What the members of one exchange bring, and what is made of it; `leaving` have taken it."""

    __slots__ = ("is_combined", "leaving", "result", "values")

    def __init__(self) -> None:
        self.values: dict[Place, Value] = {}
        self.result: Value = None
        self.is_combined = False
        self.leaving = 0


class GridDevice(DeviceState):
    """One device of several."""

    def __init__(
        self,
        grid: DeviceGrid,
        place: Place,
        sizes: tuple[int, int],
        seed: int,
        most_iterations: int,
        infeed: Iterable[Value],
    ) -> None:
        super().__init__(place, sizes, seed, most_iterations, infeed)
        self._grid = grid
        self._visits: dict[Hashable, int] = {}

    def exchange(
        self,
        frame: Frame,
        members: Sequence[Place],
        value: Value,
        combine: Callable[[list[Value]], Value] = list,
    ) -> Value:
        """Waits for all members; returns what `combine` makes of their values."""
        met = frame.instruction, tuple(members)
        # A loop comes again, and a member may be a round ahead of another.
        self._visits[met] = self._visits.get(met, 0) + 1
        key = (*met, self._visits[met])
        meeting = self._grid.meeting(key)
        brought = meeting.values
        brought[self.place] = value
        wait = _Wait(
            frame.instruction, lambda: [place for place in members if place not in brought]
        )
        self._grid.wait(self, wait)
        if not meeting.is_combined:
            meeting.result = combine([brought[place] for place in members])
            meeting.is_combined = True
        meeting.leaving += 1
        if meeting.leaving == len(brought):
            self._grid.end_meeting(key)
        return meeting.result

    def send(self, channel: Hashable, target: Place, value: Value) -> None:
        """Leaves `value` for a device."""
        self._grid.box(channel, self.place, target).append(value)

    def receive(self, frame: Frame, channel: Hashable, source: Place) -> Value:
        """Waits until `source` has sent; returns what came first."""
        box = self._grid.box(channel, source, self.place)
        self._grid.wait(self, _Wait(frame.instruction, lambda: [] if box else [source]))
        return box.popleft()


MOST_DEVICES = 1024
"""How many devices one process runs: each is a thread."""


class DeviceGrid:
    """The devices of a run, `replicas` rows of `partitions`, in `devices` by number.

    It serves one run. A grid of one device has no threads.
    """

    def __init__(
        self,
        replicas: int = 1,
        partitions: int = 1,
        seed: int = 0,
        most_iterations: int = MOST_ITERATIONS,
        infeeds: Sequence[Iterable[Value]] = (),
    ) -> None:
        count = replicas * partitions
        if not (replicas >= 1 <= partitions and count <= MOST_DEVICES):
            raise EvaluationError(
                f"{replicas} x {partitions} devices are asked for, 1 to {MOST_DEVICES} are possible"
            )
        if infeeds and len(infeeds) != count:
            raise EvaluationError(f"{len(infeeds)} infeed queues are given for {count} devices")
        queues = infeeds or [()] * count
        sizes = replicas, partitions
        self.devices: list[GridDevice | LoneDevice] = (
            [LoneDevice(seed, most_iterations, queues[0])]
            if count == 1
            else [
                GridDevice(
                    self, divmod(number, partitions), sizes, seed, most_iterations, queues[number]
                )
                for number in range(count)
            ]
        )
        self._turns = Turns(count, self._deadlock)
        self._waits: dict[int, _Wait] = {}
        self._meetings: dict[Hashable, _Meeting] = {}
        self._boxes: dict[Hashable, deque[Value]] = {}

    def run(self, job: Callable[[GridDevice | LoneDevice], Value]) -> list[Value]:
        """Returns what `job` returns for each device.

        The first error of any device stops all and is raised with the device it happened on;
        where all wait for each other, `EvaluationError` is raised with what each waits for.
        """
        if len(self.devices) == 1:
            return [job(self.devices[0])]
        return self._turns.run([partial(_run_on, device, job) for device in self.devices])

    def check(self) -> None:
        """Unwinds the thread of a device where the run is over."""
        self._turns.check()

    def meeting(self, key: Hashable) -> _Meeting:
        """Returns a meeting, begun where nobody has come yet."""
        return self._meetings.setdefault(key, _Meeting())

    def end_meeting(self, key: Hashable) -> None:
        """Forgets a meeting that all have left."""
        del self._meetings[key]

    def box(self, channel: Hashable, source: Place, target: Place) -> deque[Value]:
        """Returns the queue of what one device sends to another on a channel."""
        return self._boxes.setdefault((channel, source, target), deque())

    def wait(self, device: GridDevice, wait: _Wait) -> None:
        """Lets other devices go on until nobody is absent."""
        self._waits[device.number] = wait
        self._turns.wait(device.number, lambda: not wait.absent())
        del self._waits[device.number]

    def _deadlock(self) -> EvaluationError:
        first = self._waits[min(self._waits)].instruction
        notes = [self._standing(device) for device in self.devices[:_MOST_SHOWN]]
        if len(self.devices) > _MOST_SHOWN:
            notes.append(f"and {len(self.devices) - _MOST_SHOWN} more devices")
        return EvaluationError("devices wait for others that never come", first.location, notes)

    def _standing(self, device: GridDevice | LoneDevice) -> str:
        wait = self._waits.get(device.number)
        if wait is None:
            return f"{_named(device.place)} has ended"
        where = wait.instruction
        return f"{_named(device.place)} waits at {where.opcode} {where.name} for {_listed(wait)}"


def _run_on(device: GridDevice | LoneDevice, job: Callable[..., Value]) -> Value:
    note = f"on {_named(device.place)}"
    try:
        return job(device)
    except HloError as error:
        raise type(error)(error.message, error.location, [*error.notes, note]) from error
    except Exception as error:
        error.add_note(note)
        raise


def _named(place: Place) -> str:
    return f"replica {place[0]}, partition {place[1]}"


def _listed(wait: _Wait) -> str:
    absent = wait.absent()
    rows: dict[int, list[str]] = {}
    for replica, partition in absent[:_MOST_SHOWN]:
        rows.setdefault(replica, []).append(str(partition))
    shown = []
    for replica, partitions in rows.items():
        noun = "partition" if len(partitions) == 1 else "partitions"
        shown.append(f"{noun} {', '.join(partitions)} of replica {replica}")
    if len(absent) > _MOST_SHOWN:
        shown.append(f"{len(absent) - _MOST_SHOWN} more")
    return " and ".join(shown)
