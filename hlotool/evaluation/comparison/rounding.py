"""How far rounding may take a value from what exact arithmetic gives: the model of tolerances.

An `Error` says it of all elements of one array: `relative` to the element, `scaled` to the
typical size of the array's elements, or to an element that is larger. The second is what sums
have, since cancellation leaves the error of the terms on a result that may be next to nothing.

A unit in the last place, `ulp`, is 2^-mantissa_bits of a type. Per instruction are added:

- moved, selected or compared elements: nothing;
- add, multiply, divide and their like: 1 ulp, as of code that contracts or reorders them;
- transcendental functions: 2 to 16 ulp, and what the function makes of the operand's error;
- convert to a narrower float: 1 ulp of it, where the operand is inexact;
- sums of n terms: `growth(n)` ulp of the type summed in, scaled.

Errors of factors add up, scaled ones as squares; a sum has the worst of its terms, as one of the
typical size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot, sqrt

from hlotool.ir.element_type import F32, ElementType

BASIC_ULPS = 84
"""The most that a chain of basic arithmetic gives: 1e-5 for f32."""
DEEP_PARTS = 4
"""A deep chain may have this many times its largest part, or the square root of an ulp."""
MOST = 1.0
"""The most relative error of any type."""


@dataclass(frozen=True, slots=True)
class Error:
    """What rounding may do to the elements of an array; all zero for exact ones.

    `cause` names the step with the largest part in it, `share` is that part, `steps` counts the
    instructions that round. `grows` tells whether more than basic arithmetic is among them.
    """

    relative: float = 0.0
    scaled: float = 0.0
    cause: str = ""
    share: float = 0.0
    steps: int = 0
    grows: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether rounding cannot change the elements."""
        return not self.total

    @property
    def total(self) -> float:
        """Both parts together."""
        return self.relative + self.scaled

    def with_step(
        self, relative: float, scaled: float, cause: str, *, grows: bool = False
    ) -> Error:
        """Returns the error after one more instruction that rounds."""
        share = relative + scaled
        if not share:
            return self
        is_worst = share > self.share
        return Error(
            min(self.relative + relative, MOST),
            min(self.scaled + scaled, MOST),
            cause if is_worst else self.cause,
            max(share, self.share),
            self.steps + 1,
            self.grows or grows,
        )

    def amplified(self, factor: float) -> Error:
        """Returns the error where a function multiplies what its operand has."""
        return replace(
            self,
            relative=min(self.relative * factor, MOST),
            scaled=min(self.scaled * factor, MOST),
        )

    def as_scaled(self) -> Error:
        """Returns the error as one of the typical size of the array alone."""
        return replace(self, relative=0.0, scaled=min(self.total, MOST))


EXACT = Error()
Errors = Error | tuple["Errors", ...]
"""The errors of a value: of an array, or of each part of a tuple."""


def ulp(element_type: ElementType) -> float:
    """Returns the distance from 1 to the next number of a type of floats."""
    float_format = element_type.component.float_format
    return 0.0 if float_format is None else 2.0**-float_format.mantissa_bits


def growth(terms: int) -> float:
    """Returns how many ulp a sum may be off: at most one a term, 4·√n + n/8 for many.

    Errors of one sign each, as in a long sum of equal numbers step by step, need the second
    part; others cancel, and need the first.
    """
    return min(float(terms), 4 * sqrt(terms) + terms / 8)


def summed(element_type: ElementType, terms: int) -> float:
    """Returns the error of a sum, scaled: narrow types are summed in f32 and rounded."""
    own = ulp(element_type)
    wide = min(own, ulp(F32))
    return growth(terms) * wide + (4 * own if own > wide else 0.0)


def merged(errors: list[Error]) -> Error:
    """Returns the error of elements of which each comes from one of several arrays."""
    worst = max(errors, key=lambda error: error.share, default=EXACT)
    return Error(
        max((error.relative for error in errors), default=0.0),
        max((error.scaled for error in errors), default=0.0),
        worst.cause,
        worst.share,
        max((error.steps for error in errors), default=0),
        any(error.grows for error in errors),
    )


def multiplied(errors: list[Error]) -> Error:
    """Returns the error of products: relative parts add up, scaled ones mostly miss each other."""
    return replace(
        merged(errors),
        relative=min(sum(error.relative for error in errors), MOST),
        scaled=min(hypot(*(error.scaled for error in errors)), MOST),
    )


def accumulated(errors: list[Error]) -> Error:
    """Returns the error that sums of products have from that of their factors."""
    return replace(
        merged(errors), relative=0.0, scaled=min(hypot(*(e.total for e in errors)), MOST)
    )


def limited(error: Error, element_type: ElementType) -> Error:
    """Returns an error within what its kind of chain may have at most."""
    unit = ulp(element_type)
    # Worst cases do not meet in a deep chain: measured errors stay far below half of the digits.
    most = max(sqrt(unit), DEEP_PARTS * error.share) if error.grows else BASIC_ULPS * unit
    most = min(most, MOST)
    return replace(error, relative=min(error.relative, most), scaled=min(error.scaled, most))


def leaves_of(errors: Errors) -> list[Error]:
    """Returns the errors of all arrays of a value."""
    if isinstance(errors, Error):
        return [errors]
    return [leaf for part in errors for leaf in leaves_of(part)]
