"""Numbers with units as the terminal shows them, and pages do: three digits, `32.3 KiB`."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

_OF_BYTES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_OF_OTHERS = ("", "k", "M", "G", "T", "P", "E")
_THREE_DIGITS = Context(prec=3, rounding=ROUND_HALF_UP)


def byte_text(count: float) -> str:
    """Returns a number of bytes in the largest unit that it fills: `32.3 KiB`, `48 B`."""
    return _readable(count, 1024, _OF_BYTES, "B")


def count_text(count: float, unit: str) -> str:
    """Returns a number of a unit in few digits: `82 kflop`, `1.23 Gflop`."""
    return _readable(count, 1000, _OF_OTHERS, unit)


def _readable(count: float, step: int, prefixes: tuple[str, ...], unit: str) -> str:
    power = 0
    while power < len(prefixes) - 1 and abs(count) >= step ** (power + 1):
        power += 1
    scaled = count / step**power
    if scaled == int(scaled) or abs(scaled) >= 100:
        digits = Decimal(scaled).quantize(Decimal(1), ROUND_HALF_UP)
    else:
        digits = _THREE_DIGITS.create_decimal(scaled)
    return f"{digits:f} {prefixes[power]}{unit}"
