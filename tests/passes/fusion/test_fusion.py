import random
from pathlib import Path

import numpy as np
import pytest

from hlotool.analysis.fusion_report import fusion_report
from hlotool.errors import UsageError
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.control_flow import Fusion
from hlotool.passes.fusion.fusion import InstructionFusion
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed

REDUCERS = """
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
"""


def module_of(body: str) -> str:
    return f"HloModule m\n{REDUCERS}\nENTRY e {{\n{body}\n}}\n"


def fused(body: str) -> Module:
    return passed(module_of(body), InstructionFusion())


def fusions(module: Module) -> list[Instruction]:
    return [one for one in module.entry.instructions if one.op.is_fusion]


def kind_of(fusion: Instruction) -> str:
    assert isinstance(fusion.op, Fusion)
    return fusion.op.kind


def reasons(body: str) -> dict[str, str]:
    journal = Journal("fusion")
    InstructionFusion().run(parse(module_of(body)), journal)
    return {d.producer: d.reason for d in journal.decisions if not d.is_fused}


SOFTMAX = """
  x = f32[{rows},{columns}] parameter(0)
  low = f32[] constant(-inf)
  h = f32[{rows}] reduce(x, low), dimensions={{1}}, to_apply=max
  hb = f32[{rows},{columns}] broadcast(h), dimensions={{0}}
  s = f32[{rows},{columns}] subtract(x, hb)
  e = f32[{rows},{columns}] exponential(s)
  z = f32[] constant(0)
  t = f32[{rows}] reduce(e, z), dimensions={{1}}, to_apply=sum
  tb = f32[{rows},{columns}] broadcast(t), dimensions={{0}}
  ROOT r = f32[{rows},{columns}] divide(e, tb)"""


@pytest.mark.parametrize("shape", ["f32[]", "(s32[2])", "f32[3], s32[2]"])
def test_copies_of_tuples_are_no_kernel(shape: str) -> None:
    body = f"  x = ({shape}) parameter(0)\n  ROOT c = ({shape}) copy(x)"
    assert not changed_by(parse(module_of(body)), InstructionFusion())


@pytest.mark.parametrize(("rows", "columns"), [(4, 1000), (1, 7), (100, 1), (0, 3), (100, 700)])
def test_softmax_is_one_kernel(rows: int, columns: int) -> None:
    module = fused(SOFTMAX.format(rows=rows, columns=columns))
    assert opcodes(module) == ["fusion"]
    assert kind_of(module.entry.root) == "kInput"
    assert [o.name for o in module.entry.root.operands] == ["x"]


def test_rows_that_no_cache_keeps_are_not_folded_and_used_in_one_kernel() -> None:
    module = parse(module_of(SOFTMAX.format(rows=2, columns=100_000)))
    journal = Journal("fusion")
    assert InstructionFusion().run(module, journal)
    assert len(fusions(module)) > 1
    assert any("does not stay in cache" in decision.reason for decision in journal.decisions)


def test_columns_are_folded_before_they_are_used() -> None:
    body = """
  x = f32[300,200] parameter(0)
  z = f32[] constant(0)
  s = f32[200] reduce(x, z), dimensions={0}, to_apply=sum
  b = f32[300,200] broadcast(s), dimensions={1}
  ROOT r = f32[300,200] subtract(x, b)"""
    module = fused(body)
    assert opcodes(module) == ["constant", "reduce", "fusion"]
    assert "does not lie in rows" in reasons(body)["s"]


def test_layernorm_is_one_kernel() -> None:
    module = fused("""
  x = f32[32,600] parameter(0)
  g = f32[600] parameter(1)
  z = f32[] constant(0)
  n = f32[] constant(600)
  ns = f32[32] broadcast(n), dimensions={}
  s = f32[32] reduce(x, z), dimensions={1}, to_apply=sum
  mean = f32[32] divide(s, ns)
  mb = f32[32,600] broadcast(mean), dimensions={0}
  c = f32[32,600] subtract(x, mb)
  sq = f32[32,600] multiply(c, c)
  v = f32[32] reduce(sq, z), dimensions={1}, to_apply=sum
  var = f32[32] divide(v, ns)
  rs = f32[32] rsqrt(var)
  rb = f32[32,600] broadcast(rs), dimensions={0}
  y = f32[32,600] multiply(c, rb)
  gb = f32[32,600] broadcast(g), dimensions={1}
  ROOT r = f32[32,600] multiply(y, gb)""")
    assert opcodes(module) == ["fusion"]


