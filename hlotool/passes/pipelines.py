"""The pipelines of platforms, in the language of pipelines, with the reference's names."""

from __future__ import annotations

from hlotool.passes.pipeline import Pipeline, parse_pipeline

CPU = """
"HLO passes through layout assignment"(
  batchnorm_expander, rng-bit-generator-expander,
  batch-dot-simplification, dynamic_padder,
  fix(simplification(
    algsimp, simplify-sorts, tuple-simplifier, gather_simplifier, scatter_simplifier, dce
  ))
),
"HLO passes after layout assignment"(
  dce
)
"""

GPU = CPU

CPU_BACKEND = """
"HLO passes after scheduling"(dce)
"""

GPU_BACKEND = CPU_BACKEND

PLATFORMS = ("cpu", "gpu")

_TEXTS = {"cpu": CPU, "gpu": GPU}
_BACKENDPLATFORMS = ("cpu", "gpu")

_TEXTS = {"cpu": CPU_BACKEND, "gpu": GPU_BACKEND}


def platform_pipeline(platform: str) -> Pipeline:
    """Returns the passes that optimize and fuse a module for a platform: cpu or gpu."""
    return parse_pipeline(_TEXTS[platform], "", f"the pipeline of {platform}")


def backend_pipeline(platform: str) -> Pipeline:
    """Returns the passes that make an optimized module ready to be compiled: copies, a schedule."""
    return parse_pipeline(_BACKEND_TEXTS[platform], "", f"the pipeline of {platform}")
