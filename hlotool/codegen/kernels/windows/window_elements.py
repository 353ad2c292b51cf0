"""An element of a reduce-window by its index: a loop over the window, whatever its form."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.codegen.elements.callee import applied
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import array_shape, element_type_of
from hlotool.codegen.kernels.window_folds import folded_over, shown_index
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.numbers.element import Element, elements_of, register_type
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.reduction import ReduceWindow


@element_rule(ReduceWindow)
def _reduce_window(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    if instruction.shape.is_tuple:
        raise NotCompiled("a reduce-window of several operands beside other instructions")
    (found,) = window_elements(emitter, instruction, index)
    return found


def window_elements(
    emitter: ElementEmitter, instruction: Instruction, index: Indices
) -> tuple[Element, ...]:
    """Writes the elements that a reduce-window of one or more operands yields at an index."""
    op = instruction.op
    assert isinstance(op, ReduceWindow)
    fold = WindowFold(emitter, instruction)
    shape = array_shape(instruction.operands[0])
    if shape.element_count == 0:
        return fold.elements(fold.initial())

    def one_round(parts: Indices, carried: Sequence[Value]) -> Sequence[Value]:
        place, flag = shown_index(emitter, op.window, index, parts, shape.dimensions)
        if flag is False:
            return carried
        found = fold.step(carried, place)
        if flag is True:
            return found
        pairs = zip(found, carried, strict=True)
        return [emitter.function.select(flag, new, old) for new, old in pairs]

    sizes = [dimension.size for dimension in op.window]
    return fold.elements(folded_over(emitter, sizes, fold.initial(), one_round))


class WindowFold:
    """The reducer of a reduce-window, on values that loops carry."""

    def __init__(self, emitter: ElementEmitter, instruction: Instruction) -> None:
        self._emitter = emitter
        self._instruction = instruction
        self.computation = instruction.calls[0]
        self.count = len(instruction.operands) // 2
        self.types = [element_type_of(one) for one in instruction.operands[self.count :]]

    def initial(self) -> tuple[Value, ...]:
        """Writes what is folded into, in all lanes."""
        emitter = self._emitter
        found = [
            emitter.operand(self._instruction, self.count + number, ())
            for number in range(self.count)
        ]
        return self.parts(found)

    def step(self, carried: Sequence[Value], place: Indices) -> tuple[Value, ...]:
        """Writes what is left when the operands' elements at an index are folded in."""
        found = [
            self._emitter.operand(self._instruction, number, place) for number in range(self.count)
        ]
        return self.folded(carried, found)

    def folded(self, carried: Sequence[Value], found: Sequence[Element]) -> tuple[Value, ...]:
        """Writes what is left when elements are folded in."""
        new = [
            widened(self._emitter, one, wanted)
            for one, wanted in zip(found, self.types, strict=True)
        ]
        arguments = [*self.elements(carried), *new]
        return self.parts(applied(self._emitter, self.computation, arguments))

    def parts(self, elements: Sequence[Element]) -> tuple[Value, ...]:
        """Returns the values of elements, with all lanes."""
        lanes = self._emitter.lanes
        return tuple(
            self._emitter.function.splat(part, lanes) for one in elements for part in one.parts
        )

    def elements(self, carried: Sequence[Value]) -> tuple[Element, ...]:
        """Returns the elements that values are."""
        return tuple(elements_of(self.types, carried))


def widened(emitter: ElementEmitter, element: Element, wanted: ElementType) -> Element:
    """Writes a float in a type at least as wide; an element of the type itself as it is."""
    if element.type is wanted:
        return element
    if not (element.type.is_float and wanted.is_float and element.type.bits < wanted.bits):
        raise NotCompiled(f"elements of {element.type.name} that are folded as {wanted.name}")
    lane = register_type(wanted)
    return Element(wanted, (emitter.function.cast("fpext", element.value, lane),))
