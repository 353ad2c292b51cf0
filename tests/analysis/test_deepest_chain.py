from hlotool.analysis.deepest_chain import deepest_chain
from hlotool.text.parser import parse


def test_the_longest_way_over_operands_counts() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[4] negate(x)\n"
        "  b = f32[4] abs(a)\n  c = f32[4] sine(x)\n  t = (f32[4], f32[4]) tuple(b, c)\n"
        "  g = f32[4] get-tuple-element(t), index=0\n  ROOT r = f32[4] cosine(g)\n}\n"
    )
    # Neither the parameter nor the tuple and its element run code.
    assert deepest_chain(module) == 3


def test_a_control_edge_is_a_way_too() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[4] negate(x)\n"
        "  ROOT b = f32[4] abs(x), control-predecessors={a}\n}\n"
    )
    assert deepest_chain(module) == 2


def test_a_conditional_counts_with_its_deepest_branch_and_a_fusion_as_one() -> None:
    module = parse(
        "HloModule m\nbody { f = f32[2] parameter(0)\n h = f32[2] negate(f)\n"
        " ROOT g = f32[2] negate(h) }\n"
        "b0 { p = f32[2] parameter(0)\n ROOT n = f32[2] fusion(p), kind=kLoop, calls=body }\n"
        "b1 { q = f32[2] parameter(0)\n s = f32[2] sine(q)\n ROOT a = f32[2] abs(s) }\n"
        "ENTRY e {\n  i = s32[] parameter(0)\n  x = f32[2] parameter(1)\n"
        "  c = f32[2] conditional(i, x, x), branch_computations={b0, b1}\n"
        "  ROOT r = f32[2] negate(c)\n}\n"
    )
    assert deepest_chain(module) == 3


def test_nothing_that_runs() -> None:
    module = parse("HloModule m\nENTRY e {\n  ROOT x = f32[4] parameter(0)\n}\n")
    assert deepest_chain(module) == 0
