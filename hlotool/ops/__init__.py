"""The dictionary of HLO: one class an opcode, one file a family.

Importing this package enters every opcode in `hlotool.ir.op.OPCODES`.
"""

from hlotool.ops import (
    asynchronous,
    collective,
    collective_groups,
    contraction,
    control_flow,
    conversion,
    convolution,
    custom_call,
    decomposition,
    elementwise,
    host,
    indexing,
    ordering,
    permuting,
    random,
    reduction,
    shape_changing,
    source,
    tuples,
    unary,
)

__all__ = [
    "asynchronous", "collective", "collective_groups", "contraction", "control_flow", "conversion",
    "convolution", "custom_call", "decomposition", "elementwise", "host", "indexing", "ordering",
    "permuting", "random", "reduction", "shape_changing", "source", "tuples", "unary",
]  # fmt: skip
