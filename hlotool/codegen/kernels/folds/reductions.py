"""Kernels of bodies that fold: sums along rows or columns, softmax, layer normalization.

Items are rows, or tiles of rows that lie side by side. Where there are few of them and much to
fold, each is cut into pieces whose states a last step puts together, in the order of the pieces.
Neither depends on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from hlotool.codegen.indexing.index import Counter, SplitNeeded
from hlotool.codegen.indexing.places import decoded, divided
from hlotool.codegen.kernels.folds.orientation import orientation
from hlotool.codegen.kernels.folds.reductions_pieces import Pieces, pieces_of
from hlotool.codegen.kernels.folds.reductions_plan import Plan
from hlotool.codegen.kernels.folds.reductions_stages import Stages
from hlotool.codegen.kernels.folds.rows import ROWS, Block, Counters, Point, Rows
from hlotool.codegen.kernels.folds.rows_kept import takes_long
from hlotool.codegen.kernels.folds.rows_sweep import SweepWriter, narrower
from hlotool.codegen.kernels.kernel import NAME, Kernel, Launch, Phase, kernel
from hlotool.codegen.kernels.loops.loops import emit_loops
from hlotool.codegen.kernels.loops.work import estimated_nanoseconds, lanes_for
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ops.reduction import Reduce

_MOST_VECTORS = 4
"""Vectors of rows that are handled at once, so that several cache lines are read in a row."""


@kernel(Reduce)
def emit_reduction(kernel: Kernel) -> Launch:
    """Writes the kernel of a body with folds.

    Folds that are not of the rows that the result has come first, in phases of their own; where
    the result has no rows at all, all of them.
    """
    stages = Stages(kernel)
    while folds := stages.next_folds():
        stages.add_phase(folds, write_rows)
    plan = stages.plan()
    if plan is not None:
        return stages.finish(lambda make: write_rows(make, plan))
    while folds := stages.next_folds(everything=True):
        stages.add_phase(folds, write_rows)
    return stages.finish_apart(write_rows, emit_loops)


def write_rows(make: Callable[[], Kernel], plan: Plan) -> tuple[Kernel, Launch]:
    """Writes a kernel by a plan; it is begun anew when a loop must be split."""
    counters = Counters()
    while True:
        kernel = make()
        writer = _Reduction(kernel, plan, counters)
        try:
            return kernel, writer.write()
        except SplitNeeded as split:
            counters.split(split.counter, split.stride, writer.lanes)


class _Reduction:
    def __init__(self, kernel: Kernel, plan: Plan, counters: Counters) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._counters = counters
        self._plan = plan
        widest = lanes_for(kernel.body, kernel.target)
        self._along, extent = orientation(self._plan, widest)
        self.lanes = widest if self._along else min(widest, _power_below(extent))
        count = self._plan.count(self._plan.rows)
        if not count:
            raise NotCompiled("a fold without rows, whose result others fold")
        begin = [count] if self._along else [count // extent, extent]
        self._extents = counters.nest(ROWS, begin).extents
        vectors = 1 if self._along else self._extents[-1] // self.lanes
        self._width = max(1, min(self._most_vectors(), vectors))
        self._rows = Rows(
            kernel, self._plan, counters, along=self._along, lanes=self.lanes, width=self._width
        )

    def _most_vectors(self) -> int:
        # Rows that do not lie side by side in memory gain nothing from it.
        is_beside = self._plan.order[-1:] and self._plan.order[-1] in self._plan.rows
        if not is_beside:
            return 1
        return 1 if any(map(takes_long, self._kernel.body.members)) else _MOST_VECTORS

    def write(self) -> Launch:
        """Writes the function, and says how it is run."""
        rows = self._row_items()
        pieces = pieces_of(self._rows, rows)
        count = rows * (pieces.count if pieces else 1)
        function = self._function
        with (
            function.loop(self._kernel.begin, self._kernel.end) as loop,
            self._rows.emitter.region(),
        ):
            item, piece = loop.index, None
            if pieces is not None:
                piece, item = divided(function, item, rows)
            self._item(item, self._done(pieces, piece))
        each = estimated_nanoseconds(self._kernel.body) / count
        launch = Launch.in_pieces(count, each)
        if pieces is None:
            return launch
        # What is written already becomes a phase, the kernel's own function is the last step.
        self._kernel.function = self._kernel.phase()
        self._kernel.function.name = NAME
        self._kernel.phases.append(Phase(function, launch))
        return pieces.write_last(lanes_for(self._kernel.body, self._kernel.target))

    def _done(self, pieces: Pieces | None, piece: Value | None) -> Callable[[Block], None]:
        def whole(block: Block) -> None:
            for number, sweep in enumerate(self._plan.sweeps):
                found = SweepWriter(self._rows, number, block).write()
                for at, states in enumerate(found):
                    for fold in sweep.folds:
                        self._rows.finish(block, at, fold, states[fold])
            self._rows.end(block)

        def part(block: Block) -> None:
            assert pieces is not None
            assert piece is not None
            found = SweepWriter(self._rows, 0, block).write(pieces.part(piece))
            pieces.store(block, piece, found)

        return whole if pieces is None else part

    def _row_items(self) -> int:
        if self._along:
            return prod(self._extents)
        tiles = -(-self._extents[-1] // (self.lanes * self._width))
        return prod(self._extents[:-1]) * tiles

    def _item(self, item: Value, done: Callable[[Block], None]) -> None:
        if self._along:
            done(Block([self._point(item, None, 1)], 1))
            return
        function, extent = self._function, self._extents[-1]
        wide = self.lanes * self._width
        tiles = -(-extent // wide)
        outer, tile = divided(function, item, tiles)
        column = function.binary("mul nsw", tile, constant("i64", wide))
        is_once = self._width == 1 and extent >= self.lanes and not self._rows.kept.overwrites
        if extent % wide == 0 or is_once:
            if extent % wide:
                # The last vector has some rows of the one before again.
                column = function.intrinsic("smin", column, constant("i64", extent - wide))
            done(self._block(outer, column, self._width))
            return
        if tiles == 1:
            self._narrow(outer, column, done)
            return

        is_full = function.compare("slt", tile, constant("i64", tiles - 1))
        self._rows.emitter.branch(
            is_full,
            lambda: done(self._block(outer, column, self._width)),
            lambda: self._narrow(outer, column, done),
        )

    def _narrow(self, outer: Value, column: Value, done: Callable[[Block], None]) -> None:
        """Writes the last tile: one vector after the other, then rows again or narrower ones."""
        function, extent, lanes = self._function, self._extents[-1], self.lanes
        wide = lanes * self._width
        left = extent % wide
        again = not self._rows.kept.overwrites and extent >= lanes
        whole = left if again else left // lanes * lanes
        if whole:
            stop = constant("i64", extent - left + whole)
            with function.loop(column, stop, lanes) as loop, self._rows.emitter.region():
                last = constant("i64", extent - lanes)
                begin = function.intrinsic("smin", loop.index, last)
                done(self._block(outer, begin, 1))
        first = extent - left + whole
        for width in dict.fromkeys((narrower(extent - first, lanes), 1)):
            behind = first + (extent - first) // width * width
            if first < behind:
                bounds = constant("i64", first), constant("i64", behind)
                with function.loop(*bounds, width) as rest, self._rows.emitter.region():
                    done(Block([self._point(outer, rest.index, width)], width))
            first = behind

    def _block(self, outer: Value, column: Value, vectors: int) -> Block:
        function, lanes = self._function, self.lanes
        points = []
        for number in range(vectors):
            begin = column
            if number:
                begin = function.binary("add nsw", column, constant("i64", number * lanes))
            points.append(self._point(outer, begin, lanes))
        return Block(points, lanes)

    def _point(self, item: Value, column: Value | None, lanes: int) -> Point:
        """Returns the index of each label of the rows for the counters of their nest."""
        extents = self._extents
        rest = extents if column is None else extents[:-1]
        values = decoded(self._function, item, rest)
        values += [] if column is None else [column]
        counters: list[Counter] = []
        for position, value in enumerate(values):
            is_last = position == len(values) - 1
            counters.append(self._counters.counter(ROWS, position, value, lanes if is_last else 1))
        if not self._plan.rows:
            return {}
        return self._rows.point(counters, extents, self._plan.rows)


def _power_below(number: int) -> int:
    return 1 << (max(1, number).bit_length() - 1)
