import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import UsageError
from hlotool.passes.cleaning.dce import DeadCodeElimination
from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier
from hlotool.passes.pass_base import Pass, options_of
from hlotool.passes.pipeline import Fix, Item, Pipeline, Selection, names, parse_pipeline
from hlotool.passes.registry import PASSES

DCE, TUPLES = DeadCodeElimination(), TupleSimplifier()


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("dce", (DCE,)),
        ("dce,tuple-simplifier", (DCE, TUPLES)),
        ("dce,\n  tuple-simplifier, # the last\n", (DCE, TUPLES)),
        ("fix(dce)", (Fix((DCE,)),)),
        ("fix{limit=3}(dce,tuple-simplifier)", (Fix((DCE, TUPLES), 3),)),
        ("inner(dce)", (Pipeline("inner", (DCE,)),)),
        ('"with spaces"(dce)', (Pipeline("with spaces", (DCE,)),)),
        ('"fix"(dce)', (Pipeline("fix", (DCE,)),)),
        ("fix(inner(dce)),dce", (Fix((Pipeline("inner", (DCE,)),)), DCE)),
    ],
)
def test_texts_and_their_items(text: str, items: tuple[Item, ...]) -> None:
    assert parse_pipeline(text, "p") == Pipeline("p", items)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "a pass, fix(...) or name(...) is wanted here"),
        ("dce,,dce", 5, "a pass, fix(...) or name(...) is wanted here"),
        ("fix(dce", 8, ") is missing"),
        ("dce,tuple-simplifer", 5, "did you mean tuple-simplifier"),
        ("  dce{speed=3}", 3, "dce has no option speed; it has: none"),
    ],
)
def test_a_wrong_text_is_an_error_with_its_place(text: str, column: int, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)) as caught:
        parse_pipeline(text, "p")
    assert caught.value.location is not None
    assert caught.value.location.column == column


def test_options_may_have_the_names_of_keywords() -> None:
    pipeline = parse_pipeline("element_type_converter{from=f16,to=f64}", "p")
    (one,) = pipeline.items
    assert one.text == "element_type_converter{from=f16,to=f64}"


def test_an_option_of_another_type_is_an_error() -> None:
    with pytest.raises(UsageError, match="algsimp: option max-rounds"):
        parse_pipeline("algsimp{max-rounds=many}", "p")
    with pytest.raises(UsageError, match="fix has one option"):
        parse_pipeline("fix{limit=0}(dce)", "p")


ANY_PASS = st.sampled_from([one() for one in PASSES])
ITEMS = st.recursive(
    ANY_PASS,
    lambda inner: st.one_of(
        st.builds(Fix, st.lists(inner, min_size=1, max_size=3).map(tuple), st.integers(1, 30)),
        st.builds(
            Pipeline,
            st.text("ab c-_.1", min_size=1, max_size=8).filter(lambda name: name.strip() == name),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
        ),
    ),
    max_leaves=8,
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(ITEMS, min_size=1, max_size=4).map(tuple))
def test_every_pipeline_reads_as_it_is_written(items: tuple[Item, ...]) -> None:
    text = ",".join(item.text for item in items)
    assert parse_pipeline(text, "p").items == items


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.name)
def test_options_of_every_pass_read_as_they_are_written(one: type[Pass]) -> None:
    changed: dict[str, Any] = {}
    for option in options_of(one):
        default = option.default
        if isinstance(default, bool):
            changed[option.field_name] = not default
        elif isinstance(default, str):
            continue
        else:
            changed[option.field_name] = default + 1
    made = one(**changed)
    assert parse_pipeline(made.text, "p").items == (made,)


LEFT_WITHOUT_DCE = ["p", "a", "tuple-simplifier", "b", "tuple-simplifier"]
LEFT_FROM_TUPLES = ["p", "a", "tuple-simplifier", "b", "dce", "tuple-simplifier"]
NESTED = parse_pipeline("dce,a(tuple-simplifier,b(dce)),fix(tuple-simplifier)", "p")


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        (Selection(), ["p", "dce", "a", "tuple-simplifier", "b", "dce", "tuple-simplifier"]),
        (Selection(disabled=frozenset({"dce"})), LEFT_WITHOUT_DCE),
        (Selection(disabled=frozenset({"a"})), ["p", "dce", "a", "b", "tuple-simplifier"]),
        (Selection(only=frozenset({"b"})), ["p", "a", "b", "dce"]),
        (Selection(starting_from="b"), ["p", "a", "b", "dce", "tuple-simplifier"]),
        (Selection(starting_from="tuple-simplifier"), LEFT_FROM_TUPLES),
        (Selection(is_all_disabled=True), ["p"]),
    ],
)  # fmt: skip
def test_what_flags_leave_of_a_pipeline(selection: Selection, left: list[str]) -> None:
    assert list(names(selection.applied(NESTED))) == left


def test_names_that_the_run_does_not_know_are_told() -> None:
    selection = Selection(disabled=frozenset({"dce", "cse"}), starting_from="nothing")
    assert selection.unknown(NESTED) == ["cse", "nothing"]
