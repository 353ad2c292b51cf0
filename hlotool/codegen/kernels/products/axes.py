"""The dimensions of a product as loops: batch, rows, columns and terms, with as few as can be.

Dimensions of one role that lie behind each other in every array become one axis. An operand may
be a view of an array in memory (transposed, sliced, reshaped): its strides are then those of the
array. Operands that are computed have no strides yet; they are brought into memory first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import prod

from hlotool.codegen.elements.emitter import Indices
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.indexing.index import ZERO, Counter, Index, Known, delinear, index_of
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.kernels.results import output_indices
from hlotool.codegen.kernels.views import trial_place, viewed
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot


class Role(Enum):
    """What a dimension is for a product."""

    BATCH = "batch"
    LEFT = "left"
    RIGHT = "right"
    TERM = "term"


@dataclass(eq=False)
class Part:
    """A dimension of a product; operands and result that have it have the same one."""

    role: Role
    counter: Counter

    @property
    def extent(self) -> int:
        """Its size."""
        return self.counter.extent


@dataclass(eq=False)
class Axis:
    """Dimensions of one role that are one loop, the slowest first."""

    role: Role
    parts: tuple[Part, ...]
    strides: dict[str, int]
    """By how many elements each array moves, where it lies in memory and has the axis."""

    @property
    def extent(self) -> int:
        """How many rounds the loop has."""
        return prod(part.extent for part in self.parts)

    def stride(self, array: str) -> int:
        """Returns the stride of an array, 0 where it does not have the axis."""
        return self.strides.get(array, 0)


@dataclass
class Operand:
    """An operand of a product."""

    name: str
    instruction: Instruction
    parts: tuple[Part, ...]
    """Its dimensions."""
    source: Instruction | None = None
    """The input that it is a view of, with constant strides."""
    strides: dict[Part, int] = field(default_factory=dict)

    def index(self, values: Mapping[Axis, Index]) -> Indices:
        """Returns the index of an element; axes that are not given are at 0."""
        found = part_indices(values)
        return tuple(found.get(part, ZERO) for part in self.parts)


def part_indices(values: Mapping[Axis, Index]) -> dict[Part, Index]:
    """Returns the index in each dimension from those of axes."""
    found: dict[Part, Index] = {}
    for axis, value in values.items():
        indices = delinear(value, tuple(part.extent for part in axis.parts))
        found |= dict(zip(axis.parts, indices, strict=True))
    return found


@dataclass
class Axes:
    """A product as loops; of each role with the longest strides first."""

    operands: tuple[Operand, Operand]
    result: tuple[Part, ...]
    """The dimensions of the result."""
    of_role: dict[Role, list[Axis]]

    def result_index(self, values: Mapping[Axis, Index]) -> Indices:
        """Returns the index of an element of the result."""
        found = part_indices(values)
        return tuple(found.get(part, ZERO) for part in self.result)


def axes_of(kernel: Kernel, dot: Instruction) -> Axes:
    """Returns the loops of a dot."""
    operands, result = _parts(dot)
    for operand in operands:
        _note_strides(kernel, operand)
    arrays = {operand.name: operand.strides for operand in operands if operand.source}
    whole = [index_of(part.counter) for part in result]
    for number, (_, index) in enumerate(output_indices(kernel.body, dot, whole)):
        place = kernel.destination(number).place(index)
        strides = _strides(place, result)
        if strides is not None:
            arrays[f"out{number}"] = strides
    parts = dict.fromkeys([*operands[0].parts, *operands[1].parts])
    of_role = {role: _joined([p for p in parts if p.role is role], arrays) for role in Role}
    return Axes(operands, result, of_role)


def _parts(dot: Instruction) -> tuple[tuple[Operand, Operand], tuple[Part, ...]]:
    op = dot.op
    assert isinstance(op, Dot)
    if op.sparsity or any("PACKED" in one.upper() for one in op.operand_precision):
        raise NotCompiled("dot of operands that are stored in fewer elements")
    lhs, rhs = (array_shape(operand).dimensions for operand in dot.operands)
    left: dict[int, Part] = {}
    right: dict[int, Part] = {}
    for role, ours, theirs in (
        (Role.BATCH, op.lhs_batch_dims, op.rhs_batch_dims),
        (Role.TERM, op.lhs_contracting_dims, op.rhs_contracting_dims),
    ):
        for one, other in zip(ours, theirs, strict=True):
            left[one] = right[other] = Part(role, Counter(lhs[one], splits=False))
    batch = [left[d] for d in op.lhs_batch_dims]
    for found, sizes, role in ((left, lhs, Role.LEFT), (right, rhs, Role.RIGHT)):
        for d, size in enumerate(sizes):
            found.setdefault(d, Part(role, Counter(size, splits=False)))
    free = [left[d] for d in op.lhs_free_dimensions(len(lhs))]
    free += [right[d] for d in op.rhs_free_dimensions(len(rhs))]
    both = (
        Operand("lhs", dot.operands[0], tuple(left[d] for d in range(len(lhs)))),
        Operand("rhs", dot.operands[1], tuple(right[d] for d in range(len(rhs)))),
    )
    return both, (*batch, *free)


def _note_strides(kernel: Kernel, operand: Operand) -> None:
    source = viewed(operand.instruction, kernel.sources())
    if source is None:
        return
    index = [index_of(part.counter) for part in operand.parts]
    strides = _strides(trial_place(kernel, operand.instruction, index), operand.parts)
    if strides is not None:
        operand.source, operand.strides = source, strides


def _strides(place: Index, parts: Sequence[Part]) -> dict[Part, int] | None:
    """Returns the stride of each dimension; `None` where a place is no sum of them."""
    of_counter = {part.counter: part for part in parts}
    found = dict.fromkeys(parts, 0)
    for term, factor in place.terms:
        if isinstance(term, Counter):
            if term not in of_counter:
                return None
            found[of_counter[term]] = factor
        elif not isinstance(term, Known):
            return None
    return found


def _joined(parts: list[Part], arrays: Mapping[str, Mapping[Part, int]]) -> list[Axis]:
    """Returns as few axes as can stand for dimensions of one role."""
    parts = [part for part in parts if part.extent != 1]
    order = ["out0", "lhs", "rhs"]
    guide = next((arrays[name] for name in order if _has(arrays.get(name), parts)), {})
    parts.sort(key=lambda part: -abs(guide.get(part, 0)))
    axes: list[Axis] = []
    for part in parts:
        strides = {name: of[part] for name, of in arrays.items() if part in of}
        if axes and all(
            axes[-1].strides.get(name) == stride * part.extent for name, stride in strides.items()
        ):
            axes[-1] = Axis(part.role, (*axes[-1].parts, part), strides)
        else:
            axes.append(Axis(part.role, (part,), strides))
    return axes


def _has(strides: Mapping[Part, int] | None, parts: Sequence[Part]) -> bool:
    return strides is not None and all(part in strides for part in parts)
