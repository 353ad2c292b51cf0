import numpy as np
import pytest

from hlotool.ops.ordering import Sort
from hlotool.passes.contracting.simplify_sorts import SimplifySorts
from tests.passes.checking import opcodes, passed

COMPARATOR = """c {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  p = f32[] parameter(2)
  q = f32[] parameter(3)
  r = s8[] parameter(4)
  s = s8[] parameter(5)
  ROOT l = pred[] compare(a, b), direction=LT
}
"""


def three(sizes: str, root: str) -> str:
    return f"""HloModule m
{COMPARATOR}
ENTRY e {{
  x = s32[{sizes}] parameter(0)
  y = f32[{sizes}] parameter(1)
  z = s8[{sizes}] parameter(2)
  t = (s32[{sizes}], f32[{sizes}], s8[{sizes}]) sort(x, y, z), dimensions={{0}}, is_stable=true,
      to_apply=c
  {root}
}}
"""


NUMBERS = (
    np.array([3, 1, 3, 2], np.int32),
    np.array([1, 2, 3, 4], np.float32),
    np.array([5, 6, 7, 8], np.int8),
)


def test_operands_that_nobody_asks_for_go() -> None:
    text = three("4", "ROOT g = s8[4] get-tuple-element(t), index=2")
    module = passed(text, SimplifySorts(), *NUMBERS)
    (sort,) = [one for one in module.entry.instructions if isinstance(one.op, Sort)]
    # The first is compared.
    assert [operand.name for operand in sort.operands] == ["x", "z"]
    assert len(sort.calls[0].parameters) == 4
    assert len(module.computations) == 2


def test_a_single_operand_yields_an_array() -> None:
    text = three("4", "ROOT g = s32[4] get-tuple-element(t), index=0")
    module = passed(text, SimplifySorts(), *NUMBERS)
    assert opcodes(module) == ["sort"]
    assert module.entry.root.shape.is_array
    assert isinstance(module.entry.root.op, Sort)
    assert not module.entry.root.op.is_stable


def test_a_sort_that_is_used_as_a_whole_stays() -> None:
    text = three("4", "ROOT o = (s32[4], f32[4], s8[4]) copy(t)")
    assert opcodes(passed(text, SimplifySorts(), *NUMBERS)) == ["sort", "copy"]


def test_a_sort_with_control_edges_keeps_its_operands() -> None:
    text = three("4", "ROOT g = s8[4] get-tuple-element(t), index=2")
    text = text.replace("to_apply=c\n", "to_apply=c, control-predecessors={w}\n")
    text = text.replace("  t = (", "  w = f32[4] negate(y)\n  t = (")
    module = passed(text, SimplifySorts(), *NUMBERS)
    (sort,) = [one for one in module.entry.instructions if isinstance(one.op, Sort)]
    assert len(sort.operands) == 3


@pytest.mark.parametrize("sizes", ["1,3", "0,3", "2,0"])
def test_what_is_in_order_anyway_is_not_sorted(sizes: str) -> None:
    shape = f"(s32[{sizes}], f32[{sizes}], s8[{sizes}])"
    text = three(sizes, f"ROOT o = {shape} copy(t)")
    assert opcodes(passed(text, SimplifySorts())) == ["tuple", "copy"]


@pytest.mark.parametrize(
    ("element_type", "root", "is_stable"),
    [
        ("s32", "compare(a, b), direction=GT", False),
        ("u8", "compare(b, a), direction=LT", False),
        ("pred", "compare(a, b), direction=LT", False),
        ("f32", "compare(a, b), direction=LT", True),
        ("s32", "compare(a, a), direction=LT", True),
        ("s32", "compare(a, b), direction=LE", True),
    ],
)
def test_equal_integers_need_no_order(element_type: str, root: str, *, is_stable: bool) -> None:
    module = passed(
        f"""HloModule m
c {{
  a = {element_type}[] parameter(0)
  b = {element_type}[] parameter(1)
  ROOT l = pred[] {root}
}}
ENTRY e {{
  x = {element_type}[7] parameter(0)
  ROOT s = {element_type}[7] sort(x), dimensions={{0}}, is_stable=true, to_apply=c
}}
""",
        SimplifySorts(),
    )
    assert isinstance(module.entry.root.op, Sort)
    assert module.entry.root.op.is_stable is is_stable
