"""From a module to machine code: passes, buffers, LLVM IR, code."""

from __future__ import annotations

from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.codegen.program.program import ENTRY, Program
from hlotool.codegen.program.schedule import program
from hlotool.codegen.target import Target
from hlotool.ir.cloning import cloned_module
from hlotool.ir.module import Module
from hlotool.passes.pipelines import backend_pipeline, platform_pipeline
from hlotool.passes.running import Runner
from hlotool.runtime.executable import Executable
from hlotool.runtime.llvm import LoadedCode, host_target, object_code, optimize, parsed


def prepared(module: Module) -> Module:
    """Returns a module ready for code generation: optimized unless it is scheduled already."""
    found = cloned_module(module)
    runner = Runner()
    if not found.is_scheduled:
        runner.run(platform_pipeline("cpu"), found)
    runner.run(backend_pipeline("cpu"), found)
    return found


def generated(module: Module, target: Target, *, profile: bool = False) -> Program:
    """Returns the LLVM IR of a module that is prepared."""
    return program(buffer_assignment(module), target, profile=profile)


def compiled(module: Module, target: Target | None = None) -> Executable:
    """Returns a module as machine code for this process."""
    target = target or host_target()
    ready = prepared(module)
    made = generated(ready, target)
    unit = parsed(made.text, target)
    optimize(unit, target)
    return Executable(ready, made, LoadedCode(object_code(unit, target), [ENTRY]))
