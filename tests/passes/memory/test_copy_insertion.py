"""Copies for values in shared memory, held to a run in the memory that is assigned."""

import numpy as np
import pytest

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.errors import UsageError
from hlotool.ir.cloning import cloned_module
from hlotool.ir.module import Module
from hlotool.passes.memory.copy_insertion import CopyInsertion
from hlotool.passes.memory.hlo_memory_scheduler import HloMemoryScheduler
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import bits_equal, leaves, opcodes, passed, values_of
from tests.passes.memory.arena import Arena

COUNTING = """HloModule m
condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[4] get-tuple-element(s), index=1
  f = f32[] convert(i)
  g = f32[4] broadcast(f), dimensions={}
  y = f32[4] add(x, g)
  ROOT t = (s32[], f32[4]) tuple(next, y)
}
ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[4]) tuple(zero, x)
  w = (s32[], f32[4]) while(init), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1
}
"""


def run_in_memory(module: Module, *arrays: np.ndarray) -> None:
    """Holds a run in assigned memory to evaluation, as it stands and after scheduling."""
    expected = values_of(cloned_module(module), list(arrays))
    for scheduled in (False, True):
        if scheduled:
            HloMemoryScheduler().run(module, Journal("hlo-memory-scheduler"))
        found = Arena(buffer_assignment(module)).run(list(arrays))
        pairs = zip(leaves(found), leaves(expected), strict=True)
        assert all(bits_equal(one, other) for one, other in pairs)


def inserted(text: str, *arrays: np.ndarray) -> Module:
    module = passed(text, CopyInsertion(), *arrays)
    run_in_memory(module, *arrays)
    return module


def copies(module: Module, computation: str = "") -> list[str]:
    """Returns what is copied."""
    found = next((c for c in module.computations if c.name == computation), module.entry)
    copied = [one.operands[0].name for one in found.instructions if one.opcode == "copy"]
    return [name.partition(".")[0] for name in copied]


