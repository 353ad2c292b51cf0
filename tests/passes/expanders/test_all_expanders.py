"""What all expanders have in common, shown on the modules of their golden files."""

from pathlib import Path

import pytest

from hlotool.errors import UsageError
from hlotool.passes.pass_base import Pass, made
from hlotool.passes.registry import PASSES, pass_named
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import changed_by

_GOLDEN = Path(__file__).parents[3] / "testdata" / "passes"
_EXPANDERS = [one for one in PASSES if one.__module__.startswith("hlotool.passes.expanders.")]
_SMALL = {
    "topk-splitter": {"split-threshold": "16"},
    "variadic-op-splitter": {"most-operands": "3"},
}


def _given(pass_class: type[Pass]) -> tuple[Pass, str]:
    """Returns a pass, and the text of a module that it changes."""
    (path, *_) = (_GOLDEN / pass_class.name).glob("*.hlo")
    return made(pass_class, _SMALL.get(pass_class.name, {})), path.read_text()


@pytest.mark.parametrize("pass_class", _EXPANDERS, ids=lambda one: one.name)
def test_nothing_changes_without_fuel(pass_class: type[Pass]) -> None:
    one, text = _given(pass_class)
    module = parse(text)
    before = print_module(module)
    assert not one.run(module, Journal(one.name, Fuel({one.name: 0})))
    assert print_module(module) == before
    assert one.run(module, Journal(one.name))
    assert print_module(module) != before


@pytest.mark.parametrize("pass_class", _EXPANDERS, ids=lambda one: one.name)
def test_control_edges_and_schedules_are_kept(pass_class: type[Pass]) -> None:
    one, text = _given(pass_class)
    header, rest = text.split("\n\nENTRY", 1)[0], text.split("ENTRY e {", 1)[1].rsplit("}", 1)[0]
    names = "\n".join(line for line in header.splitlines() if not line.startswith("//"))
    *lines, root = rest.strip("\n").splitlines()
    name, value = root.replace("ROOT", "").strip().split(" = ", 1)
    text = f"""{names}

ENTRY e {{
  zero = s8[] constant(0)
  first = s8[] custom-call(zero), custom_call_target="Pin", custom_call_has_side_effect=true
{chr(10).join(lines)}
  {name} = {value}, control-predecessors={{first}}
  last = s8[] custom-call(zero), custom_call_target="Pin", control-predecessors={{{name}}}
  ROOT both = tuple({name}, last)
}}
"""
    module = parse(text)
    module.header = module.header.replace(is_scheduled=True)
    assert changed_by(module, one)
    (before,) = [found for found in module.entry.instructions if found.name == "first"]
    (after,) = [found for found in module.entry.instructions if found.name == "last"]
    waiting, reached = [after], set()
    while waiting:
        current = waiting.pop()
        if current not in reached:
            reached.add(current)
            waiting += current.dependencies
    assert before in reached


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gather_expander", {"mode": "none"}),
        ("scatter_expander", {"mode": "none"}),
        ("rng-bit-generator-expander", {"default-algorithm": "rng_default"}),
        ("variadic-op-splitter", {"most-operands": "1"}),
        ("topk-splitter", {"split-threshold": "0"}),
    ],
)
def test_options_have_bounds(name: str, options: dict[str, str]) -> None:
    (option,) = options
    with pytest.raises(
        UsageError, match=f"{name}: option {option}: .* expected, {options[option]} given"
    ):
        made(pass_named(name), options)
