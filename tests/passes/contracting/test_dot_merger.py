import pytest

from hlotool.passes.contracting.dot_merger import DotMerger
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed

SHARED_LHS = """HloModule m
ENTRY e {
  x = f32[2,3,4] parameter(0)
  a = f32[2,4,5] parameter(1)
  b = f32[2,4,1] parameter(2)
  c = f32[2,4,0] parameter(3)
  p = f32[2,3,5] dot(x, a), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},
      rhs_contracting_dims={1}
  q = f32[2,3,1] dot(x, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},
      rhs_contracting_dims={1}
  r = f32[2,3,0] dot(x, c), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},
      rhs_contracting_dims={1}
  ROOT t = (f32[2,3,5], f32[2,3,1], f32[2,3,0]) tuple(p, q, r)
}
"""


def two_dots(second: str, between: str = "") -> str:
    return f"""HloModule m
ENTRY e {{
  x = s32[3,3] parameter(0)
  a = s32[3,3] parameter(1)
  b = s32[3,3] parameter(2)
  p = s32[3,3] dot(a, x), lhs_contracting_dims={{0}}, rhs_contracting_dims={{1}}
  {between}
  q = s32[3,3] {second}, lhs_contracting_dims={{0}}, rhs_contracting_dims={{1}}
  ROOT t = (s32[3,3], s32[3,3]) tuple(p, q)
}}
"""


def test_dots_of_one_left_operand_become_one() -> None:
    module = passed(SHARED_LHS, DotMerger())
    assert opcodes(module) == ["concatenate", "dot", "slice", "slice", "slice", "tuple"]


def test_dots_of_one_right_operand_become_one() -> None:
    module = passed(two_dots("dot(b, x)"), DotMerger())
    assert opcodes(module) == ["concatenate", "dot", "slice", "slice", "tuple"]


@pytest.mark.parametrize(
    ("second", "between"),
    [
        ("dot(p, x)", ""),
        ("dot(n, x)", "n = s32[3,3] negate(p)"),
        ("dot(b, a)", ""),
        ("dot(b, x), control-predecessors={p}", ""),
    ],
    ids=["direct", "through-others", "nothing-shared", "control-edge"],
)
def test_what_depends_on_the_other_stays(second: str, between: str) -> None:
    module = passed(two_dots(second, between), DotMerger())
    assert opcodes(module).count("dot") == 2


def test_large_dots_stay() -> None:
    text = two_dots("dot(b, x)")
    assert opcodes(passed(text, DotMerger(max_size_to_merge=107))).count("dot") == 2
    assert opcodes(passed(text, DotMerger(max_size_to_merge=108))).count("dot") == 1


def test_crossing_groups_never_make_a_cycle() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = s32[2,2] parameter(0)
  y = s32[2,2] parameter(1)
  a1 = s32[2,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  w = s32[2,2] negate(y)
  b1 = s32[2,2] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a2 = s32[2,2] dot(x, b1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b2 = s32[2,2] dot(w, a1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[2,2], s32[2,2]) tuple(a2, b2)
}
""",
        DotMerger(),
    )
    # Merging a1 with a2, and b1 with b2, would let each of the two wait for the other.
    assert opcodes(module).count("dot") == 4


def test_without_fuel_nothing_is_merged() -> None:
    module = parse(SHARED_LHS)
    assert not DotMerger().run(module, Journal("dot-merger", Fuel({"dot-merger": 0})))
    assert opcodes(module).count("dot") == 3
