"""Values of LLVM IR as they stand in its text, and constants."""

from __future__ import annotations

import struct
from functools import lru_cache

INTEGER_BITS = {"i1": 1, "i2": 2, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128}
FLOAT_BITS = {"half": 16, "float": 32, "double": 64}


class Value:
    """A value: `name` is what stands for it in the text, a constant or `%12`. It never changes.

    `type` is the type of a lane: `float`, `i64`, `ptr`. `level` is how many loops and branches
    must be open for it to be known; see `FunctionWriter`.
    """

    # Written out, and without properties: kernels are made of hundreds of thousands of them.
    __slots__ = ("full_type", "lanes", "level", "name", "text", "type")

    def __init__(self, name: str, type: str, lanes: int = 1, level: int = 0) -> None:  # noqa: A002
        self.name = name
        self.type = type
        self.lanes = lanes
        self.level = level
        self.full_type = type if lanes == 1 else f"<{lanes} x {type}>"
        """The type in LLVM's spelling: `float` or `<8 x float>`."""
        self.text = f"{self.full_type} {name}"
        """Type and name, as an operand is written."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text

    @property
    def is_constant(self) -> bool:
        """Whether the text of the value is its number."""
        return not self.name.startswith(("%", "@"))

    @property
    def integer(self) -> int | None:
        """The number of a constant integer of one lane; `None` for everything else."""
        if self.lanes > 1 or self.type not in INTEGER_BITS:
            return None
        if self.type == "i1":
            return {"true": 1, "false": 0}.get(self.name)
        return int(self.name) if self.name.lstrip("-").isdigit() else None


def vector_type(lane: str, lanes: int) -> str:
    """Returns LLVM's spelling of a type with so many lanes; one lane is the type itself."""
    return lane if lanes == 1 else f"<{lanes} x {lane}>"


def constant(lane: str, number: float, lanes: int = 1) -> Value:
    """Returns a constant, in every lane.

    A float is rounded to the type. Infinities, NaN and the sign of zero are kept.
    """
    if lane in FLOAT_BITS:
        return constant_of_text(lane, _float_text(lane, number), lanes)
    return _integer(lane, int(number), lanes)


@lru_cache(maxsize=4096)
def _integer(lane: str, number: int, lanes: int) -> Value:
    text = ("true" if number else "false") if lane == "i1" else str(number)
    return constant_of_text(lane, text, lanes)


def constant_of_text(lane: str, text: str, lanes: int = 1) -> Value:
    """Returns a constant whose number is written already, in every lane."""
    return Value(text if lanes == 1 else f"splat ({lane} {text})", lane, lanes)


def constant_lanes(lane: str, numbers: list[int]) -> Value:
    """Returns a constant integer vector with a number for each lane."""
    listed = ", ".join(f"{lane} {number}" for number in numbers)
    return Value(f"<{listed}>", lane, len(numbers))


def poison(lane: str, lanes: int = 1) -> Value:
    """Returns a value that nobody looks at."""
    return Value("poison", lane, lanes)


def _float_text(lane: str, number: float) -> str:
    # LLVM writes floats of 32 bits as the double of the same value.
    if lane == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    if lane == "float":
        number = _as_single(number)
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _as_single(number: float) -> float:
    try:
        packed = struct.pack("<f", number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    rounded: float = struct.unpack("<f", packed)[0]
    return rounded
