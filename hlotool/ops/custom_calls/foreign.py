"""Custom calls that hlotool knows by name and cannot evaluate."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.frame import Frame, Value
from hlotool.ops.custom_calls.registry import ADVICE, custom_call, unsupported


@custom_call(
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
    "xla_ffi_python_*",
    "xla_ffi_partitioned_python_*",
    "xla_buffer_python_*",
    "CallbackTo*",
)
def host_callback(_operands: Sequence[Value], frame: Frame) -> Value:
    """Raises `UnsupportedError`: the function that is called back is not in the module."""
    raise unsupported(frame, "calls back into the process that made the module", [ADVICE])


@custom_call(
    "__cudnn$*",
    "__cublas$*",
    "__cusolver$*",
    "cusolver_*",
    "cu_*",
    "hipsolver_*",
    "__triton*",
    "triton_kernel_call",
    "mosaic_gpu",
    "tpu_custom_call",
    "__gpu$*",
    "__onednn$*",
    "Dynamic*",
    "mhlo.*",
)
def foreign_kernel(_operands: Sequence[Value], frame: Frame) -> Value:
    """Raises `UnsupportedError`: a library or a compiler of a device has what is called."""
    found = "a kernel of a device's library or compiler, which is not evaluated"
    raise unsupported(frame, found, [ADVICE])