def test_a_fold_takes_its_producers_in() -> None:
    module = fused("""
  x = f32[16,64] parameter(0)
  y = f32[16,64] parameter(1)
  p = f32[16,64] multiply(x, y)
  q = f32[16,64] add(x, p)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(q, z), dimensions={0,1}, to_apply=sum""")
    assert opcodes(module) == ["fusion"]
    fusion = module.entry.root
    assert fusion.name == "add_reduce_fusion"
    assert fusion.calls[0].name == "fused_computation"


def test_moves_of_elements_are_fused_with_what_computes() -> None:
    module = fused("""
  x = f32[4,6] parameter(0)
  i = s32[] parameter(1)
  z = f32[] constant(0)
  t = f32[6,4] transpose(x), dimensions={1,0}
  s = f32[3,4] slice(t), slice={[0:6:2],[0:4]}
  v = f32[3,4] reverse(s), dimensions={0}
  p = f32[5,4] pad(v, z), padding=1_1x0_0
  c = f32[5,8] concatenate(p, p), dimensions={1}
  d = f32[2,8] dynamic-slice(c, i, i), dynamic_slice_sizes={2,8}
  f = f32[16] reshape(d)
  k = f32[16] iota(), iota_dimension=0
  ROOT r = f32[16] add(f, k)""")
    assert opcodes(module) == ["fusion"]
    assert kind_of(module.entry.root) == "kLoop"


def test_a_product_takes_in_what_is_done_with_it() -> None:
    module = fused("""
  x = f32[8,16] parameter(0)
  w = f32[16,4] parameter(1)
  b = f32[4] parameter(2)
  d = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[8,4] broadcast(b), dimensions={1}
  ROOT r = f32[8,4] add(d, bb)""")
    assert opcodes(module) == ["fusion"]
    assert kind_of(module.entry.root) == "kOutput"


@pytest.mark.parametrize(
    "middle",
    [
        'm = f32[4] custom-call(a), custom_call_target="f"',
        "m = f32[4] sort(a), dimensions={0}, to_apply=less",
        "m = f32[4] add(a, a), control-predecessors={x1}",
    ],
)
def test_what_does_more_than_compute_elements_stays(middle: str) -> None:
    less = "less { a = f32[] parameter(0) b = f32[] parameter(1) "
    less += "ROOT r = pred[] compare(a, b), direction=LT }\n"
    text = f"""HloModule m
{less if "less" in middle else ""}ENTRY e {{
  x = f32[4] parameter(0)
  x1 = f32[4] tanh(x)
  a = f32[4] negate(x)
  {middle}
  n = f32[4] negate(m)
  ROOT t = (f32[4], f32[4]) tuple(n, x1)
}}
"""
    module = parse(text)
    assert not changed_by(module, InstructionFusion())


def test_a_costly_function_is_not_computed_for_every_row() -> None:
    body = """
  x = f32[300,200] parameter(0)
  y = f32[200] parameter(1)
  e = f32[200] exponential(y)
  b = f32[300,200] broadcast(e), dimensions={1}
  ROOT r = f32[300,200] multiply(x, b)"""
    assert opcodes(fused(body)) == ["exponential", "fusion"]
    assert "costly" in reasons(body)["e"]


def test_of_costly_functions_and_what_they_make_the_smaller_is_stored() -> None:
    body = """
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  s = f32[8] sine(x)
  c = f32[8] cosine(x)
  p = f32[8] multiply(s, {other})
  b = f32[1000,8] broadcast(p), dimensions={{1}}
  ROOT r = f32[1000,8] negate(b)"""
    module = fused(body.format(other="c"))
    (inner, outer) = fusions(module)
    made = [instruction.opcode for instruction in inner.calls[0].instructions]
    assert made == ["parameter", "sine", "cosine", "multiply"]
    assert outer.operands == (inner,)
    assert "all be stored" in reasons(body.format(other="c"))["p"]
    # One function is as large as what is made of it.
    (only,) = fusions(fused(body.format(other="y")))
    assert "multiply" in {instruction.opcode for instruction in only.calls[0].instructions}
    assert [operand.opcode for operand in only.operands] == ["sine", "parameter"]


