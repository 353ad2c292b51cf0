from hlotool.passes.cleaning.hlo_constant_splitter import HloConstantSplitter
from tests.passes.checking import opcodes, passed


def test_each_user_gets_a_constant_of_its_own() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[] parameter(0)
  c = f32[] constant(3)
  a = f32[] add(x, c)
  b = f32[] multiply(a, c)
  d = f32[] subtract(b, c)
  ROOT s = f32[] power(d, d)
}
""",
        HloConstantSplitter(),
    )
    assert opcodes(module).count("constant") == 3
    constants = [i for i in module.entry.instructions if i.opcode == "constant"]
    assert all(len(constant.users) == 1 for constant in constants)


def test_a_user_that_takes_a_constant_twice_keeps_one() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[] parameter(0)
  c = f32[2] constant({1, 2})
  a = f32[2] add(c, c)
  ROOT b = f32[2] multiply(a, a)
}
"""
    assert opcodes(passed(text, HloConstantSplitter())) == ["constant", "add", "multiply"]
