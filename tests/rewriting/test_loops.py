import numpy as np
import pytest

from hlotool.analysis.verifier import verify
from hlotool.evaluation.api import evaluate
from hlotool.ir.element_type import F32, S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Layout
from hlotool.ops.shape_changing import Transpose
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.loops import State, counted_loop, while_loop
from hlotool.rewriting.terms import Term
from hlotool.text.parser import parse


def _module(shape: ArrayShape) -> tuple[Module, Builder, Instruction]:
    module = parse(f"""HloModule m
ENTRY e {{
  ROOT x = {shape} parameter(0)
}}
""")
    build = Builder(module.entry)
    return module, build, module.entry.root


def _finished(module: Module, root: Instruction) -> Module:
    module.entry.root = root
    module.header = module.header.replace(entry_computation_layout=None)
    module.settle()
    assert [str(error) for error in verify(module)] == []
    return module


def _add_number(inside: Builder, number: Instruction, state: State) -> State:
    x = Term(inside, state[0])
    return [(x + Term(inside, number).converted(F32)).instruction]


@pytest.mark.parametrize("unrolled", [1, 9])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_steps_are_counted(count: int, unrolled: int) -> None:
    module, build, x = _module(ArrayShape(F32, [2]))
    (last,) = counted_loop(build, count, [x], _add_number, unrolled=unrolled)
    _finished(module, last)
    opcodes = [instruction.opcode for instruction in module.entry.instructions]
    assert ("while" in opcodes) == (count > unrolled)
    expected = np.float32(sum(range(count)))
    assert np.array_equal(evaluate(module, np.zeros(2, np.float32)), [expected] * 2)


def test_states_may_have_any_layout() -> None:
    shape = ArrayShape(F32, [2, 2], Layout([0, 1]))
    module, build, x = _module(shape)

    def turn(inside: Builder, _: Instruction, state: State) -> State:
        return [inside.add(Transpose((1, 0)), state[0], shape=shape)]

    (last,) = counted_loop(build, 3, [x], turn)
    given = np.arange(4, dtype=np.float32).reshape(2, 2)
    assert np.array_equal(evaluate(_finished(module, last), given), given.T)


def test_a_condition_ends_a_loop() -> None:
    module, build, x = _module(ArrayShape(S32))

    def is_small(inside: Builder, state: State) -> Instruction:
        return Term(inside, state[0]).compared("LT", 100).instruction

    def double(inside: Builder, state: State) -> State:
        return [(Term(inside, state[0]) * 2).instruction]

    (last,) = while_loop(build, [x], is_small, double)
    assert evaluate(_finished(module, last), np.int32(7)) == 112


def test_terms_are_formulas() -> None:
    module, build, x = _module(ArrayShape(F32, [3]))
    term = Term(build, x)
    scalar = Term(build, build.constant(2, F32))
    formula = (-term + 1) * scalar / 4 - scalar * term
    flag = term.compared("GT", 0)
    result = (flag & ~term.compared("EQ", 3)).chosen(formula, 9)
    _finished(module, result.instruction)
    given = np.array([1, -1, 3], np.float32)
    assert np.array_equal(evaluate(module, given), np.array([-2, 9, 9], np.float32))


def test_sums_keep_their_dimensions() -> None:
    module, build, x = _module(ArrayShape(F32, [2, 3]))
    term = Term(build, x)
    _finished(module, (term - term.summed([1]).spread_along([1], term.shape)).instruction)
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(evaluate(module, given), given - given.sum(1, keepdims=True))
