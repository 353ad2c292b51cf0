"""Compiled modules side by side with XLA:CPU: calls of both, one after the other, in one process.

    python -m tests.bench.bench_cpu [ROW ...] [--seconds S] [--threads N] [--table FILE]
                                    [--library FOLDER]

Needs jaxlib beside hlotool (`pip install -e '.[xla,blas]'`). A row is a module of
`testdata/bench` or of the corpus; without any all are measured. Times are medians in ms of
interleaved calls; a ratio above 1 says that XLA takes longer. Both allocate their results at
each call. Compile times are from the text of the module to code that can be called, of XLA
from its own form of the module, cold: with nothing on disk or, with a library, with the functions
that many modules share, as far as an earlier run has left them in its folder.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.evaluation.xla.child import Xla
from hlotool.evaluation.xla.portable import portable_text
from hlotool.runtime.cache import FOLDER_VARIABLE, SHARED, CodeCache
from hlotool.text.parser import parse

ROOT = Path(__file__).parents[2]
TARGETS = {
    "reduce": 1.0, "chain": 1.2, "softmax": 1.2, "layernorm": 2.0, "gemm_1024": 1.1,
    "gemm_2048": 1.1, "gemm_batch": 1.2, "conv_3x3": 1.3, "conv_7x7": 1.3, "max_pool": 2.0,
    "transpose": 2.0, "gather": 1.0, "scatter_add": 1.5, "sort": 15.0, "transformer_block": 1.15,
    "mlp_train_step": 1.1, "while_1000": 5.0, "tiny_add": 8.0, "chain_small": 1.2,
    "softmax_small": 1.2, "layernorm_small": 0.95, "max_pool_small": 2.0, "transpose_small": 0.95,
    "gather_small": 0.95, "scatter_add_small": 0.95, "keras_resnet50": 1.1,
    "keras_mobilenetv2": 1.1, "keras_inceptionv3": 1.1, "keras_efficientnetb0": 1.1,
}  # fmt: skip
"""The ratio that each row is to reach."""


@dataclass
class Row:
    """What was measured: times in ms."""

    name: str
    ours: list[float]
    theirs: list[float]
    our_compile: float
    their_compile: float
    error: float

    @property
    def ratio(self) -> float:
        return statistics.median(self.theirs) / statistics.median(self.ours)

    @property
    def cells(self) -> list[str]:
        target = TARGETS.get(self.name)
        return [
            self.name,
            f"{statistics.median(self.ours):.3f}", f"{min(self.ours):.3f}",
            f"{statistics.median(self.theirs):.3f}", f"{min(self.theirs):.3f}",
            f"{self.ratio:.2f}",
            f"{target}" if target else "",
            "" if target is None else "yes" if self.ratio >= target else "**no**",
            f"{self.our_compile:.0f}", f"{self.their_compile:.0f}", f"{self.error:.1e}",
        ]  # fmt: skip


HEAD = (
    "module", "ours", "best", "XLA", "best", "ratio", "target", "met", "compile", "XLA's", "error"
)  # fmt: skip


def path_of(name: str) -> Path:
    corpus = Path(os.environ.get("HLOTOOL_CORPUS", ROOT / "testdata" / "models"))
    found = [
        path
        for folder in (ROOT / "testdata" / "bench", *sorted(corpus.glob("*")))
        if (path := folder / f"{name}.hlo").is_file()
    ]
    if not found:
        sys.exit(f"there is no module {name}; HLOTOOL_CORPUS names the folder of the corpus")
    return found[0]


def arguments_of(module: Any) -> list[Any]:
    """Returns arguments: numbers as trained models have them, and indices over all there is."""
    random = np.random.default_rng(0)
    is_model = len(module.entry.parameters) > 6
    found = []
    for parameter in module.entry.parameters:
        shape = parameter.shape
        terms = int(np.prod(shape.dimensions[:-1], initial=1))
        if shape.element_type.is_float and is_model and terms == 1:
            # Variances are among them, which are positive.
            values = random.uniform(0.5, 1.5, shape.dimensions)
        elif shape.element_type.is_float:
            values = random.standard_normal(shape.dimensions)
            values /= np.sqrt(terms if is_model else 1)
        else:
            largest = max(p.shape.dimensions[0] for p in module.entry.parameters)
            values = random.integers(0, largest, shape.dimensions)
        found.append(values.astype(shape.element_type.numpy))
    return found


def measure(
    ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float
) -> tuple[list[float], list[float]]:
    """Returns times of calls in ms: of each in turn, so that both meet the same noise."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(2):
        ours()
        theirs()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found[0]) < 7:
        for call, times in zip((ours, theirs), found, strict=True):
            start = time.perf_counter()
            result = call()
            times.append(1e3 * (time.perf_counter() - start))
            del result
    return found


def leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.asarray(value)]


def largest_error(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    """Returns the largest difference, relative to the largest number of its array."""
    found = 0.0
    for one, other in zip(ours, theirs, strict=True):
        scale = float(np.max(np.abs(other), initial=1e-30))
        difference = np.abs(np.float64(one) - np.float64(other))
        if not np.isfinite(difference).all():
            sys.exit("there are infinite results, which say nothing")
        found = max(found, float(np.max(difference, initial=0)) / scale)
    return found


def forget_modules(folder: Path) -> None:
    """Removes compiled modules from a folder, and leaves the functions that they share."""
    for entry in CodeCache(folder).entries():
        if not entry.path.name.startswith(SHARED):
            entry.path.unlink()


def measured(name: str, xla: Any, seconds: float, threads: int, library: Path | None) -> Row:
    text = path_of(name).read_text()
    module = parse(text, name)
    if library is not None:
        forget_modules(library)
    start = time.perf_counter()
    compiled = hlotool.compile(text, threads=threads, cache=library is not None)
    our_compile = 1e3 * (time.perf_counter() - start)
    portable = portable_text(module)
    start = time.perf_counter()
    executable = xla.compiled(portable, {})
    their_compile = 1e3 * (time.perf_counter() - start)
    arguments = arguments_of(module)
    placed = [xla.placed([one]) for one in arguments]

    def reference() -> Any:
        made = executable.execute_sharded(placed).disassemble_into_single_device_arrays()
        for (one,) in made:
            one.block_until_ready()
        return made

    def call() -> Any:
        return compiled(*arguments)

    expected = [np.asarray(one) for (one,) in reference()]
    error = largest_error(leaves(call()), expected)
    return Row(name, *measure(call, reference, seconds), our_compile, their_compile, error)


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| " + " | ".join(HEAD) + " |"
    yield "|" + "---|" * len(HEAD)
    for row in rows:
        yield "| " + " | ".join(row.cells) + " |"


def mean(ratios: Sequence[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench_cpu")
    parser.add_argument("rows", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a row is measured")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--table", type=Path, help="write the table here too")
    parser.add_argument("--library", type=Path, help="where shared functions are kept, if at all")
    arguments = parser.parse_args(words)
    if arguments.library is not None:
        os.environ[FOLDER_VARIABLE] = str(arguments.library)
    xla = Xla(1)
    rows = []
    for name in arguments.rows or TARGETS:
        row = measured(name, xla, arguments.seconds, arguments.threads, arguments.library)
        rows.append(row)
        print("  ".join(f"{cell:>10}" for cell in row.cells), flush=True)
    ratio = f"geometric mean of {len(rows)} ratios: {mean([row.ratio for row in rows]):.2f}"
    print(ratio)
    if arguments.table:
        arguments.table.write_text("\n".join([*table(rows), "", ratio, ""]))


@pytest.mark.bench
def test_cpu() -> None:
    pytest.importorskip("jaxlib")
    main([])


if __name__ == "__main__":
    main()
