"""Pages over several modules hold what these share once, and show each as if it were alone."""

import json
import random
import shutil
import subprocess
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

from hlotool.analysis.line_diff import line_edits
from hlotool.graph.html import as_json, packed
from hlotool.graph.module_text import ModuleText
from hlotool.graph.page_data import page_data
from hlotool.graph.page_states import PageStates
from hlotool.graph.pass_data import passes_document
from hlotool.ir.module import Module
from hlotool.passes.history import HistoryHook, PassHistory
from hlotool.passes.pipelines import platform_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.conftest import MODELS, ROOT
from tests.graph.page_documents import own_entries

ASSETS = ROOT / "hlotool" / "graph" / "assets"
SCRIPT = Path(__file__).with_name("run_layout.js")
TABLES = ("ops", "shapes", "stacks")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


@pytest.fixture(
    scope="module", params=["attention", "while_newton", "mlp_train_step_sgd", "sort_multi"]
)
def history(request: pytest.FixtureRequest) -> PassHistory:
    """The passes for CPUs over a real module."""
    module = parse((MODELS / "jax" / f"{request.param}.hlo").read_text())
    hook = HistoryHook()
    Runner([hook]).run(platform_pipeline("cpu"), module)
    assert len(hook.history.states.modules) >= 2
    return hook.history


def run_node(what: str, folder: Path, given: object) -> Any:
    file = folder / f"{what}.json"
    file.write_text(json.dumps(given))
    command = ["node", str(SCRIPT), str(ASSETS), what, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(strings: list[str], own: dict[str, Any]) -> list[list[str]]:
    return [[strings[n] for n in accumulate(one["names"])] for one in own["computations"]]


def said(module: Module) -> dict[str, Any]:
    """What is looked at of a module that has a page of its own."""
    document = page_data(module)
    strings = document["strings"]
    return {
        "text": document["text"],
        "title": document["title"],
        "names": names(strings, document),
        "titles": [[strings[n] for n in one["title"]] for one in document["computations"]],
        "lines": [one["lines"] for one in document["computations"]],
        "overlays": [one["name"] for one in document["overlays"]],
    }


def test_each_state_is_as_if_it_were_alone(history: PassHistory) -> None:
    document = passes_document(history)
    strings = document["strings"]
    for number, module in enumerate(history.states.modules):
        kept = document["modules"][number]
        own = own_entries(document, -1 if kept is None else number)
        assert {
            "text": own["text"],
            "title": own["title"],
            "names": names(strings, own),
            "titles": [[strings[n] for n in one["title"]] for one in own["computations"]],
            "lines": [one["lines"] for one in own["computations"]],
            "overlays": [one["name"] for one in own["overlays"]],
        } == said(module)


@needs_node
def test_the_page_reads_each_state(history: PassHistory, tmp_path: Path) -> None:
    shared = run_node("states", tmp_path, passes_document(history))
    for module, found in zip(history.states.modules, shared, strict=False):
        assert found["text"] == ModuleText(module).text
        (alone,) = run_node("states", tmp_path, page_data(module))
        assert found == alone


@needs_node
def test_the_page_reads_what_passes_changed(history: PassHistory, tmp_path: Path) -> None:
    texts = [ModuleText(module).text.split("\n") for module in history.states.modules]
    found = run_node("passes", tmp_path, passes_document(history))
    for change, one in zip(history.changes, found, strict=True):
        before, after = texts[change.before], texts[change.after]
        edits = line_edits(before, after)
        assert one == {
            "edits": [n for kind, *numbers in edits if kind != "equal" for n in numbers],
            "removed": list(change.comparison.removed),
            "added": list(change.comparison.added),
            "changed": [
                {"before": old, "after": new, "words": words}
                for old, new, words in change.comparison.changed
            ],
        }


def test_what_states_share_is_there_once(history: PassHistory) -> None:
    pages = [len(packed(page_data(module))) for module in history.states.modules]
    states = PageStates(history.states.modules)
    document = states.entries(0)
    assert len(set(document["pieces"])) == len(document["pieces"])
    assert len(packed(document)) < sum(pages)


def test_a_change_in_a_large_computation_costs_a_few_pieces() -> None:
    count = 3000
    lines = [f"  v{n + 1} = f32[4] negate(v{n})" for n in range(count)]
    text = (
        "HloModule m\nENTRY e {{\n  v0 = f32[4] parameter(0)\n{}\n  ROOT r = f32[4] abs(v{})\n}}\n"
    )
    other = [*lines[:1500], "  w = f32[4] tanh(v1500)", "  v1501 = f32[4] negate(w)", *lines[1501:]]
    both = [parse(text.format("\n".join(some), count)) for some in (lines, other)]
    alone = PageStates(both[:1]).entries(0)["pieces"]
    together = PageStates(both).entries(0)["pieces"]
    assert len(together) > len(alone) > 500
    new = set(together) - set(alone)
    # Live memory is another from there on, since each step is one later.
    assert sum(map(len, new)) < 0.2 * sum(map(len, alone))


def test_annotations_that_nothing_has_read_are_read_for_their_own_shape() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0), sharding={replicated}
  y = (f32[4], f32[4]) custom-call(x), custom_call_target="f", sharding={{replicated}, {replicated}}
  ROOT z = f32[4] get-tuple-element(y), index=0, sharding={replicated}
}
"""
    both = [parse(text), parse(text.replace("z =", "w ="))]
    document = PageStates(both).entries(0)
    strings = document["strings"]
    for number in (-1, 1):
        (one,) = own_entries(document, number)["computations"]
        assert [strings[n] for n in one["sharding"]] == [
            "{replicated}", "{{replicated}, {replicated}}", "{replicated}"
        ]  # fmt: skip


def changed(lines: list[str], seed: int) -> list[str]:
    """Lines with some gone, doubled, changed and moved."""
    drawn = random.Random(seed)  # noqa: S311  # not for secrets
    found = []
    for line in lines:
        kind = drawn.randrange(12)
        if kind > 0:
            found.append(f"{line}!" if kind == 1 else line)
        if kind == 2:
            found.append(line)
    at, other = sorted(drawn.randrange(len(found) + 1) for _ in range(2))
    return found[other:] + found[:at] if kind % 2 else found


@needs_node
def test_lines_differ_alike_here_and_on_the_page(history: PassHistory, tmp_path: Path) -> None:
    texts = [print_module(module).split("\n") for module in history.states.modules]
    pairs = [*pairwise(texts), (texts[0], texts[-1]), (texts[-1], texts[0]), (texts[0], [])]
    pairs += [(texts[0], changed(texts[0], seed)) for seed in range(8)]
    few = [list("abca}}"), list("}ab}cb}"), [], list("}}}"), list("dacb")]
    pairs += [(one, other) for one in few for other in few]
    expected = [
        [n for kind, *numbers in line_edits(*pair) if kind != "equal" for n in numbers]
        for pair in pairs
    ]
    assert sum(map(bool, expected)) > 12
    assert run_node("edits", tmp_path, pairs) == expected


def test_pieces_hold_whatever_names_there_are() -> None:
    name = r"a\"\\</script>"
    metadata = f'metadata={{op_name="{name}"}}'
    text = f"HloModule m\nENTRY e {{\n  ROOT x = f32[4] parameter(0), {metadata}\n}}\n"
    document = json.loads(as_json(PageStates([parse(text)]).entries(0)))
    assert name in own_entries(document)["text"]
