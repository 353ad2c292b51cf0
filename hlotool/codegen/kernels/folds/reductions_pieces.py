"""Long folds in pieces: what each has taken in is kept, and put together at the end."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.codegen.indexing.index import Counter, linear
from hlotool.codegen.indexing.index_values import first_value
from hlotool.codegen.kernels.folds.folds import State
from hlotool.codegen.kernels.folds.rows import Block, Counters, Rows
from hlotool.codegen.kernels.folds.rows_sweep import Part, runs
from hlotool.codegen.kernels.kernel import Launch
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import FLOAT_BITS, INTEGER_BITS, Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.ir.instruction import Instruction

_ENOUGH_ITEMS = 32
"""So many items keep all threads busy."""
_PIECE_ELEMENTS = 1 << 14
"""A piece has at least so many elements."""
_MOST_PIECES = 64


def pieces_of(rows: Rows, items: int) -> Pieces | None:
    """Returns how a kernel of so many items is cut; `None` where it is not."""
    plan = rows.plan
    sweep = plan.sweeps[0]
    if len(plan.sweeps) > 1 or sweep.is_in_order:
        return None
    elements = plan.count(plan.rows) * plan.count(sweep.labels)
    if items >= _ENOUGH_ITEMS or elements < 2 * _PIECE_ELEMENTS:
        return None
    extents = rows.counters.nest(0, runs(plan, 0)).extents
    extent = extents[0]
    wanted = max(1, min(_MOST_PIECES // items, elements // items // _PIECE_ELEMENTS))
    each = -(-extent // wanted)
    if len(extents) == 1 and rows.along:
        each = -(-each // 256) * 256
    count = -(-extent // each)
    return Pieces(rows, extent, each, count) if count > 1 else None


@dataclass
class _Saved:
    offset: int
    type: str
    bytes: int


class Pieces:
    """The pieces of a kernel; its workspace has the states of each piece, row by row."""

    def __init__(self, rows: Rows, extent: int, each: int, count: int) -> None:
        self.count = count
        self.rows = rows
        self._extent = extent
        self._each = each
        self._row_count = rows.plan.count(rows.plan.rows)
        self._saved: dict[Instruction, list[_Saved]] = {}
        kernel = rows.kernel
        for fold in rows.plan.sweeps[0].folds:
            self._saved[fold] = []
            for value in rows.start(fold, 1):
                bits = FLOAT_BITS.get(value.type) or INTEGER_BITS[value.type]
                size = max(8, bits) // 8
                begin = kernel.room(size * count * self._row_count)
                self._saved[fold].append(_Saved(begin, value.type, size))

    def part(self, piece: Value) -> Part:
        """Writes which rounds of the slowest loop a piece has."""
        function = self.rows.function
        begin = function.binary("mul nsw", piece, constant("i64", self._each))
        end = function.binary("add nsw", begin, constant("i64", self._each))
        if self._extent % self._each == 0:
            return Part(begin, end, self._each)
        return Part(begin, function.intrinsic("smin", end, constant("i64", self._extent)), None)

    def store(
        self, block: Block, piece: Value, found: list[dict[Instruction, list[State]]]
    ) -> None:
        """Writes the stores of the states of a block of rows."""
        rows = self.rows
        for point, states in zip(block.points, found, strict=True):
            labels = rows.plan.rows
            sizes = [rows.plan.sizes[label] for label in labels]
            row = first_value(rows.function, linear([point[label] for label in labels], sizes))
            for fold, several in states.items():
                state = rows.total(fold, several)
                for value, saved in zip(state, self._saved[fold], strict=True):
                    address = self._address(rows.function, saved, piece, row)
                    rows.function.store(value, address, align=saved.bytes)

    def _address(self, function: FunctionWriter, saved: _Saved, piece: Value, row: Value) -> Value:
        base = function.offset(self.rows.kernel.workspace, constant("i64", saved.offset))
        first = function.binary("mul nsw", piece, constant("i64", self._row_count))
        return function.offset(base, function.binary("add nsw", first, row), saved.type)

    def write_last(self, lanes: int) -> Launch:
        """Writes the kernel's own function: it puts pieces together and stores the outputs."""
        _LastStep(self, lanes).write()
        return Launch(1, 1, float(self.count * self._row_count))

    def states(
        self, function: FunctionWriter, rows: Rows, row: Value, lanes: int
    ) -> dict[Instruction, State]:
        """Writes the states of all folds for rows that lie side by side."""
        folds = rows.plan.sweeps[0].folds
        starts = [rows.start(fold, lanes) for fold in folds]
        first = [value for state in starts for value in state]
        end = constant("i64", self.count)
        with function.loop(constant("i64", 0), end, 1, first) as loop, rows.emitter.region():
            found: list[Value] = []
            for fold, start in zip(folds, starts, strict=True):
                state = tuple(loop.carried[len(found) : len(found) + len(start)])
                other = tuple(
                    function.load_again(
                        self._address(function, saved, loop.index, row),
                        saved.type,
                        lanes,
                        align=saved.bytes,
                    )
                    for saved in self._saved[fold]
                )
                found += rows.folds[fold].combined(rows.emitter, state, other)
            loop.next = tuple(found)
        values = iter(loop.results)
        return {
            fold: tuple(next(values) for _ in start)
            for fold, start in zip(folds, starts, strict=True)
        }


class _LastStep:
    """The last step: one loop over all rows, as they lie in the workspace."""

    def __init__(self, pieces: Pieces, lanes: int) -> None:
        self._pieces = pieces
        kernel = pieces.rows.kernel
        self._plan = pieces.rows.plan
        self._count = self._plan.count(self._plan.rows)
        self._lanes = lanes if self._count >= lanes else 1
        self._rows = Rows(kernel, self._plan, Counters(), along=False, lanes=self._lanes, width=1)

    def write(self) -> None:
        """Writes the loop in whole vectors, then one by one."""
        each_strip(self._rows.emitter, self._count, self._lanes, self._some_rows)

    def _some_rows(self, first: Value) -> None:
        rows, lanes = self._rows, self._rows.emitter.lanes
        counter = Counter(self._count, first, lanes, splits=False)
        labels = self._plan.rows
        point = rows.point([counter], [self._count], labels) if labels else {}
        block = Block([point], lanes)
        for fold, state in self._pieces.states(rows.function, rows, first, lanes).items():
            rows.finish(block, 0, fold, [state])
        rows.end(block)
