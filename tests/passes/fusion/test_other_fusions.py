"""Passes that merge, wrap, sink and undo; `test_fusion.py` has the rules of kernels."""

import numpy as np
import pytest

from hlotool.ir.module import Module
from hlotool.passes.composed.despecializer import Despecializer
from hlotool.passes.fusion.constant_sinking import FusionConstantSinking
from hlotool.passes.fusion.defuser import Defuser
from hlotool.passes.fusion.fusion import InstructionFusion
from hlotool.passes.fusion.fusion_wrapper import FusionWrapper
from hlotool.passes.fusion.horizontal_loop_fusion import HorizontalLoopFusion
from hlotool.passes.fusion.multi_output import CpuMultiOutputFusion, MultiOutputFusion
from hlotool.passes.fusion.priority_fusion import PriorityFusion
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import changed_by, opcodes, passed
from tests.passes.fusion.test_fusion import SOFTMAX, module_of, random_body


def kernels(module: Module) -> list[str]:
    free = {"get-tuple-element", "tuple", "constant"}
    return [opcode for opcode in opcodes(module) if opcode not in free]


SHARED = """
  x = f32[64,50] parameter(0)
  z = f32[] constant(0)
  s = f32[50] reduce(x, z), dimensions={0}, to_apply=sum
  q = f32[64,50] multiply(x, x)
  v = f32[50] reduce(q, z), dimensions={0}, to_apply=sum
  ROOT t = (f32[50], f32[50], f32[64,50]) tuple(s, v, q)"""


@pytest.mark.parametrize("one", [MultiOutputFusion(), CpuMultiOutputFusion()])
def test_what_reads_the_same_is_one_kernel(one: Pass) -> None:
    module = passed(module_of(SHARED), one)
    assert kernels(module) == ["fusion"]


def test_kernels_with_something_between_them_are_not_merged() -> None:
    body = """
  x = f32[10] parameter(0)
  a = f32[10] negate(x)
  m = f32[10] custom-call(a), custom_call_target="f"
  b = f32[10] add(m, x)
  ROOT t = (f32[10], f32[10]) tuple(a, b)"""
    module = parse(module_of(body))
    journal = Journal("multi_output_fusion")
    assert not changed_by(module, MultiOutputFusion(), journal)
    assert any("must run before" in decision.reason for decision in journal.decisions)


def test_a_merge_is_seen_by_the_questions_after_it() -> None:
    # a with d makes b and c, which stand between, unfit to be merged with either.
    body = """
  x = f32[10] parameter(0)
  y = f32[11] parameter(1)
  a = f32[10] negate(x)
  m = f32[11] custom-call(a), custom_call_target="f"
  c = f32[11] add(m, y)
  d = f32[10] sine(x)
  n = f32[10] custom-call(c), custom_call_target="g"
  f = f32[10] add(n, x)
  g = f32[11] cosine(y)
  ROOT t = (f32[10], f32[11], f32[10], f32[10], f32[11]) tuple(a, c, d, f, g)"""
    module = parse(module_of(body))
    assert changed_by(module, MultiOutputFusion())
    assert kernels(module).count("fusion") == 2


def test_results_have_a_largest_number() -> None:
    lines = ["x = f32[9] parameter(0)"]
    lines += [f"y{n} = f32[9] add(x, x)\n z{n} = f32[9] multiply(y{n}, x)" for n in range(6)]
    names = ", ".join(f"z{n}" for n in range(6))
    lines.append(f"ROOT t = ({', '.join(['f32[9]'] * 6)}) tuple({names})")
    module = passed(module_of("\n".join(lines)), MultiOutputFusion(max_results=2))
    found = [one for one in module.entry.instructions if one.op.is_fusion]
    # Equal values are one in a body, but each result counts.
    assert all(len(list(one.shape.leaves())) <= 2 for one in found)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "rest",
    [(MultiOutputFusion(), HorizontalLoopFusion()), (CpuMultiOutputFusion(), FusionWrapper())],
    ids=["gpu", "cpu"],
)
def test_random_graphs_keep_their_values(seed: int, rest: tuple[Pass, ...]) -> None:
    generator = np.random.default_rng(seed)
    arrays = [generator.normal(size=(5, 5)).astype(np.float32) for _ in range(2)]
    first = PriorityFusion() if seed % 2 else InstructionFusion()
    module = passed(module_of(random_body(seed)), first, *arrays)
    for one in rest:
        module = passed(print_module(module), one, *arrays)
    passed(print_module(module), Defuser(), *arrays)


