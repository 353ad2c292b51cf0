"""Long scans, written as windows that reach back to the beginning, in two steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import neutral_value
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ir.window import PaddingDimension, WindowDimension
from hlotool.ops.callees.reducers import Combination
from hlotool.ops.reduction import ReduceWindow
from hlotool.ops.shape_changing import Pad
from hlotool.ops.source import Constant
from hlotool.passes.contracting.reductions import reduction_combination
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite


@dataclass(frozen=True)
class Scan:
    """A scan along one dimension: each element combined with all before it, or behind it."""

    dimension: int
    is_reverse: bool
    init: Instruction
    reducer: Computation


@dataclass(frozen=True)
class ReduceWindowRewriter(Pass):
    """Splits scans that are written as windows over everything before each element."""

    name: ClassVar[str] = "reduce-window-rewriter"

    base_length: int = option(16, "how long the pieces are that are scanned first", least=2)

    def run(self, module: Module, journal: Journal) -> bool:
        """Splits until no scan is longer than a piece."""
        patterns = PatternSet(self.name)
        patterns.rewrites(ReduceWindow)(self.scan_pieces)
        return rewrite(module, patterns, journal)

    def scan_pieces(self, instruction: Instruction, build: Builder) -> Instruction | None:
        """scan(x[n]) -> reshape(op(scan(reshape(x)[n/16,16]), broadcast(scan of their sums)))"""
        scan = _scan_of(instruction)
        combination = reduction_combination(instruction)
        if scan is None or combination is None:
            return None
        (operand, _), length = instruction.operands, self.base_length
        sizes = array_shape(operand).dimensions
        along = scan.dimension
        size = sizes[along]
        if size <= length or 0 in sizes:
            return None
        count = -(-size // length)
        missing = count * length - size
        filled = _padded(build, operand, scan, -missing if scan.is_reverse else missing)
        cut = build.reshape(filled, [*sizes[:along], count, length, *sizes[along + 1 :]])
        pieces = _scanned(build, cut, scan, along + 1)
        before = _scanned(build, _totals(build, pieces, scan), scan, along)
        moved = _moved_on(build, before, scan)
        shape = array_shape(pieces)
        kept = [d for d in range(shape.rank) if d != along + 1]
        whole = build.add(combination.op(), pieces, build.broadcast(moved, kept, shape))
        together = build.reshape(whole, array_shape(filled).dimensions)
        first = missing if scan.is_reverse else 0
        starts = [first if d == along else 0 for d in range(len(sizes))]
        limits = [first + n if d == along else n for d, n in enumerate(sizes)]
        return together if not missing else build.slice(together, starts, limits)


def _scan_of(instruction: Instruction) -> Scan | None:
    """Returns what a reduce-window scans, from a neutral start; `None` where it is no scan."""
    op, combination = instruction.op, reduction_combination(instruction)
    if not isinstance(op, ReduceWindow) or combination is None:
        return None
    operand, init = instruction.operands
    scanned = [d for d, dimension in enumerate(op.window) if dimension != WindowDimension(1)]
    if len(scanned) != 1 or not _is_neutral(init, combination):
        return None
    (along,) = scanned
    size = array_shape(operand).dimensions[along]
    for is_reverse in (False, True):
        if op.window[along] == _whole(size, is_reverse=is_reverse):
            return Scan(along, is_reverse, init, instruction.calls[0])
    return None


def _whole(size: int, *, is_reverse: bool) -> WindowDimension:
    """Returns the window that shows all elements up to each place, or from it on."""
    rest = max(0, size - 1)
    padding = (0, rest) if is_reverse else (rest, 0)
    return WindowDimension(size, 1, *padding)


def _scanned(build: Builder, operand: Instruction, scan: Scan, along: int) -> Instruction:
    """Returns the scan of an operand along a dimension."""
    window = [WindowDimension(1)] * array_shape(operand).rank
    window[along] = _whole(array_shape(operand).dimensions[along], is_reverse=scan.is_reverse)
    return build.add(ReduceWindow(tuple(window)), operand, scan.init, calls=[scan.reducer])


def _padded(build: Builder, operand: Instruction, scan: Scan, count: int) -> Instruction:
    """Returns an operand with so many neutral elements behind it; before it where negative."""
    if not count:
        return operand
    padding = [PaddingDimension(0, 0)] * array_shape(operand).rank
    padding[scan.dimension] = PaddingDimension(max(0, -count), max(0, count))
    return build.add(Pad(tuple(padding)), operand, scan.init)


def _totals(build: Builder, pieces: Instruction, scan: Scan) -> Instruction:
    """Returns what each piece comes to: the last that its scan has seen."""
    sizes = array_shape(pieces).dimensions
    inner = scan.dimension + 1
    place = 0 if scan.is_reverse else sizes[inner] - 1
    starts = [place if d == inner else 0 for d in range(len(sizes))]
    limits = [place + 1 if d == inner else size for d, size in enumerate(sizes)]
    last = build.slice(pieces, starts, limits)
    return build.reshape(last, [size for d, size in enumerate(sizes) if d != inner])


def _moved_on(build: Builder, totals: Instruction, scan: Scan) -> Instruction:
    """Returns for each piece the total of those before it, neutral for the first."""
    step = -1 if scan.is_reverse else 1
    padding = [PaddingDimension(0, 0)] * array_shape(totals).rank
    padding[scan.dimension] = PaddingDimension(step, -step)
    shape = array_shape(totals)
    plain = ArrayShape(shape.element_type, shape.dimensions)
    return build.add(Pad(tuple(padding)), totals, scan.init, shape=plain)


def _is_neutral(init: Instruction, combination: Combination) -> bool:
    """Whether an initial value is a constant that changes nothing, signs of zeros apart."""
    wanted = neutral_value(combination)
    if not isinstance(init.op, Constant) or wanted is None:
        return False
    literal = init.op.literal
    return not literal.elided and bool(literal.scalar() == wanted)
