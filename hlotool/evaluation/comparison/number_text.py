"""Single elements as people look at them: in decimal, as bits, and how far two are apart."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array


@dataclass(frozen=True, slots=True)
class Side:
    """An element of one of two arrays: decimal text, and the bits of its parts.

    A complex number has two parts, any other element one. `ordered` numbers the values of the
    type from the least on; it is `None` for NaN.
    """

    text: str
    bits: tuple[str, ...]
    ordered: tuple[int | None, ...]

    @classmethod
    def of(cls, array: Array, element_type: ElementType) -> Side:
        """Returns the one element of an array."""
        component = element_type.component
        parts = [array.real, array.imag] if element_type.is_complex else [array]
        patterns = [_pattern(part, component) for part in parts]
        ordered = tuple(
            None if part[0] != part[0] else _ordered(pattern, component)  # NaN
            for part, pattern in zip(parts, patterns, strict=True)
        )
        digits = -(-component.bits // 4)
        shown = tuple(f"0x{pattern:0{digits}x}" for pattern in patterns)
        return cls(_text(array, element_type), shown, ordered)

    def ulps_to(self, other: Side) -> int | None:
        """Returns how many steps to the next number there are, for parts the most of them."""
        distances = []
        for one, two in zip(self.ordered, other.ordered, strict=True):
            if one is None or two is None:
                return None
            distances.append(abs(one - two))
        return max(distances)


def _pattern(array: Array, element_type: ElementType) -> int:
    pattern = int.from_bytes(array.tobytes(), "little")
    return int(pattern & ((1 << element_type.bits) - 1))


def _ordered(pattern: int, element_type: ElementType) -> int:
    float_format = element_type.float_format
    if float_format is None:
        is_negative = element_type.is_signed and pattern >> (element_type.bits - 1)
        return pattern - (1 << element_type.bits) if is_negative else pattern
    if not float_format.has_sign:
        return pattern
    sign = 1 << (element_type.bits - 1)
    return -(pattern - sign) if pattern & sign else pattern


def _text(array: Array, element_type: ElementType) -> str:
    value = array[0]
    if element_type.is_complex:
        return f"({value.real}, {value.imag})"
    if element_type.is_float:
        return str(value)
    return str(value).lower() if array.dtype == bool else str(int(value))
