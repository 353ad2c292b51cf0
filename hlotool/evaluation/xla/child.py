"""Runs modules under XLA:CPU: the program of a process of its own, since XLA may abort.

It imports nothing of hlotool, so that it also runs in another environment, one with jaxlib. Its
argument is a folder with `module.hlo`, `job.json` and `arguments.npz`; it leaves `results.npz`
and `results.json` there, writes a line to standard output, and reads a line with the next folder
from standard input, until that ends. Elements travel as their bits, with the names of their types
in JSON. The first run that fails ends the process, with a status that says how.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

JAXLIB_MISSING, REFUSED, FAILED = 3, 4, 5
"""What the exit status says of a run that gave no results."""
DONE = "done"
"""The line that says that results are there."""


class StageError(Exception):
    """What XLA says, with the stage at which it says so and the exit status for it."""

    def __init__(self, status: int, stage: str, message: object) -> None:
        super().__init__(f"{stage}: {' '.join(str(message).split())}")
        self.status = status


class Xla:
    """The parts of jax and jaxlib that run a module."""

    def __init__(self, devices: int) -> None:
        flags = os.environ.get("XLA_FLAGS", "")
        count = f"--xla_force_host_platform_device_count={devices}"
        os.environ["XLA_FLAGS"] = f"{flags} {count}".strip()
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        try:
            import jax
            import ml_dtypes
            import numpy
            from jax._src.sharding_impls import GSPMDSharding
            from jaxlib import _hlo, _jax, lapack
        except ImportError as error:
            raise StageError(JAXLIB_MISSING, "import", error) from None
        if not hasattr(_hlo, "hlo_module_from_text"):
            raise StageError(JAXLIB_MISSING, "import", "this jaxlib does not read HLO text")
        jax.config.update("jax_enable_x64", val=True)
        # The routines of LAPACK are looked up when they are first prepared for.
        lapack._lapack.initialize()  # noqa: SLF001  # there is no other door
        self.jax, self.ml_dtypes, self.numpy = jax, ml_dtypes, numpy
        self.hlo, self.extension = _hlo, _jax
        self.sharding = GSPMDSharding
        self.devices = jax.devices("cpu")[:devices]

    def compiled(
        self, text: str, options: Mapping[str, Any], partitioner: str | None = None
    ) -> Any:
        """Returns the executable of a module for all devices; raises `StageError`.

        The devices are replicas, or with a `partitioner` the partitions that it makes.
        """
        try:
            module = self.hlo.hlo_module_from_text(text)
        except Exception as error:  # noqa: BLE001  # whatever XLA raises is its answer
            raise StageError(REFUSED, "parse", error) from None
        try:
            computation = self.hlo.XlaComputation(module.as_serialized_hlo_module_proto())
            stablehlo = self.extension.mlir.xla_computation_to_mlir_module(computation)
        except Exception as error:  # noqa: BLE001  # see above
            raise StageError(REFUSED, "import", error) from None
        try:
            return self.devices[0].client.compile_and_load(
                stablehlo,
                self.extension.DeviceList(tuple(self.devices)),
                self._compile_options(options, partitioner),
            )
        except Exception as error:  # noqa: BLE001  # see above
            raise StageError(REFUSED, "compile", error) from None

    def _compile_options(self, options: Mapping[str, Any], partitioner: str | None) -> Any:
        count = len(self.devices)
        made = self.extension.CompileOptions()
        made.num_replicas, made.num_partitions = (1, count) if partitioner else (count, 1)
        numbers = self.numpy.array([device.id for device in self.devices], self.numpy.int32)
        made.device_assignment = self.extension.DeviceAssignment.create(
            numbers.reshape(made.num_replicas, made.num_partitions)
        )
        built = made.executable_build_options
        built.num_replicas, built.num_partitions = made.num_replicas, made.num_partitions
        built.device_assignment = made.device_assignment
        built.use_spmd_partitioning = partitioner is not None
        built.use_shardy_partitioner = partitioner == "shardy"
        made.env_option_overrides = list(options.items())
        return made

    def placed(self, values: list[Any]) -> Any:
        """Returns one argument, with a value for each device."""
        jax = self.jax
        mesh = jax.sharding.Mesh(self.numpy.array(self.devices), ("device",))
        everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        there = [
            jax.device_put(value, device)
            for value, device in zip(values, self.devices, strict=True)
        ]
        return jax.make_array_from_single_device_arrays(values[0].shape, everywhere, there)

    def run_partitioned(self, executable: Any, values: list[Any], shapes: list[Any]) -> list[Any]:
        """Returns whole results for whole arguments, each cut as the executable wants it."""
        jax = self.jax
        try:
            arguments = [
                jax.device_put(value, self._sharding(kind))
                for value, kind in zip(values, executable.get_parameter_shardings(), strict=True)
            ]
            kinds = executable.get_output_shardings()
            parts = self._executed(executable, arguments)
            return [
                self.numpy.asarray(
                    jax.make_array_from_single_device_arrays(
                        tuple(sizes), self._sharding(kind), pieces
                    )
                )
                for sizes, kind, pieces in zip(shapes, kinds, parts, strict=True)
            ]
        except Exception as error:  # noqa: BLE001  # whatever XLA raises is its answer
            raise StageError(FAILED, "run", error) from None

    def _sharding(self, kind: Any) -> Any:
        return self.sharding(tuple(self.devices), kind)

    @staticmethod
    def _executed(executable: Any, arguments: list[Any]) -> Any:
        return executable.execute_sharded(arguments).disassemble_into_single_device_arrays()

    def array(self, bits: Any, name: str) -> Any:
        """Returns an array of the type of this name from its bits."""
        found = getattr(self.ml_dtypes, name, None)
        return bits.view(self.numpy.dtype(name if found is None else found))

    def results(self, executable: Any, arguments: list[Any], tokens: list[bool]) -> list[list[Any]]:
        """Returns each array of the result as a list of one a device; raises `StageError`.

        `tokens` says which parts of the result are none.
        """
        try:
            results = self._executed(executable, arguments)
            return [
                [self.numpy.asarray(part) for part in result]
                for result, is_token in zip(results, tokens, strict=True)
                if not is_token
            ]
        except Exception as error:  # noqa: BLE001  # whatever XLA raises is its answer
            raise StageError(FAILED, "run", error) from None


def run(folder: Path, xla: Xla | None) -> Xla:
    """Does the job in a folder and returns the XLA that did it; raises `StageError`.

    All jobs of one process have equally many devices.
    """
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    count = job["devices"]
    xla = xla or Xla(count)
    numpy = xla.numpy
    text = (folder / "module.hlo").read_text(encoding="utf-8")
    executable = xla.compiled(text, job["options"], job["partitioner"])
    with numpy.load(folder / "arguments.npz") as stored:
        given = [
            [xla.array(stored[f"{device}_{number}"], name) for device in range(count)]
            for number, name in enumerate(job["types"])
        ]
    if job["partitioner"]:
        whole = xla.run_partitioned(executable, [values[0] for values in given], job["results"])
        results = [[result] * count for result in whole]
    else:
        placed = [xla.placed(values) for values in given]
        results = xla.results(executable, placed, job["tokens"])
    kept = {}
    types = []
    for number, parts in enumerate(results):
        types.append(parts[0].dtype.name)
        for device, part in enumerate(parts):
            kept[f"{device}_{number}"] = as_bits(numpy, part)
    (folder / "results.json").write_text(json.dumps(types), encoding="utf-8")
    numpy.savez(folder / "results.npz", **kept)
    return xla


def as_bits(numpy: Any, array: Any) -> Any:
    """Returns an array as one of unsigned integers, or of complex numbers as it is."""
    if array.dtype.kind == "c":
        return array
    flat = numpy.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    return flat.reshape(array.shape)


def main() -> int:
    """Runs the program and returns its exit status."""
    # What XLA prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    xla = None
    folders: Queue[str] = Queue()
    folders.put(sys.argv[1])
    Thread(target=_read, args=(folders,), daemon=True).start()
    try:
        while True:
            xla = run(Path(folders.get()), xla)
            answers.write(f"{DONE}\n")
            answers.flush()
    except StageError as error:
        sys.stderr.write(f"hlotool: {error}\n")
        return error.status


def _read(folders: Queue[str]) -> None:
    for line in sys.stdin:
        folders.put(line.rstrip("\n"))
    # Nobody waits any more, not even if XLA is in the midst of something.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
