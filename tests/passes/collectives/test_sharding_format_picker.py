import pytest

from hlotool.errors import UsageError
from hlotool.passes.collectives.sharding_format_picker import ShardingFormatPicker
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import changed_by


def _module(sharding: str) -> str:
    return f"""HloModule m
ENTRY e {{
  x = f32[8,16,4] parameter(0), sharding={{{sharding}}}
  ROOT n = f32[8,16,4] negate(x)
}}
"""


_FORMS = [
    ("devices=[8,1,1]<=[8]", "devices=[8,1,1]0,1,2,3,4,5,6,7"),
    ("devices=[4,2,1]<=[2,4]T(1,0)", "devices=[4,2,1]0,4,1,5,2,6,3,7"),
    ("devices=[2,2,2]<=[2,2,2]T(2,1,0)", "devices=[2,2,2]0,4,2,6,1,5,3,7"),
    (
        "devices=[1,2,1,4]<=[8] last_tile_dim_replicate",
        "devices=[1,2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate",
    ),
    ("devices=[3,2,1]<=[2,3]T(1,0)", "devices=[3,2,1]0,3,1,4,2,5"),
]


@pytest.mark.parametrize(("iota", "listed"), _FORMS)
def test_devices_are_written_in_either_form(iota: str, listed: str) -> None:
    module = parse(_module(listed))
    assert changed_by(module, ShardingFormatPicker())
    assert f"sharding={{{iota}}}" in print_module(module)
    assert changed_by(module, ShardingFormatPicker(form="list"))
    assert f"sharding={{{listed}}}" in print_module(module)


@pytest.mark.parametrize(
    "sharding",
    ["devices=[2,2,1]0,2,3,1", "devices=[2,2,1]3,2,1,0", "replicated", "maximal device=1"],
)
def test_what_has_one_form_keeps_it(sharding: str) -> None:
    module = parse(_module(sharding))
    assert not changed_by(module, ShardingFormatPicker())
    assert not changed_by(module, ShardingFormatPicker(form="list"))


def test_elements_of_tuples_are_written_too() -> None:
    text = """HloModule m
ENTRY e {
  ROOT x = (f32[8], f32[8]) parameter(0), sharding={{devices=[2]0,1}, {replicated}}
}
"""
    module = parse(text)
    assert changed_by(module, ShardingFormatPicker())
    assert "{{devices=[2]<=[2]}, {replicated}}" in print_module(module)


def test_other_forms_are_errors() -> None:
    with pytest.raises(UsageError, match="option form: iota or list expected, v3 given"):
        ShardingFormatPicker(form="v3")
