"""Computing in one floating-point type instead of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass, option
from hlotool.passes.types.computing_type import compute_in, computes_numbers, float_type
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class ElementTypeConverter(Pass):
    """Wraps ops of one floating-point type in conversions to another and back."""

    name: ClassVar[str] = "element_type_converter"

    from_: str = option("bf16", "the type that ops compute in no more")
    to: str = option("f32", "the type that they compute in instead")

    def run(self, module: Module, journal: Journal) -> bool:
        """Converts operands and results of all ops that make numbers, in reducers too."""
        given, wanted = float_type(self.from_, self.name), float_type(self.to, self.name)
        if given is wanted:
            return False
        return compute_in(module, journal, given, wanted, computes_numbers)
