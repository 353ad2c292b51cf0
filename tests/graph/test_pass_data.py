from itertools import accumulate

from hlotool.graph.html import packed, unpacked
from hlotool.graph.numbering import Strings
from hlotool.graph.pass_data import passes_document
from hlotool.passes.history import HistoryHook
from hlotool.passes.pipeline import parse_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from tests.graph.page_documents import own_entries

TEXT = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] add(x, x)
  unused = f32[8] tanh(y)
  z = f32[8] exponential(y)
  ROOT r = f32[8] negate(z)
}
"""


def test_a_run_of_passes() -> None:
    module = parse(TEXT)
    hook = HistoryHook()
    Runner([hook]).run(parse_pipeline("dce,dce,fusion", "p"), module)
    made = passes_document(hook.history)
    assert unpacked(packed(made)) == made
    strings = made["strings"]
    assert made["modules"][2] is None
    states = [own_entries(made, number) for number in (0, 1)]
    assert made["titles"] == ["before the passes", "after dce", "after fusion"]
    first, again, fusion = made["passes"]
    assert [strings[one["name"]] for one in made["passes"]] == ["dce", "dce", "fusion"]
    assert [strings[one["pipeline"]] for one in made["passes"]] == ["p"] * 3
    assert (first["before"], first["after"], first["counts"]) == (0, 1, [1, 0, 0])
    assert [strings[number] for number in accumulate(first["removed"])] == ["unused"]
    assert (first["added"], first["altered"]) == ([], [])
    equal, taken, given = first["edits"]
    (removed,) = states[0]["text"].split("\n")[equal : equal + taken]
    assert given == 0
    assert "%unused" in removed
    assert states[1]["text"] == states[0]["text"].replace(f"{removed}\n", "")
    assert (again["edits"], again["changed"], again["decisions"]) == ([], 0, [0, 0])
    begin, end = fusion["decisions"]
    decided = {
        (strings[one["producer"]], strings[one["consumer"]], one["kind"], one["pass"])
        for one in made["decisions"][begin:end]
    }
    assert ("z", "r", "fused", 2) in decided
    assert all(strings[one["reason"]] for one in made["decisions"])
    assert {one["module"] for one in made["decisions"]} == {1}


def test_instructions_that_differ_are_triples() -> None:
    module = parse(TEXT)
    hook = HistoryHook()
    Runner([hook]).run(parse_pipeline("cse,algsimp,reshape-mover,layout-assignment", "p"), module)
    made = passes_document(hook.history)
    for one in made["passes"]:
        assert len(one["removed"]) == one["counts"][0]
        assert len(one["added"]) == one["counts"][1]
        assert len(one["altered"]) == 3 * one["counts"][2]


def test_strings_grow_where_they_stand() -> None:
    listed = ["a", "b"]
    strings = Strings(listed)
    assert [strings("b"), strings("c"), strings("c"), strings.optional("")] == [1, 2, 2, -1]
    assert listed == ["a", "b", "c"]
