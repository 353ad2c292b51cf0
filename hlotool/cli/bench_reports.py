"""What `run-hlo --bench` shows: stages of compilation, times of runs, a table of kernels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.tables import print_drawn

if TYPE_CHECKING:
    from hlotool.runtime.measuring import KernelTime, Measurement

_SHOWN = 20
"""How many kernels the table has."""


def show_measurement(found: Measurement, file: str, module: str, *, as_json: bool) -> None:
    """Prints a measurement of a module; `file` is where it was read, `module` its name."""
    if as_json:
        print_text(json.dumps(measurement_fields(found, file, module)) + "\n")
        return
    from rich.table import Table
    from rich.text import Text

    print_text("".join(f"{line}\n" for line in _lines(found, printable(f"{file}: {module}"))))
    table = Table()
    for name in ("kernel", "source"):
        table.add_column(name)
    for name in ("us", "share", "calls", "GB/s", "GFLOP/s", "roofline"):
        table.add_column(name, justify="right")
    total = sum(kernel.seconds for kernel in found.kernels) or 1.0
    for kernel in found.kernels[:_SHOWN]:
        table.add_row(*(Text(printable(cell)) for cell in _cells(kernel, found, total)))
    print_drawn(table)
    rest = found.kernels[_SHOWN:]
    if rest:
        share = sum(kernel.seconds for kernel in rest) / total
        print_text(f"{len(rest)} more kernels take {share:.1%}\n")


def _lines(found: Measurement, title: str) -> list[str]:
    stages = ", ".join(f"{name} {1e3 * took:.1f}" for name, took in found.compile_stages.items())
    total = 1e3 * sum(found.compile_stages.values())
    made = "compiled" if "llvm" in found.compile_stages else "read from the cache"
    seconds, ceilings = found.seconds, found.ceilings
    return [
        f"{title}",
        f"{made} in {total:.1f} ms ({stages})",
        _runs(found),
        f"{_rates(found.cost.bytes_accessed, found.cost.flops, seconds)}",
        f"this machine does {_rates(ceilings.bytes, ceilings.flops, 1)}",
        f"roofline: {found.roofline_share:.0%} of what it does at best",
    ]


def _cells(kernel: KernelTime, found: Measurement, total: float) -> list[str]:
    instruction, seconds, cost = kernel.instruction, kernel.seconds or 1e-12, kernel.cost
    return [
        instruction.name,
        kernel.source.rpartition("/")[2],
        f"{1e6 * seconds:.1f}",
        f"{seconds / total:.1%}",
        f"{kernel.calls:,.0f}",
        f"{cost.bytes_accessed / seconds / 1e9:.1f}",
        f"{cost.flops / seconds / 1e9:.1f}",
        f"{found.ceilings.seconds(cost) / seconds:.0%}",
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
                "calls": kernel.calls,
                "flops": kernel.cost.flops,
                "bytes": kernel.cost.bytes_accessed,
            }
            for kernel in found.kernels
        ],
    }  # fmt: skip


def _runs(found: Measurement) -> str:
    seconds = found.seconds
    times = f"median {_time(seconds)}, best {_time(min(found.runs))}"
    return f"{len(found.runs)} runs: {times}, {1 / seconds:,.0f} a second"


def _rates(moved: float, flops: float, seconds: float) -> str:
    return f"{moved / seconds / 1e9:.1f} GB/s and {flops / seconds / 1e9:.1f} GFLOP/s"


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
