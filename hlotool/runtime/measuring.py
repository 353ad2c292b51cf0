"""How fast a compiled module is: stages of compilation, runs, each kernel, and what bounds it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np

from hlotool.analysis.cost import CostAnalysis
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.evaluation.comparison.origins import origin_of
from hlotool.ir.cost import Cost
from hlotool.ir.frame import Array
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.control_flow import Fusion
from hlotool.runtime.compilation import compiled
from hlotool.runtime.executable import Executable
from hlotool.runtime.llvm import LoadedCode, host_target, object_code, parsed
from hlotool.text.parser import parse

_LEAST_RUNS = 5
_PROFILED_SHARE = 0.5
"""The part of the time that goes to runs that count the ticks of kernels."""
_CEILING_SECONDS = 0.12
"""How long each ceiling is measured each time."""


@dataclass(frozen=True)
class Ceilings:
    """What this machine does at best, in a second: bytes read from memory, operations on f32."""

    bytes: float
    flops: float

    def seconds(self, cost: Cost) -> float:
        """Returns the least time that something of this cost can take."""
        return max(cost.bytes_accessed / self.bytes, cost.flops / self.flops)


@dataclass(frozen=True)
class KernelTime:
    """A place of the schedule where a kernel runs; times are those of one run of the module."""

    instruction: Instruction
    seconds: float
    """As if each call took what the quickest one took: others may have been interrupted."""
    mean_seconds: float
    calls: float
    """How often it runs in one run of the module."""
    cost: Cost
    """What all calls of one run of the module take."""
    source: str = ""
    """The line of the program that it comes from, `file:line:column`, where that is known."""


@dataclass(frozen=True)
class Measurement:
    """What came of measuring a module; times are in seconds."""

    compile_stages: dict[str, float]
    runs: list[float]
    kernels: list[KernelTime]
    cost: Cost
    ceilings: Ceilings
    profiled_runs: int
    """In how many runs kernels were measured."""

    @property
    def kernel_seconds(self) -> float:
        """What all kernels of a run take together, each at its best."""
        return sum(kernel.seconds for kernel in self.kernels)

    @property
    def seconds(self) -> float:
        """The median time of a run."""
        return median(self.runs)

    @property
    def roofline_share(self) -> float:
        """The least time that a run can take, as a part of the time that it takes."""
        return self.ceilings.seconds(self.cost) / self.seconds


def measured(
    arguments: Sequence[Array],
    executable: Executable,
    profiled: Executable,
    seconds: float = 2.0,
) -> Measurement:
    """Runs a compiled module for some seconds and returns what was seen.

    `profiled` is the same module, compiled to count the ticks of each kernel. `arguments` are
    the arrays of all arguments.
    """
    # The machine may be busy with something else at any moment, but hardly at all three.
    ceilings(executable.threads)
    runs = _times(lambda: executable.run(arguments), seconds * (1 - _PROFILED_SHARE))
    ceilings(executable.threads)
    profiled.run(arguments)
    profiled.reset_profile()
    count = len(_times(lambda: profiled.run(arguments), seconds * _PROFILED_SHARE, warm=False))
    costs = CostAnalysis(profiled.module)
    kernels = _kernel_times(profiled, count, costs)
    total = sum((kernel.cost for kernel in kernels), Cost())
    best = ceilings(executable.threads)
    return Measurement(dict(executable.timings), runs, kernels, total, best, count)


def _times(call: Callable[[], Any], seconds: float, *, warm: bool = True) -> list[float]:
    if warm:
        call()
    found: list[float] = []
    end = time.perf_counter() + seconds
    while len(found) < _LEAST_RUNS or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return found


def _kernel_times(executable: Executable, runs: int, costs: CostAnalysis) -> list[KernelTime]:
    ticks = _ticks_a_second()
    found = []
    for launch, row in zip(executable.program.launches, executable.profile, strict=True):
        counted, calls, fewest = map(int, row)
        one = costs.instruction_cost(launch.instruction)
        cost = Cost(*(round(part * calls / runs) for part in _parts(one)))
        seconds = fewest * calls / ticks / runs if calls else 0.0
        source = source_of(executable.module, launch.instruction)
        mean = counted / ticks / runs
        found.append(KernelTime(launch.instruction, seconds, mean, calls / runs, cost, source))
    return sorted(found, key=lambda kernel: -kernel.seconds)


def source_of(module: Module, instruction: Instruction) -> str:
    """Returns the source line of an instruction, of a fusion that of the last one inside."""
    within = instruction.calls[0].instructions if isinstance(instruction.op, Fusion) else ()
    for one in (instruction, *reversed(within)):
        found = origin_of(module, one)
        if found.frames:
            return found.frames[0].partition(" in ")[0]
        if found.source:
            return found.source
    return ""


def _parts(cost: Cost) -> tuple[int, int, int, int]:
    return cost.flops, cost.transcendentals, cost.bytes_read, cost.bytes_written


@lru_cache(maxsize=1)
def _ticks_a_second() -> float:
    target = host_target()
    function = FunctionWriter("ticks", [], "i64", linkage="")
    function.declarations.add("declare i64 @llvm.readcyclecounter()")
    now = function.impure("call i64 @llvm.readcyclecounter()", "i64")
    text = "\n".join((*function.declarations, function.text(now.text)))
    code = LoadedCode([object_code(parsed(text, target), target)], ["ticks"])
    ticks = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("ticks"))
    begin, first = time.perf_counter(), ticks()
    while time.perf_counter() - begin < 0.05:  # seconds
        pass
    return float((ticks() - first) / (time.perf_counter() - begin))


_READING = """
HloModule reading
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[16777216]{0} parameter(0)
  zero = f32[] constant(0)
  ROOT total = f32[] reduce(x, zero), dimensions={0}, to_apply=sum
}
"""
_PRODUCT = """
HloModule product
ENTRY main {
  a = f32[SIZE,SIZE]{1,0} parameter(0)
  b = f32[SIZE,SIZE]{1,0} parameter(1)
  ROOT c = f32[SIZE,SIZE]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
_LARGE, _SMALL = 1024, 192
"""The sizes of products: one for all threads, and one that is soon done, for one thread alone."""


_found: dict[int, Ceilings] = {}
"""The best that was seen in this process, by the number of threads."""


def ceilings(threads: int) -> Ceilings:
    """Measures what the machine does at best with so many threads; takes half a second.

    What came of earlier calls counts too: a busy machine seems slower than it is.
    """
    reading = 4 * 16777216
    seen = _found.get(threads, Ceilings(0, 0))
    _found[threads] = Ceilings(
        # All threads together are rarely undisturbed, one is for a short while.
        max(seen.bytes, *(reading / _best(_READING, count) for count in {threads, 1})),
        max(seen.flops, _product_flops(_LARGE, threads), _product_flops(_SMALL, 1)),
    )
    return _found[threads]


def _product_flops(size: int, threads: int) -> float:
    return 2.0 * size**3 / _best(_PRODUCT.replace("SIZE", str(size)), threads)


def _best(text: str, threads: int) -> float:
    executable, arrays = _ceiling_run(text, threads)
    return min(_times(lambda: executable.run(arrays), _CEILING_SECONDS))


@lru_cache(maxsize=8)
def _ceiling_run(text: str, threads: int) -> tuple[Executable, list[Array]]:
    executable = compiled(parse(text), threads=threads)
    shapes = executable.program.arguments
    return executable, [np.ones(shape.dimensions, np.float32) for shape in shapes]
