from hlotool.passes.cleaning.zero_sized_hlo_elimination import ZeroSizedHloElimination
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed


def test_what_yields_no_elements_becomes_a_constant() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[3,0] parameter(0)
  y = f32[0,4] parameter(1)
  n = f32[3,0]{0,1} negate(x)
  d = f32[3,4] dot(n, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[0,4] slice(d), slice={[2:2], [0:4]}
  ROOT t = (f32[3,0]{0,1}, f32[3,4], f32[0,4]) tuple(n, d, s)
}
""",
        ZeroSizedHloElimination(),
    )
    assert opcodes(module) == ["constant", "dot", "constant", "tuple"]
    assert str(module.entry.root.operands[0].shape) == "f32[3,0]{0,1}"


def test_an_empty_root_becomes_a_constant() -> None:
    text = """HloModule m
ENTRY e {
  x = pred[0] parameter(0)
  ROOT n = pred[0] not(x)
}
"""
    assert opcodes(passed(text, ZeroSizedHloElimination())) == ["constant"]


def test_side_effects_dynamic_sizes_and_tuples_stay() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[0] parameter(0)
  l = f32[] constant(0)
  h = f32[] constant(1)
  n = s32[] constant(0)
  r = f32[0] rng(l, h), distribution=rng_uniform
  d = f32[<=0] set-dimension-size(x, n), dimensions={0}
  t = (f32[0], f32[0]) tuple(x, r)
  ROOT u = ((f32[0], f32[0]), f32[<=0]) tuple(t, d)
}
""",
        ZeroSizedHloElimination(),
    )
    assert "rng" in opcodes(module)
    assert "set-dimension-size" in opcodes(module)


def test_the_body_of_a_fusion_that_goes_goes_too() -> None:
    module = passed(
        """HloModule m
body {
  x = f32[4] parameter(0)
  s = f32[0] slice(x), slice={[2:2]}
  ROOT n = f32[0] negate(s)
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT f = f32[0] fusion(x), kind=kLoop, calls=body
}
""",
        ZeroSizedHloElimination(),
    )
    assert [computation.name for computation in module.computations] == ["e"]


def test_what_ends_an_asynchronous_computation_stays() -> None:
    module = parse(
        """HloModule m
ENTRY e {
  x = f32[0] parameter(0)
  s = ((f32[0]), f32[0], s32[]) custom-call-start(x), custom_call_target="f",
    custom_call_has_side_effect=true
  d = f32[0] custom-call-done(s)
  c = (f32[0], f32[0], u32[]) copy-start(x)
  e = f32[0] copy-done(c)
  ROOT t = (f32[0], f32[0]) tuple(d, e)
}
"""
    )
    assert not changed_by(module, ZeroSizedHloElimination())
    assert opcodes(module) == ["async-start", "async-done", "copy-start", "copy-done", "tuple"]
