import pytest

from hlotool.passes.contracting.unstable_reduction_detector import UnstableReductionDetector
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.contracting.reductions import reducer


@pytest.mark.parametrize(
    ("op", "element_type", "is_noted"),
    [
        ("add", "bf16", True),
        ("multiply", "f16", True),
        ("add", "f8e5m2", True),
        ("maximum", "bf16", False),
        ("add", "f32", False),
        ("add", "s8", False),
    ],
)
def test_narrow_sums_are_noted(op: str, element_type: str, *, is_noted: bool) -> None:
    module = parse(f"""HloModule m
{reducer(op, element_type)}
ENTRY e {{
  x = {element_type}[8] parameter(0)
  i = {element_type}[] constant(0)
  ROOT r = {element_type}[] reduce(x, i), dimensions={{0}}, to_apply=f
}}
""")
    journal = Journal()
    assert not UnstableReductionDetector().run(module, journal)
    assert [note.instruction for note in journal.notes] == ["r"] * is_noted
