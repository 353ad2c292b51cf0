"""How a product is computed: which dimension is in lanes, tiles of how many rows and columns.

Two forms of tiles sum products. `OUTER` has columns in lanes: each term is a value of a row,
repeated, times a vector of columns. `INNER` has terms in lanes, for products of few columns,
whose operands lie in memory term by term; lanes are added up at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from math import prod

from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.kernels.products.axes import Axes, Axis, Operand, Role, axes_of
from hlotool.codegen.kernels.products.cuts import Cuts, equal_cuts, even_cuts, full_cuts
from hlotool.codegen.kernels.products.numbers import Sums, sums_for
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction

_FAR_BYTES = 2048
"""Elements that lie so far apart are brought together before they are read again and again."""
_BLOCK_BYTES = 1 << 18
"""What of an operand one piece of work reads: it stays in the second cache."""
_PANEL_BYTES = 1 << 18
"""What of a panel of columns is read again and again: it stays in the second cache."""
_SUMS_BYTES = 1 << 16
"""The sums that one piece of work keeps."""

_STACK_BYTES = 1 << 14
"""How much of an operand an item of work packs on its stack."""
_SMALL_PRODUCTS = 1 << 18
"""A product of fewer terms in all takes less time than its code to compile."""


class Form(Enum):
    """What is in the lanes of a tile."""

    OUTER = "columns"
    INNER = "terms"


@dataclass
class Factor:
    """An operand as tiles read it: a view in memory, or copied into panels beforehand."""

    operand: Operand
    free: Axis
    """Its axis whose elements make rows or columns of a tile."""
    outer: list[Axis]
    """Its axes that are the same for a whole tile."""
    type: ElementType
    along: int
    """The stride along the free axis, in elements."""
    term_strides: list[int]
    is_packed: bool = False
    reads_terms: bool = False
    """Whether what is packed lies in memory term by term."""
    is_local: bool = False
    """Whether an item of work packs what it reads itself, since no other one reads that."""
    begin: int = 0
    """Where panels begin in the workspace, in bytes, if they lie there."""

    @property
    def outer_count(self) -> int:
        """How many matrices the operand is."""
        return prod(axis.extent for axis in self.outer)


@dataclass
class Plan:
    """Everything that is decided before code is made."""

    dot: Instruction
    axes: Axes
    sums: Sums
    form: Form
    lanes: int
    outer: list[Axis]
    """Axes around a matrix product."""
    terms: list[Axis]
    left: Factor
    right: Factor
    rows: Cuts = field(default_factory=lambda: Cuts(1, 1))
    columns: Cuts = field(default_factory=lambda: Cuts(1, 1))
    tile_terms: list[int] = field(default_factory=list)
    """The extents of the loops over terms in a tile."""
    chunk: int = 0
    """How many terms are summed at once, so that a panel stays in cache; or 0 for all."""

    @property
    def depth(self) -> int:
        """How many terms a sum has."""
        return prod(axis.extent for axis in self.terms)

    @property
    def outer_count(self) -> int:
        """How many matrix products there are."""
        return prod(axis.extent for axis in self.outer)

    @property
    def product_count(self) -> int:
        """How many products of two elements there are in all."""
        return self.left.free.extent * self.right.free.extent * self.depth * self.outer_count

    @property
    def sum_bytes(self) -> int:
        """The bytes of a sum."""
        return self.sums.held_type.storage_bytes

    def cuts(self, factor: Factor) -> Cuts:
        """Returns the rows or columns of tiles that a factor has."""
        return self.rows if factor is self.left else self.columns

    def repeats(self, factor: Factor) -> bool:
        """Whether panels of a row less than others hold one that is behind them as well.

        So all are as large and need the same code; what is made of that row is not kept.
        """
        cuts = self.cuts(factor)
        is_by_rows = self.form is Form.INNER or factor.reads_terms
        return factor.is_packed and is_by_rows and 0 < cuts.second_size == cuts.first_size - 1

    def panel_elements(self, factor: Factor) -> int:
        """Returns how many elements a panel has, at most."""
        return self.cuts(factor).first_size * self.depth

    def widths(self, columns: int) -> list[int]:
        """Returns how many lanes the vectors of a row of a tile have."""
        if self.form is Form.INNER:
            return [1] * columns
        whole, rest = divmod(columns, self.lanes)
        return [self.lanes] * whole + ([rest] if rest else [])

    def blocks(self) -> tuple[int, int]:
        """Returns how many tiles, down and across, are one item of work."""
        if self.chunk:
            return self._chunked_blocks()
        deep = max(1, self.depth) * self.sum_bytes
        down = max(1, min(self.rows.count, _BLOCK_BYTES // (deep * self.rows.first_size)))
        across = max(1, min(self.columns.count, _BLOCK_BYTES // (deep * self.columns.first_size)))
        return self._divided(down, across)

    def nanoseconds(self, down: int, across: int) -> float:
        """Returns about how long an item of so many tiles takes."""
        terms = down * self.rows.first_size * across * self.columns.first_size * self.depth
        return max(1.0, terms * (2 if self.sums.parts == 1 else 8) / (4 * self.lanes))

    def _chunked_blocks(self) -> tuple[int, int]:
        # All sums of a block are kept until its last chunk is done.
        across = min(self.columns.count, 4)
        tile = self.rows.first_size * self.columns.first_size * self.sum_bytes
        down = max(1, min(self.rows.count, _SUMS_BYTES // (tile * across)))
        return self._divided(down, across)

    def _divided(self, down: int, across: int) -> tuple[int, int]:
        """Returns smaller blocks where there would be too few for several threads."""
        while down * across > 1 and self._items(down, across) < 32:
            if self.nanoseconds(down, across) < 20_000:
                break
            down, across = (-(-down // 2), across) if down > across else (down, -(-across // 2))
        return down, across

    def _items(self, down: int, across: int) -> int:
        return self.outer_count * -(-self.rows.count // down) * -(-self.columns.count // across)


def plan_for(kernel: Kernel, dot: Instruction) -> Plan:
    """Returns how a dot of a kernel is computed."""
    axes = axes_of(kernel, dot)
    types = [element_type_of(one) for one in (*dot.operands, dot)]
    sums = sums_for(types[:2], types[2])
    lanes = kernel.target.lanes(8 * sums.held_type.component.storage_bytes)
    form, row, column = _orientation(axes, lanes)
    terms = axes.of_role[Role.TERM]
    if form is Form.INNER:
        terms.sort(key=partial(_nearness, axes.operands[row.role is Role.RIGHT].name))
    outer = [
        axis
        for role in (Role.BATCH, Role.LEFT, Role.RIGHT)
        for axis in axes.of_role[role]
        if axis not in (row, column)
    ]
    left, right = (_factor(axes, axis, outer, terms, sums) for axis in (row, column))
    plan = Plan(dot, axes, sums, form, lanes, outer, terms, left, right)
    _cut(plan, kernel.target.registers)
    plan.tile_terms = [axis.extent for axis in terms]
    _decide_packing(plan, kernel)
    _place_panels(plan, kernel)
    return plan


def _orientation(axes: Axes, lanes: int) -> tuple[Form, Axis, Axis]:
    """Returns the form, and which axes are rows and columns of tiles."""
    sides = (Role.LEFT, Role.RIGHT)
    longest = {role: _longest(axes.of_role[role], role) for role in sides}
    sizes = {role: prod(axis.extent for axis in axes.of_role[role]) for role in sides}
    wide = max(sides, key=lambda role: sizes[role])
    narrow = sides[wide is Role.LEFT]
    operand = axes.operands[wide is Role.RIGHT]
    if sizes[narrow] <= max(1, lanes // 2) and operand.source is not None:
        terms = axes.of_role[Role.TERM]
        if any(axis.stride(operand.name) == 1 and axis.extent >= lanes for axis in terms):
            return Form.INNER, longest[wide], longest[narrow]
        beside = [axis for axis in axes.of_role[wide] if axis.stride(operand.name) == 1]
        if beside:
            return Form.OUTER, longest[narrow], beside[0]
    for role in sides[::-1]:
        for axis in axes.of_role[role]:
            if axis.stride("out0") == 1 and axis.extent > 1:
                return Form.OUTER, longest[sides[role is Role.LEFT]], axis
    return Form.OUTER, longest[narrow], longest[wide]


def _nearness(operand: str, terms: Axis) -> tuple[bool, int, int]:
    """Orders axes of terms so that the last one lies in an operand as lanes do, in a row."""
    stride = terms.stride(operand)
    # One that the operand is repeated along has a stride of 0, which is less but no row.
    is_row = stride == 1
    return is_row, terms.extent if is_row else 0, -abs(stride)


def _longest(axes: list[Axis], role: Role) -> Axis:
    return max(axes, key=lambda axis: axis.extent, default=Axis(role, (), {}))


def _factor(axes: Axes, free: Axis, outer: list[Axis], terms: list[Axis], sums: Sums) -> Factor:
    operand = axes.operands[free.role is Role.RIGHT]
    name = operand.name
    ours = [axis for axis in outer if axis.role in (Role.BATCH, free.role)]
    held = operand.source
    element_type = sums.held_type if held is None else element_type_of(held)
    strides = [axis.stride(name) for axis in terms]
    return Factor(operand, free, ours, element_type, free.stride(name), strides)


def _cut(plan: Plan, registers: int) -> None:
    """Decides how large tiles are: as many sums as registers hold, beside what is read."""
    height, width = max(1, plan.left.free.extent), max(1, plan.right.free.extent)
    each = plan.sums.parts
    if plan.form is Form.INNER:
        columns = min(width, 4)
        most = max(1, min(8, (registers // each - 2) // (columns + 1)))
        plan.rows, plan.columns = even_cuts(height, most), full_cuts(width, columns)
        return
    vectors = -(-width // plan.lanes)
    spare = (4 if registers >= 32 else 3) + plan.sums.registers
    across = min(vectors, 2)
    most = max(1, (registers - spare) // (across * each))
    if height < most:
        across = max(1, min(vectors, 8, (registers // each - 1) // (height + 1)))
    # Tiles of one size are less code, of the largest sizes faster.
    is_small = plan.product_count < _SMALL_PRODUCTS
    plan.rows = (equal_cuts if is_small else even_cuts)(height, min(most, 13))
    plan.columns = full_cuts(width, across * plan.lanes)


def _decide_packing(plan: Plan, kernel: Kernel) -> None:
    for factor, reuse in ((plan.left, plan.columns.count), (plan.right, plan.rows.count)):
        if plan.depth and _is_to_be_packed(kernel, plan, factor, reuse):
            _pack(plan, factor)
    if plan.left.is_packed and plan.right.is_packed:
        plan.tile_terms = [plan.depth]
        for factor in (plan.left, plan.right):
            factor.term_strides = factor.term_strides[-1:] or [1]
    if plan.form is Form.OUTER and len(plan.tile_terms) == 1:
        plan.chunk = _chunk(plan)


def _chunk(plan: Plan) -> int:
    most = _PANEL_BYTES // (plan.columns.first_size * plan.sum_bytes)
    if plan.depth < 2 * most or plan.rows.count < 4:
        return 0
    even = -(-plan.depth // -(-plan.depth // most))
    return -(-even // 8) * 8


def _is_to_be_packed(kernel: Kernel, plan: Plan, factor: Factor, reuse: int) -> bool:
    source = factor.operand.source
    if source is None or kernel.sources()[source].memory.is_written:
        return True
    size = factor.type.storage_bytes
    if plan.form is Form.INNER:
        return factor is plan.right and factor.term_strides[-1:] != [1]
    if factor is plan.right and factor.free.extent > 1 and factor.along != 1:
        return True
    if factor.type is not plan.sums.held_type and reuse > 2:
        return True
    far = abs(factor.along if factor is plan.left and factor.along != 1 else 0)
    far = max([far, *map(abs, factor.term_strides)]) * size
    return reuse > 3 and far >= _FAR_BYTES and plan.depth * size >= _FAR_BYTES


def _pack(plan: Plan, factor: Factor) -> None:
    width = plan.cuts(factor).first_size
    lies_in_terms = factor.term_strides[-1:] == [1] and factor.along != 1
    factor.reads_terms = factor.operand.source is not None and lies_in_terms
    if plan.form is Form.INNER:
        factor.along, unit = plan.depth, 1
    else:
        factor.along, unit = 1, width
    strides = []
    for axis in reversed(plan.terms):
        strides.append(unit)
        unit *= axis.extent
    factor.term_strides = strides[::-1]
    factor.type = plan.sums.held_type
    factor.is_packed = True


def _place_panels(plan: Plan, kernel: Kernel) -> None:
    """Decides where packed operands lie: on the stack, if little is read by one item alone."""
    down, across = plan.blocks()
    # Of the right factor a panel is read no more when the next one is packed.
    for factor, panels, is_whole in (
        (plan.left, down, across == plan.columns.count),
        (plan.right, 1, down == plan.rows.count),
    ):
        if factor.is_packed:
            size = plan.panel_elements(factor) * plan.sum_bytes
            is_alone = is_whole and len(factor.outer) == len(plan.outer)
            # Items that write over operands of others find these in the workspace.
            is_free = not plan.chunk and not kernel.shared
            factor.is_local = is_alone and is_free and panels * size <= _STACK_BYTES
            if not factor.is_local:
                factor.begin = kernel.room(factor.outer_count * plan.cuts(factor).count * size)
