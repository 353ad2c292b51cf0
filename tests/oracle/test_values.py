"""What modules yield here and under XLA: equal, or explained on the page about differences."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlotool.evaluation.comparison.compare import compare
from hlotool.ir.frame import Array, Value
from hlotool.ir.shape import ArrayShape
from hlotool.text.parser import parse
from tests.conftest import ROOT
from tests.oracle.explained import EXPLAINED, NOT_RUN_BY_XLA
from tests.oracle.finding import Finding
from tests.oracle.sweeps import SWEEPS
from tests.oracle.value_cases import GIVEN, Case, cases_of
from tests.oracle.xla import Answer, Job, run_jobs
from tests.test_cases import DIFFERENCES, parts, values

pytestmark = pytest.mark.oracle

PAGE = ROOT / "docs" / "differences.md"
OPS = sorted((ROOT / "testdata" / "ops").glob("*.hlo"))
CASES = sorted((ROOT / "testdata" / "cases").glob("[!e]*.hlo"))
FILES = sorted(DIFFERENCES.glob("*.hlo"))


class Tally:
    """What came of running cases: what was compared and refused, and what differs."""

    def __init__(self, cases: list[Case]) -> None:
        self.compared: Counter[str] = Counter()
        self.refusals: dict[str, list[str]] = defaultdict(list)
        self.findings: list[Finding] = []
        self.used: Counter[str] = Counter()
        self.unexplained: list[str] = []
        jobs = [Job(case.module, case.arguments, case.replicas, case.partitions) for case in cases]
        for case, answer in zip(cases, run_jobs(jobs), strict=True):
            if answer.refusal:
                self.refusals[case.opcode].append(f"{case.key}: {answer.refusal}")
            else:
                self.findings += self._findings(case, answer)
        given = {f.key: f for f in self.findings if f.case.variant == GIVEN}
        for finding in self.findings:
            twin = given.get(finding.key)
            with np.errstate(all="ignore"):
                # What argues about arguments does so about constants that became arguments.
                self._explain(finding, twin or replace(finding, folded=finding.case.has_constants))

    def _findings(self, case: Case, answer: Answer) -> Iterator[Finding]:
        opcodes = {instruction.opcode for instruction in case.module.instructions()}
        leaves = dict(case.module.entry.root.shape.leaves())
        for number, sides in enumerate(zip(case.results, answer.results, strict=True)):
            for device, (ours, theirs) in enumerate(zip(*sides, strict=True)):
                comparison = compare(case.module, ours, theirs)
                if comparison.elements:
                    self.compared.update(opcodes)
                for leaf in comparison.leaves:
                    shape = leaves[leaf.index]
                    assert isinstance(shape, ArrayShape)
                    pair = part(ours, leaf.index), part(theirs, leaf.index)
                    if not leaf.agrees:
                        yield Finding(case, number, device, leaf, shape, *pair)

    def _explain(self, finding: Finding, shown: Finding) -> None:
        left = finding.wrong()
        for row in EXPLAINED:
            if row.opcodes is None or finding.instruction.opcode in row.opcodes:
                covered = left & row.covers(shown)
                self.used[row.row] += int(covered.sum())
                left &= ~covered
        if left.any():
            self.unexplained.append(finding.text(left))


def part(value: Value, index: tuple[int, ...]) -> Array:
    for position in index:
        assert isinstance(value, tuple)
        value = value[position]
    return np.asarray(value)


def rows() -> list[str]:
    """Returns the first cells of the tables about values."""
    _, _, about_values = PAGE.read_text(encoding="utf-8").partition("\n## Values\n")
    found = re.findall(r"^\| (.*?) \| ", about_values, re.MULTILINE)
    return [cell for cell in found if cell != "What"]


@pytest.fixture(scope="module")
def tally() -> Tally:
    return Tally([case for path in [*OPS, *CASES] for case in cases_of(path)])


def test_instructions_agree_or_are_explained(tally: Tally) -> None:
    assert tally.unexplained == []


def test_every_opcode_is_compared_or_listed(tally: Tally) -> None:
    opcodes = {i.opcode for path in OPS for i in parse(path.read_text()).instructions()}
    nothing = {opcode for opcode in opcodes if not tally.compared[opcode]}
    assert nothing == set(NOT_RUN_BY_XLA), {o: tally.refusals[o][:2] for o in nothing}


@pytest.mark.parametrize("name", SWEEPS)
def test_sweep_agrees_or_is_explained(name: str) -> None:
    swept = Tally(list(SWEEPS[name]()))
    assert not swept.refusals
    assert swept.compared
    assert swept.unexplained == []


def test_explanations_are_rows_of_the_page() -> None:
    assert {explanation.row for explanation in EXPLAINED} <= set(rows())


def test_rows_have_modules_and_modules_have_rows() -> None:
    of_modules = {row for path in FILES for row in row_of(path)}
    assert of_modules == set(rows())


def row_of(path: Path) -> list[str]:
    return re.findall(r"^// ROW: (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_reference_gives_other_values_for_these() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    modules = [parse(text, path.name) for text, path in zip(texts, FILES, strict=True)]
    jobs = [
        Job(module, [[list(values(text, "INPUT"))] * module.header.replica_count],
            module.header.replica_count)
        for module, text in zip(modules, texts, strict=True)
    ]  # fmt: skip
    for path, text, answer in zip(FILES, texts, run_jobs(jobs), strict=True):
        assert not answer.refusal, path.name
        value = answer.results[0][0]
        found = [np.asarray(leaf) for leaf in (value if isinstance(value, tuple) else (value,))]
        expected, ours = list(values(text, "REFERENCE")), list(values(text, "RESULT"))
        # What is not there is not the same in each run.
        assert not expected or all(map(is_close, found, expected)), f"{path.name}: {found}"
        assert not all(map(is_same, found, ours)), f"{path.name}: no difference any more"


def is_close(one: Array, other: Array) -> bool:
    pairs = zip(parts(one), parts(other), strict=True)
    return all(np.allclose(a, b, rtol=1e-3, atol=0, equal_nan=True) for a, b in pairs)


def is_same(one: Array, other: Array) -> bool:
    pairs = list(zip(parts(one), parts(other), strict=True))
    equal = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)
    signs = all(
        (np.signbit(a) == np.signbit(b))[b == 0].all() for a, b in pairs if b.dtype == float
    )
    return equal and signs
