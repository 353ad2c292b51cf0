"""Elements of arrays in registers.

Integers have their own width; pred is `i1`. Floats narrower than 32 bits are held as the f32 of
the same value: operations on them are done in f32 and rounded to the type, as HLO has it.
Complex numbers are two values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TypeAlias

from hlotool.codegen.llvm.value import Value
from hlotool.ir.element_type import PRED, ElementType

Parts: TypeAlias = tuple[Value, ...]
"""A number in registers: one value, or the two of a complex number."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element, or as many as there are lanes; two parts where it is complex."""

    type: ElementType
    parts: Parts

    @property
    def value(self) -> Value:
        """The value of an element that is not complex."""
        (value,) = self.parts
        return value

    @property
    def lanes(self) -> int:
        """How many elements these are; 1 where all lanes have the same."""
        return max(part.lanes for part in self.parts)


def part_count(element_type: ElementType) -> int:
    """Returns how many values an element is: 2 where it is complex."""
    return 2 if element_type.is_complex else 1


def elements_of(types: Iterable[ElementType], values: Iterable[Value]) -> list[Element]:
    """Returns elements of some types by the values that are their parts, one after the other."""
    left = iter(values)
    return [Element(one, tuple(islice(left, part_count(one)))) for one in types]


@cache
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
