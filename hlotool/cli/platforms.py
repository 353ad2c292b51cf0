"""Where `run-hlo` runs a module, by the names that its options give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hlotool.evaluation.interpreter.run import evaluate_on_devices

if TYPE_CHECKING:
    from hlotool.cli.cpu_session import CpuSession
    from hlotool.evaluation.xla.reference import XlaSession
    from hlotool.ir.frame import Observer, Value
    from hlotool.ir.module import Module


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run depends on beside module and arguments. `timeout` counts seconds."""

    replicas: int
    partitions: int
    seed: int
    most_iterations: int
    timeout: float
    xla: XlaSession = field(compare=False)
    cpu: CpuSession = field(compare=False)
    xla_options: tuple[str, ...] = ()
    observer: Observer | None = field(default=None, compare=False)


Platform = Callable[["Module", Sequence[Sequence["Value"]], Settings], "list[Value]"]
"""Runs a module on arguments for each device and returns the results of each."""


def _on_interpreter(
    module: Module, arguments: Sequence[Sequence[Value]], settings: Settings
) -> list[Value]:
    return evaluate_on_devices(
        module,
        arguments,
        settings.replicas,
        settings.partitions,
        seed=settings.seed,
        most_iterations=settings.most_iterations,
        observer=settings.observer,
    )


def _under_xla(
    module: Module, arguments: Sequence[Sequence[Value]], settings: Settings
) -> list[Value]:
    return settings.xla.run(
        module,
        arguments,
        settings.replicas,
        settings.partitions,
        options=settings.xla_options,
        timeout=settings.timeout,
    )


def _on_cpu(
    module: Module, arguments: Sequence[Sequence[Value]], settings: Settings
) -> list[Value]:
    return settings.cpu.run(module, arguments, settings.seed, settings.most_iterations)


PLATFORMS: dict[str, Platform] = {
    "interpreter": _on_interpreter,
    "cpu": _on_cpu,
    "xla": _under_xla,
}
