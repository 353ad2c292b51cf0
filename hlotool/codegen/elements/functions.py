"""Functions of floats and complex numbers, as `codegen.math` has them by name."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.elements.elementwise import Formula, Operands, formula
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.math.functions import COMPLEX_FUNCTIONS, FUNCTIONS
from hlotool.ir.element_type import F8E8M0FNU, Kind
from hlotool.ir.op import OPCODES


def _of_floats(function: Callable[..., Value]) -> Formula:
    def written(given: Operands) -> Value:
        values = given.values
        if given.type is F8E8M0FNU:
            # What is too small for an f32 is still above the least number, and 0 is none.
            values = tuple(given.function.cast("fpext", value, "double") for value in values)
        return function(given.function, *values)

    return written


def _of_pairs(function: Callable[..., tuple[Value, Value]], parts: int) -> Formula:
    def written(given: Operands) -> tuple[Value, ...]:
        return function(given.function, *given.elements)[:parts]

    return written


for _opcode, _function in FUNCTIONS.items():
    if _opcode in OPCODES:
        formula(OPCODES[_opcode], kinds=[Kind.FLOAT])(_of_floats(_function))
for _opcode, _pairs in COMPLEX_FUNCTIONS.items():
    # The magnitude is the real part of what is written for it.
    _parts = 1 if _opcode == "abs" else 2
    formula(OPCODES[_opcode], kinds=[Kind.COMPLEX])(_of_pairs(_pairs, _parts))
