"""Where the elements of a convolution's operands and results lie in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.source import Source, memory_order
from hlotool.codegen.indexing.index import Counter, Index, SplitNeeded, delinear, index_of, linear
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.convolution_axes import Place
from hlotool.codegen.kernels.convolution_elements import array_shape
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.cost import Access
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_changing import Bitcast, Broadcast, Reshape, Reverse, Slice, Transpose
from hlotool.ops.unary import Copy

_VIEWS = (Bitcast, Broadcast, Copy, Reshape, Reverse, Slice, Transpose)


def place_in_memory(shape: ArrayShape) -> Place:
    """Returns how the elements of an array lie in memory."""
    strides = [0] * shape.rank
    stride = 1
    for dimension in reversed(memory_order(shape)):
        strides[dimension] = stride
        stride *= shape.dimensions[dimension]
    return Place(0, tuple(strides))


class _Reached(Exception):  # noqa: N818 - it carries an answer
    def __init__(self, source: Source, place: Index) -> None:
        super().__init__("an array in memory")
        self.source = source
        self.place = place


class _Probe(ElementEmitter):
    """Follows an index through instructions that only move elements, down to memory."""

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        source = self.sources.get(instruction)
        if source is not None:
            raise _Reached(source, source.place(index))
        if not isinstance(instruction.op, _VIEWS):
            raise NotCompiled(f"{instruction.opcode} of an operand")
        return super()._made(instruction, index)


def place_of_operand(
    instruction: Instruction, sources: Mapping[Instruction, Source], target: Target
) -> tuple[Source, Place] | None:
    """Returns the array that an operand is a view of, and how its elements lie there.

    `None` where it is computed, or its elements do not lie evenly.
    """
    shape = array_shape(instruction)
    counters = [Counter(size, splits=False) for size in shape.dimensions]
    probe = _Probe(FunctionWriter("probe", ()), target, sources)
    try:
        probe.element(instruction, tuple(map(index_of, counters)))
    except _Reached as reached:
        strides = [0] * shape.rank
        for term, factor in reached.place.terms:
            if not isinstance(term, Counter):
                return None
            strides[counters.index(term)] = factor
        return reached.source, Place(reached.place.offset, tuple(strides))
    except (NotCompiled, SplitNeeded):
        return None
    return None


def index_of_output(
    body: Body, product: Instruction, output: Instruction, index: Sequence[Index]
) -> Indices:
    """Returns the index of an output's element that an element of a product is used for.

    Raises `NotCompiled` where the way there does more than to reorder elements.
    """
    found = _forward(body, product, output, tuple(index))
    if found is None:
        raise NotCompiled("an output that the product does not lead to")
    return found


def _forward(
    body: Body, reached: Instruction, output: Instruction, index: Indices
) -> Indices | None:
    if reached is output:
        return index
    for user in body.users.get(reached, ()):
        found = _forward(body, user, output, _through(user, index))
        if found is not None:
            return found
    return None


def _through(user: Instruction, index: Indices) -> Indices:
    step = _STEPS.get(type(user.op))
    if step is not None:
        return step(user, index)
    if user.op.access is Access.SAME:
        return index
    raise NotCompiled(f"{user.opcode} of a product")


def _reshaped(user: Instruction, index: Indices) -> Indices:
    place = linear(index, array_shape(user.operands[0]).dimensions)
    return delinear(place, array_shape(user).dimensions)


def _bitcast(user: Instruction, index: Indices) -> Indices:
    ours, theirs = array_shape(user.operands[0]), array_shape(user)
    if ours.element_type is not theirs.element_type:
        raise NotCompiled("a bitcast of a product to another element type")
    order = memory_order(ours)
    place = linear([index[d] for d in order], [ours.dimensions[d] for d in order])
    order = memory_order(theirs)
    found = delinear(place, tuple(theirs.dimensions[d] for d in order))
    return tuple(found[order.index(d)] for d in range(theirs.rank))


def _transposed(user: Instruction, index: Indices) -> Indices:
    assert isinstance(user.op, Transpose)
    return tuple(index[d] for d in user.op.dimensions)


def _reversed(user: Instruction, index: Indices) -> Indices:
    assert isinstance(user.op, Reverse)
    sizes = array_shape(user).dimensions
    return tuple(
        one * -1 + (size - 1) if d in user.op.dimensions else one
        for d, (one, size) in enumerate(zip(index, sizes, strict=True))
    )


def _same(user: Instruction, index: Indices) -> Indices:
    return index


_STEPS: dict[type[Op], Callable[[Instruction, Indices], Indices]] = {
    Bitcast: _bitcast,
    Copy: _same,
    Reshape: _reshaped,
    Reverse: _reversed,
    Transpose: _transposed,
}
