"""What `run-hlo --platform=cpu` tells beside results: of compilation, and of speed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable_lines
from hlotool.cli.run_inputs import Inputs
from hlotool.ops.tuple_values import arrays_of

if TYPE_CHECKING:
    from hlotool.cli.cpu_session import CpuSession
    from hlotool.cli.modules import Unread
    from hlotool.cli.runs import Runs
    from hlotool.ir.module import Module
    from hlotool.runtime.executable import Executable


def explain_compilation(session: CpuSession, module: Module, name: str, *, as_json: bool) -> None:
    """Prints what of a module is compiled, and what is evaluated instead, with the reasons."""
    executable = session.executable(module)
    if not as_json:
        print_text(printable_lines(executable.explain().rstrip() + "\n"))
        return
    program = executable.program
    fields = {
        "file": name,
        "module": module.name,
        "kernels": len(program.launches),
        "temporary_bytes": program.temporary_bytes,
        "evaluated": [
            {
                "instruction": call.instruction.name,
                "opcode": call.instruction.opcode,
                "reason": call.reason,
            }
            for call in program.host_calls
        ],
    }
    print_text(json.dumps(fields) + "\n")


def measure(runs: Runs, module: Module, unread: Unread) -> None:
    """Runs a module for some seconds and shows how fast it is."""
    from hlotool.cli.bench_reports import show_measurement
    from hlotool.runtime.measuring import measured

    arguments = runs.arguments
    runs.fill(module, unread.name)
    inputs = Inputs(arguments, module, unread)
    devices = inputs.of_devices(runs.settings(module), 0)
    for note in inputs.notes:
        runs.report.note(note, unread.name)
    shapes = [parameter.shape for parameter in module.entry.parameters]
    # While it is measured, nothing bounds its loops.
    runs.cpu.run(module, devices, arguments.seed, arguments.max_steps)
    executable = runs.cpu.executable(module)
    found = measured(
        [one for pair in zip(devices[0], shapes, strict=True) for one in arrays_of(*pair)],
        executable,
        runs.cpu.compiled(module, profile=True),
        arguments.bench,
    )
    show_measurement(found, unread.name, module.name, _facts(executable), as_json=arguments.json)


def _facts(executable: Executable) -> list[str]:
    facts = [executable.library_use] if executable.library_use else []
    calls = executable.program.host_calls
    if calls:
        many = "instructions are" if len(calls) > 1 else "instruction is"
        facts.append(
            f"{len(calls)} {many} evaluated by the host, which no kernel below shows:"
            f" {calls[0].instruction.name}{' first' if len(calls) > 1 else ''}"
        )
    return facts
