"""Convolution kernels: sums in registers for a tile of output places and channels at a time."""

from __future__ import annotations

import sys
from dataclasses import replace

from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.kernels.convolutions.axes import Place, Problem, merged, problems, turned
from hlotool.codegen.kernels.convolutions.elements import sum_terms
from hlotool.codegen.kernels.convolutions.loops import TileLoops
from hlotool.codegen.kernels.convolutions.packing import Panels, copy_operand, pack_panels
from hlotool.codegen.kernels.convolutions.places import place_in_memory, place_of_operand
from hlotool.codegen.kernels.convolutions.sums import sums_for
from hlotool.codegen.kernels.convolutions.tiles import Machine, Tiling, chosen_tiling
from hlotool.codegen.kernels.kernel import LONG_PIECE_NANOSECONDS, Kernel, Launch, kernel
from hlotool.codegen.kernels.loops.loops import loops_into
from hlotool.codegen.kernels.pointers import Located
from hlotool.codegen.kernels.results import ResultEmitter
from hlotool.codegen.llvm.value import constant
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.shape import ArrayShape, Layout
from hlotool.ops.convolution import Convolution
from hlotool.ops.numerics.matrix_products import PACKED

_NEAR_BYTES = 1 << 18
"""A kernel of so many bytes stays in a near cache while rows of the output go by."""
_ENOUGH_POSITIONS = 24
_CYCLES_PER_NANOSECOND = 2.5


@kernel(Convolution)
def emit_convolution(kernel: Kernel) -> Launch:
    """Writes the kernel of a body with a convolution; plain loops where it has no tiles."""
    try:
        return _Convolution(kernel).write()
    except NotCompiled:
        kernel.phases.clear()
        kernel.workspace_bytes = 0
        return loops_into(kernel)


class _Convolution:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._product = next(
            one for one in reversed(kernel.body.members) if isinstance(one.op, Convolution)
        )
        assert isinstance(self._product.op, Convolution)
        self._op = self._product.op
        if PACKED in self._op.operand_precision:
            raise NotCompiled("packed nibbles in tiles")
        self._shapes = tuple(array_shape(one) for one in (*self._product.operands, self._product))
        lhs, rhs, result = (shape.element_type for shape in self._shapes)
        self._sums = sums_for((lhs, rhs), result, sum_terms(self._product))
        self._lanes = kernel.target.lanes(self._sums.bits)

    def write(self) -> Launch:
        """Writes all phases, one after the other, and says how they are run."""
        results = ResultEmitter(self._kernel, self._function, self._product)
        lhs, lhs_place = self._operand(0)
        rhs, rhs_place = self._operand(1)
        base, taps, result = (shape.dimensions for shape in self._shapes)
        places = lhs_place, rhs_place, place_in_memory(self._shapes[2])
        found = list(problems(self._op, (base, taps, result), places, self._lanes))
        begin, cycles = 0, 0.0
        for one in found:
            given = self._arranged(one)
            tiling = chosen_tiling(given, self._machine(given))
            problem, kernel = self._packed_kernel(given, tiling, rhs)
            operands = lhs.pointer(self._function), kernel.pointer(self._function)
            loops = TileLoops(results, problem, tiling, self._sums, operands, self._lanes)
            self._clipped(loops, begin, alone=len(found) == 1)
            begin += loops.count
            cycles += tiling.cycles
        each = max(1.0, cycles / _CYCLES_PER_NANOSECOND / max(1, begin))
        return Launch.in_pieces(begin, each, LONG_PIECE_NANOSECONDS)

    def _arranged(self, problem: Problem) -> Problem:
        # Positions along which lanes run are best all in one row.
        whole = replace(problem, axes=merged(problem.axes, sys.maxsize))
        found = turned(whole, self._lanes)
        if found is not whole:
            return found
        return replace(problem, axes=merged(problem.axes, _ENOUGH_POSITIONS))

    def _machine(self, problem: Problem) -> Machine:
        return Machine(
            self._kernel.target.registers,
            self._lanes,
            self._sums.part_count,
            problem.channels.lhs != 0 and problem.channels.rhs != 0,
            max(1, self._sums.bits // 8),
        )

    def _packed_kernel(
        self, problem: Problem, tiling: Tiling, rhs: Located
    ) -> tuple[Problem, Located]:
        """Returns the problem with its kernel in panels, where these are worth their making."""
        if problem.is_empty or not tiling.is_packed:
            return problem, rhs
        panels = Panels(problem, self._lanes, tiling.block)
        located = pack_panels(self._kernel, rhs, panels, self._sums)
        return panels.packed_problem(), located

    def _clipped(self, loops: TileLoops, first: int, *, alone: bool) -> None:
        """Writes the items of a phase that are in the kernel's range."""
        rhs = self._shapes[1]
        far = rhs.element_count * self._sums.bits // 8 > _NEAR_BYTES
        if alone:
            loops.write(self._kernel.begin, self._kernel.end, channels_first=far)
            return
        function = self._function
        low, high = constant("i64", first), constant("i64", first + loops.count)
        begin = function.intrinsic("smax", self._kernel.begin, low)
        end = function.intrinsic("smin", self._kernel.end, high)

        def write() -> None:
            loops.write(
                function.binary("sub", begin, low),
                function.binary("sub", end, low),
                channels_first=far,
            )

        function.branch(function.compare("slt", begin, end), write)

    def _operand(self, number: int) -> tuple[Located, Place]:
        """Returns where an operand lies; it is brought to memory where it is computed."""
        operand = self._product.operands[number]
        shape = array_shape(operand)
        found = place_of_operand(self._kernel, operand)
        # Elements of the base are read one by one, so that they are better converted before.
        is_narrow = number == 0 and shape.element_type is not self._sums.held_type
        if found is not None and not is_narrow:
            source, place = found
            return Located(source.memory.address, 0, source.memory.type), place
        order = shape.layout.minor_to_major
        held = ArrayShape(self._sums.held_type, shape.dimensions, Layout(order))
        located = copy_operand(self._kernel, operand, held, self._sums)
        return located, place_in_memory(held)
