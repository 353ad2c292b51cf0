"""What all lanes of a vector have together."""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter, type_code


def greatest_lane(function: FunctionWriter, value: Value, *, signed: bool = True) -> Value:
    """Writes the greatest of the integers in all lanes, as a value of one lane."""
    if value.lanes == 1:
        return value
    name = "smax" if signed else "umax"
    spelled = f"@llvm.vector.reduce.{name}.{type_code(value.type, value.lanes)}"
    function.declarations.add(f"declare {value.type} {spelled}({value.full_type})")
    return function.pure(f"call {value.type} {spelled}({value.text})", (value,), value.type, 1)
