import pytest

from hlotool.errors import UsageError
from hlotool.graph.model import ModuleGraph
from hlotool.graph.selection import Choice, Selection, selected
from hlotool.text.parser import parse
from hlotool.text.printer import print_module

#   a   b
#   |\ /
#   c d     zero feeds c and g
#   | |
#   e f
#    \|
#     g
TEXT = """HloModule m
body { p = f32[4] parameter(0)
 i = f32[4] negate(p)
 ROOT o = f32[4] abs(i) }
ENTRY main {
  zero = f32[4] constant({0, 0, 0, 0})
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  c = f32[4] add(a, zero)
  d = f32[4] multiply(a, b)
  e = f32[4] fusion(c), kind=kLoop, calls=body
  f = f32[4] negate(d)
  g = (f32[4], f32[4], f32[4]) tuple(e, f, zero)
  alone = f32[4] negate(b)
  ROOT late = f32[4] abs(b), control-predecessors={g}
}
"""


def chosen(**choice: object) -> Selection:
    return selected(ModuleGraph(parse(TEXT)), Choice(**choice))  # type: ignore[arg-type]  # by name


def names(selection: Selection) -> set[str]:
    return {one.name for one in selection.instructions}


def test_nothing_asked_for_is_the_entry() -> None:
    found = chosen()
    assert found.computation.name == "main"
    assert len(names(found)) == 10
    assert not found.is_part


def test_another_computation() -> None:
    assert names(chosen(computation="%body")) == {"p", "i", "o"}


@pytest.mark.parametrize(
    ("radius", "wanted"),
    [
        (0, {"f"}),
        (1, {"d", "f", "g"}),
        # Not c: the constant that g and c share is no way between them.
        (2, {"a", "b", "d", "e", "f", "g", "zero", "late"}),
    ],
)
def test_around_an_instruction(radius: int, wanted: set[str]) -> None:
    found = chosen(around="f", radius=radius)
    assert names(found) == wanted
    assert {one.name for one in found.marked} == {"f"}
    assert found.is_part


def test_around_an_instruction_of_a_body() -> None:
    assert names(chosen(around="%i", radius=1)) == {"p", "i", "o"}


@pytest.mark.parametrize("ends", [("a", "g"), ("g", "a")])
def test_all_paths_between_two_either_way(ends: tuple[str, str]) -> None:
    assert names(chosen(paths=ends)) == {"a", "c", "d", "e", "f", "g"}


def test_a_path_may_run_over_control_edges() -> None:
    assert names(chosen(paths=("f", "late"))) == {"f", "g", "late"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"computation": "bod"}, "no computation bod; did you mean body?"),
        ({"around": "latte"}, "the module has no instruction latte; did you mean late?"),
        ({"around": "a", "computation": "body"}, "computation body has no instruction a"),
        ({"paths": ("c", "d")}, "no path leads from c to d or back"),
        ({"paths": ("i", "d")}, "i is in body and d in main: there is no path"),
    ],
)
def test_what_is_not_there(choice: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as error:
        chosen(**choice)
    assert message in error.value.message


def test_too_many_are_cut_but_for_marked_ones() -> None:
    found = chosen(around="g", radius=9, most_nodes=2)
    # Constants stand in boxes and are none.
    assert names(found) == {"zero", "a", "g"}
    assert found.left_out == 7


def test_a_selection_stands_in_the_order_of_the_text() -> None:
    found = chosen(paths=("a", "g"))
    lines = print_module(parse(TEXT)).split("\n")
    places = [
        next(n for n, line in enumerate(lines) if f"%{one.name} = " in line)
        for one in found.instructions
    ]
    assert places == sorted(places)
