"""Which element types hold every value of another one."""

from __future__ import annotations

from hlotool.ir.element_type import ElementType, FloatFormat, Kind, NanEncoding


def holds_all(wide: ElementType, narrow: ElementType) -> bool:
    """Whether a conversion from `narrow` to `wide` changes no value, and so can be undone."""
    if wide is narrow:
        return True
    if wide.kind is Kind.PRED or (narrow.is_complex and not wide.is_complex):
        return False
    wide, narrow = wide.component, narrow.component
    if wide is narrow:
        return True
    if narrow.is_float:
        return wide.is_float and _holds_floats(wide, narrow)
    # Of pred there is just one bit.
    bits = 1 if narrow.kind is Kind.PRED else narrow.bits - narrow.is_signed
    if wide.is_float:
        return _holds_integers(_format(wide), bits, is_signed=narrow.is_signed)
    return bits <= wide.bits - wide.is_signed and (wide.is_signed or not narrow.is_signed)


def _format(element_type: ElementType) -> FloatFormat:
    assert element_type.float_format is not None, f"{element_type} is no float"
    return element_type.float_format


def _holds_floats(wide: ElementType, narrow: ElementType) -> bool:
    ours, theirs = _format(wide), _format(narrow)
    has_special_values = (
        ours.has_sign >= theirs.has_sign
        and ours.has_infinity >= theirs.has_infinity
        and (ours.nan is not NanEncoding.NONE or theirs.nan is NanEncoding.NONE)
        # Where NaN takes the place of -0 there is no -0.
        and (ours.nan is not NanEncoding.NEGATIVE_ZERO or theirs.nan is NanEncoding.NEGATIVE_ZERO)
    )
    return (
        has_special_values
        and ours.mantissa_bits >= theirs.mantissa_bits
        and _least_exponent(ours) <= _least_exponent(theirs)
        and _greatest_exponent(ours) >= _greatest_exponent(theirs)
    )


def _holds_integers(wide: FloatFormat, bits: int, *, is_signed: bool) -> bool:
    has_sign = wide.has_sign or not is_signed
    # The exponent is one more for the least signed number, a power of two.
    return (
        has_sign
        and bits <= wide.mantissa_bits + 1
        and bits <= _greatest_exponent(wide)
        and _least_exponent(wide) <= 0
        and wide.mantissa_bits > 0
    )


def _least_exponent(of: FloatFormat) -> int:
    # The exponent of the last bit of the numbers below the normal ones.
    return 1 - of.bias - of.mantissa_bits if of.mantissa_bits else -of.bias


def _greatest_exponent(of: FloatFormat) -> int:
    codes = (1 << of.exponent_bits) - 1
    is_reserved = of.has_infinity or of.nan is NanEncoding.IEEE
    if of.nan is NanEncoding.ALL_ONES and of.mantissa_bits == 0:
        is_reserved = True
    return codes - is_reserved - of.bias