def row(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_a_loop_copies_constants_inputs_and_what_its_next_state_needs() -> None:
    module = inserted(COUNTING, row(1, 2, 3, 4))
    assert copies(module) == ["zero", "x"]
    # The counter is read by two: only in some orders before the next one is written.
    assert copies(module, "body") == ["i"]


def test_in_a_schedule_that_reads_first_no_copy_is_needed() -> None:
    following = "  next = s32[] add(i, one)\n"
    text = COUNTING.replace(following, "").replace("  y = ", f"{following}  y = ")
    text = text.replace("HloModule m", "HloModule m, is_scheduled=true")
    module = inserted(text, row(1, 2, 3, 4))
    assert copies(module, "body") == []


def test_what_a_loop_leaves_as_it_is_is_not_copied() -> None:
    text = COUNTING.replace("tuple(next, y)", "tuple(next, x)")
    module = inserted(text, row(1, 2, 3, 4))
    # The input is the result, which lies in memory of its own.
    assert copies(module) == ["zero", "r"]


def test_a_state_that_is_exchanged_is_copied() -> None:
    module = inserted(
        """HloModule m
condition {
  s = (s32[], f32[2], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[2], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[2] get-tuple-element(s), index=1
  y = f32[2] get-tuple-element(s), index=2
  ROOT t = (s32[], f32[2], f32[2]) tuple(next, y, x)
}
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[2], f32[2]) tuple(zero, x, y)
  w = (s32[], f32[2], f32[2]) while(init), condition=condition, body=body
  a = f32[2] get-tuple-element(w), index=1
  b = f32[2] get-tuple-element(w), index=2
  ROOT r = (f32[2], f32[2]) tuple(a, b)
}
""",
        row(1, 2),
        row(3, 4),
    )
    assert len(copies(module, "body")) >= 2


def test_an_initial_state_that_lives_on_is_copied() -> None:
    text = COUNTING.replace("x = f32[4] parameter(0)\n  zero", "p = f32[4] parameter(0)\n"
                            "  x = f32[4] negate(p)\n  zero")  # fmt: skip
    module = inserted(
        text.replace("ROOT r = f32[4] get-tuple-element(w), index=1",
                     "a = f32[4] get-tuple-element(w), index=1\n  ROOT r = f32[4] add(a, x)"),
        row(1, 2, 3, 4),
    )  # fmt: skip
    assert copies(module) == ["zero", "x"]


UPDATE = """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  u = f32[1] parameter(1)
  zero = s32[] constant(0)
  x = f32[4] negate(p)
  new = f32[4] dynamic-update-slice(x, u, zero)
  ROOT r = f32[4] add(new, new)
}
"""


def test_an_update_in_place_of_what_nothing_else_reads_needs_no_copy() -> None:
    text = UPDATE.replace("add(new, new)", "negate(new)")
    assert copies(inserted(text, row(1, 2, 3, 4), row(9))) == []


def test_an_update_in_place_of_what_is_read_later_copies_it() -> None:
    text = UPDATE.replace("add(new, new)", "add(new, x)")
    assert copies(inserted(text, row(1, 2, 3, 4), row(9))) == ["x"]


def test_an_update_of_an_input_copies_it() -> None:
    text = UPDATE.replace("dynamic-update-slice(x,", "dynamic-update-slice(p,")
    assert copies(inserted(text, row(1, 2, 3, 4), row(9))) == ["p"]


def test_an_update_with_what_it_updates_copies_it() -> None:
    text = UPDATE.replace("dynamic-update-slice(x, u,", "dynamic-update-slice(x, part,").replace(
        "  new =", "  part = f32[4] bitcast(x)\n  new ="
    )
    assert len(copies(inserted(text, row(1, 2, 3, 4), row(9)))) == 1


def test_inputs_constants_and_results_that_are_one_are_copied_for_the_result() -> None:
    module = inserted(
        """HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  c = s32[2] constant({1, 2})
  n = f32[2] negate(p)
  ROOT t = (f32[2], s32[2], f32[2], f32[2]) tuple(p, c, n, n)
}
""",
        row(1, 2),
    )
    assert copies(module) == ["p", "c", "n"]


def test_a_constant_as_the_result_is_copied() -> None:
    assert opcodes(inserted("HloModule m\nENTRY e {\n  ROOT c = f32[] constant(2)\n}\n")) == [
        "constant",
        "copy",
    ]


def test_a_result_in_the_memory_of_an_input_is_not_copied() -> None:
    text = """HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  p = f32[2] parameter(0)
  ROOT r = f32[2] negate(p)
}
"""
    assert copies(inserted(text, row(1, 2))) == []
    assert copies(inserted(text.replace("ROOT r = f32[2] negate(p)", "ROOT r = f32[2] bitcast(p)"),
                           row(1, 2))) == []  # fmt: skip


def test_an_input_that_is_overwritten_while_it_is_read_is_copied() -> None:
    module = inserted(
        """HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e {
  p = f32[2] parameter(0)
  n = f32[2] negate(p)
  s = f32[2] sine(p)
  ROOT t = (f32[2], f32[2]) tuple(n, s)
}
""",
        row(1, 2),
    )
    assert len(copies(module)) == 1


def test_two_inputs_that_change_places_are_copied() -> None:
    inserted(
        """HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
ENTRY e {
  p = f32[2] parameter(0)
  q = f32[2] parameter(1)
  ROOT t = (f32[2], f32[2]) tuple(q, p)
}
""",
        row(1, 2),
        row(3, 4),
    )


BRANCHES = """HloModule m
same {
  ROOT p = f32[2] parameter(0)
}
other {
  p = f32[2] parameter(0)
  ROOT c = f32[2] constant({5, 6})
}
ENTRY e {
  flag = pred[] parameter(0)
  x = f32[2] parameter(1)
  n = f32[2] negate(x)
  ROOT r = f32[2] conditional(flag, n, n), true_computation=same, false_computation=other
}
"""


@pytest.mark.parametrize("flag", [True, False])
def test_branches_yield_into_one_piece_of_memory(*, flag: bool) -> None:
    module = inserted(BRANCHES, np.array(flag), row(1, 2))
    assert copies(module, "other") == ["c"]


def test_copies_that_are_not_needed_go() -> None:
    module = inserted(
        """HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  n = f32[2] negate(p)
  c = f32[2] copy(n)
  ROOT s = f32[2] sine(c)
}
""",
        row(1, 2),
    )
    assert copies(module) == []


def test_copies_to_another_layout_and_behind_control_edges_stay() -> None:
    module = inserted(
        """HloModule m
ENTRY e {
  p = f32[2,2]{1,0} parameter(0)
  n = f32[2,2]{1,0} negate(p)
  c = f32[2,2]{0,1} copy(n)
  d = f32[2,2]{0,1} copy(c), control-predecessors={n}
  ROOT s = f32[2,2]{0,1} sine(d)
}
""",
        np.arange(4, dtype=np.float32).reshape(2, 2),
    )
    assert copies(module) == ["n", "c"]


def test_a_computation_that_is_called_twice_is_left_alone_and_named() -> None:
    text = """HloModule m
f {
  ROOT p = f32[] parameter(0)
}
ENTRY e {
  x = f32[] parameter(0)
  a = f32[] call(x), to_apply=f
  ROOT b = f32[] call(a), to_apply=f
}
"""
    module = parse(text)
    journal = Journal("copy-insertion")
    assert not CopyInsertion().run(module, journal)
    assert "f is called more than once" in journal.notes[0].words
    with pytest.raises(UsageError, match="f is called more than once"):
        buffer_assignment(module)


def test_the_three_steps_are_shown() -> None:
    seen: list[tuple[str, int]] = []

    def watch(words: str, module: Module) -> None:
        seen.append((words, print_module(module).count(" copy(")))

    CopyInsertion().run(parse(COUNTING), Journal("copy-insertion", watch=watch))
    (first, most), (second, least), (third, _) = seen
    assert first == "after_adding_copies_to_resolve_interference"
    assert second == "after_removing_unnecessary_copies"
    assert third == "after_adding_special-case_copies"
    assert least < most


def test_without_fuel_nothing_changes() -> None:
    module = parse(COUNTING)
    before = print_module(module)
    journal = Journal("copy-insertion", Fuel({"copy-insertion": 0}))
    assert not CopyInsertion().run(module, journal)
    assert print_module(module) == before


def test_missing_copies_are_found_when_memory_is_assigned() -> None:
    with pytest.raises(UsageError, match="needed at one time"):
        buffer_assignment(parse(COUNTING))


def test_a_run_in_memory_sees_that_copies_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BufferClasses, "conflicts", lambda _: [])
    module = parse(UPDATE.replace("add(new, new)", "add(new, x)"))
    arguments = [row(1, 2, 3, 4), row(9)]
    (expected,) = values_of(module, list(arguments))
    found = Arena(buffer_assignment(module)).run(list(arguments))
    assert not bits_equal(found, expected)


