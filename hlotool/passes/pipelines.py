"""The pipelines of platforms, in the language of pipelines, with the reference's names."""

from __future__ import annotations

from functools import cache

from hlotool.ir.module import Module
from hlotool.passes.pipeline import Pipeline, parse_pipeline
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

CPU = f"""
"HLO passes through layout assignment"(
  {_PREPARATION},
  fix(simplification({_SIMPLIFICATION})),
  conditional-to-select, transpose-folding,
  fix(simplification(
    algsimp, tuple-simplifier, simplify-while-loops, while-loop-invariant-code-motion, cse, dce
  )),
  layout-assignment, while-loop-trip-count-annotator
),
"HLO passes after layout assignment"(
  fusion, fusion-wrapper,
  fix(simplification_after_layout_assignment(
    cpu_multi_output_fusion, tuple-simplifier, simplify-while-loops, cse, dce
  ))
)
"""

GPU = f"""
optimization(
  {_PREPARATION},
  fix(simplification({_SIMPLIFICATION})),
  conditional-to-select, transpose-folding,
  fix(simplification(
    algsimp, tuple-simplifier, simplify-while-loops, while-loop-invariant-code-motion, cse, dce
  )),
  layout-assignment, while-loop-trip-count-annotator
),
fusion(
  priority-fusion, fusion-wrapper, fusion_constant_sinking,
  fix(post-fusion(
    multi_output_fusion, horizontal_loop_fusion, tuple-simplifier, simplify-while-loops, cse, dce
  ))
)
"""

_SCHEDULING = "flatten-call-graph, dce, hlo-memory-scheduler{reschedule=false}, copy-insertion, dce"
CPU_BACKEND = f'"HLO passes after scheduling"({_SCHEDULING})'
GPU_BACKEND = f"scheduled-gpu-module({_SCHEDULING})"

PLATFORMS = ("cpu", "gpu")
PASSES_PIPELINE = "transforms_pipeline"
"""What the reference calls the pipeline of passes that are given one by one."""

_TEXTS = {"cpu": CPU, "gpu": GPU}
_BACKEND_TEXTS = {"cpu": CPU_BACKEND, "gpu": GPU_BACKEND}


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
    return parse_pipeline(_TEXTS[platform], "", f"the pipeline of {platform}")


@cache
def backend_pipeline(platform: str) -> Pipeline:
    """Returns the passes that make an optimized module ready to be compiled: copies, a schedule."""
    return parse_pipeline(_BACKEND_TEXTS[platform], "", f"the pipeline of {platform}")
