"""What is not compiled: packed or tiled elements at all, dynamic dimensions in kernels."""

from __future__ import annotations

from hlotool.codegen.unsupported import NotCompiled
from hlotool.errors import UnsupportedError
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, BufferShape, Shape


def check_layouts(module: Module) -> None:
    """Raises `UnsupportedError` for packed or tiled elements, and for mutable buffers."""
    for instruction in module.instructions():
        for _, leaf in instruction.shape.leaves():
            if isinstance(leaf, BufferShape) or _is_packed(leaf):
                what = leaf.layout.text if isinstance(leaf, ArrayShape) else leaf.plain_text
                raise UnsupportedError(
                    f"{instruction.name} has the layout {what}, and modules are compiled"
                    " for elements that lie side by side, in whole bytes",
                    instruction.location,
                    notes=["hlotool.evaluate runs modules of any layout"],
                )


def check_static(instruction: Instruction) -> None:
    """Raises `NotCompiled` where an operand or a result has dynamic dimensions.

    The host finds their live sizes behind the elements.
    """
    for one in (*instruction.operands, instruction):
        for _, leaf in one.shape.leaves():
            if isinstance(leaf, ArrayShape) and not leaf.is_static:
                raise NotCompiled(f"the dynamic dimensions of {leaf.plain_text}")


def _is_packed(shape: Shape) -> bool:
    if not isinstance(shape, ArrayShape):
        return False
    bits = 8 * shape.element_type.storage_bytes
    return bool(shape.layout.tiles) or shape.layout.element_size_bits not in (0, bits)
