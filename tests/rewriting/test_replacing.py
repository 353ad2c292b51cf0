"""What takes the place of an instruction, and what it takes over."""

from hlotool.ops.custom_call import CustomCall
from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes


def test_a_new_instruction_keeps_its_own_configuration() -> None:
    module = parse(
        """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT n = f32[2] negate(x), sharding={replicated}
}
"""
    )
    (x, old) = module.entry.instructions
    builder = Builder(module.entry, old)
    made = builder.add(CustomCall(custom_call_target="f"), x, shape=x.shape)
    made.annotations = made.annotations.replace(backend_config="how")
    sharding = old.annotations.sharding
    replace(old, made, builder)
    assert made.is_root
    assert made.annotations.backend_config == "how"
    assert made.annotations.sharding == sharding


def test_the_configuration_of_the_old_one_goes_with_it() -> None:
    module = parse(
        """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT c = f32[2] custom-call(x), custom_call_target="f", backend_config="how"
}
"""
    )
    (x, old) = module.entry.instructions
    builder = Builder(module.entry, old)
    made = builder.add(CustomCall(custom_call_target="g"), x, shape=x.shape)
    replace(old, made, builder)
    assert not made.annotations.backend_config


def test_what_stays_for_its_effect_is_replaced_once() -> None:
    module = parse(
        """HloModule m
draw {
  x = f32[] parameter(0)
  l = f32[] constant(0)
  u = f32[] rng(l, x), distribution=rng_uniform
  ROOT k = f32[] constant(3)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT m = f32[4] map(p), dimensions={0}, to_apply=draw
}
"""
    )
    journal = Journal("algsimp")
    assert changed_by(module, AlgebraicSimplifier(), journal)
    assert journal.hits["map_to_constant"] == 1
    assert opcodes(module) == ["map", "constant", "broadcast"]
