from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.analysis.differences import ModuleDifferences, module_differences
from hlotool.text.parser import parse

BASE = """HloModule m
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
ENTRY e {
  p = f32[4,8] parameter(0)
  q = f32[4,8] parameter(1)
  z = f32[] constant(0)
  a = f32[4,8] add(p, q)
  b = f32[4,8] multiply(a, q)
  c = f32[4] reduce(b, z), dimensions={1}, to_apply=sum
  ROOT r = (f32[4], f32[4,8]) tuple(c, a)
}
"""


def differences(other: str, one: str = BASE) -> ModuleDifferences:
    return module_differences(parse(one), parse(other))


def test_names_and_order_do_not_count() -> None:
    renamed = """HloModule other
plus { u = f32[] parameter(0)
 v = f32[] parameter(1)
 ROOT w = f32[] add(u, v) }
ENTRY main {
  zero = f32[] constant(0)
  right = f32[4,8] parameter(1)
  left = f32[4,8] parameter(0)
  total = f32[4,8] add(left, right)
  product = f32[4,8] multiply(total, right)
  rows = f32[4] reduce(product, zero), dimensions={1}, to_apply=plus
  ROOT both = (f32[4], f32[4,8]) tuple(rows, total)
}
"""
    assert differences(renamed).is_equal


def test_a_changed_attribute_names_old_and_new() -> None:
    text = BASE.replace(
        "f32[4] reduce(b, z), dimensions={1}", "f32[8] reduce(b, z), dimensions={0}"
    )
    found = differences(text.replace("(f32[4], f32[4,8])", "(f32[8], f32[4,8])"))
    (one,) = found.computations
    changes = {change.old.name: change.differences for change in one.changed}
    assert changes["c"] == ("shape: f32[4]{0} -> f32[8]{0}", "dimensions: {1} -> {0}")
    assert found.counts == (0, 0, 2)


def test_another_operand_is_a_change_of_its_user_alone() -> None:
    found = differences(BASE.replace("multiply(a, q)", "multiply(a, p)"))
    (one,) = found.computations
    assert [(c.old.name, c.differences) for c in one.changed] == [("b", ("operand 1: q -> p",))]


def test_an_added_instruction_is_found_in_the_middle() -> None:
    text = BASE.replace("reduce(b,", "reduce(n,").replace(
        "  c =", "  n = f32[4,8] negate(b)\n  c ="
    )
    (one,) = differences(text).computations
    assert [instruction.name for instruction in one.added] == ["n"]
    assert one.removed == ()
    assert [change.differences for change in one.changed] == [("operand 0: b -> n",)]


def test_a_change_inside_a_called_computation_is_found_there() -> None:
    found = differences(BASE.replace("f32[] add(x, y)", "f32[] maximum(x, y)"))
    names = [(one.old.name, len(one.removed), len(one.added)) for one in found.computations]
    assert names == [("sum", 1, 1)]


def test_a_constant_shows_both_values() -> None:
    (one,) = differences(BASE.replace("constant(0)", "constant(1)")).computations
    assert [change.differences for change in one.changed] == [("value: 0 -> 1",)]


def test_headers_count() -> None:
    found = differences(BASE.replace("HloModule m", "HloModule m, replica_count=2"))
    assert found.header == ("replica_count: 1 -> 2",)
    assert not found.computations


def test_the_root_may_move() -> None:
    text = BASE.replace("ROOT r =", "r =").replace("  c =", "  ROOT c =")
    (one,) = differences(text).computations
    assert {change.old.name: change.differences for change in one.changed} == {
        "c": ("is the root",),
        "r": ("is no longer the root",),
    }


RANDOM = """HloModule m
ENTRY e {
  z = f32[] constant(0)
  o = f32[] constant(1)
  a = f32[4] rng(z, o), distribution=rng_uniform
  b = f32[4] rng(z, o), distribution=rng_uniform
  ROOT s = f32[4] subtract(a, b)
}
"""


def test_which_of_two_random_numbers_is_used_counts() -> None:
    found = differences(RANDOM.replace("subtract(a, b)", "subtract(a, a)"), RANDOM)
    assert not found.is_equal
    (one,) = found.computations
    assert [change.differences for change in one.changed] == [("operand 1: b -> a",)]


def test_which_of_two_equal_instructions_comes_first_counts() -> None:
    found = differences(
        RANDOM.replace("subtract(a, b)", "subtract(a, b), control-predecessors={a}"), RANDOM
    )
    (one,) = found.computations
    assert [c.differences for c in one.changed] == [("control predecessors: none -> a",)]


def test_annotations_that_mean_something_count() -> None:
    found = differences(
        BASE.replace("multiply(a, q)", 'multiply(a, q), frontend_attributes={k="v"}')
    )
    (one,) = found.computations
    assert [c.differences for c in one.changed] == [('frontend_attributes: none -> {k="v"}',)]


def test_a_large_constant_shows_where_it_differs() -> None:
    text = "HloModule m\nENTRY e {{\n  ROOT c = s32[12] constant({{{}}})\n}}\n"
    numbers = list(range(12))
    one = text.format(",".join(map(str, numbers)))
    numbers[7] = 70
    (found,) = differences(text.format(",".join(map(str, numbers))), one).computations
    (change,) = found.changed
    assert change.differences == ("value: element 7 in row-major order: 7 -> 70",)


def test_of_equal_instructions_the_one_of_the_same_name_stays() -> None:
    lines = [f"  a{n} = f32[2] negate(p)" for n in range(4)]
    root = "  ROOT t = (f32[2], f32[2], f32[2], f32[2]) tuple(a0, a1, a2, a3)\n}\n"
    head = "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n"
    before = head + "\n".join(lines) + "\n" + root
    after = before.replace("a1 = f32[2] negate", "a1 = f32[2] abs")
    (found,) = differences(after, before).computations
    assert [one.name for one in (*found.removed, *found.added)] == ["a1", "a1"]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["add", "multiply", "maximum"]), min_size=1, max_size=30))
def test_a_chain_equals_itself_and_differs_in_what_was_put_in(opcodes: list[str]) -> None:
    def chain(words: list[str]) -> str:
        lines = ["x0 = f32[2] parameter(0)"]
        lines += [f"x{n} = f32[2] {word}(x{n - 1}, x0)" for n, word in enumerate(words, 1)]
        lines[-1] = "ROOT " + lines[-1]
        return "HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}\n"

    assert differences(chain(opcodes), chain(opcodes)).is_equal
    longer = [*opcodes[: len(opcodes) // 2], "subtract", *opcodes[len(opcodes) // 2 :]]
    found = differences(chain(longer), chain(opcodes))
    assert not found.is_equal
    (one,) = found.computations
    assert len(one.added) - len(one.removed) == 1
    assert "subtract" in {instruction.opcode for instruction in one.added}
