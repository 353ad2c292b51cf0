"""Elementwise ops: an element of the result from the elements of all operands at its index.

Formulas are entered by op and by the kind of the operands' numbers. They see values of one
width, and what they yield is rounded to the type that the op has for its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.codegen.elements.emitter import RULES, ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import array_shape, element_type_of
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.conversion import converted
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.rounding import is_exactly, rounded
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import ElementType, Kind, NanEncoding
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ops.elementwise import Binary
from hlotool.ops.shape_checks import common_element_type
from hlotool.ops.unary import Unary

Operation: TypeAlias = Callable[[FunctionWriter, Instruction, tuple[Element, ...]], Element]
"""Writes a result from elements of all operands; the instruction has attributes and types."""

INTEGERS = (Kind.SIGNED, Kind.UNSIGNED)
REALS = (*INTEGERS, Kind.FLOAT)


def elementwise(*ops: type[Op]) -> Callable[[Operation], Operation]:
    """Enters a function as the one that computes elementwise ops."""

    def enter(operation: Operation) -> Operation:
        def rule(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
            elements = operand_elements(emitter, instruction, index)
            return operation(emitter.function, instruction, elements)

        element_rule(*ops)(rule)
        return operation

    return enter


def operand_elements(
    emitter: ElementEmitter, instruction: Instruction, index: Indices
) -> tuple[Element, ...]:
    """Writes the elements of all operands at an index; a scalar's holds for every index."""
    operands = instruction.operands
    return tuple(emitter.element(one, index if array_shape(one).rank else ()) for one in operands)


@dataclass(frozen=True, slots=True)
class Operands:
    """What a formula is given."""

    function: FunctionWriter
    op: Op
    type: ElementType
    """The common element type of the operands."""
    elements: tuple[tuple[Value, ...], ...]
    """The value of each operand, or its two parts; floats are of the same width in all."""

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of operands that are not complex."""
        return tuple(parts[0] for parts in self.elements)

    def binary(self, opcode: str) -> Value:
        """Writes an instruction on two operands that are not complex."""
        one, other = self.values
        return self.function.binary(opcode, one, other)


Formula: TypeAlias = Callable[[Operands], "Value | tuple[Value, ...]"]
"""Writes the value of a result, or its two parts."""

FORMULAS: dict[tuple[type[Op], Kind], tuple[Formula, bool]] = {}
"""Formulas, and whether what they yield needs no rounding, by op and kind of the operands."""


def formula(
    *ops: type[Op], kinds: Iterable[Kind], exact: bool = False
) -> Callable[[Formula], Formula]:
    """Enters a function as the formula of ops for operands of these kinds.

    `exact` says that operands of a type yield what the type has: no rounding is wanted.
    """

    def enter(found: Formula) -> Formula:
        for op in ops:
            if op not in RULES:
                elementwise(op)(_by_kind)
            for kind in kinds:
                assert (op, kind) not in FORMULAS, f"{op.opcode} has two formulas for {kind.value}"
                FORMULAS[op, kind] = found, exact
        return found

    return enter


def _by_kind(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    op = instruction.op
    assert isinstance(op, Binary | Unary)
    common = common_type(instruction.operands)
    found = FORMULAS.get((type(op), common.kind))
    if found is None:
        raise NotCompiled(f"{instruction.opcode} of {common.name}")
    write, exact = found
    written = write(Operands(function, op, common, same_width(function, operands)))
    parts = written if isinstance(written, tuple) else (written,)
    result = op.result_type(common)
    exact = exact and all(operand.type is result for operand in operands) and _has_opposites(result)
    return settled(function, parts, result, element_type_of(instruction), exact=exact)


def _has_opposites(element_type: ElementType) -> bool:
    """Whether a type has -x for every x, 0 among them."""
    form = element_type.component.float_format
    return form is None or form.nan is NanEncoding.IEEE


def common_type(operands: Sequence[Instruction]) -> ElementType:
    """Returns the element type that operands are computed in: of floats the widest."""
    return common_element_type([array_shape(operand) for operand in operands], "operands")


def same_width(
    function: FunctionWriter, operands: Sequence[Element]
) -> tuple[tuple[Value, ...], ...]:
    """Writes the parts of operands, as `double` where some are `double`."""
    lanes = {part.type for operand in operands for part in operand.parts}
    if lanes != {"float", "double"}:
        return tuple(operand.parts for operand in operands)
    return tuple(
        tuple(function.cast("fpext", part, "double") for part in operand.parts)
        for operand in operands
    )


def settled(
    function: FunctionWriter,
    parts: Sequence[Value],
    result: ElementType,
    declared: ElementType,
    *,
    exact: bool = False,
) -> Element:
    """Writes computed values as an element: rounded to the type computed, then the declared."""
    component = result.component
    if exact:
        found = tuple(is_exactly(function, component, part) for part in parts)
    else:
        found = tuple(rounded(function, component, part) for part in parts)
    return converted(function, Element(result, found), declared)
