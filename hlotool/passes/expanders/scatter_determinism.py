"""Scatters whose rounding does not depend on the order in which a device adds."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.element_type import PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Add, Compare, Multiply
from hlotool.ops.indexing import Scatter
from hlotool.ops.ordering import Sort
from hlotool.ops.shape_changing import Concatenate
from hlotool.passes.expanders.expander import Expander, index_type
from hlotool.passes.expanders.scatter import ScatterWindows
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class ScatterDeterminismExpander(Expander):
    """Lets scatters that add or multiply floats do so in one order on every device.

    Updates are sorted by their places, those of one place are combined by a scan, and the
    results are scattered, each place once.
    """

    name: ClassVar[str] = "scatter_determinism_expander"

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction may round in another way when the order is another."""
        if not isinstance(instruction.op, Scatter) or instruction.op.unique_indices:
            return False
        if instruction.shape.is_tuple or array_shape(instruction.operands[-1]).element_count < 2:
            return False
        return array_shape(instruction).element_count > 0 and _rounds(instruction)

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """scatter(x, i, u) -> scatter(x, places, segmented scan of u sorted by places)"""
        shape = array_shape(instruction)
        windows = ScatterWindows(instruction, build)
        updates = Term(build, build.reshape(windows.windows[0], [_update_count(windows)]))
        places, updates = _sorted_by_place(_places(windows, shape, build), updates)
        op = instruction.calls[0].root.op
        combined = _scanned(places, updates, op)
        scatter = Scatter(
            update_window_dims=(),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            index_vector_dim=1,
            unique_indices=True,
        )
        target = build.reshape(instruction.operands[0], [shape.element_count])
        once = _last_of_segments(places, shape.element_count)
        operands = [target, once.instruction, combined.instruction]
        made = build.add(scatter, *operands, calls=instruction.calls)
        return build.reshape(made, shape.dimensions)


def _rounds(instruction: Instruction) -> bool:
    """Whether the combiner adds or multiplies its two parameters, and these are no integers."""
    combiner = instruction.calls[0]
    types = {array_shape(one).element_type for one in (*combiner.parameters, combiner.root)}
    if len(types) != 1 or types != {array_shape(instruction).element_type}:
        return False
    (element_type,) = types
    has_fractions = element_type.is_float or element_type.is_complex
    operands = combiner.root.operands
    return (
        has_fractions
        and isinstance(combiner.root.op, Add | Multiply)
        and set(operands) == set(combiner.parameters)
    )


def _update_count(windows: ScatterWindows) -> int:
    return windows.rows.count * prod(windows.window)


def _places(windows: ScatterWindows, shape: ArrayShape, build: Builder) -> Term:
    """Returns for each element of the updates its place among all elements of the array.

    It is one behind the last for windows that do not lie inside.
    """
    count = windows.rows.count
    steps = [prod(shape.dimensions[d + 1 :]) for d in range(shape.rank)]
    element_type = index_type(shape.element_count + _update_count(windows))
    starts = _columns(windows, build)
    is_inside = windows.is_inside(starts)
    base = Term(build, build.full(0, ArrayShape(element_type, [count])))
    for dimension, start in starts.items():
        base = base + start.converted(element_type) * steps[dimension]
    whole = ArrayShape(element_type, [count, *windows.window])
    places = base.broadcast([0], whole)
    for dimension, size in enumerate(windows.window):
        if size > 1:
            places = places + Term(build, build.iota(dimension + 1, whole)) * steps[dimension]
    if is_inside is not None:
        places = is_inside.broadcast([0], whole).chosen(places, shape.element_count)
    return places.reshaped([_update_count(windows)])


def _columns(windows: ScatterWindows, build: Builder) -> dict[int, Term]:
    """Returns where the windows of all rows start, by dimension."""
    rows = Term(build, windows.rows.rows)
    count = windows.rows.count
    return {
        dimension: rows.part([0, column], [count, column + 1]).reshaped([count])
        for column, dimension in enumerate(windows.rows.dimensions)
    }


def _sorted_by_place(places: Term, updates: Term) -> tuple[Term, Term]:
    build = places.build
    scalars = [ArrayShape(one.element_type) for one in (places, updates) for _ in range(2)]
    inside = build.computation_named("is_before", scalars)
    one, other = inside.computation.parameters[:2]
    comparator = inside.finish(inside.add(Compare("LT"), one, other))
    sort = Sort(0, is_stable=True)
    made = build.add(sort, places.instruction, updates.instruction, calls=[comparator])
    return places.of(build.element(made, 0)), places.of(build.element(made, 1))


def _scanned(places: Term, updates: Term, op: Op) -> Term:
    """Returns at each element what an op makes of those of the same place up to it."""
    (count,) = places.shape.dimensions
    distance = 1
    while distance < count:
        before = updates.part([0], [count - distance])
        here = updates.part([distance], [count])
        is_same = places.part([0], [count - distance]).compared(
            "EQ", places.part([distance], [count])
        )
        combined = is_same.chosen(before.combined(op, here), here)
        updates = _joined(updates.part([0], [distance]), combined)
        distance *= 2
    return updates


def _last_of_segments(places: Term, element_count: int) -> Term:
    """Returns places with others, that lie outside, for all but the last of equal ones."""
    build = places.build
    (count,) = places.shape.dimensions
    differs = places.part([0], [count - 1]).compared("NE", places.part([1], [count]))
    is_last = _joined(differs, Term(build, build.full(value=True, shape=ArrayShape(PRED, [1]))))
    is_last = is_last & places.compared("LT", element_count)
    outside = Term(build, build.iota(0, places.shape)) + element_count
    return is_last.chosen(places, outside)


def _joined(one: Term, other: Term) -> Term:
    return one.of(one.build.add(Concatenate(0), one.instruction, other.instruction))
