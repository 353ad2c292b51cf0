"""Complex numbers made of parts, and their parts; sums."""

from __future__ import annotations

from hlotool.codegen.elements.elementwise import Operands, formula
from hlotool.codegen.llvm.value import Value, constant
from hlotool.ir.element_type import Kind
from hlotool.ir.op import Op
from hlotool.ops.elementwise import Add, Complex, Subtract
from hlotool.ops.unary import Imag, Real

_SUMS: dict[type[Op], str] = {Add: "fadd", Subtract: "fsub"}


@formula(Add, Subtract, kinds=[Kind.COMPLEX])
def _sum(given: Operands) -> tuple[Value, ...]:
    opcode = _SUMS[type(given.op)]
    pairs = zip(*given.elements, strict=True)
    return tuple(given.function.binary(opcode, one, other) for one, other in pairs)


@formula(Complex, kinds=[Kind.FLOAT])
def _complex(given: Operands) -> tuple[Value, ...]:
    return given.values


@formula(Real, kinds=[Kind.FLOAT, Kind.COMPLEX], exact=True)
def _real(given: Operands) -> Value:
    return given.values[0]


@formula(Imag, kinds=[Kind.FLOAT, Kind.COMPLEX])
def _imaginary(given: Operands) -> Value:
    parts = given.elements[0]
    return parts[1] if len(parts) == 2 else constant(parts[0].type, 0)
