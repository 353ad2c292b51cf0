"""What `run-hlo --bench` shows: stages of compilation, times of runs, a table of kernels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.tables import fitted_table, print_drawn, terminal_columns

if TYPE_CHECKING:
    from hlotool.runtime.measuring import KernelTime, Measurement

_SHOWN = 20
"""How many kernels the table has."""
_BUSY = 1.5
"""So many times the best run, the median speaks of something else that used the machine."""
_TITLES = ("kernel", "source", "time", "share", "calls", "GB/s", "GFLOP/s", "roofline")
_TEXTS = ("kernel", "source")
_GOES_FIRST = ("source", "calls", "GFLOP/s", "GB/s", "roofline")
"""The columns that a narrow terminal does without, in order."""


def show_measurement(
    found: Measurement, file: str, module: str, facts: Sequence[str], *, as_json: bool
) -> None:
    """Prints a measurement of a module; `file` is where it was read, `module` its name.

    `facts` are lines about what it runs in.
    """
    if as_json:
        print_text(json.dumps(measurement_fields(found, file, module)) + "\n")
        return
    lines = [*_lines(found, f"{file}: {module}"), *facts]
    print_text("".join(f"{printable(line)}\n" for line in lines))
    if not found.kernels:
        print_text("no kernel is launched\n")
        return
    total = found.kernel_seconds or 1.0
    shown = found.kernels[:_SHOWN]
    rows = [[printable(cell) for cell in _cells(kernel, found, total)] for kernel in shown]
    columns = terminal_columns()
    print_drawn(fitted_table(_TITLES, rows, _TEXTS, columns=columns, goes_first=_GOES_FIRST))
    for line in _remarks(found, total):
        print_text(f"{line}\n")


def _remarks(found: Measurement, total: float) -> list[str]:
    runs = found.profiled_runs
    sums = f"{_time(found.kernel_seconds)} of the median run's {_time(found.seconds)}"
    best = f"best of {runs:,} run{'' if runs == 1 else 's'}"
    lines = [f"times are the {best}, in all {sums}"]
    rest = found.kernels[_SHOWN:]
    if rest:
        share = sum(kernel.seconds for kernel in rest) / total
        more = "1 more kernel takes" if len(rest) == 1 else f"{len(rest)} more kernels take"
        lines.insert(0, f"{more} {share:.1%}")
    shares = [found.roofline_share, *(_roofline(kernel, found) for kernel in found.kernels)]
    if max(shares) > 1:
        lines.append("over 100%: arrays stay in the cache, and the ceiling is that of memory")
    return lines


def _lines(found: Measurement, title: str) -> list[str]:
    stages = ", ".join(f"{name} {1e3 * took:.1f}" for name, took in found.compile_stages.items())
    total = 1e3 * sum(found.compile_stages.values())
    made = "compiled" if "llvm" in found.compile_stages else "read from the cache"
    seconds, ceilings = found.seconds, found.ceilings
    best = min(found.runs)
    busy = []
    if seconds > _BUSY * best:
        busy.append(
            f"the median is {seconds / best:.1f} times the best:"
            " something else seems to use the machine"
        )
    return [
        title,
        f"{made} in {total:.1f} ms ({stages})",
        _runs(found),
        *busy,
        _rates(found.cost.bytes_accessed, found.cost.flops, seconds),
        f"this machine does {_rates(ceilings.bytes, ceilings.flops, 1)}",
        f"roofline: {_percent(found.roofline_share)} of what it does at best",
    ]


def _roofline(kernel: KernelTime, found: Measurement) -> float:
    return found.ceilings.seconds(kernel.cost) / (kernel.seconds or 1e-12)


def _percent(share: float) -> str:
    return ">100%" if share > 1 else f"{share:.0%}"


def _cells(kernel: KernelTime, found: Measurement, total: float) -> list[str]:
    instruction, seconds, cost = kernel.instruction, kernel.seconds or 1e-12, kernel.cost
    return [
        instruction.name,
        kernel.source.rpartition("/")[2],
        _time(kernel.seconds),
        f"{kernel.seconds / total:.1%}",
        f"{kernel.calls:,.4g}",
        f"{cost.bytes_accessed / seconds / 1e9:.1f}",
        f"{cost.flops / seconds / 1e9:.1f}",
        _percent(_roofline(kernel, found)),
    ]


def measurement_fields(found: Measurement, file: str, module: str) -> dict[str, object]:
    """Returns what JSON has of a measurement; times are in seconds."""
    return {
        "file": file,
        "module": module,
        "compile_seconds": found.compile_stages,
        "run_seconds": {
            "median": found.seconds, "best": min(found.runs), "runs": len(found.runs),
        },
        "kernel_seconds": found.kernel_seconds,
        "profiled_runs": found.profiled_runs,
        "flops": found.cost.flops,
        "bytes": found.cost.bytes_accessed,
        "ceilings": {"bytes": found.ceilings.bytes, "flops": found.ceilings.flops},
        "roofline_share": found.roofline_share,
        "kernels": [
            {
                "instruction": kernel.instruction.name,
                "opcode": kernel.instruction.opcode,
                "source": kernel.source,
                "seconds": kernel.seconds,
                "mean_seconds": kernel.mean_seconds,
                "calls": kernel.calls,
                "flops": kernel.cost.flops,
                "bytes": kernel.cost.bytes_accessed,
            }
            for kernel in found.kernels
        ],
    }  # fmt: skip


def _runs(found: Measurement) -> str:
    seconds, count = found.seconds, len(found.runs)
    times = f"median {_time(seconds)}, best {_time(min(found.runs))}"
    return f"{count:,} runs: {times}, {1 / seconds:,.0f} a second"


def _rates(moved: float, flops: float, seconds: float) -> str:
    return f"{moved / seconds / 1e9:.1f} GB/s and {flops / seconds / 1e9:.1f} GFLOP/s"


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
