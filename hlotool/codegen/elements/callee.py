"""Computations that ops call for elements: reducers, comparators, mapped functions."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.numbers.conversion import converted
from hlotool.codegen.numbers.element import Element
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ops.tuples import Tuple


def applied(
    emitter: ElementEmitter, computation: Computation, arguments: Sequence[Element]
) -> tuple[Element, ...]:
    """Writes what a computation on scalars yields: one element, or those of its tuple.

    The elements may have lanes: the computation is done in each.
    """
    root = computation.root
    yielded = root.operands if isinstance(root.op, Tuple) else (root,)
    return computed(emitter, computation, arguments, yielded)


def computed(
    emitter: ElementEmitter,
    computation: Computation,
    arguments: Sequence[Element],
    wanted: Sequence[Instruction],
) -> tuple[Element, ...]:
    """Writes the values that instructions of a computation on scalars have in it."""
    # Floats of another width than the parameter's become such, as everywhere in calls.
    given = {
        parameter: converted(emitter.function, argument, array_shape(parameter).element_type)
        for parameter, argument in zip(computation.parameters, arguments, strict=True)
    }
    inner = _Callee(emitter, given)
    return tuple(inner.element(one, ()) for one in wanted)


class _Callee(ElementEmitter):
    def __init__(self, emitter: ElementEmitter, given: dict[Instruction, Element]) -> None:
        super().__init__(emitter.function, emitter.target, {}, emitter.lanes)
        for parameter, argument in given.items():
            self._known[0][parameter, (), self.lanes] = argument
