"""What a kernel does with the elements of a product before it writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import memory_index, memory_place
from hlotool.codegen.indexing.index import Index, delinear, linear
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.cost import Access
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_changing import Bitcast, Reshape, Reverse, Transpose
from hlotool.ops.tuples import Tuple


def result_indices(
    users: Mapping[Instruction, Sequence[Instruction]], product: Instruction, index: Sequence[Index]
) -> dict[Instruction, Indices]:
    """Returns where all that is computed from an element of a product lies in its array.

    Raises `NotCompiled` where an element of the product is not used exactly once.
    """
    found: dict[Instruction, Indices] = {product: tuple(index)}
    waiting = [product]
    while waiting:
        one = waiting.pop()
        for user in users.get(one, ()):
            if user not in found and not isinstance(user.op, Tuple):
                found[user] = _index_in(user, one, found[one])
                waiting.append(user)
    return found


def output_indices(
    body: Body, product: Instruction, index: Sequence[Index]
) -> list[tuple[Instruction, Indices]]:
    """Returns where the element of each output lies that is computed from one of a product.

    Raises `NotCompiled` for an output that is not, and where `result_indices` does.
    """
    found = result_indices(body.users, product, index)
    outputs = [one for one, _ in body.outputs]
    if any(one not in found for one in outputs):
        raise NotCompiled("an output that is not made of the product in its kernel")
    return [(one, found[one]) for one in outputs]


def _index_in(user: Instruction, operand: Instruction, index: Indices) -> Indices:
    """Returns the index in a result to which an element of an operand goes."""
    op, shape, given = user.op, array_shape(user), array_shape(operand)
    if op.access is Access.SAME:
        if given.rank != shape.rank:
            raise NotCompiled(f"{user.opcode} of a scalar product inside a kernel")
        return index
    if isinstance(op, Transpose):
        return tuple(index[d] for d in op.dimensions)
    if isinstance(op, Reshape):
        return delinear(linear(index, given.dimensions), shape.dimensions)
    if isinstance(op, Reverse):
        return tuple(
            one * -1 + (size - 1) if d in op.dimensions else one
            for d, (one, size) in enumerate(zip(index, shape.dimensions, strict=True))
        )
    if isinstance(op, Bitcast):
        return _bitcast_index(shape, given, index)
    raise NotCompiled(f"{user.opcode} of a product inside its kernel")


def _bitcast_index(shape: ArrayShape, given: ArrayShape, index: Indices) -> Indices:
    if shape.element_type is not given.element_type:
        raise NotCompiled("a bitcast to another element type inside a kernel")
    return memory_index(shape, memory_place(given, index))


class ResultEmitter(ElementEmitter):
    """Writes elements that are made of those of a product, which are given."""

    def __init__(self, kernel: Kernel, function: FunctionWriter, product: Instruction) -> None:
        super().__init__(function, kernel.target, kernel.sources())
        self.kernel = kernel
        self._product = product
        self._outputs = [kernel.destination(n) for n in range(len(kernel.body.outputs))]
        self._body = kernel.body
        self._index: Indices = ()
        self._element: Element | None = None

    def store(self, index: Indices, element: Element) -> None:
        """Writes all outputs that are made of the elements of the product at an index."""
        self._index, self._element = index, element
        places = output_indices(self._body, self._product, index)
        found = []
        with self.region():
            for output, (instruction, place) in zip(self._outputs, places, strict=True):
                found.append((output, place, self.element(instruction, place)))
        # All values are there before the first is stored: an output may lie over an input.
        for output, place, value in found:
            output.store(self.function, place, value, self.lanes)

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        if instruction is not self._product:
            return super()._made(instruction, index)
        assert self._element is not None, "the product is given"
        if [_key(one) for one in index] != [_key(one) for one in self._index]:
            raise NotCompiled("a product whose elements are used at several places")
        return self._element


def _key(index: Index) -> tuple[frozenset[object], int]:
    return frozenset(index.terms), index.offset
