"""From a module to machine code: passes, buffers, LLVM IR, code."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.codegen.program.kernel_texts import Parts
from hlotool.codegen.program.program import ENTRY, Program
from hlotool.codegen.program.schedule import program
from hlotool.codegen.target import Target
from hlotool.errors import UnsupportedError, counted
from hlotool.ir.cloning import cloned_module
from hlotool.ir.garbage import rare_collection
from hlotool.ir.header import BufferDonor
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, BufferShape, Shape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.custom_calls.registry import is_supplied
from hlotool.passes.memory.optimize_input_output_buffer_alias import (
    OptimizeInputOutputBufferAlias,
)
from hlotool.passes.pipeline import Pipeline, parse_pipeline
from hlotool.passes.pipelines import PASSES_PIPELINE, backend_pipeline, platform_pipeline
from hlotool.passes.running import Runner
from hlotool.runtime.cache import CodeCache, user_cache
from hlotool.runtime.constants import check_constants
from hlotool.runtime.executable import Executable
from hlotool.runtime.libraries import table_address
from hlotool.runtime.llvm import LoadedCode, host_target
from hlotool.runtime.machine_code import CodeMaker
from hlotool.runtime.stored import Compiled, key_of_module, restored, stored, take_places
from hlotool.runtime.threads import thread_count


class Timings(dict[str, float]):
    """How long stages took, in seconds, by their names."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measures a block as a stage."""
        begin = time.perf_counter()
        yield
        self[name] = time.perf_counter() - begin


def prepared(module: Module, passes: str | None = None, donate: Collection[int] = ()) -> Module:
    """Returns a module ready for code generation: optimized unless it is scheduled already.

    `passes` is a pipeline to run in place of that of the CPU, empty for none. `donate` are
    parameters whose memory results may take. The module itself stays as it is.
    """
    found = cloned_module(module)
    if donate:
        _donate(found, donate)
    runner = Runner()
    if not found.is_scheduled and passes != "":
        runner.run(_pipeline(passes), found)
    runner.run(backend_pipeline("cpu"), found)
    return found


def _pipeline(passes: str | None) -> Pipeline:
    if passes is None:
        return platform_pipeline("cpu")
    return parse_pipeline(passes, PASSES_PIPELINE, "passes")


def _donate(module: Module, donate: Collection[int]) -> None:
    header = module.header
    taken = {(alias.parameter, alias.parameter_index) for alias in header.input_output_alias}
    taken |= {(donor.parameter, donor.parameter_index) for donor in header.buffer_donor}
    donors = [
        BufferDonor(number, index)
        for number in sorted(set(donate))
        for index, shape in module.entry.parameters[number].shape.leaves()
        if isinstance(shape, ArrayShape) and (number, index) not in taken
    ]
    module.header = header.replace(buffer_donor=(*header.buffer_donor, *donors))
    Runner().run(Pipeline("donation", (OptimizeInputOutputBufferAlias(),)), module)


def generated(
    module: Module,
    target: Target,
    *,
    profile: bool = False,
    parts: Parts | None = None,
) -> Program:
    """Returns the LLVM IR of a module that is prepared; the options are those of `program`."""
    return program(buffer_assignment(module), target, profile=profile, parts=parts)


def compiled(
    module: Module,
    target: Target | None = None,
    *,
    threads: int | None = None,
    passes: str | None = None,
    donate: Collection[int] = (),
    uses_cache: bool = True,
    profile: bool = False,
) -> Executable:
    """Returns a module as machine code for this process.

    `passes` is a pipeline, empty for none, in place of the platform's. Raises `UnsupportedError`
    for modules of several devices, and for parameters and results whose dimensions are known
    only when the module runs.
    """
    target = target or host_target()
    count = thread_count(threads)
    check_compilable(module)
    check_constants(module)
    timings = Timings()
    options = passes, tuple(sorted(set(donate))), profile, _supplied_targets(module)
    cache = user_cache() if uses_cache else None
    with timings.stage("cache"):
        key = key_of_module(module, target, *options) if cache is not None else ""
        data = cache.read(key) if cache is not None else None
        made = restored(data) if data is not None else None
        if made is not None:
            take_places(made.module, module)
    is_new = made is None
    if made is None:
        made = _made(module, target, passes, donate, timings, profile=profile, cache=cache)
    with timings.stage("load"):
        code = LoadedCode(made.codes, [ENTRY])
    if cache is not None and is_new:
        # Behind the loading: code that cannot be loaded is not kept.
        cache.write(key, stored(made))
    return Executable(
        made.module, made.program, code, target, threads=count,
        donated=donated_leaves(module, donate), timings=timings,
        libraries=table_address() if made.program.libraries else 0,
    )  # fmt: skip


@rare_collection()
def _made(
    module: Module,
    target: Target,
    passes: str | None,
    donate: Collection[int],
    timings: Timings,
    *,
    profile: bool,
    cache: CodeCache | None,
) -> Compiled:
    with timings.stage("passes"):
        ready = prepared(module, passes, donate)
    with CodeMaker(target, cache) as maker:
        with timings.stage("code"):
            made = generated(ready, target, profile=profile, parts=maker)
        # What is left when the last part is written: LLVM has worked meanwhile.
        with timings.stage("llvm"):
            codes = maker.codes()
    return Compiled(ready, made, codes)


def _supplied_targets(module: Module) -> tuple[str, ...]:
    """Returns the custom calls for which a function of the user counts: they are not compiled."""
    targets = {
        instruction.op.custom_call_target
        for instruction in module.instructions()
        if isinstance(instruction.op, CustomCall)
    }
    return tuple(sorted(filter(is_supplied, targets)))


def donated_leaves(module: Module, donate: Collection[int]) -> frozenset[int]:
    """Returns the numbers of the arrays of some parameters, among those of all."""
    numbers = [
        number
        for number, parameter in enumerate(module.entry.parameters)
        for _, shape in parameter.shape.leaves()
        if isinstance(shape, ArrayShape)
    ]
    return frozenset(leaf for leaf, number in enumerate(numbers) if number in donate)


def check_compilable(module: Module) -> None:
    """Raises `UnsupportedError` for a module of several devices, or with dynamic parameters."""
    header = module.header
    if header.replica_count * header.num_partitions > 1:
        raise UnsupportedError(
            f"{module.name} is for {counted(header.replica_count, 'replica')} and"
            f" {counted(header.num_partitions, 'partition')}, and modules are compiled for one"
            " device",
            notes=["hlotool.evaluate runs all of them"],
        )
    for instruction in (*module.entry.parameters, module.entry.root):
        for _, leaf in instruction.shape.leaves():
            if isinstance(leaf, BufferShape) or not _is_static(leaf):
                raise UnsupportedError(
                    f"{instruction.name} is {leaf.plain_text}, and parameters and results of"
                    " compiled modules are arrays of known dimensions",
                    instruction.location,
                    notes=["hlotool.evaluate runs modules of any shape"],
                )


def _is_static(shape: Shape) -> bool:
    return not isinstance(shape, ArrayShape) or shape.is_static
