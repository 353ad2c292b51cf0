import numpy as np
import pytest

from hlotool.analysis.combinations import combination_of, is_exact, is_idempotent, neutral_value
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.literal import Literal
from hlotool.ir.op import OPCODES
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.reducers import Combination
from hlotool.text.parser import parse

_OPS = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
_NUMBERS = (0.0, -0.0, 1.0, -1.0, 3.0, float("inf"), float("-inf"))


def _cases() -> list[tuple[str, str]]:
    return [
        (opcode, name)
        for name, one in ELEMENT_TYPES.items()
        for opcode in _OPS
        if opcode in _OPS[:2]
        or (opcode in _OPS[2:4] and not one.is_complex)
        or not _is_inexact(one)
    ]


def _is_inexact(one: ElementType) -> bool:
    return one.is_float or one.is_complex


@pytest.mark.parametrize(("opcode", "name"), _cases())
def test_the_neutral_value_leaves_bits_as_they_are(opcode: str, name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    combination = Combination(OPCODES[opcode], element_type)
    neutral = neutral_value(combination)
    if neutral is None:
        assert element_type.is_float
        return
    finite = _NUMBERS if element_type.is_float else _NUMBERS[:5]
    with np.errstate(all="ignore"):
        numbers = Literal.from_array(np.array(finite), element_type).array()
        start = Literal.from_array(np.asarray(neutral), element_type).array()
        found = combination.reduced(numbers[None], start, (0,))
    shape = ArrayShape(element_type, [len(finite)])
    if opcode == "multiply" and element_type.is_complex:
        # A zero part may change its sign.
        assert np.array_equal(found, numbers)
    else:
        assert Literal.from_array(found, shape) == Literal.from_array(numbers, shape)


def _reducer(body: str, parameter: str = "f32[]") -> str:
    return f"""HloModule m
f {{
  a = {parameter} parameter(0)
  b = {parameter} parameter(1)
  {body}
}}
ENTRY e {{
  x = f32[4] parameter(0)
  i = f32[] constant(0)
  ROOT r = f32[] reduce(x, i), dimensions={{0}}, to_apply=f
}}
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("ROOT r = f32[] add(a, b)", "add"),
        ("ROOT r = f32[] maximum(b, a)", "maximum"),
        ("ROOT r = f32[] subtract(a, b)", None),
        ("s = f32[] add(a, b)\n  ROOT r = (f32[]) tuple(s)", None),
    ],
)
def test_what_a_reducer_combines_with(body: str, found: str | None) -> None:
    module = parse(_reducer(body))
    combination = combination_of(module.computations[0])
    assert (None if combination is None else combination.op.opcode) == found


def test_the_type_is_the_one_that_is_wanted() -> None:
    reducer = parse(_reducer("ROOT r = f32[] add(a, b)")).computations[0]
    assert combination_of(reducer, ELEMENT_TYPES["f32"]) is not None
    assert combination_of(reducer, ELEMENT_TYPES["bf16"]) is None


def test_maxima_may_be_taken_twice_and_in_any_order_and_sums_of_floats_not() -> None:
    maximum = Combination(OPCODES["maximum"], ELEMENT_TYPES["f32"])
    total = Combination(OPCODES["add"], ELEMENT_TYPES["f32"])
    count = Combination(OPCODES["add"], ELEMENT_TYPES["s32"])
    assert is_idempotent(maximum)
    assert is_exact(maximum)
    assert not is_idempotent(total)
    assert not is_exact(total)
    assert is_exact(count)
