"""What code is made for: a processor, its vectors, and how numbers may be treated."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class FloatMode(Enum):
    """How far floating-point arithmetic may go from what the module says.

    `STRICT` is IEEE 754, operation by operation. `XLA` takes denormals as zero and contracts
    products with sums, as XLA does on CPUs. `FAST` also reorders, and takes cheaper functions.
    """

    STRICT = "strict"
    XLA = "xla"
    FAST = "fast"

    @property
    def flags(self) -> str:
        """The flags that stand on every floating-point operation."""
        return {"strict": "", "xla": "contract", "fast": "contract reassoc nsz arcp afn"}[
            self.value
        ]


@dataclass(frozen=True)
class Target:
    """A processor as kernels see it."""

    triple: str
    cpu: str
    features: str = field(repr=False)
    vector_bytes: int
    """The width of a register of lanes."""
    registers: int = 16
    """How many such registers there are."""
    float_mode: FloatMode = FloatMode.STRICT
    libraries: frozenset[str] = frozenset()
    """The functions of libraries that there are, in lower case: `sgemm`."""

    @property
    def architecture(self) -> str:
        """The first part of the triple: `x86_64`, `aarch64`."""
        return self.triple.partition("-")[0]

    @property
    def native(self) -> frozenset[str]:
        """What is written as such because the target has instructions for it.

        `half`: conversions between `half` and `float`. `maximum`: the greater and the lesser of
        two floats, where NaN wins and -0 is less than 0.
        """
        if self.architecture in ("aarch64", "arm64", "nvptx64"):
            return frozenset(("half", "maximum"))
        return frozenset(("half",)) if "+f16c" in self.features.split(",") else frozenset()

    def lanes(self, bits: int) -> int:
        """Returns how many values of a width one register holds; at least one."""
        return max(1, self.vector_bytes * 8 // max(bits, 8))
