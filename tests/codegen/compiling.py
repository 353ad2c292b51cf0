"""Compiles functions that tests have written, and calls them on arrays."""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import Argument, FunctionWriter

Array = NDArray[Any]
DTYPES = {
    "float": "f4", "double": "f8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "half": "f2",
}  # fmt: skip
"""The numpy type of each type of lane."""


def module_text(*functions: FunctionWriter) -> str:
    """Returns a module of functions with what they declare and refer to."""
    outside = {line for one in functions for line in (*one.globals, *one.declarations)}
    return "\n".join([*sorted(outside), *(one.text() for one in functions)])


@cache
def _started() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def target_machine(
    triple: str | None = None, cpu: str | None = None, features: str | None = None
) -> llvm.TargetMachine:
    """Returns a new machine: of this computer with all that it has, or another."""
    _started()
    if triple is None:
        target = llvm.Target.from_default_triple()
        cpu = llvm.get_host_cpu_name() if cpu is None else cpu
        features = llvm.get_host_cpu_features().flatten() if features is None else features
    else:
        target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu or "", features=features or "", opt=3)


def optimized(text: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    """Returns the module of a text after the short list of passes."""
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return module


def assembly(text: str, machine: llvm.TargetMachine) -> str:
    """Returns the assembly of a module."""
    found: str = machine.emit_assembly(optimized(text, machine))
    return found


class Compiled:
    """The functions of a module, ready to be called; they live as long as this does."""

    def __init__(self, text: str, machine: llvm.TargetMachine | None = None) -> None:
        machine = machine or target_machine()
        self._engine = llvm.create_mcjit_compiler(optimized(text, machine), machine)
        self._engine.finalize_object()

    def call(self, name: str, *arguments: Array | int) -> None:
        """Calls a function with addresses of arrays and with integers."""
        kinds = [ctypes.c_int64 if isinstance(one, int) else ctypes.c_void_p for one in arguments]
        function = ctypes.CFUNCTYPE(None, *kinds)(self._engine.get_function_address(name))
        function(*(one if isinstance(one, int) else one.ctypes.data for one in arguments))


Emit = Callable[..., Value | Sequence[Value]]
"""Takes a writer and values, and returns one or more."""


def elementwise(
    name: str, emit: Emit, inputs: Sequence[str], outputs: Sequence[str], lanes: int
) -> FunctionWriter:
    """Writes a function of arrays and their length, a multiple of `lanes`, read in steps of it.

    `inputs` and `outputs` are types of lanes.
    """
    arguments = [Argument("ptr", f"in{n}", "noalias readonly") for n in range(len(inputs))]
    arguments += [Argument("ptr", f"out{n}", "noalias") for n in range(len(outputs))]
    arguments.append(Argument("i64", "count"))
    writer = FunctionWriter(name, arguments, linkage="")
    with writer.loop(writer.integer(0), writer.argument(-1), lanes) as loop:
        values = [
            writer.load(writer.offset(writer.argument(n), loop.index, lane), lane, lanes)
            for n, lane in enumerate(inputs)
        ]
        found = emit(writer, *values)
        results = [found] if isinstance(found, Value) else list(found)
        for n, (value, lane) in enumerate(zip(results, outputs, strict=True)):
            place = writer.offset(writer.argument(len(inputs) + n), loop.index, lane)
            writer.store(value, place)
    return writer


def applied(
    compiled: Compiled, name: str, inputs: Sequence[Array], outputs: Sequence[str], lanes: int
) -> list[Array]:
    """Returns what a function of `elementwise` makes of arrays of any equal length."""
    count = inputs[0].size
    whole = -(-count // lanes) * lanes
    padded = [np.resize(one, whole) for one in inputs]
    results = [np.empty(whole, DTYPES[lane]) for lane in outputs]
    compiled.call(name, *padded, *results, whole)
    return [one[:count] for one in results]
