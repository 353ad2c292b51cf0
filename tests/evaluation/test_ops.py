"""Every opcode evaluates: the modules that show it run on the arguments that are made for them."""

from collections.abc import Iterator

import pytest

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.debugging.isolate import Isolated, isolated_instructions
from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.generation.arguments import edge_arguments, generated_arguments
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.op import OPCODES, Op
from hlotool.text.parser import parse
from tests.conftest import ROOT

EVIDENCE = ROOT / "testdata" / "ops"
NEED_MORE = {
    "all-gather": "devices",
    "all-reduce": "devices",
    "all-to-all": "devices",
    "collective-broadcast": "devices",
    "collective-permute": "devices",
    "custom-call": "functions for the targets f, g, h",
    "dynamic-reshape": "sizes for the one reshape that another one cannot have",
    "ragged-all-to-all": "devices",
    "reduce-scatter": "devices",
    "rng": "an interval of pred, which there is not",
}
"""Opcodes of which some instructions in the evidence cannot be evaluated alone, and why."""


def alone() -> Iterator[Isolated]:
    for path in sorted(EVIDENCE.glob("*.hlo")):
        module = parse(path.read_text(encoding="utf-8"), path.name)
        yield from (one for one in isolated_instructions(module) if one.module is not None)


@pytest.mark.parametrize("op", OPCODES.values(), ids=list(OPCODES))
def test_op_has_a_value(op: type[Op]) -> None:
    has_own = op.evaluate is not Op.evaluate
    assert has_own or op.opcode == "parameter", "say what the value is, or why there is none"


@pytest.mark.parametrize("seed", [1, 2])
def test_evidence_evaluates(seed: int) -> None:
    evaluated, refused = set(), set()
    for one in alone():
        assert one.module is not None
        for made in (generated_arguments(one.module, seed), edge_arguments(one.module, seed)):
            try:
                evaluate_module(one.module, made.values)
            except (EvaluationError, UnsupportedError):
                refused.add(one.instruction.opcode)
            else:
                evaluated.add(one.instruction.opcode)
    assert refused == set(NEED_MORE)
    assert refused - evaluated <= {"custom-call"}