def test_an_expensive_value_of_two_users_is_stored() -> None:
    body = """
  x = f32[50] parameter(0)
  y = f32[70] parameter(1)
  e = f32[50] exponential(x)
  z = f32[] constant(0)
  s = f32[] reduce(e, z), dimensions={0}, to_apply=sum
  n = f32[50] negate(e)
  ROOT t = (f32[], f32[50]) tuple(s, n)"""
    assert opcodes(fused(body)).count("exponential") == 1


def test_an_update_in_place_takes_in_its_update_alone() -> None:
    module = fused("""
  x = f32[100] parameter(0)
  u = f32[10] parameter(1)
  i = s32[] parameter(2)
  w = f32[100] add(x, x)
  v = f32[10] negate(u)
  ROOT r = f32[100] dynamic-update-slice(w, v, i)""")
    assert opcodes(module) == ["add", "fusion"]
    inside = module.entry.root.calls[0].instructions
    assert [one.opcode for one in inside if one.opcode != "parameter"] == [
        "negate", "dynamic-update-slice",
    ]  # fmt: skip


def test_layers_that_use_the_one_below_twice_do_not_grow() -> None:
    path = Path(__file__).parents[3] / "testdata" / "cases" / "recompute_blowup.hlo"
    module = parse(path.read_text())
    before = sum(1 for _ in module.instructions())
    assert changed_by(module, InstructionFusion())
    assert sum(1 for _ in module.instructions()) < 3 * before
    assert fusion_report(module).cost.flops < 10_000


def test_loops_and_branches_are_fused_inside() -> None:
    module = passed(
        """HloModule m
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  a = f32[4] sine(x)
  b = f32[4] negate(a)
  ROOT t = (s32[], f32[4]) tuple(n, b)
}
condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT r = pred[] compare(i, three), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[4]) tuple(z, x)
  ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body
}
""",
        InstructionFusion(),
    )
    assert any(one.op.is_fusion for c in module.computations for one in c.instructions)


def test_fuel_bounds_the_number_of_fusions() -> None:
    text = module_of(SOFTMAX.format(rows=2, columns=3))
    journal = Journal("fusion", Fuel({"fusion": 0}))
    assert not InstructionFusion().run(parse(text), journal)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(UsageError, match="fusion: option backend: cpu or gpu expected, tpu given"):
        InstructionFusion(backend="tpu")


MADE = {
    "add": "{x} add({one}, {other})",
    "multiply": "{x} multiply({one}, {other})",
    "maximum": "{x} maximum({one}, {other})",
    "exponential": "{m} tanh({one})\n{x} exponential({m_})",
    "transpose": "{x} transpose({one}), dimensions={{1,0}}",
    "reverse": "{x} reverse({one}), dimensions={{1}}",
    "iota": "{x} iota(), iota_dimension=1",
    "pad": "{p} slice({one}), slice={{[1:5],[0:5]}}\n{x} pad({p_}, z), padding=1_0x0_0",
    "dot": "{m} tanh({one})\n{x} dot({m_}, {other}), lhs_contracting_dims={{1}},"
    " rhs_contracting_dims={{0}}",
    "all": "{a} reduce({one}, z), dimensions={{0,1}}, to_apply=sum\n"
    "{x} broadcast({a_}), dimensions={{}}",
    "rows": "{v} reduce({one}, z), dimensions={{1}}, to_apply=max\n"
    "{x} broadcast({v_}), dimensions={{0}}",
    "columns": "{v} reduce({one}, z), dimensions={{0}}, to_apply=max\n"
    "{x} broadcast({v_}), dimensions={{1}}",
}
"""Lines that make a 5x5 array of one or two; of some there is another array between."""


