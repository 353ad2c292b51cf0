import time
from pathlib import Path

import numpy as np
import pytest

from hlotool.ir.module import Module
from hlotool.ops.source import Constant
from hlotool.passes.cleaning.constant_folding import ConstantFolding
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed


def folded(*lines: str, head: str = "") -> Module:
    """Returns an entry after folding."""
    text = "\n".join(["HloModule m", head, "ENTRY e {", *lines, "}"])
    return passed(text, ConstantFolding(), exact=True)


ADD = """add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
"""


def test_chains_of_constants_become_one() -> None:
    module = folded(
        "a = f32[3] constant({1, -0, inf})",
        "b = f32[3] constant({2, 0, -inf})",
        "c = f32[3] add(a, b)",
        "d = f32[3] negate(c)",
        "ROOT r = s8[3] convert(d)",
    )
    assert opcodes(module) == ["constant"]


def test_layouts_of_results_stay() -> None:
    module = folded(
        "a = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})",
        "ROOT r = f32[3,2]{0,1} transpose(a), dimensions={1,0}",
    )
    root = module.entry.root
    assert root.shape.text == "f32[3,2]{0,1}"
    assert isinstance(root.op, Constant)
    assert root.op.literal.array().tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("pred", "{true, false}"), ("s4", "{-8, 7}"), ("u2", "{3, 1}"), ("s64", "{1, -1}"),
        ("bf16", "{nan, 1}"), ("f8e5m2", "{inf, 2}"), ("c64", "{(1, 2), (0, -1)}"),
    ],
)  # fmt: skip
def test_all_kinds_of_elements(kind: str, values: str) -> None:
    module = folded(
        f"a = {kind}[2] constant({values})", f"ROOT r = {kind}[2] reverse(a), dimensions={{0}}"
    )
    assert opcodes(module) == ["constant"]


def test_several_results_become_a_tuple_of_constants() -> None:
    head = """less { a = s32[] parameter(0)
 b = s32[] parameter(1)
 c = f32[] parameter(2)
 d = f32[] parameter(3)
 ROOT r = pred[] compare(a, b), direction=LT }
"""
    module = folded(
        "k = s32[3] constant({3, 1, 2})",
        "v = f32[3] constant({3, 1, 2})",
        "ROOT r = (s32[3], f32[3]) sort(k, v), dimensions={0}, to_apply=less",
        head=head,
    )
    assert opcodes(module) == ["constant", "constant", "tuple"]


def test_broadcasts_count_as_constants_and_stay() -> None:
    module = folded(
        "a = f32[] constant(1)",
        "b = f32[4,5] broadcast(a), dimensions={}",
        "z = f32[] constant(0)",
        "s = f32[4] reduce(b, z), dimensions={1}, to_apply=add",
        "i = f32[4] iota(), iota_dimension=0",
        "c = f32[4] broadcast(a), dimensions={}",
        "d = f32[4] add(c, i)",
        "ROOT t = (f32[4], f32[4]) tuple(s, d)",
        head=ADD,
    )
    assert sorted(opcodes(module)) == sorted(
        ["constant", "constant", "broadcast", "iota", "add", "tuple"]
    )


def test_loops_over_constants_are_run() -> None:
    module = folded(
        "z = s32[] constant(0)",
        "x = f32[2] constant({1, 3})",
        "t = (s32[], f32[2]) tuple(z, x)",
        "ROOT r = f32[2] call(x), to_apply=powers",
        head="""cond { s = (s32[], f32[2]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(5)
 ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[2]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[2] get-tuple-element(s), index=1
 one = s32[] constant(1)
 i2 = s32[] add(i, one)
 y = f32[2] multiply(x, x)
 ROOT t = (s32[], f32[2]) tuple(i2, y) }
powers { x = f32[2] parameter(0)
 z = s32[] constant(0)
 t = (s32[], f32[2]) tuple(z, x)
 w = (s32[], f32[2]) while(t), condition=cond, body=body
 ROOT r = f32[2] get-tuple-element(w), index=1 }
""",
    )
    assert "call" not in opcodes(module)


def test_loops_without_end_are_left_and_named() -> None:
    module = parse("""HloModule m
cond { i = s32[] parameter(0)
 ROOT r = pred[] constant(true) }
body { i = s32[] parameter(0)
 one = s32[] constant(1)
 ROOT r = s32[] add(i, one) }
ENTRY e { z = s32[] constant(0)
 ROOT w = s32[] while(z), condition=cond, body=body }
""")
    journal = Journal("constant_folding")
    start = time.perf_counter()
    assert not ConstantFolding(max_work=10_000).run(module, journal)
    assert time.perf_counter() - start < 30
    assert [note.instruction for note in journal.notes] == ["w"]


def test_the_alarm_ends_and_names_the_fold(root: Path) -> None:
    path = root / "testdata" / "cases" / "constant_folding_alarm.hlo"
    module = parse(path.read_text(encoding="utf-8"))
    journal = Journal("constant_folding")
    start = time.perf_counter()
    assert not changed_by(module, ConstantFolding(), journal)
    assert time.perf_counter() - start < 30
    (note,) = journal.notes
    assert note.instruction == "w"
    assert "reduce-window" in note.words
    assert "5201" in note.words


def test_limits_are_options() -> None:
    text = """HloModule m
ENTRY e { a = f32[] constant(1)
 b = f32[100] broadcast(a), dimensions={}
 ROOT r = f32[101] pad(b, a), padding=0_1 }
"""
    for one in (ConstantFolding(max_elements=50), ConstantFolding(max_work=50)):
        assert opcodes(passed(text, one)) == ["constant", "broadcast", "pad"]
    assert opcodes(passed(text, ConstantFolding())) == ["constant"]


@pytest.mark.parametrize(
    "line",
    [
        "r = f32[2] rng(a, a), distribution=rng_uniform",
        'r = f32[] custom-call(a), custom_call_target="f"',
        "r = f32[] all-reduce(a), replica_groups={}, to_apply=add",
        "r = f32[] opt-barrier(a)",
        "r = f32[] copy(a)",
        "r = f32[3] broadcast(a), dimensions={}",
        "r = f32[] add-dependency(a, k)",
        "r = f32[20] negate(b)",
        "r = f32[<=4] broadcast(a), dimensions={}",
    ],
)
def test_what_stays(line: str) -> None:
    text = f"""HloModule m
{ADD}
ENTRY e {{
a = f32[] constant(1)
b = f32[20] constant({{...}})
k = token[] after-all()
{line}
ROOT t = () tuple()
}}
"""
    assert not ConstantFolding().run(parse(text), Journal("constant_folding"))


def test_values_are_those_of_the_evaluator() -> None:
    module = passed(
        """HloModule m
ENTRY e { x = f32[3] parameter(0)
 a = f32[3] constant({nan, -0, 1e38})
 b = f32[3] multiply(a, a)
 ROOT r = f32[3] add(x, b) }
""",
        ConstantFolding(),
        np.array([1, -0.0, 1], np.float32),
        exact=True,
    )
    assert opcodes(module) == ["constant", "add"]
