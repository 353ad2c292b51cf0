"""Convolutions of truth values, as convolutions of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import F16, PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.convolution import Convolution
from hlotool.passes.contracting.products import add_product, known_convolution
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite

patterns = PatternSet("convolution-pred-expander")


@patterns.rewrites(Convolution)
def convolve_numbers(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x:pred, y:pred) -> convert(convolution(convert(x):f16, convert(y):f16))"""
    op = known_convolution(instruction)
    if op is None:
        return None
    base, kernel = instruction.operands
    if any(array_shape(one).element_type is not PRED for one in (base, kernel, instruction)):
        return None
    # Sums that are too large become infinite, which is true as well.
    counts = add_product(build, op, build.convert(base, F16), build.convert(kernel, F16), F16)
    return build.convert(counts, PRED)


@dataclass(frozen=True)
class ConvolutionPredExpander(Pass):
    """Computes convolutions of pred in f16."""

    name: ClassVar[str] = "convolution-pred-expander"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Converts operands and results of convolutions of truth values."""
        return rewrite(module, patterns, journal)
