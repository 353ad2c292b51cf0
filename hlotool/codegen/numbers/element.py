"""Elements of arrays in registers.

Integers have their own width; pred is `i1`. Floats narrower than 32 bits are held as the f32 of
the same value: operations on them are done in f32 and rounded to the type, as HLO has it.
Complex numbers are two values.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.codegen.llvm.value import Value
from hlotool.ir.element_type import PRED, ElementType


@dataclass(frozen=True, slots=True)
class Element:
    """An element, or as many as there are lanes; two parts where it is complex."""

    type: ElementType
    parts: tuple[Value, ...]

    @property
    def value(self) -> Value:
        """The value of an element that is not complex."""
        (value,) = self.parts
        return value

    @property
    def lanes(self) -> int:
        """How many elements these are; 1 where all lanes have the same."""
        return max(part.lanes for part in self.parts)


def register_type(element_type: ElementType) -> str:
    """Returns the type of a lane that holds an element, or a part of a complex one."""
    component = element_type.component
    if component is PRED:
        return "i1"
    if component.is_float:
        return "double" if component.bits == 64 else "float"
    return f"i{component.bits}"


def is_narrow_float(element_type: ElementType) -> bool:
    """Whether elements are held in a wider type, so that results must be rounded."""
    return element_type.is_float and element_type.bits < 32
