from pathlib import Path

import pytest

from hlotool.errors import ParseError
from hlotool.frontends.fusion_frames import FusionDecision, fusion_decisions
from hlotool.graph.html import page as html_page
from hlotool.graph.pass_data import decisions_page
from hlotool.passes.history import HistoryHook
from hlotool.passes.pipeline import parse_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse

EXAMPLE = (
    "testdata/dumps/clusters/main.module_0007"
    ".cluster_0__XlaCompiledKernel_true__XlaNumConstantArgs_0_.4._fusion.html"
)


def page(*labels: str) -> str:
    frames = ", ".join(f'[0, "{label}", ""]' for label in labels)
    return f"<html><script>\n const frames = [{frames}];\n let loaded = false;</script></html>"


def test_what_is_announced_and_done_is_one_decision(root: Path) -> None:
    assert fusion_decisions((root / EXAMPLE).read_text()) == [
        FusionDecision("InstructionFusion", "exp", "neg", is_fused=True, reason=""),
        FusionDecision(
            "InstructionFusion", "x", "exp_neg_fusion", is_fused=False, reason="it is a parameter"
        ),
    ]


def test_other_words() -> None:
    found = fusion_decisions(
        page(
            "About to MOF-fuse |a| into |b| inside PriorityFusion",
            "Not considering fusion of producer |c| into consumer |d| due to: it is as large",
            "Fused |e| into |f| inside FusionMerger",
            "Unnamed state",
        )
    )
    assert found == [
        FusionDecision("PriorityFusion", "c", "d", is_fused=False, reason="it is as large"),
        FusionDecision("FusionMerger", "e", "f", is_fused=True, reason=""),
    ]


def test_our_own_lines() -> None:
    lines = [
        "fusion: a into b: not fused, b reads its elements: many times",
        "fusion: c into d: fused, x",
    ]
    assert fusion_decisions("\n".join(lines)) == [
        FusionDecision(
            "fusion", "a", "b", is_fused=False, reason="b reads its elements: many times"
        ),
        FusionDecision("fusion", "c", "d", is_fused=True, reason="x"),
    ]


def test_our_own_page() -> None:
    module = parse("""HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] exponential(x)
  ROOT r = f32[8] negate(y)
}
""")
    hook = HistoryHook()
    Runner([hook]).run(parse_pipeline("fusion", "p"), module)
    page_text = decisions_page(hook.history)
    assert page_text is not None
    (found,) = fusion_decisions(page_text)
    assert (found.pass_name, found.producer, found.consumer) == ("fusion", "y", "r")
    assert found.is_fused
    assert found.reason
    damaged = page_text.replace('id="data">', 'id="data">AAAA')
    with pytest.raises(ParseError, match="whose data cannot be read"):
        fusion_decisions(damaged, "page.html")


@pytest.mark.parametrize(
    "text", ["<html></html>", "<script>frames = [1];\n</script>", page("x")[:40]]
)
def test_another_page(text: str) -> None:
    with pytest.raises(ParseError, match="no list of frames"):
        fusion_decisions(text, "page.html")


def test_what_an_own_page_may_say() -> None:
    def of(strings: list[object], number: int) -> str:
        one = {"pass": number, "producer": 0, "consumer": 0, "kind": "fused", "reason": -1}
        return html_page(
            {"title": "x", "strings": strings, "passes": [{"name": 0}], "decisions": [one]}
        )

    (found,) = fusion_decisions(of(["a"], -1))
    assert (found.pass_name, found.producer, found.reason) == ("", "a", "")
    with pytest.raises(ParseError, match="whose data cannot be read"):
        fusion_decisions(of([5], 0))
    with pytest.raises(ParseError, match="whose data cannot be read"):
        fusion_decisions(of(["a"], 1))
