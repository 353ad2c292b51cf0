"""The pipelines of platforms, with the reference's names."""

from __future__ import annotations

from functools import cache

from hlotool.ir.module import Module
from hlotool.passes.memory.hlo_memory_scheduler import HloMemoryScheduler
from hlotool.passes.pass_base import Pass
from hlotool.passes.pipeline import Fix, Pipeline, parse_pipeline
from hlotool.passes.registry import pass_named
from hlotool.passes.running import Record, Runner

_PREPARATION = """
  zero_sized_hlo_elimination, batchnorm_expander, rng-bit-generator-expander,
  dynamic-dimension-simplifier, dynamic_padder, batch-dot-simplification,
  call-inliner, map-inline, conditional-canonicalizer,
  simplify-fp-conversions, convert-mover
"""
_SIMPLIFICATION = """
  algsimp, simplify-sorts, tuple-simplifier, gather_simplifier, scatter_simplifier,
  simplify-while-loops, while-loop-constant-sinking, reshape-mover, slice-sinker,
  constant_folding, simplify-conditional, dce, cse
"""
_SIMPLIFICATION_OF_LOOPS = """
  algsimp, tuple-simplifier, simplify-while-loops, while-loop-invariant-code-motion, cse, dce
"""
_AFTER_CPU_FUSION = "cpu_multi_output_fusion, tuple-simplifier, simplify-while-loops, cse, dce"
_AFTER_GPU_FUSION = """
  multi_output_fusion, horizontal_loop_fusion, tuple-simplifier, simplify-while-loops, cse, dce
"""


def _passes(names: str) -> tuple[Pass, ...]:
    """Returns passes by their names, with no options: no parser is needed for these."""
    return tuple(pass_named(name.strip())() for name in names.split(","))


def _repeated(name: str, passes: str) -> Fix:
    return Fix((Pipeline(name, _passes(passes)),))


def _through_layouts(name: str) -> Pipeline:
    """Returns what all platforms begin with."""
    return Pipeline(
        name,
        (
            *_passes(_PREPARATION),
            _repeated("simplification", _SIMPLIFICATION),
            *_passes("conditional-to-select, transpose-folding"),
            _repeated("simplification", _SIMPLIFICATION_OF_LOOPS),
            *_passes("layout-assignment, while-loop-trip-count-annotator"),
        ),
    )


def _for_cpu() -> tuple[Pipeline, ...]:
    fusion = Pipeline(
        "HLO passes after layout assignment",
        (
            *_passes("fusion, fusion-wrapper"),
            _repeated("simplification_after_layout_assignment", _AFTER_CPU_FUSION),
        ),
    )
    return _through_layouts("HLO passes through layout assignment"), fusion


def _for_gpu() -> tuple[Pipeline, ...]:
    fusion = Pipeline(
        "fusion",
        (
            *_passes("priority-fusion, fusion-wrapper, fusion_constant_sinking"),
            _repeated("post-fusion", _AFTER_GPU_FUSION),
        ),
    )
    return _through_layouts("optimization"), fusion


PLATFORMS = ("cpu", "gpu")
PASSES_PIPELINE = "transforms_pipeline"
"""What the reference calls the pipeline of passes that are given one by one."""

_PLATFORM_PIPELINES = {"cpu": _for_cpu, "gpu": _for_gpu}
_BACKEND_NAMES = {"cpu": "HLO passes after scheduling", "gpu": "scheduled-gpu-module"}


def run_pipeline(module: Module, pipeline: str) -> list[Record]:
    """Runs passes over a module in place, and returns what each of them did.

    `pipeline` is a platform, `cpu` or `gpu`, or a list as `--passes` takes it:
    `algsimp,fix(cse,dce)`. A module that is scheduled has been through the passes of a platform,
    and is left as it is. Raises `UsageError` for what is neither.
    """
    _check_types(module, pipeline)
    runner = Runner()
    if pipeline not in PLATFORMS:
        runner.run(parse_pipeline(pipeline, PASSES_PIPELINE, "the pipeline"), module)
    elif not module.is_scheduled:
        runner.run(platform_pipeline(pipeline), module)
    return runner.records


def _check_types(module: object, pipeline: object) -> None:
    if not isinstance(module, Module) or not isinstance(pipeline, str):
        raise TypeError("a module and the text of a pipeline are wanted; see hlotool.load")


@cache
def platform_pipeline(platform: str) -> Pipeline:
    """Returns the passes that optimize and fuse a module for a platform: cpu or gpu."""
    return Pipeline("", _PLATFORM_PIPELINES[platform]())


@cache
def backend_pipeline(platform: str) -> Pipeline:
    """Returns the passes that make an optimized module ready to be compiled: copies, a schedule."""
    scheduling = (
        *_passes("flatten-call-graph, dce"),
        HloMemoryScheduler(reschedule=False),
        *_passes("copy-insertion, dce"),
    )
    return Pipeline("", (Pipeline(_BACKEND_NAMES[platform], scheduling),))
