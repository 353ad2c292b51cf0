"""What passes on the element types of dots and convolutions have in common."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.ops.numerics.matrix_products import PACKED


def has_plain_numbers(instruction: Instruction) -> bool:
    """Whether a dot or convolution multiplies the numbers that its operands hold.

    It does not where two numbers are packed into each element, or where an algorithm says
    what the operands are rounded to.
    """
    op = instruction.op
    match op:
        case Dot():
            is_plain = op.algorithm == "unset" and not op.sparsity
            return is_plain and PACKED not in op.operand_precision
        case Convolution():
            return PACKED not in op.operand_precision
    return False
