"""What the page over two modules is told of them."""

from typing import Any

import pytest

from hlotool.analysis.differences import module_differences
from hlotool.graph.difference_data import difference_document
from hlotool.text.parser import parse
from tests.conftest import MODELS
from tests.graph.page_documents import own_entries

OLD = """HloModule old
f {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}
g {
  q = f32[4] parameter(0)
  ROOT s = f32[4] sine(q)
}
ENTRY e {
  x = f32[4] parameter(0)
  c = f32[4] constant({1, 2, 3, 4})
  a = f32[4] add(x, c)
  b = f32[4] call(a), to_apply=f
  ROOT r = f32[4] call(b), to_apply=g
}
"""


def difference(old: str, new: str) -> dict[str, Any]:
    one, other = parse(old), parse(new)
    return difference_document(one, other, module_differences(one, other), ["a", "b"])


def both(made: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the documents of both modules as if each were alone."""
    return {**made, **own_entries(made)}, {**made, **own_entries(made, 0)}


def names(document: dict[str, Any], computation: int) -> list[str]:
    number, listed = 0, []
    for by in document["computations"][computation]["names"]:
        number += by
        listed.append(document["strings"][number])
    return listed


def name_of(document: dict[str, Any], computation: int) -> str:
    found: str = document["strings"][document["computations"][computation]["name"]]
    return found


def test_changed_and_added() -> None:
    new = OLD.replace("negate(p)", "abs(p)").replace("{1, 2, 3, 4}", "{1, 2, 3, 5}")
    made = difference(OLD, new)
    made, other = both(made)
    assert made["titles"] == ["b"]
    data = made["difference"]
    assert (data["equal"], data["counts"]) == (0, [1, 1, 1])
    pairs = {name_of(made, pair["old"]): pair for pair in data["pairs"]}
    inner = pairs["f"]
    assert [names(made, inner["old"])[i] for i in inner["removed"]] == ["n"]
    assert [names(other, inner["new"])[i] for i in inner["added"]] == ["n"]
    assert inner["partners"] == [0, -1]
    (change,) = pairs["e"]["changed"]
    assert names(made, pairs["e"]["old"])[change["old"]] == "c"
    assert change["words"] == ["value: {1, 2, 3, 4} -> {1, 2, 3, 5}"]
    assert data["pairs"][0] is pairs["e"], "the entry comes first"


def test_whole_computations() -> None:
    new = OLD.replace("call(b), to_apply=g", "negate(b)")
    new = new[: new.index("g {")] + new[new.index("ENTRY") :]
    made, _ = both(difference(OLD, new))
    data = made["difference"]
    assert [name_of(made, number) for number in data["removed"]] == ["g"]
    assert data["added"] == []


def test_equal_modules_have_partners_all_over() -> None:
    made = difference(OLD, OLD.replace("HloModule old", "HloModule new").replace("x", "y"))
    data = made["difference"]
    assert data["equal"] == 1
    assert len(data["pairs"]) == 3
    for pair in data["pairs"]:
        assert sorted(pair["partners"]) == list(range(len(pair["partners"])))
        assert not pair["removed"] + pair["added"] + pair["changed"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("attention", "attention.opt"),
        ("while_newton", "sort_multi"),
        ("cond_switch.opt", "layernorm.opt"),
    ],
)
def test_each_instruction_is_partner_or_different(one: str, other: str) -> None:
    old, new = ((MODELS / "jax" / f"{name}.hlo").read_text() for name in (one, other))
    made = difference(old, new)
    data = made["difference"]
    documents = both(made)
    for side, alone in (("old", "removed"), ("new", "added")):
        document = documents[side == "new"]
        paired = {pair[side] for pair in data["pairs"]}
        assert paired.isdisjoint(data[alone])
        assert len(paired) + len(data[alone]) == len(document["computations"])
    for pair in data["pairs"]:
        new_size = len(documents[1]["computations"][pair["new"]]["op"])
        kept = [number for number in pair["partners"] if number >= 0]
        assert len(set(kept)) == len(kept)
        assert sorted({*kept, *pair["added"]}) == list(range(new_size))
        without = [i for i, number in enumerate(pair["partners"]) if number < 0]
        assert without == pair["removed"]
        for change in pair["changed"]:
            assert pair["partners"][change["old"]] == change["new"]
            assert change["words"]