def random_body(seed: int) -> str:
    """A graph of 5x5 arrays, each made of those before."""
    chosen = random.Random(seed)  # noqa: S311  # tests must repeat
    lines = ["x0 = f32[5,5] parameter(0)", "x1 = f32[5,5] parameter(1)", "z = f32[] constant(0)"]
    count = 2
    for number in range(2, 26):
        op = chosen.choice(list(MADE))
        one, other = (f"x{chosen.randrange(max(0, count - 8), count)}" for _ in range(2))
        parts = {"m": "[5,5]", "p": "[4,5]", "a": "[]", "v": "[5]"}
        names = {f"{key}_": f"{key}{number}" for key in parts}
        made = {key: f"{key}{number} = f32{sizes}" for key, sizes in parts.items()}
        made |= {"x": f"x{number} = f32[5,5]", "one": one, "other": other}
        lines.append(MADE[op].format(**made, **names))
        count = number + 1
    roots = [f"x{chosen.randrange(2, count)}" for _ in range(2)] + [f"x{count - 1}"]
    lines.append(f"ROOT t = ({', '.join(['f32[5,5]'] * 3)}) tuple({', '.join(roots)})")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs_keep_their_values(seed: int) -> None:
    arrays = [np.random.default_rng(seed).normal(size=(5, 5)).astype(np.float32) for _ in range(2)]
    passed(module_of(random_body(seed)), InstructionFusion(), *arrays)


def test_equal_ops_of_other_accuracy_stay_two() -> None:
    module = fused(
        """
  x = f32[8] parameter(0)
  a = f32[8] exponential(x), result_accuracy={mode=highest}
  b = f32[8] exponential(x)
  c = f32[8] exponential(x)
  d = f32[8] subtract(a, b)
  ROOT r = f32[8] add(d, c)"""
    )
    (fusion,) = fusions(module)
    assert [one.opcode for one in fusion.calls[0].instructions].count("exponential") == 2


def test_functions_that_draw_random_numbers_are_neither_fused_nor_shared() -> None:
    draw = "draw { a = f32[] parameter(0) ROOT r = f32[] rng(a, a), distribution=rng_uniform }"
    text = module_of(
        """
  x = f32[8] parameter(0)
  a = f32[8] map(x), dimensions={0}, to_apply=draw
  b = f32[8] map(x), dimensions={0}, to_apply=draw
  ROOT r = f32[8] subtract(a, b)"""
    ).replace("ENTRY", draw + "\nENTRY")
    module = parse(text)
    assert not changed_by(module, InstructionFusion())


def test_a_constant_that_another_waits_for_stays() -> None:
    module = fused("""
  x = f32[8] parameter(0)
  c = f32[] constant(3)
  s = f32[8] broadcast(c), dimensions={}
  y = f32[8] multiply(x, s)
  n = f32[8] negate(x), control-predecessors={c}
  ROOT t = (f32[8], f32[8]) tuple(y, n)
""")
    assert sorted(opcodes(module)) == ["constant", "fusion", "negate", "tuple"]


def test_a_body_runs_in_the_thread_of_its_computation() -> None:
    module = passed(
        """HloModule m
side {
  x = f32[4] parameter(0)
  n = f32[4] negate(x)
  ROOT r = f32[4] multiply(n, x)
}, execution_thread="t"
ENTRY e {
  x = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(x), async_execution_thread="t", calls=side
  ROOT d = f32[4] async-done(s)
}
""",
        InstructionFusion(),
    )
    threads = {one.name: one.execution_thread for one in module.computations}
    assert threads == {"fused_computation": "t", "side": "t", "e": "main"}


def test_what_a_view_is_taken_of_is_fused_also_where_only_the_view_is_needed() -> None:
    module = fused(
        """
  y = f32[2,3] parameter(0)
  two = f32[] constant(2)
  p = f32[3,3] pad(y, two), padding=1_0x0_0
  s = f32[2,3] slice(p), slice={[0:2],[0:3]}
  v = f32[6] bitcast(s)
  l = f32[3] slice(v), slice={[3:6]}
  c = f32[6] concatenate(l, l), dimensions={0}
  ROOT t = (f32[6], f32[6]) tuple(c, v)"""
    )
    assert [one.opcode for one in module.entry.instructions if one.opcode in {"pad", "slice"}] == []
    assert len(fusions(module)) == 2
