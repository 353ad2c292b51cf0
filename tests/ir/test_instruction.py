import pytest

from hlotool.ir.metadata import DEFAULT_ACCURACY, NO_METADATA
from hlotool.ops.unary import Negate
from hlotool.rewriting.builder import Builder
from hlotool.text.parser import parse

ACCURACY = "result_accuracy={tolerance={atol=0.5,rtol=0,ulps=1}}"
ANNOTATIONS = [
    ("", True, ""),
    (', metadata={op_name="a" source_line=3}', True, "a"),
    (', metadata={op_name="result_accuracy={"}', True, "result_accuracy={"),
    (', metadata={op_name="a}"}', False, "a}"),
    (', metadata={op_name="a"}, sharding={replicated}', False, "a"),
    (', sharding={replicated}, metadata={op_name="a"}', False, "a"),
    (f', metadata={{op_name="a"}}, {ACCURACY}', False, "a"),
]


@pytest.mark.parametrize(("text", "is_alone", "name"), ANNOTATIONS)
def test_metadata_is_taken_read_or_not(text: str, *, is_alone: bool, name: str) -> None:
    module = parse(
        f"HloModule m\nENTRY e {{\n  x = f32[2] parameter(0)\n  ROOT s = f32[2] sine(x){text}\n}}\n"
    )
    entry = module.entry
    sine = entry.root
    assert sine.has_metadata_alone is is_alone
    first = Builder(entry, sine).add(Negate(), entry.parameters[0])
    assert (sine.result_accuracy != DEFAULT_ACCURACY) is (ACCURACY in text)
    expected = sine.annotations.metadata
    assert sine.has_metadata_alone is (not text)
    second = Builder(entry, sine).add(Negate(), entry.parameters[0])
    entry.replace_uses(sine, first)
    entry.remove(sine)
    for made in (first, second):
        assert made.annotations.metadata == expected
        assert made.annotations.sharding is None
        assert made.annotations.result_accuracy == DEFAULT_ACCURACY
    assert expected.op_name == name
    assert (expected == NO_METADATA) is (not text)
