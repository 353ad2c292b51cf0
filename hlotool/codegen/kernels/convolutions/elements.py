"""An element of a convolution by its index: a loop over the kernel, whatever its form."""

from __future__ import annotations

from math import prod

from hlotool.codegen.elements.choices import Condition
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.indexing.index import Index
from hlotool.codegen.kernels.convolutions.sums import sums_for
from hlotool.codegen.kernels.window_folds import folded_over, shown_index
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element, Parts
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.convolution import Convolution
from hlotool.ops.numerics.matrix_products import PACKED


def sum_terms(instruction: Instruction) -> int:
    """Returns how many products an element of a convolution is the sum of, padding included."""
    assert isinstance(instruction.op, Convolution)
    kernel = array_shape(instruction.operands[1])
    features = kernel.dimensions[instruction.op.dim_labels.kernel_output_feature]
    return kernel.element_count // max(1, features)


@element_rule(Convolution)
def _convolution(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    return _Windowed(emitter, instruction, index).element()


class _Windowed:
    """The sum for one index of the output, or for one in each lane."""

    def __init__(self, emitter: ElementEmitter, instruction: Instruction, index: Indices) -> None:
        op = instruction.op
        assert isinstance(op, Convolution)
        self._op = op
        self._emitter = emitter
        self._instruction = instruction
        self._index = index
        self._lhs, self._rhs = (array_shape(operand) for operand in instruction.operands)
        types = self._lhs.element_type, self._rhs.element_type
        if PACKED in op.operand_precision:
            self._check_packed(types)
        terms = 2 * sum_terms(instruction) * (64 if PACKED in op.operand_precision else 1)
        result = array_shape(instruction).element_type
        self._sums = sums_for(types, result, terms)

    def element(self) -> Element:
        """Writes the loops, and what they yield."""
        labels = self._op.dim_labels
        sizes = [self._rhs.dimensions[d] for d in labels.kernel_spatial]
        features = self._rhs.dimensions[labels.kernel_input_feature]
        zero = self._sums.zero(self._emitter.lanes)
        if prod(self._lhs.dimensions) == 0:
            return self._sums.stored(self._emitter.function, zero)
        total = folded_over(self._emitter, (*sizes, features), zero, self._round)
        return self._sums.stored(self._emitter.function, total)

    def _round(self, place: Indices, total: Parts) -> Parts:
        *taps, feature = place
        base, flag = self._base_index(taps, feature)
        if flag is False:
            return total
        pairs = self._pairs(base, self._kernel_index(taps, feature))
        lanes = self._emitter.lanes
        found = total
        for one, other in pairs:
            found = self._sums.added(self._emitter.function, found, one, other)
        found = tuple(self._emitter.function.splat(part, lanes) for part in found)
        return (
            found if flag is True else self._sums.kept(self._emitter.function, flag, found, total)
        )

    def _pairs(self, base: Indices, kernel: Indices) -> list[tuple[Parts, Parts]]:
        elements = [
            self._emitter.operand(self._instruction, number, index)
            for number, index in enumerate((base, kernel))
        ]
        one, other = (self._sums.taken(self._emitter.function, element) for element in elements)
        if PACKED not in self._op.operand_precision:
            return [(one, other)]
        return [((self._nibble(one[0], s),), (self._nibble(other[0], s),)) for s in (0, 4)]

    def _nibble(self, value: Value, shift: int) -> Value:
        function, lane = self._emitter.function, value.type
        moved = function.binary("ashr", value, constant(lane, shift))
        bits = function.binary("and", moved, constant(lane, 15))
        return function.binary(
            "sub", function.binary("xor", bits, constant(lane, 8)), constant(lane, 8)
        )

    def _base_index(self, taps: list[Index], feature: Index) -> tuple[Indices, Condition]:
        op, labels = self._op, self._op.dim_labels
        window = [self._index[d] for d in labels.output_spatial]
        sizes = [self._lhs.dimensions[d] for d in labels.input_spatial]
        shown, flag = shown_index(self._emitter, op.window, window, taps, sizes)
        outputs = self._rhs.dimensions[labels.kernel_output_feature]
        output = self._index[labels.output_feature]
        batch = self._index[labels.output_batch]
        if op.feature_group_count > 1:
            group = output // (outputs // op.feature_group_count)
            feature = group * self._rhs.dimensions[labels.kernel_input_feature] + feature
        if op.batch_group_count > 1:
            group = output // (outputs // op.batch_group_count)
            each = self._lhs.dimensions[labels.input_batch] // op.batch_group_count
            batch = group * each + batch
        found = dict(zip(labels.input_spatial, shown, strict=True))
        found[labels.input_batch], found[labels.input_feature] = batch, feature
        return tuple(found[d] for d in range(self._lhs.rank)), flag

    def _kernel_index(self, taps: list[Index], feature: Index) -> Indices:
        labels = self._op.dim_labels
        found = {
            labels.kernel_input_feature: feature,
            labels.kernel_output_feature: self._index[labels.output_feature],
        }
        window = self._op.window
        for dimension, tap, one in zip(labels.kernel_spatial, taps, window, strict=True):
            found[dimension] = tap * -1 + (one.size - 1) if one.reversal else tap
        return tuple(found[d] for d in range(self._rhs.rank))

    def _check_packed(self, types: tuple[ElementType, ElementType]) -> None:
        precision = self._op.operand_precision
        if set(precision) != {PACKED} or not all(one.is_integer for one in types):
            raise NotCompiled("packed nibbles of some operands only")
