"""Runs modules under XLA:CPU, out of jaxlib, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import ml_dtypes
import numpy as np

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.values import arrays_of, fitted
from hlotool.evaluation.xla import child
from hlotool.evaluation.xla.live_sizes import live_results, with_live_sizes
from hlotool.evaluation.xla.portable import portable
from hlotool.evaluation.xla.process import PYTHON_VARIABLE, XlaChild
from hlotool.ir.frame import Array, Value
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.host import Infeed, Outfeed, Transfer
from hlotool.text.print_options import PrintOptions
from hlotool.text.printer import print_module

TIMEOUT_SECONDS = 300.0
_WHOLE = PrintOptions(metadata=False, large_constants=LargeConstants.EXACT)


def run_under_xla(
    module: Module,
    arguments: Sequence[Sequence[Value]],
    replicas: int = 1,
    partitions: int = 1,
    *,
    python: str | None = None,
    options: Sequence[str] = (),
    timeout: float = TIMEOUT_SECONDS,
) -> list[Value]:
    """Returns what the module yields on each device under XLA:CPU; see `XlaSession.run`."""
    with XlaSession(python) as session:
        return session.run(
            module, arguments, replicas, partitions, options=options, timeout=timeout
        )


class XlaSession:
    """XLA:CPU in a child process, which runs modules one after the other.

    `python` is the interpreter to run jaxlib in. The process is started for the first module,
    and again after one that ends it.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = python or os.environ.get(PYTHON_VARIABLE) or sys.executable
        self._child: XlaChild | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process; the next run starts another one."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def run(
        self,
        module: Module,
        arguments: Sequence[Sequence[Value]],
        replicas: int = 1,
        partitions: int = 1,
        *,
        options: Sequence[str] = (),
        timeout: float = TIMEOUT_SECONDS,
    ) -> list[Value]:
        """Returns what the module yields on each device under XLA:CPU.

        `arguments` has the values of the parameters for each device, partitions of one replica
        together. Of a module that is not cut for its partitions yet, those of the first device
        count, and all yield the same whole arrays. `options` are XLA's, as
        `xla_cpu_enable_fast_math=true`. Raises `UnsupportedError` where there is no jaxlib or
        XLA does not take the module, `EvaluationError` where the run fails, crashes or takes
        longer than `timeout` seconds.
        """
        _check_values(module)
        _check_transfers(module)
        flat = [arrays_of(values) for values in arguments]
        with tempfile.TemporaryDirectory(prefix="hlotool-xla-") as name:
            folder = Path(name)
            partitioner = _partitioner(module) if partitions > 1 else None
            given = module if partitioner else _rewritten(module, replicas, partitions)
            text = print_module(given, _WHOLE)
            _write_job(folder, text, flat, _job(given, flat, options, partitioner))
            self._do(folder, len(arguments), timeout)
            try:
                results = _read_results(folder, len(arguments))
            except (OSError, ValueError, KeyError, TypeError, BadZipFile):
                self.close()
                raise EvaluationError(f"{self._python} has left no results of XLA") from None
        shape = module.entry.root.shape
        return [value_of(live_results(values, shape), shape) for values in results]

    def _do(self, folder: Path, devices: int, timeout: float) -> None:
        if self._child is not None and self._child.devices != devices:
            self.close()
        if self._child is None:
            self._child = XlaChild(self._python, folder, devices)
        else:
            self._child.give(folder)
        try:
            is_alive = self._child.wait(timeout)
        except BaseException:
            self.close()
            raise
        if not is_alive:
            self._child = None


def _rewritten(module: Module, replicas: int, partitions: int) -> Module:
    return with_live_sizes(portable(module, replicas, partitions))


def _check_values(module: Module) -> None:
    for parameter in module.entry.parameters:
        for _, leaf in parameter.shape.leaves():
            if not leaf.is_array:
                raise UnsupportedError(
                    f"parameter {parameter.name} is {parameter.shape.plain_text}:"
                    " XLA takes only arrays from outside",
                    parameter.location,
                )


def _check_transfers(module: Module) -> None:
    for instruction in module.instructions():
        op = instruction.op
        if isinstance(op, Infeed | Outfeed) or (isinstance(op, Transfer) and op.is_host_transfer):
            raise UnsupportedError(
                f"{op.opcode} waits for a host, and XLA has none here", instruction.location
            )


def _partitioner(module: Module) -> str | None:
    """Returns what must cut a module for its partitions, `None` for one that is cut already."""
    for instruction in module.instructions():
        target = getattr(instruction.op, "custom_call_target", "")
        if target == "SPMDFullToShardShape":
            return "gspmd"
        if target == "xla.sdy.GlobalToLocalShape":
            return "shardy"
    return None


def _job(
    module: Module,
    arguments: Sequence[Sequence[Array]],
    options: Sequence[str],
    partitioner: str | None,
) -> dict[str, object]:
    leaves = [leaf for _, leaf in module.entry.root.shape.leaves()]
    return {
        "devices": len(arguments),
        "options": _options(options),
        "types": [array.dtype.name for array in arguments[0]],
        "partitioner": partitioner,
        "results": [leaf.dimensions for leaf in leaves if isinstance(leaf, ArrayShape)],
        "tokens": [not isinstance(leaf, ArrayShape) for leaf in leaves],
    }


def _write_job(
    folder: Path, text: str, arguments: Sequence[Sequence[Array]], job: dict[str, object]
) -> None:
    (folder / "module.hlo").write_text(text, encoding="utf-8")
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    bits = {
        f"{device}_{number}": child.as_bits(np, array)
        for device, arrays in enumerate(arguments)
        for number, array in enumerate(arrays)
    }
    np.savez(folder / "arguments.npz", **bits)


def _options(options: Sequence[str]) -> Mapping[str, bool | int | str]:
    found: dict[str, bool | int | str] = {}
    for option in options:
        name, _, value = option.lstrip("-").partition("=")
        if value.lower() in {"", "true", "false"}:
            found[name] = value.lower() != "false"
        else:
            found[name] = int(value) if re.fullmatch(r"-?\d+", value) else value
    return found


def _read_results(folder: Path, devices: int) -> list[list[Array]]:
    types = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    with np.load(folder / "results.npz") as stored:
        return [
            [_typed(stored[f"{device}_{number}"], name) for number, name in enumerate(types)]
            for device in range(devices)
        ]


def _typed(bits: Array, name: str) -> Array:
    found = getattr(ml_dtypes, name, None)
    numpy_type: np.dtype[Any] = np.dtype(name if found is None else found)
    # A view of an array of rank 0 needs equal widths, and has them.
    return bits.view(numpy_type)


def value_of(values: Sequence[Array], shape: Shape) -> Value:
    """Returns the value of a shape that has these arrays, in order; raises `EvaluationError`."""
    arrays = sum(isinstance(leaf, ArrayShape) for _, leaf in shape.leaves())
    if len(values) != arrays:
        raise EvaluationError(f"XLA yields {len(values)} arrays, {shape.plain_text} is declared")
    return _taken(iter(values), shape)


def _taken(waiting: Iterator[Array], shape: Shape) -> Value:
    if isinstance(shape, TupleShape):
        return tuple(_taken(waiting, part) for part in shape.elements)
    return fitted(next(waiting), shape) if isinstance(shape, ArrayShape) else None
