"""All families of custom calls: importing this enters their targets in the registry."""

from hlotool.ops.custom_calls import (
    cublas,
    cudnn,
    dynamic,
    foreign,
    lapack,
    markers,
    onednn,
    selection,
    shards,
    solvers,
    x64,
)

__all__ = [
    "cublas", "cudnn", "dynamic", "foreign", "lapack", "markers", "onednn", "selection", "shards",
    "solvers", "x64",
]  # fmt: skip
