"""The dot family: sums of products over contracting dimensions of two arrays.

Batch dimensions pair up and stay, contracting dimensions pair up and are summed away, and all
others are free. A result has batch dimensions, free ones of the left operand, then of the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from hlotool.errors import EvaluationError, ShapeError, UnsupportedError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import INTEGERS, PRECISIONS, choice
from hlotool.ir.cost import Access, Cost, byte_count, element_count, traffic
from hlotool.ir.element_type import U16, ElementType
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op
from hlotool.ir.record import AttributeKind, attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape
from hlotool.ops.numerics.matrix_products import (
    PACKED,
    computing_type,
    product_of_paired,
    stored_sums,
    unpacked,
)
from hlotool.ops.numerics.ragged_products import group_parts, part_of
from hlotool.ops.numerics.sparse_products import product_of_kept, spread
from hlotool.ops.shape_checks import (
    INTEGER_KINDS,
    arrays,
    check_dimension,
    check_dimensions,
    check_kind,
    is_sum_of_products,
    same_size,
    same_sizes,
    wider,
)

ALGORITHMS = (
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
)
"""Element types of both operands and of the sum; `xN`: operands in parts, N products of them."""
ALGORITHM = choice(ALGORITHMS, any_case=True)

_Size = tuple[int, bool]


@dataclass(frozen=True, slots=True)
class SparseDimension:
    """A dimension of dot operand 0 or 1 that holds `kept` values of every `group`."""

    operand: int
    dimension: int
    kept: int
    group: int


_SPARSE = re.compile(r"([LR])\.([0-9]+)@([0-9]+):([0-9]+)(?:_|$)")


def read_sparsity(text: str) -> tuple[SparseDimension, ...]:
    """Returns the meaning of `L.1@2:4_R.0@2:4`; raises `ValueError` where it has none."""
    found = list(_SPARSE.finditer(text))
    if "".join(match[0] for match in found) != text:
        raise ValueError(f"{text} is no sparsity, as L.1@2:4_R.0@2:4")
    sparse = tuple(SparseDimension("LR".index(m[1]), *map(int, m.groups()[1:])) for m in found)
    for dimension in sparse:
        if not 1 <= dimension.kept <= dimension.group:
            raise ValueError(f"{text}: at least 1 and at most all of a group can be kept")
    if len({dimension.operand for dimension in sparse}) != len(sparse):
        raise ValueError(f"{text}: an operand can have one sparse dimension")
    return sparse


def write_sparsity(sparsity: Sequence[SparseDimension]) -> str:
    """Returns the sparse dimensions, joined with `_`."""
    return "_".join(f"{'LR'[s.operand]}.{s.dimension}@{s.kept}:{s.group}" for s in sparsity)


SPARSITY = AttributeKind[tuple[SparseDimension, ...]](
    "sparsity", "sparse dimensions, as L.1@2:4_R.0@2:4", read=read_sparsity, write=write_sparsity
)


class Contraction(Op):
    """Base of the dot family: how dimensions of the first two operands pair up."""

    category = Category.CONTRACTION

    lhs_batch_dims: tuple[int, ...] = attr(INTEGERS, default=())
    lhs_contracting_dims: tuple[int, ...] = attr(INTEGERS, default=(), always=True)
    rhs_batch_dims: tuple[int, ...] = attr(INTEGERS, default=())
    rhs_contracting_dims: tuple[int, ...] = attr(INTEGERS, default=(), always=True)

    def fits(self, declared: Shape, inferred: Shape) -> bool:
        """Whether the declared type may hold the sums: integers may have a wider one."""
        return is_sum_of_products(declared, inferred)

    def lhs_free_dimensions(self, rank: int) -> list[int]:
        """Returns the dimensions of a left operand of this rank that do not pair up."""
        return _others(rank, self.lhs_batch_dims, self.lhs_contracting_dims)

    def rhs_free_dimensions(self, rank: int) -> list[int]:
        """Returns the dimensions of a right operand of this rank that do not pair up."""
        return _others(rank, self.rhs_batch_dims, self.rhs_contracting_dims)

    def check_pairs(self, lhs: ArrayShape, rhs: ArrayShape) -> None:
        """Raises `ShapeError` where dimensions are amiss or sizes of a pair differ."""
        what = self.opcode
        check_dimensions(
            self.lhs_batch_dims + self.lhs_contracting_dims, lhs.rank,
            f"{what}: lhs batch and contracting dimensions",
        )  # fmt: skip
        check_dimensions(
            self.rhs_batch_dims + self.rhs_contracting_dims, rhs.rank,
            f"{what}: rhs batch and contracting dimensions",
        )  # fmt: skip
        for role, ours, theirs in (
            ("batch", self.lhs_batch_dims, self.rhs_batch_dims),
            ("contracting", self.lhs_contracting_dims, self.rhs_contracting_dims),
        ):
            if len(ours) != len(theirs):
                raise ShapeError(
                    f"{what}: lhs has {len(ours)} {role} dimensions, rhs has {len(theirs)}"
                )
            for one, other in zip(ours, theirs, strict=True):
                if not same_size(lhs.dimensions[one], rhs.dimensions[other]):
                    raise ShapeError(
                        f"{what}: {role} dimension {one} of lhs {lhs.plain_text} has size"
                        f" {lhs.dimensions[one]}, {other} of rhs {rhs.plain_text} has size"
                        f" {rhs.dimensions[other]}"
                    )

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the batch and free dimensions."""
        if number > 1:
            return super().kept_dimensions(number, operands, result)
        lhs, rhs = arrays(operands[:2], self.opcode)
        batch = (self.lhs_batch_dims, self.rhs_batch_dims)[number]
        first = len(self.lhs_batch_dims)
        free = self.lhs_free_dimensions(lhs.rank)
        if number:
            first += len(free)
            free = self.rhs_free_dimensions(rhs.rank)
        places = {d: place for place, d in enumerate(batch)}
        places |= {d: first + place for place, d in enumerate(free)}
        return tuple(places.get(d) for d in range((lhs, rhs)[number].rank))

    def result_sizes(
        self, lhs: ArrayShape, rhs: ArrayShape, dropped: Sequence[int] = ()
    ) -> list[_Size]:
        """Returns size and dynamic flag of each dimension of the product.

        `dropped` are free dimensions of `rhs` that the product has not.
        """
        batch = [
            (lhs.dimensions[one], lhs.is_dynamic(one) or rhs.is_dynamic(other))
            for one, other in zip(self.lhs_batch_dims, self.rhs_batch_dims, strict=True)
        ]
        free = [d for d in self.rhs_free_dimensions(rhs.rank) if d not in dropped]
        return [*batch, *_sizes(lhs, self.lhs_free_dimensions(lhs.rank)), *_sizes(rhs, free)]

    def product(self, lhs: Array, rhs: Array) -> Array:
        """Returns the product of two arrays of one computing type, in that type."""
        lhs, rhs = self.paired(lhs, rhs)
        return product_of_paired(lhs, rhs, len(self.lhs_batch_dims), len(self.lhs_contracting_dims))

    def paired(self, lhs: Array, rhs: Array) -> tuple[Array, Array]:
        """Returns lhs as [batch, free, contracting] and rhs as [batch, contracting, free].

        Each stands for as many dimensions as have that role. Of dynamic dimensions that pair up
        with longer ones only the live elements count.
        """
        ours = self.lhs_batch_dims + self.lhs_contracting_dims
        theirs = self.rhs_batch_dims + self.rhs_contracting_dims
        for one, other in zip(ours, theirs, strict=True):
            live = slice(min(lhs.shape[one], rhs.shape[other]))
            lhs, rhs = part_of(lhs, one, live), part_of(rhs, other, live)
        lhs_free = self.lhs_free_dimensions(lhs.ndim)
        rhs_free = self.rhs_free_dimensions(rhs.ndim)
        return (
            lhs.transpose(*self.lhs_batch_dims, *lhs_free, *self.lhs_contracting_dims),
            rhs.transpose(*self.rhs_batch_dims, *self.rhs_contracting_dims, *rhs_free),
        )

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns a product and a sum for each pair of elements."""
        lhs = operands[0]
        assert isinstance(lhs, ArrayShape)
        summed = prod(lhs.dimensions[d] for d in self.lhs_contracting_dims)
        flops = 2 * summed * element_count(result)
        return traffic(sum(map(byte_count, operands)), result, flops=flops)


class Dot(Contraction, opcode="dot"):
    """Multiplies two arrays: for each batch and free index the sum of products of elements.

    Without contracting dimensions it is the outer product. `operand_precision` and `algorithm`
    say how exact the arithmetic must be. `sparsity`, of dumps up to 2025, has dimensions stored
    without their zeros; for each an operand more says which values were kept.
    """

    access = Access.SUMMED
    arity = range(2, 5)

    operand_precision: tuple[str, ...] = attr(PRECISIONS, default=())
    algorithm: str = attr(ALGORITHM, default="unset")
    sparsity: tuple[SparseDimension, ...] = attr(SPARSITY, default=())

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns batch, lhs and rhs free dimensions, row-major, of the wider type."""
        wanted = 2 + len(self.sparsity)
        if len(operands) != wanted:
            raise ShapeError(f"dot: {len(operands)} operands are given, {wanted} are wanted")
        lhs, rhs, *metadata = arrays(operands, self.opcode)
        for number, shape in enumerate(metadata, 2):
            if shape.element_type is not U16:
                raise ShapeError(
                    f"dot: operand {number} is {shape.plain_text}, positions of type u16 are wanted"
                )
        lhs, rhs = self._dense(lhs, 0), self._dense(rhs, 1)
        self.check_pairs(lhs, rhs)
        return _array(wider(lhs.element_type, rhs.element_type), self.result_sizes(lhs, rhs))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the sums, made in 64 bits for integers and in f32 or wider for floats."""
        wide = computing_type(frame.operand_shapes[:2], frame.shape)
        lhs, rhs = (operand.astype(wide, copy=False) for operand in operands[:2])
        if self.sparsity:
            return stored_sums(self._sparse_product([lhs, rhs], operands[2:]), frame.shape)
        parts = unpacked([lhs, rhs], self.operand_precision, self.opcode)
        product = self.product(*parts[0])
        for part in parts[1:]:
            product = product + self.product(*part)
        return stored_sums(product, frame.shape)

    def _sparse_product(self, operands: list[Array], metadata: Sequence[Array]) -> Array:
        if PACKED in self.operand_precision:
            raise UnsupportedError(f"dot: sparsity with operand_precision {PACKED}")
        is_kept = [np.ones(operand.shape, np.bool_) for operand in operands]
        for sparse, positions in zip(self.sparsity, metadata, strict=True):
            number = sparse.operand
            operands[number], is_kept[number] = spread(
                operands[number], positions, sparse.dimension, sparse.kept, sparse.group
            )
        lhs, rhs = self.paired(*operands)
        lhs_kept, rhs_kept = self.paired(*is_kept)
        return product_of_kept(
            lhs, lhs_kept, rhs, rhs_kept,
            len(self.lhs_batch_dims), len(self.lhs_contracting_dims),
        )  # fmt: skip

    def _dense(self, operand: ArrayShape, number: int) -> ArrayShape:
        sizes = list(operand.dimensions)
        for sparse in self.sparsity:
            if sparse.operand != number:
                continue
            check_dimension(sparse.dimension, operand.rank, f"dot: sparsity of operand {number}:")
            size = sizes[sparse.dimension]
            if size != UNBOUNDED and size % sparse.kept:
                raise ShapeError(
                    f"dot: operand {number} is {operand.plain_text}, a multiple of"
                    f" {sparse.kept} in sparse dimension {sparse.dimension} is wanted"
                )
            if size != UNBOUNDED:
                sizes[sparse.dimension] = size // sparse.kept * sparse.group
        return ArrayShape(operand.element_type, sizes, None, operand.dynamic)


class RaggedDot(Contraction, opcode="ragged-dot"):
    """Multiplies arrays of which one dimension falls into consecutive groups.

    Operands are lhs, rhs and the sizes of the groups. Where the ragged dimension of lhs is
    free, its rows are multiplied with the rhs of their group, picked along `rhs_group_dims`.
    Where it is contracting, each group is summed on its own, and the result has the groups as
    its first dimension. Where it is a batch dimension the groups only part the batch.
    """

    arity = 3

    lhs_ragged_dims: tuple[int, ...] = attr(INTEGERS, default=())
    rhs_group_dims: tuple[int, ...] = attr(INTEGERS, default=())
    operand_precision: tuple[str, ...] = attr(PRECISIONS, default=())

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the product's dimensions, row-major, of the wider type."""
        lhs, rhs, groups = arrays(operands, self.opcode)
        self.check_pairs(lhs, rhs)
        check_kind(groups, INTEGER_KINDS, "ragged-dot: operand 2")
        if len(self.lhs_ragged_dims) != 1:
            raise ShapeError(
                f"ragged-dot: {len(self.lhs_ragged_dims)} ragged dimensions of lhs are given,"
                " 1 is wanted"
            )
        (ragged,) = self.lhs_ragged_dims
        check_dimension(ragged, lhs.rank, "ragged-dot: lhs ragged dimension")
        self._check_groups(groups, self._dimensions_before(ragged, lhs.rank), lhs)
        self._check_group_dimensions(ragged, rhs, groups.dimensions[-1])
        sizes = self.result_sizes(lhs, rhs, self.rhs_group_dims)
        if ragged in self.lhs_contracting_dims:
            sizes = [*_sizes(groups, [groups.rank - 1]), *sizes]
        return _array(wider(lhs.element_type, rhs.element_type), sizes)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the product of each group; what lies behind the last one counts as zero."""
        wide = computing_type(frame.operand_shapes[:2], frame.shape)
        lhs, rhs = (operand.astype(wide, copy=False) for operand in operands[:2])
        (ragged,) = self.lhs_ragged_dims
        if ragged in self.lhs_batch_dims:
            return stored_sums(self.product(lhs, rhs), frame.shape)
        sizes = operands[2].astype(np.int64)
        if (sizes < 0).any():
            raise EvaluationError(
                f"ragged-dot: a group has size {sizes.min()}, 0 or more is wanted"
            )
        if ragged in self.lhs_contracting_dims:
            return stored_sums(self._products_of_parts(lhs, rhs, sizes), frame.shape)
        return stored_sums(self._products_of_rows(lhs, rhs, sizes), frame.shape)

    def _products_of_rows(self, lhs: Array, rhs: Array, sizes: Array) -> Array:
        """Returns each row of lhs multiplied with the rhs of its group."""
        (ragged,), (along,) = self.lhs_ragged_dims, self.rhs_group_dims
        kept = [*self.lhs_batch_dims, *self.lhs_free_dimensions(lhs.ndim)]
        rhs_free = self.rhs_free_dimensions(rhs.ndim)
        dropped = len(kept) + rhs_free.index(along)
        result = np.zeros(
            [*(lhs.shape[d] for d in kept), *(rhs.shape[d] for d in rhs_free if d != along)],
            lhs.dtype,
        )
        for group, (rows, is_inside) in enumerate(group_parts(sizes, lhs.shape[ragged])):
            product = self.product(
                part_of(lhs, ragged, rows), part_of(rhs, along, slice(group, group + 1))
            ).squeeze(dropped)
            # What sizes may depend on are the dimensions of the result before the ragged one.
            place = kept.index(ragged)
            is_shown = _with_ones_behind(is_inside, result.ndim - place - 1)
            np.copyto(part_of(result, place, rows), product, where=is_shown)
        return result

    def _products_of_parts(self, lhs: Array, rhs: Array, sizes: Array) -> Array:
        """Returns the product over each group of contracting elements, groups first."""
        (ragged,) = self.lhs_ragged_dims
        batch, contracting = len(self.lhs_batch_dims), len(self.lhs_contracting_dims)
        lhs, rhs = self.paired(lhs, rhs)
        lhs_free = lhs.ndim - batch - contracting
        number = self.lhs_contracting_dims.index(ragged)
        lhs_place, rhs_place = batch + lhs_free + number, batch + number
        groups = sizes.shape[-1]
        products = np.empty(
            (groups, *lhs.shape[: batch + lhs_free], *rhs.shape[batch + contracting :]), lhs.dtype
        )
        parts = group_parts(sizes, rhs.shape[rhs_place])
        for group, (elements, is_inside) in enumerate(parts):
            ours, theirs = part_of(lhs, lhs_place, elements), part_of(rhs, rhs_place, elements)
            if is_inside.ndim > 1:
                # Both sides become zero, so that no infinity is multiplied with it.
                zero = lhs.dtype.type(0)
                inside = _with_ones_behind(is_inside, contracting - number - 1)
                of_rhs = _with_ones_behind(inside, rhs.ndim - batch - contracting)
                of_lhs = np.expand_dims(inside, tuple(range(batch, batch + lhs_free)))
                ours, theirs = np.where(of_lhs, ours, zero), np.where(of_rhs, theirs, zero)
            products[group] = product_of_paired(ours, theirs, batch, contracting)
        return products

    def _dimensions_before(self, ragged: int, rank: int) -> list[int]:
        """Returns the dimensions of lhs that group sizes may depend on, in order."""
        batch, contracting = list(self.lhs_batch_dims), list(self.lhs_contracting_dims)
        if ragged in batch:
            return batch[: batch.index(ragged)]
        same_role = contracting if ragged in contracting else self.lhs_free_dimensions(rank)
        return batch + same_role[: same_role.index(ragged)]

    @staticmethod
    def _check_groups(groups: ArrayShape, before: Sequence[int], lhs: ArrayShape) -> None:
        if groups.rank == 1:
            return
        prefix = [lhs.dimensions[d] for d in before]
        if groups.rank != len(prefix) + 1 or not same_sizes(groups.dimensions[:-1], prefix):
            wanted = "".join(f"{size}," for size in prefix)
            raise ShapeError(
                f"ragged-dot: operand 2 is {groups.plain_text}, dimensions [groups]"
                + (f" or [{wanted}groups] are wanted" if prefix else " are wanted")
            )

    def _check_group_dimensions(self, ragged: int, rhs: ArrayShape, group_count: int) -> None:
        is_free = ragged not in self.lhs_batch_dims + self.lhs_contracting_dims
        if len(self.rhs_group_dims) != int(is_free):
            role = "free" if is_free else "batch or contracting"
            raise ShapeError(
                f"ragged-dot: {len(self.rhs_group_dims)} group dimensions of rhs are given,"
                f" with a {role} ragged dimension {int(is_free)} are wanted"
            )
        paired = self.rhs_batch_dims + self.rhs_contracting_dims
        for dimension in self.rhs_group_dims:
            check_dimensions(
                (dimension, *paired), rhs.rank,
                "ragged-dot: rhs group, batch and contracting dimensions",
            )  # fmt: skip
            if not same_size(rhs.dimensions[dimension], group_count):
                raise ShapeError(
                    f"ragged-dot: operand 1 is {rhs.plain_text}, {group_count} groups in"
                    f" dimension {dimension} are wanted"
                )


class ScaledDot(Contraction, opcode="scaled-dot"):
    """Multiplies two arrays of which each block of elements has a scale of its own.

    Operands are lhs, rhs, and their scales: of the same rank, with one scale for a block of
    elements along each dimension, or one scalar for all. The product is that of `dot` on the
    scaled operands.
    """

    arity = 4
    infers_shape = False

    operand_precision: tuple[str, ...] = attr(PRECISIONS, default=())
    algorithm: str = attr(ALGORITHM, default="unset")

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns batch, lhs and rhs free dimensions, row-major, of the wider type."""
        lhs, rhs, lhs_scale, rhs_scale = arrays(operands, self.opcode)
        self.check_pairs(lhs, rhs)
        _check_scale(lhs, lhs_scale, 2)
        _check_scale(rhs, rhs_scale, 3)
        return _array(wider(lhs.element_type, rhs.element_type), self.result_sizes(lhs, rhs))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the sums over operands that are scaled in f32 or wider."""
        wide = computing_type(frame.operand_shapes, frame.shape)
        lhs, rhs, lhs_scale, rhs_scale = (operand.astype(wide, copy=False) for operand in operands)
        product = self.product(lhs * _stretched(lhs_scale, lhs), rhs * _stretched(rhs_scale, rhs))
        return stored_sums(product, frame.shape)


def _with_ones_behind(array: Array, count: int) -> Array:
    """Returns an array with `count` dimensions of size 1 behind its own."""
    return array.reshape(*array.shape, *[1] * count)


def _stretched(scale: Array, operand: Array) -> Array:
    """Returns the scale of each element of the operand."""
    for dimension, (size, blocks) in enumerate(zip(operand.shape, scale.shape, strict=False)):
        if blocks not in {0, size}:
            scale = np.repeat(scale, size // blocks, axis=dimension)
    return scale


def _check_scale(operand: ArrayShape, scale: ArrayShape, number: int) -> None:
    if scale.is_scalar:
        return
    if scale.rank != operand.rank or not all(
        map(_is_cut_evenly, operand.dimensions, scale.dimensions)
    ):
        raise ShapeError(
            f"scaled-dot: operand {number} is {scale.plain_text}, a scalar or dimensions that"
            f" divide those of {operand.plain_text} are wanted"
        )


def _is_cut_evenly(size: int, blocks: int) -> bool:
    return UNBOUNDED in {size, blocks} or size == blocks or (blocks > 0 and size % blocks == 0)


def _others(rank: int, *dimensions: Sequence[int]) -> list[int]:
    taken = {d for some in dimensions for d in some}
    return [d for d in range(rank) if d not in taken]


def _sizes(shape: ArrayShape, dimensions: Iterable[int]) -> list[_Size]:
    return [(shape.dimensions[d], shape.is_dynamic(d)) for d in dimensions]


def _array(element_type: ElementType, sizes: Sequence[_Size]) -> ArrayShape:
    return ArrayShape(
        element_type, [size for size, _ in sizes], None, [dynamic for _, dynamic in sizes]
    )