def test_priority_fusion_makes_one_kernel_of_softmax() -> None:
    module = passed(module_of(SOFTMAX.format(rows=8, columns=300)), PriorityFusion())
    assert opcodes(module) == ["fusion"]


def test_priority_fusion_computes_no_costly_value_twice() -> None:
    body = """
  x = f32[1000] parameter(0)
  e = f32[1000] exponential(x)
  a = f32[1000] negate(e)
  b = f32[1000] sine(e)
  ROOT t = (f32[1000], f32[1000]) tuple(a, b)"""
    journal = Journal("priority-fusion")
    module = parse(module_of(body))
    assert not changed_by(module, PriorityFusion(), journal)
    assert any("in each is costly" in decision.reason for decision in journal.decisions)


def test_priority_fusion_copies_what_is_cheap() -> None:
    body = """
  x = f32[100] parameter(0)
  b = f32[9,100] broadcast(x), dimensions={1}
  y = f32[9,100] parameter(1)
  a = f32[9,100] add(b, y)
  c = f32[9,100] multiply(b, y)
  ROOT t = (f32[9,100], f32[9,100]) tuple(a, c)"""
    module = passed(module_of(body), PriorityFusion())
    assert kernels(module) == ["fusion", "fusion"]


LOOPS = """HloModule m
f { a = f32[7] parameter(0) b = f32[7] add(a, a) ROOT c = f32[7] negate(b) }
g { a = f32[7] parameter(0) b = f32[7] multiply(a, a) ROOT c = f32[7] sine(b) }
ENTRY e {
  x = f32[7] parameter(0)
  y = f32[7] parameter(1)
  p = f32[7] fusion(x), kind=kLoop, calls=f
  q = f32[7] fusion(%s), kind=kLoop, calls=g
  ROOT r = (f32[7], f32[7]) tuple(p, q)
}
"""


def test_independent_loops_become_one() -> None:
    assert kernels(passed(LOOPS % "y", HorizontalLoopFusion())) == ["fusion"]


def test_large_loops_stay_apart() -> None:
    module = parse(LOOPS % "y")
    assert not changed_by(module, HorizontalLoopFusion(max_elements=6))


def test_what_is_alone_is_wrapped_once() -> None:
    body = """
  x = f32[4,4] parameter(0)
  d = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[4] constant({1, 2, 3, 4})
  r = f32[16] reshape(d)
  z = f32[] constant(0)
  s = f32[] reduce(r, z), dimensions={0}, to_apply=sum
  n = f32[4] negate(c)
  ROOT t = (f32[], f32[4]) tuple(s, n)"""
    module = passed(module_of(body), FusionWrapper())
    assert kernels(module) == ["dot", "reshape", "fusion", "fusion"]
    names = {one.name for one in module.entry.instructions if one.op.is_fusion}
    assert names == {"wrapped_reduce", "wrapped_negate"}


def test_a_constant_sinks_into_its_fusion_and_parameters_close_up() -> None:
    module = passed(
        """HloModule m
f {
  a = f32[] parameter(0)
  x = f32[4] parameter(1)
  b = f32[] parameter(2)
  ab = f32[] add(a, b)
  s = f32[4] broadcast(ab), dimensions={}
  ROOT r = f32[4] add(s, x)
}
ENTRY e {
  x = f32[4] parameter(0)
  two = f32[] constant(2)
  ROOT r = f32[4] fusion(two, x, two), kind=kLoop, calls=f
}
""",
        FusionConstantSinking(),
    )
    assert opcodes(module) == ["fusion"]
    assert len(module.entry.root.operands) == 1


def test_a_body_of_two_fusions_keeps_its_parameters() -> None:
    text = """HloModule m
f { a = f32[] parameter(0) b = f32[] negate(a) ROOT c = f32[] sine(b) }
ENTRY e {
  x = f32[] parameter(0)
  two = f32[] constant(2)
  p = f32[] fusion(two), kind=kLoop, calls=f
  q = f32[] fusion(x), kind=kLoop, calls=f
  ROOT r = f32[] add(p, q)
}
"""
    journal = Journal("fusion_constant_sinking")
    assert not changed_by(parse(text), FusionConstantSinking(), journal)
    assert "same body" in journal.notes[0].words


