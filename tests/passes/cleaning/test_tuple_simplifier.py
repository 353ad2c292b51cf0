from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier
from tests.passes.checking import opcodes, passed


def test_an_element_of_a_tuple_is_what_it_was_made_of() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[3] parameter(1)
  t = (f32[2], f32[3]) tuple(x, y)
  ROOT r = f32[3] get-tuple-element(t), index=1
}
""",
        TupleSimplifier(),
    )
    assert opcodes(module) == []
    assert module.entry.root.name == "y"


def test_a_tuple_of_all_elements_is_the_tuple() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  p = (f32[2], f32[3]) parameter(0)
  a = f32[2] get-tuple-element(p), index=0
  b = f32[3] get-tuple-element(p), index=1
  ROOT t = (f32[2], f32[3]) tuple(a, b)
}
""",
        TupleSimplifier(),
    )
    assert opcodes(module) == []


def test_a_tuple_of_some_elements_stays() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  p = (f32[2], f32[2], f32[2]) parameter(0)
  a = f32[2] get-tuple-element(p), index=0
  b = f32[2] get-tuple-element(p), index=1
  ROOT t = (f32[2], f32[2]) tuple(a, b)
}
""",
        TupleSimplifier(),
    )
    assert opcodes(module) == ["get-tuple-element", "get-tuple-element", "tuple"]