def test_long_chains_of_updates_take_linear_time() -> None:
    lines = ["HloModule m", "ENTRY e {", "  p = f32[64] parameter(0)", "  u = f32[1] parameter(1)",
             "  zero = s32[] constant(0)", "  x0 = f32[64] negate(p)"]  # fmt: skip
    lines += [f"  x{n + 1} = f32[64] dynamic-update-slice(x{n}, u, zero)" for n in range(3000)]
    text = "\n".join([*lines, "  ROOT r = f32[64] negate(x3000)", "}", ""])
    module = parse(text)
    assert not CopyInsertion().run(module, Journal("copy-insertion"))


def test_copies_of_a_new_state_do_not_make_up_for_one_of_the_old_state() -> None:
    module = inserted(
        """HloModule m
condition {
  s = (f32[4], f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=2
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (f32[4], f32[4], s32[]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  y = f32[4] get-tuple-element(s), index=1
  i = s32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  negated = f32[4] negate(x)
  first = f32[4] copy(negated)
  product = f32[4] multiply(x, y)
  second = f32[4] copy(product)
  ROOT t = (f32[4], f32[4], s32[]) tuple(first, second, next)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  p = f32[4] copy(x)
  q = f32[4] copy(y)
  zero = s32[] constant(0)
  init = (f32[4], f32[4], s32[]) tuple(p, q, zero)
  ROOT w = (f32[4], f32[4], s32[]) while(init), condition=condition, body=body
}
""",
        np.arange(4, dtype=np.float32),
        np.full(4, 2, dtype=np.float32),
    )
    body = next(one for one in module.computations if one.name == "body")
    (copied,) = (one for one in body.instructions if one.opcode == "copy")
    assert copied.operands[0].name == "x"


def test_a_copied_result_does_not_make_up_for_a_copy_of_the_aliased_input() -> None:
    module = inserted(
        """HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e {
  x = f32[4] parameter(0)
  negated = f32[4] negate(x)
  copied = f32[4] copy(negated)
  square = f32[4] multiply(x, x)
  ROOT t = (f32[4], f32[4]) tuple(copied, square)
}
""",
        np.arange(4, dtype=np.float32),
    )
    (copied,) = (one for one in module.entry.instructions if one.opcode == "copy")
    assert copied.operands[0].name == "x"


def test_a_copy_that_others_read_is_no_copy_of_an_update_of_its_own() -> None:
    module = inserted(
        """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  update = f32[1] constant({7})
  copied = f32[4] copy(x)
  updated = f32[4] dynamic-update-slice(copied, update, zero)
  ROOT t = (f32[4], f32[4]) tuple(copied, updated)
}
""",
        np.arange(4, dtype=np.float32),
    )
    assert opcodes(module).count("copy") == 2


def test_a_copy_that_a_branch_yields_twice_is_no_copy_for_each_result() -> None:
    module = inserted(
        """HloModule m
one {
  s = (f32[4], f32[4]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  copied = f32[4] copy(x)
  ROOT t = (f32[4], f32[4]) tuple(copied, copied)
}
other {
  s = (f32[4], f32[4]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  y = f32[4] get-tuple-element(s), index=1
  p = f32[4] negate(x)
  q = f32[4] abs(y)
  ROOT t = (f32[4], f32[4]) tuple(p, q)
}
ENTRY e {
  flag = pred[] parameter(0)
  x = f32[4] parameter(1)
  y = f32[4] parameter(2)
  s = (f32[4], f32[4]) tuple(x, y)
  ROOT c = (f32[4], f32[4]) conditional(flag, s, s), true_computation=one, false_computation=other
}
""",
        np.ones((), dtype=bool),
        np.arange(4, dtype=np.float32),
        np.arange(4, dtype=np.float32),
    )
    one = next(computation for computation in module.computations if computation.name == "one")
    assert [instruction.opcode for instruction in one.instructions].count("copy") == 2