def test_defusing_leaves_no_fusion_and_no_tuple_between() -> None:
    module = passed(module_of(SHARED), MultiOutputFusion())
    plain = passed(print_module(module), Defuser())
    assert sorted(kernels(plain)) == ["multiply", "reduce", "reduce"]
    assert "get-tuple-element" not in opcodes(plain)


def test_despecializing_undoes_schedule_edges_and_fusions() -> None:
    module = passed(
        """HloModule m, is_scheduled=true
f { a = f32[4] parameter(0) b = f32[4] negate(a) ROOT c = f32[4] sine(b) }
ENTRY e {
  x = f32[4] parameter(0)
  first = f32[4] cosine(x)
  y = f32[4] fusion(x), kind=kLoop, calls=f, control-predecessors={first}
  ROOT r = f32[4] add(first, y)
}
""",
        Despecializer(),
    )
    assert not module.is_scheduled
    assert sorted(opcodes(module)) == ["add", "cosine", "negate", "sine"]
    assert not any(one.control_predecessors for one in module.instructions())


def test_a_body_in_other_layouts_is_defused_with_copies() -> None:
    module = passed(
        """HloModule m
f {
  z = f32[2,3]{1,0} parameter(0)
  b = f32[6] bitcast(z)
  r = f32[3,2]{1,0} reshape(z)
  ROOT t = (f32[6], f32[3,2]{1,0}) tuple(b, r)
}
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  a = (f32[6], f32[3,2]{0,1}) fusion(x), kind=kLoop, calls=f
  first = f32[6] get-tuple-element(a), index=0
  second = f32[3,2]{0,1} get-tuple-element(a), index=1
  bytes = f32[6] bitcast(second)
  ROOT t = (f32[6], f32[6]) tuple(first, bytes)
}
""",
        Defuser(),
        np.arange(6, dtype=np.float32).reshape(2, 3),
    )
    expected = ["bitcast", "bitcast", "copy", "copy", "reshape", "tuple"]
    assert sorted(opcodes(module)) == expected


def test_kernels_in_other_layouts_than_their_bodies_are_not_merged() -> None:
    text = """HloModule m
f {{ z = f32[2,3]{{1,0}} parameter(0) ROOT r = f32[2,3]{{1,0}} negate(z) }}
g {{ z = f32[2,3]{given} parameter(0) ROOT r = f32[2,3]{given} abs(z) }}
ENTRY e {{
  x = f32[2,3]{{1,0}} parameter(0)
  a = f32[2,3]{{1,0}} fusion(x), kind=kLoop, calls=f
  b = f32[2,3]{given} fusion(x), kind=kLoop, calls=g
  ROOT t = (f32[2,3]{{1,0}}, f32[2,3]{given}) tuple(a, b)
}}
"""
    assert kernels(passed(text.format(given="{1,0}"), MultiOutputFusion())) == ["fusion"]
    assert kernels(passed(text.format(given="{0,1}"), MultiOutputFusion())) == ["fusion", "fusion"]


def test_a_result_that_waits_for_another_kernel_is_not_merged() -> None:
    text = """HloModule m
f {
  z = f32[8] parameter(0)
  a = f32[8] negate(z)
  b = f32[8] abs(z)
  ROOT t = (f32[8], f32[8]) tuple(a, b)
}
g { z = f32[8] parameter(0) ROOT r = f32[8] cosine(z) }
ENTRY e {
  x = f32[8] parameter(0)
  p = (f32[8], f32[8]) fusion(x), kind=kLoop, calls=f
  q = f32[8] fusion(x), kind=kLoop, calls=g
  first = f32[8] get-tuple-element(p), index=0, control-predecessors={q}
  second = f32[8] get-tuple-element(p), index=1
  ROOT t = (f32[8], f32[8], f32[8]) tuple(first, second, q)
}
"""
    assert kernels(passed(text, MultiOutputFusion())) == ["fusion", "fusion"]


def test_an_accuracy_stays_with_what_computes() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] tanh(x), result_accuracy={mode=highest}
  b = f32[4] cosine(x)
  ROOT t = (f32[4], f32[4]) tuple(a, b)
}
"""
    module = passed(text, MultiOutputFusion())
    accuracies = {one.opcode: one.annotations.result_accuracy.mode for one in module.instructions()}
    assert accuracies["tanh"] == "highest"
    assert accuracies["get-tuple-element"] == "default"
