"""Folds inside another loop: an element of a `reduce` that is computed where it is needed."""

from __future__ import annotations

from contextlib import ExitStack

from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.kernels.folds.folds import State, fold_of
from hlotool.codegen.llvm.value import constant
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ops.reduction import Reduce
from hlotool.ops.tuples import GetTupleElement, Tuple


@element_rule(Reduce)
def _reduce(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    return folded(emitter, instruction, index)[0]


@element_rule(GetTupleElement)
def _part(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op, (whole,) = instruction.op, instruction.operands
    assert isinstance(op, GetTupleElement)
    if isinstance(whole.op, Tuple):
        return emitter.element(whole.operands[op.index], index)
    if not isinstance(whole.op, Reduce):
        raise NotCompiled(f"a part of what {whole.opcode} yields")
    return folded(emitter, whole, index)[op.index]


def folded(
    emitter: ElementEmitter, instruction: Instruction, index: Indices
) -> tuple[Element, ...]:
    """Writes loops over what is folded into an element, or one for each lane."""
    op, shape = instruction.op, array_shape(instruction.operands[0])
    assert isinstance(op, Reduce)
    fold, function = fold_of(instruction), emitter.function
    half = len(instruction.operands) // 2
    initials = [emitter.operand(instruction, half + number, ()) for number in range(half)]
    state = tuple(function.splat(v, emitter.lanes) for v in fold.start(initials))

    def within(outer: list[Index], before: State) -> State:
        if len(outer) < len(op.dimensions):
            size = shape.dimensions[sorted(op.dimensions)[len(outer)]]
            with ExitStack() as stack:
                bounds = constant("i64", 0), constant("i64", size)
                loop = stack.enter_context(function.loop(*bounds, 1, before))
                stack.enter_context(emitter.region())
                counter = index_of(Counter(size, loop.index, splits=False))
                loop.next = within([*outer, counter], loop.carried)
            return loop.results
        folded_indices, kept = iter(outer), iter(index)
        place = [next(folded_indices if d in op.dimensions else kept) for d in range(shape.rank)]
        elements = [emitter.operand(instruction, number, place) for number in range(half)]
        lifted = fold.lifted(function, elements)
        lifted = tuple(function.splat(value, emitter.lanes) for value in lifted)
        return fold.combined(emitter, before, lifted)

    if all(shape.dimensions[d] for d in op.dimensions):
        state = within([], state)
    return fold.finished(emitter, state, initials)
