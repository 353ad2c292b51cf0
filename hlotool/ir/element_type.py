"""The element types of arrays: one table of names, widths and number formats."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy


class Kind(Enum):
    """What an element type counts with."""

    PRED = "pred"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    COMPLEX = "complex"


class NanEncoding(Enum):
    """Which bit patterns of a float format mean NaN."""

    IEEE = "ieee"  # exponent all ones and a mantissa that is not zero
    ALL_ONES = "all-ones"  # exponent and mantissa all ones
    NEGATIVE_ZERO = "negative-zero"  # the pattern that would be -0
    NONE = "none"


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """The bits of a floating-point number: sign, exponent, mantissa, from high to low.

    `digits` is the number of significant decimal digits that the text format prints.
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    digits: int
    has_infinity: bool = True
    nan: NanEncoding = NanEncoding.IEEE
    has_sign: bool = True


class ElementType:
    """An element type; there is one object for each, so `is` compares them.

    `bits` is the width of a value, `storage_bytes` the bytes it takes in a `Literal`: types
    narrower than a byte take one byte each.
    """

    __slots__ = ("bits", "float_format", "kind", "name", "numpy_name", "storage_bytes")

    def __init__(
        self,
        name: str,
        kind: Kind,
        bits: int,
        numpy_name: str,
        float_format: FloatFormat | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.bits = bits
        self.storage_bytes = max(1, bits // 8)
        self.numpy_name = numpy_name
        self.float_format = float_format

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _named, (self.name,)

    @property
    def numpy(self) -> numpy.dtype[Any]:
        """The numpy type; s1, u1 and f6 types that numpy lacks are held as raw bytes."""
        import ml_dtypes
        import numpy as np

        found = getattr(ml_dtypes, self.numpy_name, None)
        return np.dtype(self.numpy_name if found is None else found)

    @property
    def is_integer(self) -> bool:
        """Whether values are signed or unsigned integers (pred is not)."""
        return self.kind is Kind.SIGNED or self.kind is Kind.UNSIGNED

    @property
    def is_float(self) -> bool:
        """Whether values are real floating-point numbers."""
        return self.kind is Kind.FLOAT

    @property
    def is_complex(self) -> bool:
        """Whether values are pairs of floating-point numbers."""
        return self.kind is Kind.COMPLEX

    @property
    def is_signed(self) -> bool:
        """Whether values are signed integers."""
        return self.kind is Kind.SIGNED

    @property
    def component(self) -> ElementType:
        """The type of the real part; of a type that is not complex, the type itself."""
        return _COMPONENTS.get(self.name, self)


def _named(name: str) -> ElementType:
    return ELEMENT_TYPES[name]


def _float(name: str, numpy_name: str, bits: int, *layout: Any, **rest: Any) -> ElementType:
    return ElementType(name, Kind.FLOAT, bits, numpy_name, FloatFormat(*layout, **rest))


def _integer(name: str, numpy_name: str) -> ElementType:
    kind = Kind.SIGNED if name[0] == "s" else Kind.UNSIGNED
    return ElementType(name, kind, int(name[1:]), numpy_name)


_NO_INFINITY: dict[str, Any] = {"has_infinity": False, "nan": NanEncoding.ALL_ONES}
_FNUZ: dict[str, Any] = {"has_infinity": False, "nan": NanEncoding.NEGATIVE_ZERO}
_FINITE: dict[str, Any] = {"has_infinity": False, "nan": NanEncoding.NONE}

PRED = ElementType("pred", Kind.PRED, 8, "bool")
S1 = _integer("s1", "int8")
S2 = _integer("s2", "int2")
S4 = _integer("s4", "int4")
S8 = _integer("s8", "int8")
S16 = _integer("s16", "int16")
S32 = _integer("s32", "int32")
S64 = _integer("s64", "int64")
U1 = _integer("u1", "uint8")
U2 = _integer("u2", "uint2")
U4 = _integer("u4", "uint4")
U8 = _integer("u8", "uint8")
U16 = _integer("u16", "uint16")
U32 = _integer("u32", "uint32")
U64 = _integer("u64", "uint64")
F16 = _float("f16", "float16", 16, 5, 10, 15, 5)
BF16 = _float("bf16", "bfloat16", 16, 8, 7, 127, 4)
F32 = _float("f32", "float32", 32, 8, 23, 127, 6)
F64 = _float("f64", "float64", 64, 11, 52, 1023, 15)
F8E5M2 = _float("f8e5m2", "float8_e5m2", 8, 5, 2, 15, 2)
F8E4M3 = _float("f8e4m3", "float8_e4m3", 8, 4, 3, 7, 3)
F8E4M3FN = _float("f8e4m3fn", "float8_e4m3fn", 8, 4, 3, 7, 3, **_NO_INFINITY)
F8E4M3B11FNUZ = _float("f8e4m3b11fnuz", "float8_e4m3b11fnuz", 8, 4, 3, 11, 3, **_FNUZ)
F8E3M4 = _float("f8e3m4", "float8_e3m4", 8, 3, 4, 3, 3)
F8E5M2FNUZ = _float("f8e5m2fnuz", "float8_e5m2fnuz", 8, 5, 2, 16, 2, **_FNUZ)
F8E4M3FNUZ = _float("f8e4m3fnuz", "float8_e4m3fnuz", 8, 4, 3, 8, 3, **_FNUZ)
F8E8M0FNU = _float("f8e8m0fnu", "float8_e8m0fnu", 8, 8, 0, 127, 2, has_sign=False, **_NO_INFINITY)
F4E2M1FN = _float("f4e2m1fn", "float4_e2m1fn", 4, 2, 1, 1, 2, **_FINITE)
F6E2M3FN = _float("f6e2m3fn", "float6_e2m3fn", 6, 2, 3, 1, 3, **_FINITE)
F6E3M2FN = _float("f6e3m2fn", "float6_e3m2fn", 6, 3, 2, 3, 2, **_FINITE)
C64 = ElementType("c64", Kind.COMPLEX, 64, "complex64")
C128 = ElementType("c128", Kind.COMPLEX, 128, "complex128")

ELEMENT_TYPES: dict[str, ElementType] = {
    value.name: value for value in list(globals().values()) if isinstance(value, ElementType)
}
"""Every array element type by its name in the text; `token` and `opaque` are shapes, not these."""
_COMPONENTS = {"c64": F32, "c128": F64}
