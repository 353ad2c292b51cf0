"""What modules yield here and under XLA: equal, or explained on the page about differences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from hlotool.evaluation.comparison.compare import compare
from hlotool.ir.frame import Array, Value
from hlotool.ir.shape import ArrayShape
from tests.oracle.explained import EXPLAINED
from tests.oracle.finding import Finding
from tests.oracle.value_cases import GIVEN, Case
from tests.oracle.xla import Answer, Job, run_jobs

pytestmark = pytest.mark.oracle


class Tally:
    def __init__(self) -> None:
        self.compared: Counter[str] = Counter()
        self.refusals: dict[str, list[str]] = defaultdict(list)
        self.findings: list[Finding] = []
        self.used: Counter[str] = Counter()
        self.unexplained: list[str] = []


def tally_of(cases: list[Case]) -> Tally:
    jobs = [Job(case.module, case.arguments, case.replicas, case.partitions) for case in cases]
    tally = Tally()
    for case, answer in zip(cases, run_jobs(jobs), strict=True):
        if answer.refusal:
            tally.refusals[case.opcode].append(f"{case.key}: {answer.refusal}")
            continue
        tally.findings += findings(case, answer, tally)
    explain(tally)
    return tally


def findings(case: Case, answer: Answer, tally: Tally) -> Iterator[Finding]:
    opcodes = {instruction.opcode for instruction in case.module.instructions()}
    for number, (ours, theirs) in enumerate(zip(case.results, answer.results, strict=True)):
        for device, pair in enumerate(zip(ours, theirs, strict=True)):
            there = live(pair[1], pair[0])
            comparison = compare(case.module, pair[0], there)
            if comparison.elements:
                tally.compared.update(opcodes)
            leaves = dict(case.module.entry.root.shape.leaves())
            for leaf in comparison.leaves:
                shape = leaves[leaf.index]
                assert isinstance(shape, ArrayShape)
                if not leaf.agrees:
                    sides = part(pair[0], leaf.index), part(there, leaf.index)
                    yield Finding(case, number, device, leaf, shape, *sides)


def live(theirs: Value, ours: Value) -> Value:
    """Returns the elements that ours has too: XLA hands out the whole of what may be shorter."""
    if isinstance(theirs, tuple) and isinstance(ours, tuple):
        return tuple(map(live, theirs, ours))
    if isinstance(theirs, np.ndarray) and isinstance(ours, np.ndarray) and theirs.ndim == ours.ndim:
        return theirs[tuple(map(slice, ours.shape))]
    return theirs


def part(value: Value, index: tuple[int, ...]) -> Array:
    for position in index:
        assert isinstance(value, tuple)
        value = value[position]
    assert isinstance(value, np.ndarray)
    return value


def explain(tally: Tally) -> None:
    given = {(f.case.name, f.number) for f in tally.findings if f.case.variant == GIVEN}
    for finding in tally.findings:
        is_alone = (finding.case.name, finding.number) not in given
        with np.errstate(all="ignore"):
            explain_one(replace(finding, folded=is_alone), tally)


def explain_one(finding: Finding, tally: Tally) -> None:
    left = finding.wrong()
    for row in EXPLAINED:
        if row.opcodes is None or finding.case.opcode in row.opcodes:
            covered = left & row.covers(finding)
            if covered.any():
                tally.used[row.row] += int(covered.sum())
                left &= ~covered
    if left.any():
        tally.unexplained.append(finding.text(left))
