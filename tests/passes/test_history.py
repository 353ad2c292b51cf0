from hlotool.passes.history import HistoryHook, PassHistory
from hlotool.passes.pipeline import parse_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from hlotool.text.printer import print_module

TEXT = """HloModule m
ENTRY e {
  x = s32[8] parameter(0)
  zero = s32[] constant(0)
  zeros = s32[8] broadcast(zero), dimensions={}
  sum = s32[8] add(x, zeros)
  ROOT r = s32[8] negate(sum)
}
"""


def history(pipeline: str, text: str = TEXT) -> tuple[PassHistory, str]:
    """Returns the history of a run, and the text of what came of it."""
    module = parse(text)
    hook = HistoryHook()
    Runner([hook]).run(parse_pipeline(pipeline, "p"), module)
    return hook.history, print_module(module)


def test_each_pass_has_its_counts() -> None:
    found, text = history("dce,algsimp,dce")
    rows = [(c.name, c.before, c.after, c.removed, c.added, c.changed) for c in found.changes]
    assert rows == [
        ("dce", 0, 0, 0, 0, 0),
        # Negate has another operand.
        ("algsimp", 0, 1, 3, 0, 1),
        ("dce", 1, 1, 0, 0, 0),
    ]
    assert [one.instructions for one in found.changes] == [5, 2, 2]
    assert [one.is_same_graph for one in found.changes] == [True, False, True]
    assert all(one.pipeline == "p" and one.is_alone for one in found.changes)
    assert all(one.seconds is not None and one.seconds >= 0 for one in found.changes)
    assert print_module(found.states.modules[0]) == print_module(parse(TEXT))
    assert print_module(found.states.modules[1]) == text


def test_what_differs_is_named() -> None:
    found, _ = history("algsimp")
    (change,) = found.changes
    assert set(change.comparison.removed) == {"zero", "zeros", "sum"}
    assert change.comparison.added == ()
    assert change.comparison.changed == (("r", "r", "operand 0: sum -> x"),)
    assert not change.comparison.is_same_graph


def test_some_passes_have_a_history_of_their_own() -> None:
    found, text = history("dce,algsimp,dce,fusion")
    kept = found.only(lambda change: change.name == "algsimp")
    assert [(one.name, one.before, one.after) for one in kept.changes] == [("algsimp", 0, 1)]
    assert len(kept.states.modules) == 2
    last = found.only(lambda change: change.name == "fusion")
    assert print_module(last.states.modules[last.changes[0].after]) == text
    assert found.only(lambda change: change.name == "cse").states.modules == []


def test_decisions_stand_with_their_pass() -> None:
    found, _ = history("dce,fusion")
    dce, fusion = found.changes
    assert dce.decisions == ()
    assert ("sum", "r", True) in {(d.producer, d.consumer, d.is_fused) for d in fusion.decisions}


def test_equal_states_are_kept_once() -> None:
    found = PassHistory()
    numbers = [found.states.number(key, lambda: parse(TEXT)) for key in ("a", "b", "a")]
    assert numbers == [0, 1, 0]
    change = found.passed("renamer", "p", 0, 1)
    assert change.is_changed
    assert change.is_same_graph
