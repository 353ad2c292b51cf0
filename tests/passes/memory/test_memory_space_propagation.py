"""Memory spaces inside fusions."""

from hlotool.ir.module import Module
from hlotool.passes.memory.memory_space_propagation import MemorySpacePropagation
from tests.passes.checking import passed

TEXT = """HloModule m
f {
  p = (f32[4], f32[2,2]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  b = f32[2,2] get-tuple-element(p), index=1
  c = f32[4] bitcast(b)
  s = f32[4] add(a, c)
  n = f32[4] negate(s)
  ROOT t = (f32[4], f32[4]) tuple(s, n)
}
ENTRY e {
  x = f32[4]{0:S(5)} parameter(0)
  y = f32[2,2]{1,0:S(3)} parameter(1)
  u = (f32[4]{0:S(5)}, f32[2,2]{1,0:S(3)}) tuple(x, y)
  ROOT g = (f32[4]{0:S(2)}, f32[4]) fusion(u), kind=kLoop, calls=f
}
"""


def shapes(module: Module) -> dict[str, str]:
    return {one.name: one.shape.text for one in module.computations[0].instructions}


def test_spaces_of_operands_and_results_reach_what_passes_them_on() -> None:
    found = shapes(passed(TEXT, MemorySpacePropagation()))
    assert found == {
        "p": "(f32[4]{0:S(5)}, f32[2,2]{1,0:S(3)})",
        "a": "f32[4]{0:S(5)}",
        "b": "f32[2,2]{1,0:S(3)}",
        "c": "f32[4]{0:S(3)}",
        "s": "f32[4]{0:S(2)}",
        "n": "f32[4]{0}",
        "t": "(f32[4]{0:S(2)}, f32[4]{0})",
    }


def test_the_default_space_everywhere_changes_nothing() -> None:
    text = TEXT
    for space in (":S(5)", ":S(3)", ":S(2)"):
        text = text.replace(space, "")
    assert shapes(passed(text, MemorySpacePropagation()))["p"] == "(f32[4]{0}, f32[2,2]{1,0})"


def test_a_fusion_inside_a_fusion_has_the_spaces_of_the_outer_one() -> None:
    module = passed(
        """HloModule m
inner { a = f32[4] parameter(0) ROOT r = f32[4] negate(a) }
outer { a = f32[4] parameter(0) ROOT r = f32[4] fusion(a), kind=kLoop, calls=inner }
ENTRY e {
  x = f32[4]{0:S(1)} parameter(0)
  ROOT r = f32[4] fusion(x), kind=kLoop, calls=outer
}
""",
        MemorySpacePropagation(),
    )
    inner, outer, _ = module.computations
    assert [one.parameters[0].shape.text for one in (inner, outer)] == ["f32[4]{0:S(1)}"] * 2
